"""A real S3 server for tests: SeaweedFS, on loopback, in a folder of its own."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

KEY, SECRET = "test-key", "test-secret-of-the-tests"
GRPC_ABOVE = 10_000  # where each of its ports has a second one
WITHIN_S = 30
_count = itertools.count(1)


@dataclass(frozen=True)
class S3Server:
    """Where it answers, with the key that may do everything there."""

    endpoint: str
    key: str = KEY
    secret: str = SECRET
    region: str = "us-east-1"

    def client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            region_name=self.region,
            config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
        )

    def new_bucket(self) -> str:
        """An empty bucket that no other test has."""
        name = f"tests-{os.getpid()}-{next(_count)}"
        self.client().create_bucket(Bucket=name)
        return name

    @cached_property
    def shared_bucket(self) -> str:
        """One for all tests that keep to a folder of their own in it: a server has room for few buckets."""
        return self.new_bucket()


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Start one, wait until it answers, and stop it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="emma-s3-"))
    ports = free_ports(4)
    process = subprocess.Popen(_command(folder, *ports), stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        server = S3Server(f"http://127.0.0.1:{ports[0]}")
        _wait_for(server, process)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)
        Path(tempfile.gettempdir(), f"seaweedfs-s3-{ports[0]}.sock").unlink(missing_ok=True)


def _command(folder: Path, s3: int, master: int, filer: int, volume: int) -> list[str]:
    config = folder / "s3.json"
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    identity = {"name": "tests", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": actions}
    config.write_text(json.dumps({"identities": [identity]}))
    options = {
        "dir": folder,
        "ip": "127.0.0.1",
        "ip.bind": "127.0.0.1",
        "s3.port": s3,
        "s3.config": config,
        "master.port": master,
        "filer.port": filer,
        "volume.port": volume,
        "volume.max": 20,
        "admin.ui": "false",
        "webdav": "false",
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        "s3.autoCreateBucket": "false",
        "master.telemetry": "false",
    }
    return [_weed(), "mini", *(f"-{name}={value}" for name, value in options.items())]


def _weed() -> str:
    """The program that the lock brings, beside our Python."""
    found = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    assert found, "weed is missing: install requirements/dev.txt"
    return found


def free_ports(count: int) -> list[int]:
    """Ports on which, and on whose second ones, nobody listens. All are held until all are found."""
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = _bind(held, 0)
            if port and port + GRPC_ABOVE < 65_536 and _bind(held, port + GRPC_ABOVE):
                found.append(port)
    return found


def _bind(held: ExitStack, port: int) -> int | None:
    taken = held.enter_context(socket.socket())
    try:
        taken.bind(("127.0.0.1", port))
    except OSError:
        return None
    return int(taken.getsockname()[1])


def _wait_for(server: S3Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        assert process.poll() is None, "the S3 server ended at once"
        try:
            with urllib.request.urlopen(f"{server.endpoint}/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the S3 server does not answer")
