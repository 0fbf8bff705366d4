"""A recording of 300 MB on its way into a bucket, from the press of the button until the site has seen the whole file:
through our own page in Chromium, which reads the file from disk, makes the SHA-256 of each part, asks the site for its
link and sends it, beside boto3's plain upload_file of the same file to the same S3 server, turn by turn.

Once with the servers on one half of the cores and whoever sends on the other, as bucket and site don't stand on a
tester's machine; and once with all of them on all cores, where whoever takes more of a processor takes it from the S3
server, too."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser

from tests.s3 import S3Server, s3_server

from ..browser import chromium, fresh_context
from ..cores import halves, on_cores
from ..figures import Figure, pace
from ..server import OURS, ROOT, Server, WrongAnswerError
from ..stage import Stage

PLACE, TITLE = 15, "Upload of a recording"
LEAST, MB, FILE_MB = 0.8, 1_000_000, 300
TURNS = 7  # one takes three seconds and is off by a tenth where anything else is done: the middle one is to be told
NAME = "of-the-benchmark.webm"
PATIENCE_MS = 300_000


@dataclass(frozen=True)
class Way:
    """All that an upload takes: the bucket, our site in front of it, a browser, a file and the call that it is of."""

    s3: S3Server
    bucket: str
    site: Server
    session: str
    browser: Browser
    senders: set[int]  # the cores of whoever sends
    file: Path
    call: str

    def empty(self) -> None:
        client = self.s3.client()
        for kept in client.list_objects_v2(Bucket=self.bucket).get("Contents", []):
            client.delete_object(Bucket=self.bucket, Key=kept["Key"])


def measure(stage: Stage) -> Iterator[Figure]:
    servers, senders = halves()
    floor, ours = _paces(stage, servers, senders)
    yield pace("upload of 300 MB through our page", floor, ours, "MB/s", LEAST)
    floor, ours = _paces(stage, servers | senders, servers | senders)
    yield pace("the same, with the S3 server on the same cores as the browser", floor, ours, "MB/s")


def _paces(stage: Stage, servers: set[int], senders: set[int]) -> tuple[list[float], list[float]]:
    """Of boto3 and of our page, in MB a second, a turn each; the first turn warms up and is left out."""
    floor, ours = [], []
    with ExitStack() as ends:
        way = _way(stage, ends, servers, senders)
        ends.callback(stage.house.ask, "measures.upload", "forget_uploads")
        for _ in range(TURNS + 1):
            floor.append(FILE_MB / _by_boto(way))
            ours.append(FILE_MB / _by_our_page(way))
            way.empty()
            stage.house.ask("measures.upload", "forget_uploads")
    return floor[1:], ours[1:]


def _way(stage: Stage, ends: ExitStack, servers: set[int], senders: set[int]) -> Way:
    with on_cores(servers):
        s3 = ends.enter_context(s3_server())
        bucket = s3.new_bucket()
        environment = {**stage.house.environment, **_said_of(s3, bucket)}
        site = ends.enter_context(Server(OURS, environment))
    with on_cores(senders):
        browser = ends.enter_context(chromium())
    let_in = (sys.executable, "manage.py", "recordings_bucket")
    told = {**environment, "EMMA_ORIGIN": site.address}
    subprocess.run(let_in, cwd=ROOT, env=told, check=True, stdout=subprocess.DEVNULL)
    file, call = _file(Path(ends.enter_context(TemporaryDirectory()))), stage.house.ask("measures.upload", "a_call")
    return Way(s3, bucket, site, stage.facts["session"], browser, senders, file, call)


def _said_of(s3: S3Server, bucket: str) -> dict[str, str]:
    said = {"BUCKET": bucket, "ENDPOINT": s3.endpoint, "REGION": s3.region, "KEY": s3.key, "SECRET": s3.secret}
    return {f"EMMA_S3_{name}": value for name, value in said.items()}


def _file(folder: Path) -> Path:
    """What can't be made smaller on the way, as media can't."""
    file = folder / NAME
    with file.open("wb") as to:
        for _ in range(FILE_MB):
            to.write(os.urandom(MB))
    return file


def _by_boto(way: Way) -> float:
    """How many seconds the plain way takes."""
    client = way.s3.client()
    with on_cores(way.senders):
        began = time.perf_counter()
        client.upload_file(str(way.file), way.bucket, "plain.webm")
        return time.perf_counter() - began


def _by_our_page(way: Way) -> float:
    context = fresh_context(way.browser, way.site, way.session)
    page = context.new_page()
    page.goto(f"/recordings/new/?call={way.call}", wait_until="networkidle")
    page.set_input_files("#file", way.file)
    page.check("#consent")
    began = time.perf_counter()
    with page.expect_response("**/parts/finish/", timeout=PATIENCE_MS) as told:
        page.get_by_role("button", name="Upload", exact=True).click()
    took = time.perf_counter() - began
    if told.value.status != 200:
        raise WrongAnswerError(f"the upload ended with {told.value.status}")
    context.close()
    kept = way.s3.client().list_objects_v2(Bucket=way.bucket, Prefix="recordings/").get("Contents", [])
    if [each["Size"] for each in kept] != [FILE_MB * MB]:
        raise WrongAnswerError("the bucket does not hold the file that was uploaded")
    return took


def a_call() -> str:
    """A call of the tester that everybody may know of."""
    from emma_eval.accounts.models import User
    from results.models import Result

    from ..data import TESTER

    tester = User.objects.get(email=TESTER)
    found = Result.objects.visible_to(tester).filter(tester=tester, never_started=False).order_by("-id")[0]
    return str(found.call_uuid)


def forget_uploads() -> int:
    """Take the recordings of this measure out again, with the work that waits for them; how many there were."""
    from emma_eval.outbox.models import Row
    from results.models import Recording

    ours = Recording.objects.filter(name=NAME)
    Row.objects.filter(payload__recording__in=[str(key) for key in ours.values_list("pk", flat=True)]).delete()
    return ours.delete()[0]
