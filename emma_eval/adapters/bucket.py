"""An S3 bucket: is it there, is it closed, what lies in it, one file in or out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

import boto3
from botocore import UNSIGNED
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.httpsession import URLLib3Session

from .errors import NeighbourError

REFUSED = {"AccessDenied", "403", "Forbidden"}
HAS_NO_BLOCK = {"NotImplemented", "MethodNotAllowed", "501", "405"}
IS_OPEN = "NoSuchPublicAccessBlockConfiguration"


class BucketError(NeighbourError):
    """The bucket did not do what was asked; its text is for people and names no key."""


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as cause:
        raise BucketError(str(cause)) from cause


@dataclass(frozen=True)
class StoredObject:
    """One file in a bucket, by the words of its server."""

    key: str
    size: int
    etag: str


@dataclass(frozen=True)
class Closed:
    """Whether strangers are kept out of a bucket: what was asked, and what the server said."""

    strangers_are_refused: bool
    block_is_on: bool | None  # None: this server knows no public access block


@dataclass(frozen=True)
class Bucket:
    """A bucket and the key to it. Each question waits `patience_s` at most, and is asked once.

    What is put there goes `written_with` S3's parameters: how it is encrypted.
    """

    name: str
    endpoint: str | None
    region: str
    key: str
    secret: str = field(repr=False)
    patience_s: float = 20
    written_with: Mapping[str, str] = field(default_factory=dict)

    def _config(self, **more: Any) -> Config:
        return Config(
            s3={"addressing_style": "path"},
            connect_timeout=self.patience_s,
            read_timeout=self.patience_s,
            retries={"max_attempts": 0},
            **more,
        )

    @cached_property
    def as_owner(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=self.region,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            config=self._config(signature_version="s3v4"),
        )

    @cached_property
    def _as_stranger(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=self.region,
            config=self._config(signature_version=UNSIGNED),
        )

    def reach(self) -> None:
        """`BucketError`, unless the bucket answers to our key."""
        with _told():
            self.as_owner.head_bucket(Bucket=self.name)

    def is_closed(self) -> Closed:
        """Ask for its content without a key, and for its public access block."""
        with _told():
            return Closed(self._refuses_strangers(), self._block_is_on())

    def _refuses_strangers(self) -> bool:
        try:
            self._as_stranger.list_objects_v2(Bucket=self.name, MaxKeys=1)
        except ClientError as told:
            return code_of(told) in REFUSED
        return False

    def _block_is_on(self) -> bool | None:
        try:
            answer = self.as_owner.get_public_access_block(Bucket=self.name)
        except ClientError as told:
            if code_of(told) in HAS_NO_BLOCK | REFUSED:
                return None
            if code_of(told) == IS_OPEN:
                return False
            raise
        block = answer["PublicAccessBlockConfiguration"]
        return bool(block) and all(block.values())

    def lets_in(self, origin: str) -> bool:
        """Whether its server lets pages of that origin send files by signed links: asked as a browser asks it."""
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": "PUT",
            "Access-Control-Request-Headers": "content-type,x-amz-checksum-sha256",
        }
        url = f"{self.as_owner.meta.endpoint_url}/{self.name}/recordings/none"
        with _told():
            answer = URLLib3Session(timeout=self.patience_s).send(AWSRequest("OPTIONS", url, asked).prepare())
        is_let_in = answer.headers.get("Access-Control-Allow-Origin") in {origin, "*"}
        return answer.status_code < 300 and is_let_in

    def objects(self) -> Iterator[StoredObject]:
        with _told():
            for page in self.as_owner.get_paginator("list_objects_v2").paginate(Bucket=self.name):
                for found in page.get("Contents", []):
                    yield StoredObject(found["Key"], found["Size"], found["ETag"].strip('"'))

    @contextmanager
    def open(self, key: str) -> Iterator[IO[bytes]]:
        """Its bytes, as they come."""
        with _told(), self.as_owner.get_object(Bucket=self.name, Key=key)["Body"] as body:
            yield body

    def put(self, key: str, source: IO[bytes]) -> None:
        with _told():
            self.as_owner.upload_fileobj(source, self.name, key, ExtraArgs=dict(self.written_with))


def code_of(told: ClientError) -> str:
    return str(told.response.get("Error", {}).get("Code", ""))
