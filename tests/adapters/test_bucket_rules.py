"""The rules that a bucket keeps by itself, put by `manage.py recordings_bucket` on a real S3 server."""

from __future__ import annotations

import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from emma_eval import health
from emma_eval.adapters.bucket import Bucket
from emma_eval.adapters.bucket_rules import Rules, lay_down
from tests.s3 import S3Server
from tests.stores import storage_in

OURS = "https://emma.example.org"
OF_OTHERS = {
    "ID": "of-others",
    "AllowedOrigins": ["https://labels.example.org"],
    "AllowedMethods": ["GET"],
    "AllowedHeaders": ["*"],
}


@pytest.fixture(scope="module")
def name(s3: S3Server) -> str:
    return s3.new_bucket()


@pytest.fixture
def client(s3: S3Server, name: str, settings: Settings) -> Any:
    backend = storage_in(s3, name, "recordings")
    settings.STORAGES = {**settings.STORAGES, "recordings": backend, "exports": backend}
    settings.S3_BUCKET = name
    settings.ORIGIN = OURS
    settings.S3_ENCRYPTION = {"ServerSideEncryption": "AES256"}
    return s3.client()


def run() -> list[str]:
    said = io.StringIO()
    call_command("recordings_bucket", stdout=said)
    return said.getvalue().splitlines()


def rules_of(client: Any, name: str) -> tuple[Any, ...]:
    return (
        client.get_bucket_cors(Bucket=name)["CORSRules"],
        client.get_bucket_lifecycle_configuration(Bucket=name)["Rules"],
        client.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"],
    )


def test_rules_are_put_once_and_those_of_others_stay(client: Any, name: str) -> None:
    """SeaweedFS knows no public access block, and says so."""
    kept = {"ID": "of-others", "Status": "Enabled", "Filter": {"Prefix": "elsewhere/"}, "Expiration": {"Days": 9}}
    client.put_bucket_cors(Bucket=name, CORSConfiguration={"CORSRules": [OF_OTHERS]})
    client.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [kept]})
    said = run()
    assert [line.split(": ")[:2] for line in said] == [
        ["pages", "put"],
        ["lifecycle", "put"],
        ["encryption", "put"],
        ["public access", "this server knows no such rule"],
    ]
    pages, lifecycle, encryption = rules_of(client, name)
    assert [rule["ID"] for rule in pages] == ["of-others", "emma-eval-pages"]
    assert pages[1]["AllowedOrigins"] == [OURS]
    assert sorted(pages[1]["AllowedMethods"]) == ["GET", "HEAD", "PUT"]
    assert {"ETag", "Content-Range", "Content-Length", "Accept-Ranges"} <= set(pages[1]["ExposeHeaders"])
    assert [rule["ID"] for rule in lifecycle] == ["of-others", "emma-eval-unfinished", "emma-eval-old-versions"]
    assert {rule["Filter"]["Prefix"] for rule in lifecycle[1:]} == {"recordings/"}
    assert not any("Expiration" in rule for rule in lifecycle[1:])  # what is kept, this site removes
    assert encryption[0]["ApplyServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}

    again = run()
    assert [line.split(": ")[1] for line in again[:3]] == ["as it should be"] * 3
    assert rules_of(client, name) == (pages, lifecycle, encryption)


def test_a_site_that_moved_takes_the_place_of_its_earlier_address(client: Any, name: str, settings: Settings) -> None:
    run()
    settings.ORIGIN = "https://moved.example.org"
    assert run()[0].startswith("pages: put: those of https://moved.example.org")
    pages, _, _ = rules_of(client, name)
    assert [rule["AllowedOrigins"] for rule in pages if rule["ID"].startswith("emma-eval")] == [[settings.ORIGIN]]


def test_the_doctor_says_whether_the_bucket_lets_our_pages_in(client: Any, settings: Settings) -> None:
    run()
    found = health._pages_at_the_bucket()
    assert (found.is_up, found.words) == (True, f"pages of {OURS} may send and play files")
    settings.ORIGIN = "https://elsewhere.example.org"
    found = health._pages_at_the_bucket()
    assert not found.is_up
    assert "run manage.py recordings_bucket" in found.words
    assert not found.needed


def test_without_a_bucket_there_is_nothing_to_set() -> None:
    with pytest.raises(CommandError, match="kept in a folder"):
        run()
    assert health._pages_at_the_bucket().is_up


def test_a_bucket_that_is_not_there_is_told_in_words(client: Any, settings: Settings) -> None:
    for place in ("recordings", "exports"):
        settings.STORAGES[place]["OPTIONS"]["endpoint_url"] = "http://127.0.0.1:1"
    settings.STORAGES = {**settings.STORAGES}
    with pytest.raises(CommandError, match="can't be reached"):
        run()


class Amazon(BaseHTTPRequestHandler):
    """An S3 server that has a public access block and refuses us the rest: none that we have here does."""

    put: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        block = "NoSuchPublicAccessBlockConfiguration" if "publicAccessBlock" in self.path else "AccessDenied"
        self._answer(404 if block.startswith("No") else 403, f"<Error><Code>{block}</Code></Error>")

    def do_PUT(self) -> None:
        self.put.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self._answer(200, "")

    def _answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *said: object) -> None:
        pass


def test_what_a_server_refuses_is_told_and_the_rest_is_put() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Amazon)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    bucket = Bucket("emma", f"http://127.0.0.1:{server.server_port}", "us-east-1", "key", "secret")
    rules = Rules(OURS, "recordings/", 7, 30, {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "1"})
    done = {each.what: each for each in lay_down(bucket, rules)}
    server.shutdown()
    server.server_close()
    assert {what for what, each in done.items() if not each.is_well} == {"pages", "lifecycle", "encryption"}
    assert done["pages"].words == "REFUSED: the key of this site may not set it"
    assert done["public access"].words.startswith("put: blocked")
    assert [body.count(">true<") for body in Amazon.put] == [4]
