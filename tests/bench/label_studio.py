"""Label Studio on this machine, with ten thousand tasks: what a team would otherwise look its calls through with.

It is not of this project's packages. Where it is installed, in an environment of its own, EMMA_LABEL_STUDIO names its
program; its folder is filled once and kept beside the benchmark's own data.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from emma_eval.knock import find_free
from scripts_catalog import taxonomy

from .server import cpu_s

TASKS, AT_ONCE = 10_000, 500
SEED = 20_261
TOKEN = "of-the-benchmark-alone-0123456789abcdef"
STARTS_WITHIN_S = 240
SAYS_ITS_VERSION = "import importlib.metadata as found; print(found.version('label-studio'))"


@dataclass
class LabelStudio:
    """A server that answers on `port`; `project` has the tasks."""

    version: str
    port: int
    process: subprocess.Popen[bytes]
    project: int = 0

    def cpu_s(self) -> float:
        return cpu_s(self.process.pid)

    def ask(self, method: str, path: str, said: object = None) -> object:
        """What its API answers, as JSON."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        link.request(method, path, body=json.dumps(said) if said is not None else None, headers=headers)
        answer = link.getresponse()
        body = answer.read()
        link.close()
        if answer.status >= 300:
            raise RuntimeError(f"Label Studio answered {answer.status} to {method} {path}: {body[:400]!r}")
        return json.loads(body)


def program() -> Path | None:
    """Where its program is; None where nobody says that it is installed."""
    named = os.environ.get("EMMA_LABEL_STUDIO", "")
    return Path(named) if named and Path(named).is_file() else None


@contextmanager
def running(its_program: Path, keep: Path) -> Iterator[LabelStudio]:
    """It, with its tasks in it, on a free port of the loopback address."""
    python = its_program.parent / "python"
    said = subprocess.run([python, "-c", SAYS_ITS_VERSION], capture_output=True, text=True, check=True)
    version = said.stdout.strip()
    folder = keep / f"label-studio-{version}-{TASKS}"
    folder.mkdir(parents=True, exist_ok=True)
    port = find_free()
    words = ("start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port), "--log-level", "WARNING")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(its_program), *words],
            env=_environment(folder),
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        server = LabelStudio(version, port, process)
        _wait_for(server)
        server.project = _project(server, folder)
        yield server
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def _environment(folder: Path) -> dict[str, str]:
    """It tells nobody outside of this machine that it runs."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_USERNAME": "bench@example.test",
        "LABEL_STUDIO_PASSWORD": "of-the-benchmark-alone",
        "LABEL_STUDIO_USER_TOKEN": TOKEN,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
    }


def _wait_for(server: LabelStudio) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            server.ask("GET", "/api/version")
        except (OSError, http.client.HTTPException, RuntimeError):
            if server.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("Label Studio did not start; its folder has a log") from None
            time.sleep(0.5)
        else:
            return


def _project(server: LabelStudio, folder: Path) -> int:
    """The project with the tasks; made and filled the first time."""
    filled = folder / "filled"
    if filled.exists():
        return int(filled.read_text())
    made = server.ask("POST", "/api/projects/", {"title": "Call review", "label_config": _config()})
    project: int = made["id"]  # type: ignore[index]
    rng = Random(SEED)
    for first in range(0, TASKS, AT_ONCE):
        tasks = [_task(rng, number) for number in range(first, first + AT_ONCE)]
        server.ask("POST", f"/api/projects/{project}/import", tasks)
    filled.write_text(str(project))
    return project


def _config() -> str:
    """Six ratings, our tags and a comment on a recording, as a team would set it up."""
    ratings = "".join(f'<Rating name="{each.key}" toName="call" maxRating="5"/>' for each in taxonomy.DIMENSIONS)
    choices = "".join(f'<Choice value="{tag}"/>' for tag in taxonomy.TAG_BY_KEY)
    tags = f'<Choices name="problems" toName="call" choice="multiple">{choices}</Choices>'
    return f'<View><Audio name="call" value="$url"/>{ratings}{tags}<TextArea name="comment" toName="call"/></View>'


def _task(rng: Random, number: int) -> dict[str, object]:
    """A call that is labelled: ratings, two tags and a comment."""
    result: list[dict[str, object]] = [
        _labelled(each.key, "rating", {"rating": rng.randint(1, 5)}) for each in taxonomy.DIMENSIONS
    ]
    result.append(_labelled("problems", "choices", {"choices": rng.sample(tuple(taxonomy.TAG_BY_KEY), 2)}))
    result.append(_labelled("comment", "textarea", {"text": ["She answered before I had finished."]}))
    data = {"url": f"https://recordings.example.test/{number}.webm", "script": f"script-{number % 200:03}"}
    return {"data": data, "annotations": [{"result": result}]}


def _labelled(name: str, kind: str, value: dict[str, object]) -> dict[str, object]:
    return {"from_name": name, "to_name": "call", "type": kind, "value": value}
