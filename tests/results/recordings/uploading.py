"""How the tests upload: as a page does, part by part and by the links that it is given, to either store."""

from __future__ import annotations

import hashlib
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from django.test import Client

from results.recordings.uploads.finish_upload import digest_of

NAME = "call.mp4"
SMALLEST = 5 * 1024**2  # of a part, says S3


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def announced(content: bytes, **said: Any) -> dict[str, Any]:
    name = said.get("name", NAME)
    fingerprint = sha256(f"{name}\n{len(content)}\n1".encode())
    usual = {"name": name, "size": len(content), "media_type": "video/mp4", "sides": "unknown", "has_consent": True}
    return {**usual, "fingerprint": fingerprint, **said}


@dataclass
class Page:
    """A page that uploads a file to a call. `begun` is what the site answered to its beginning."""

    client: Client
    call: object
    content: bytes
    begun: dict[str, Any]

    @classmethod
    def begin(cls, client: Client, call: object, content: bytes, **said: Any) -> Page:
        answer = post(client, f"/recordings/new/?call={call}", announced(content, **said))
        assert answer.status_code in {200, 201}, answer.content
        return cls(client, call, content, answer.json())

    @property
    def parts(self) -> list[bytes]:
        size = self.begun["part_size"]
        return [self.content[at : at + size] for at in range(0, len(self.content), size)]

    def ask(self, *numbers: int, arrived: dict[int, str] | None = None) -> Any:
        said = {
            "ask": [{"number": number, "sha256": sha256(self.parts[number - 1])} for number in numbers],
            "arrived": [
                {"number": number, "sha256": sha256(self.parts[number - 1]), "etag": etag}
                for number, etag in (arrived or {}).items()
            ],
        }
        return post(self.client, self.begun["parts"], said)

    def send(self, number: int, body: bytes | None = None) -> int:
        """The status with which the store answers a part that is sent by a fresh link; that it arrived is told."""
        link = self.ask(number).json()["links"][str(number)]
        status, etag = put(self.client, link, self.parts[number - 1] if body is None else body)
        if status == 200:
            self.ask(arrived={number: etag})
        return status

    def send_all(self) -> None:
        assert {self.send(number) for number in range(1, len(self.parts) + 1)} == {200}

    @property
    def digest(self) -> str:
        return digest_of(sha256(part) for part in self.parts)

    def finish(self, digest: str = "") -> Any:
        return post(self.client, self.begun["finish"], {"digest": digest or self.digest})


def post(client: Client, path: str, said: object) -> Any:
    return client.post(path, json.dumps(said), content_type="application/json")


def put(client: Client, link: dict[str, Any], body: bytes) -> tuple[int, str]:
    """By a link, as a browser does it: to the bucket's own server, or to the folder's address of the site."""
    if link["url"].startswith("/"):
        answer = client.put(link["url"], body, content_type="application/octet-stream")
        return answer.status_code, answer.headers.get("ETag", "")
    request = urllib.request.Request(link["url"], data=body, headers=link["headers"], method="PUT")
    request.add_header("Content-Type", "")
    try:
        with urllib.request.urlopen(request, timeout=10) as got:
            return got.status, got.headers["ETag"]
    except urllib.error.HTTPError as fault:
        return fault.code, ""


def await_another_second(part_size: int) -> None:
    """This server of buckets tells two of one part apart by the second in which they came."""
    if part_size == SMALLEST:
        time.sleep(1.1)
