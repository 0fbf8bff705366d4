"""The rules that a bucket keeps by itself: whose pages it lets in, what it forgets, how it encrypts, that it is closed.

Only rules of ours are put or changed, by their names; those of others stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from .bucket import HAS_NO_BLOCK, REFUSED, Bucket, BucketError, code_of

OURS = "emma-eval"
KNOWS_NONE = HAS_NO_BLOCK | {"NotSupported", "UnsupportedOperation"}
NOTHING_YET = {
    "NoSuchCORSConfiguration",
    "NoSuchLifecycleConfiguration",
    "ServerSideEncryptionConfigurationNotFoundError",
    "NoSuchPublicAccessBlockConfiguration",
}
BLOCK = dict.fromkeys(("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"), True)

Rule = dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """What the bucket is to keep to. `encryption` are S3's names and values; none leaves the bucket's default be."""

    origin: str
    folder: str
    unfinished_days: int
    old_versions_days: int
    encryption: Mapping[str, str]


@dataclass(frozen=True)
class Done:
    """What became of one rule, in words; not `is_well`: somebody must see to it."""

    what: str
    words: str
    is_well: bool = True


@dataclass(frozen=True)
class _Step:
    """One rule: how it is found, what it is to be beside what is there, and how it is put."""

    what: str
    says: str
    find: Callable[[], Any]
    wanted: Callable[[Any], Any]
    put: Callable[[Any], Any]


def lay_down(bucket: Bucket, rules: Rules) -> list[Done]:
    """Put every rule that is not there yet. Done twice, it changes nothing; what a server refuses is told."""
    return [_do(step) for step in _steps(bucket, rules)]


def _do(step: _Step) -> Done:
    try:
        found = _found(step)
        wanted = step.wanted(found)
        if wanted == found:
            return Done(step.what, f"as it should be: {step.says}")
        step.put(wanted)
    except ClientError as told:
        return _refused(step.what, told)
    except BotoCoreError as cause:
        raise BucketError("The bucket can't be reached, or broke off.") from cause
    return Done(step.what, f"put: {step.says}")


def _found(step: _Step) -> Any:
    try:
        return step.find()
    except ClientError as told:
        if code_of(told) in NOTHING_YET:
            return None
        raise


def _refused(what: str, told: ClientError) -> Done:
    code = code_of(told)
    if code in KNOWS_NONE:
        return Done(what, "this server knows no such rule")
    if code in REFUSED:
        return Done(what, "REFUSED: the key of this site may not set it", is_well=False)
    return Done(what, f"REFUSED: the server says {code}", is_well=False)


def _steps(bucket: Bucket, rules: Rules) -> Iterator[_Step]:
    client, name = bucket.as_owner, {"Bucket": bucket.name}
    yield _Step(
        "pages",
        f"those of {rules.origin} may read and send by signed links, and no others",
        lambda: client.get_bucket_cors(**name)["CORSRules"],
        lambda found: _beside(found, [_pages(rules.origin)]),
        lambda wanted: client.put_bucket_cors(**name, CORSConfiguration={"CORSRules": wanted}),
    )
    yield _Step(
        "lifecycle",
        f"unfinished uploads are dropped after {rules.unfinished_days} days, old versions of recordings after "
        f"{rules.old_versions_days}; nothing else is removed by age",
        lambda: client.get_bucket_lifecycle_configuration(**name)["Rules"],
        lambda found: _beside(found, _lifecycle(rules)),
        lambda wanted: client.put_bucket_lifecycle_configuration(**name, LifecycleConfiguration={"Rules": wanted}),
    )
    if rules.encryption:
        yield _Step(
            "encryption",
            f"{rules.encryption['ServerSideEncryption']} for whatever is written",
            lambda: _as_said(client.get_bucket_encryption(**name)["ServerSideEncryptionConfiguration"]["Rules"]),
            lambda _: _encryption(rules.encryption),
            lambda wanted: client.put_bucket_encryption(
                **name, ServerSideEncryptionConfiguration={"Rules": [{"ApplyServerSideEncryptionByDefault": wanted}]}
            ),
        )
    yield _Step(
        "public access",
        "blocked, whatever a policy says",
        lambda: client.get_public_access_block(**name)["PublicAccessBlockConfiguration"],
        lambda _: BLOCK,
        lambda wanted: client.put_public_access_block(**name, PublicAccessBlockConfiguration=wanted),
    )


def _beside(found: Sequence[Rule] | None, ours: Sequence[Rule]) -> list[Rule]:
    """Our rules in the place of our earlier ones; those of others stay, in their order."""
    names = {rule["ID"] for rule in ours}
    there = {rule.get("ID"): rule for rule in found or ()}
    if found is not None and all(there.get(rule["ID"]) == rule for rule in ours):
        return list(found)
    return [*(rule for rule in found or () if rule.get("ID") not in names), *ours]


def _pages(origin: str) -> Rule:
    return {
        "ID": f"{OURS}-pages",
        "AllowedOrigins": [origin],
        "AllowedMethods": ["GET", "PUT", "HEAD"],
        "AllowedHeaders": ["*"],
        "ExposeHeaders": ["ETag", "Accept-Ranges", "Content-Range", "Content-Length"],
        "MaxAgeSeconds": 3600,
    }


def _lifecycle(rules: Rules) -> list[Rule]:
    """What is kept is removed by this site, which has it in its books; a bucket that did it by age would not tell."""
    unfinished = {
        "ID": f"{OURS}-unfinished",
        "Status": "Enabled",
        "Filter": {"Prefix": rules.folder},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": rules.unfinished_days},
    }
    old_versions = {
        "ID": f"{OURS}-old-versions",
        "Status": "Enabled",
        "Filter": {"Prefix": rules.folder},
        "NoncurrentVersionExpiration": {"NoncurrentDays": rules.old_versions_days},
    }
    return [unfinished, old_versions]


def _encryption(said: Mapping[str, str]) -> Rule:
    names = {"ServerSideEncryption": "SSEAlgorithm", "SSEKMSKeyId": "KMSMasterKeyID"}
    return {names[name]: value for name, value in said.items()}


def _as_said(rules: Sequence[Rule]) -> Rule | None:
    return next((rule["ApplyServerSideEncryptionByDefault"] for rule in rules), None)
