"""A PostgreSQL for a moment, to load what somebody may have tampered with: away from every server that is in use.

A dump is a program: to load it is to run it. Here it finds a server that holds nothing else, that listens in a folder
of its own alone, and that gives it a role without any right beyond its own database.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import postgresql
from .postgresql import Database

SETTINGS = "-c listen_addresses= -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=10"
PREPARE = ("CREATE ROLE stranger LOGIN", "CREATE DATABASE scratch OWNER stranger")


@dataclass(frozen=True)
class Room:
    """The database to load into; without one, `why_not` says what this machine lacks."""

    database: Database | None
    why_not: str = ""


@contextmanager
def room() -> Iterator[Room]:
    """Gone at the end, with everything in it."""
    programs = _programs()
    if programs is None:
        yield Room(None, "no PostgreSQL server is installed here")
        return
    folder = Path(tempfile.mkdtemp(prefix="emma-verify-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        try:
            _start(programs, folder)
        except (subprocess.CalledProcessError, OSError, LookupError) as cause:
            yield Room(None, f"no PostgreSQL could be started here ({_last_words(cause)})")
            return
        yield Room(Database("scratch", host=str(folder), user="stranger"))
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            _run([str(programs / "pg_ctl"), "-D", str(folder / "data"), "-m", "immediate", "-w", "stop"])
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path | None:
    """The newest server of this machine: it reads what older ones wrote."""
    kept = postgresql.DEBIAN_KEEPS_THEM.glob("[0-9]*/bin")
    folders = sorted(kept, key=lambda folder: int(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    folders += [Path(on_path).resolve().parent] if on_path else []
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def _start(programs: Path, folder: Path) -> None:
    data, log = str(folder / "data"), str(folder / "log")
    shape = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]
    _run([str(programs / "initdb"), "-D", data, *shape])
    _run([str(programs / "pg_ctl"), "-D", data, "-l", log, "-w", "-o", f"{SETTINGS} -k {folder}", "start"])
    with Database("postgres", host=str(folder), user="postgres").connect(autocommit=True) as link:
        for words in PREPARE:
            link.execute(words)


def _run(command: list[str]) -> None:
    """PostgreSQL's server refuses to be root, so for root it is its own user."""
    whose: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    subprocess.run(command, cwd="/", env=own, check=True, stderr=subprocess.PIPE, **quiet, **whose)  # noqa: S603


def _last_words(cause: Exception) -> str:
    said = getattr(cause, "stderr", None) or b""
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[0] if lines else str(cause)
