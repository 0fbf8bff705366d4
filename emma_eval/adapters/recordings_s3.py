"""Recordings in a bucket. Bytes pass between browser and bucket by signed links, never through us.

A link to send signs the length, the type and the SHA-256 of what may be sent: the server refuses anything else.
Each request is made once and waits a bounded time; whoever asked asks again later.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, ReadTimeoutError
from urllib3.exceptions import HTTPError

from .recordings import (
    Kept,
    Link,
    MismatchError,
    NotKeptError,
    SentPart,
    StoreError,
    StoreFullError,
    checked_key,
    checked_prefix,
)

MOST_REMOVED_AT_ONCE = 1000  # by one request, says S3
MOST_PARTS = 10_000  # of one object, says S3
PART_BYTES = 16 * 1024 * 1024
PIECE = 1024 * 1024
SLOWEST_BYTES_A_S = 256 * 1024  # what is slower than this stands still, for all we care

GONE = {"NoSuchKey", "NoSuchUpload", "NotFound", "404"}
ANOTHER = {
    "BadDigest",
    "InvalidDigest",
    "XAmzContentSHA256Mismatch",
    "XAmzContentChecksumMismatch",
    "InvalidPart",
    "InvalidPartOrder",
    "EntityTooSmall",
    "EntityTooLarge",
    "IncompleteBody",
}
FULL = {"507", "InsufficientStorage", "XMinioStorageFull", "QuotaExceeded", "ServiceQuotaExceeded"}
REFUSED = {"AccessDenied", "Forbidden", "403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed"}


@contextmanager
def _told() -> Iterator[None]:
    """What the library raises, as an error of ours."""
    try:
        yield
    except ClientError as cause:
        raise _in_words(cause) from cause
    except (ConnectTimeoutError, ReadTimeoutError) as cause:
        raise StoreError("The store of recordings takes too long to answer.") from cause
    except (BotoCoreError, HTTPError) as cause:
        raise StoreError("The store of recordings can't be reached, or broke off.") from cause


def _in_words(told: ClientError) -> StoreError:
    """A refused key is mended by people, so that asking again later can help."""
    code = str(told.response.get("Error", {}).get("Code", ""))
    status = int(told.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code in GONE:
        return NotKeptError("The store of recordings has no such file, or no longer.")
    if code in ANOTHER:
        return MismatchError("What the store of recordings holds is not what was announced.")
    if code in FULL or status == 507:
        return StoreFullError("The store of recordings is full.")
    if code in REFUSED:
        return StoreError("The store of recordings refuses this site's key.")
    name = code if re.fullmatch(r"[A-Za-z]{1,40}", code) else "no reason"
    return StoreError(f"The store of recordings answered {status or 'nothing that can be read'} ({name}).")


@dataclass(frozen=True)
class S3Store:
    """The folder `folder` of a bucket. `parameters` go with all that is written: how it is encrypted there."""

    bucket: str
    folder: str
    endpoint: str | None
    region: str
    key: str
    secret: str = field(repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict)
    patience_s: float = 20
    patience_of_pages_s: float = 4

    @cached_property
    def _asked(self) -> Any:
        """For what pages ask: somebody waits, and whatever they wait for holds a thread."""
        return self._client(self.patience_of_pages_s)

    @cached_property
    def _carrier(self) -> Any:
        """For what takes its time, and waits for nobody."""
        return self._client(self.patience_s)

    def _client(self, patience_s: float) -> Any:
        """One for all threads. It makes no check of its own where none is asked for: not every server knows them."""
        return boto3.session.Session().client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=self.region,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                connect_timeout=min(patience_s, 5),
                read_timeout=patience_s,
                retries={"max_attempts": 0},
                max_pool_connections=32,
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def _at(self, key: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": self.folder + checked_key(key)}

    def _sign(self, act: str, holds_s: int, **said: Any) -> str:
        with _told():
            return str(self._asked.generate_presigned_url(act, Params=said, ExpiresIn=holds_s))

    # --- links -----------------------------------------------------------------------------------

    def put_link(self, key: str, *, size: int, media_type: str, sha256: str, holds_s: int) -> Link:
        digest = _base64(sha256)
        said = {"ContentType": media_type, "ContentLength": size, "ChecksumSHA256": digest, **self.parameters}
        headers = {"Content-Type": media_type, "x-amz-checksum-sha256": digest, **_headers_of(self.parameters)}
        return Link(self._sign("put_object", holds_s, **self._at(key), **said), headers)

    def get_link(self, key: str, *, media_type: str, holds_s: int, saved_as: str = "") -> str:
        said = {"ResponseContentType": media_type, "ResponseCacheControl": "private, no-cache"}
        if saved_as:
            said["ResponseContentDisposition"] = f"attachment; filename*=UTF-8''{quote(saved_as, safe='')}"
        return self._sign("get_object", holds_s, **self._at(key), **said)

    def part_link(self, key: str, upload_id: str, number: int, *, size: int, sha256: str, holds_s: int) -> Link:
        digest = _base64(sha256)
        said = {"UploadId": upload_id, "PartNumber": number, "ContentLength": size, "ChecksumSHA256": digest}
        url = self._sign("upload_part", holds_s, **self._at(key), **said)
        return Link(url, {"x-amz-checksum-sha256": digest})

    # --- in parts --------------------------------------------------------------------------------

    def begin_parts(self, key: str, *, media_type: str) -> str:
        with _told():
            begun = self._asked.create_multipart_upload(
                **self._at(key), ContentType=media_type, ChecksumAlgorithm="SHA256", **self.parameters
            )
        return str(_said_in(begun, "UploadId"))

    def parts(self, key: str, upload_id: str) -> Sequence[SentPart]:
        with _told():
            pages = list(self._asked.get_paginator("list_parts").paginate(**self._at(key), UploadId=upload_id))
        _said_in(pages[0], "UploadId")
        found = [part for page in pages for part in page.get("Parts", [])]
        found.sort(key=lambda part: (part["PartNumber"], part["LastModified"]))
        last = {part["PartNumber"]: _sent(part) for part in found}  # some servers list what was sent before, too
        return list(last.values())

    def finish_parts(self, key: str, upload_id: str, parts: Sequence[SentPart]) -> Kept:
        """The server checks each ETag. Where the upload is over, the object says whether it was finished."""
        size = sum(part.size for part in parts)
        with suppress(NotKeptError), _told():
            said = {"Parts": [_said(part) for part in sorted(parts, key=lambda part: part.number)]}
            whole = self._carrier.complete_multipart_upload(**self._at(key), UploadId=upload_id, MultipartUpload=said)
            _said_in(whole, "ETag")
        kept = self.look(key)
        if kept is None:
            raise NotKeptError("The store of recordings no longer knows of this upload.")
        if kept.size != size:
            raise MismatchError("The file in the store of recordings is not as long as its parts.")
        return kept

    def drop_parts(self, key: str, upload_id: str) -> None:
        with suppress(NotKeptError), _told():
            self._asked.abort_multipart_upload(**self._at(key), UploadId=upload_id)

    # --- whole objects ---------------------------------------------------------------------------

    def look(self, key: str) -> Kept | None:
        try:
            with _told():
                found = self._asked.head_object(**self._at(key))
        except NotKeptError:
            return None
        return Kept(key, int(_said_in(found, "ContentLength")), _said_in(found, "ETag").strip('"'))

    def under(self, prefix: str) -> Iterator[Kept]:
        pages = self._carrier.get_paginator("list_objects_v2")
        with _told():
            for page in pages.paginate(Bucket=self.bucket, Prefix=self.folder + checked_prefix(prefix)):
                _said_in(page, "Name")
                for found in page.get("Contents", []):
                    key = found["Key"].removeprefix(self.folder)
                    yield Kept(key, int(found["Size"]), found["ETag"].strip('"'))

    @contextmanager
    def open(self, key: str) -> Iterator[IO[bytes]]:
        with _told(), closing(self._carrier.get_object(**self._at(key))["Body"]) as body:
            yield body

    def fetch(self, key: str, path: Path) -> None:
        """Whatever has come is written at once: a server that drips is given up, too."""
        with _told():
            found = self._carrier.get_object(**self._at(key))
            left = int(_said_in(found, "ContentLength"))
            until = self._until(left)
            with found["Body"] as body, _writing(path) as target:
                while left and (piece := body.read1(PIECE)):
                    target.write(piece)
                    left -= len(piece)
                    _be_in_time(until)
        if left:
            raise StoreError("The store of recordings broke off.")

    def keep(self, key: str, path: Path, *, media_type: str) -> Kept:
        size = path.stat().st_size
        until = self._until(size)
        transfer = TransferConfig(
            multipart_threshold=PART_BYTES,
            multipart_chunksize=max(PART_BYTES, -(-size // MOST_PARTS)),
            use_threads=False,
        )
        with path.open("rb") as source, _told():
            self._carrier.upload_fileobj(
                source,
                self.bucket,
                self.folder + checked_key(key),
                ExtraArgs={"ContentType": media_type, "ChecksumAlgorithm": "SHA256", **self.parameters},
                Callback=lambda _: _be_in_time(until),
                Config=transfer,
            )
        kept = self.look(key)
        if kept is None or kept.size != size:
            raise StoreError("The store of recordings took a file and does not have it.")
        return kept

    def remove(self, keys: Iterable[str]) -> None:
        left = iter(keys)
        while some := list(islice(left, MOST_REMOVED_AT_ONCE)):
            named = [self._at(key)["Key"] for key in some]
            with _told():
                answer = self._carrier.delete_objects(
                    Bucket=self.bucket, Delete={"Objects": [{"Key": name} for name in named]}
                )
            gone = {each.get("Key") for each in answer.get("Deleted", [])}
            gone |= {each.get("Key") for each in answer.get("Errors", []) if each.get("Code") in GONE}
            if left_there := set(named) - gone:
                raise StoreError(f"The store of recordings did not remove {len(left_there)} of {len(named)} files.")

    def _until(self, size: int) -> float:
        return time.monotonic() + 10 * self.patience_s + size / SLOWEST_BYTES_A_S


def _said_in(answer: Mapping[str, Any], name: str) -> Any:
    """What every S3 server says there: without it, somebody else answered in its place."""
    if name not in answer:
        raise StoreError("The store of recordings answered with something that can't be read.")
    return answer[name]


def _base64(sha256: str) -> str:
    return base64.b64encode(bytes.fromhex(sha256)).decode()


def _headers_of(parameters: Mapping[str, str]) -> dict[str, str]:
    """As the browser must send what a link to send signs."""
    names = {
        "ServerSideEncryption": "x-amz-server-side-encryption",
        "SSEKMSKeyId": "x-amz-server-side-encryption-aws-kms-key-id",
    }
    return {names[name]: value for name, value in parameters.items()}


def _sent(part: Mapping[str, Any]) -> SentPart:
    sha256 = base64.b64decode(part.get("ChecksumSHA256", "")).hex()
    return SentPart(int(part["PartNumber"]), int(part["Size"]), part["ETag"].strip('"'), sha256)


def _said(part: SentPart) -> dict[str, Any]:
    named: dict[str, Any] = {"PartNumber": part.number, "ETag": f'"{part.etag}"'}
    return {**named, "ChecksumSHA256": _base64(part.sha256)} if part.sha256 else named


def _be_in_time(until: float) -> None:
    if time.monotonic() > until:
        raise StoreError("The store of recordings is too slow: it was given up.")


@contextmanager
def _writing(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("wb") as target:
            yield target
    except OSError as cause:
        raise StoreError("What is fetched from the store of recordings can't be written down here.") from cause
