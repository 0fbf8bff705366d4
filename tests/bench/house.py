"""Where the benchmark's data lives: for each database a folder of its own, filled once and used again.

The name of the folder says how many rows are in it and, by a digest, of which schema: after a change of a migration
or of the rows it is made anew. PostgreSQL is a cluster of the benchmark's own, started here and stopped at the end.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emma_eval.knock import find_free

from .server import ROOT

DATABASES = ("sqlite", "postgresql")
FILLED = "filled"
QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "max_wal_size=4GB")


class HouseError(Exception):
    """The benchmark can't be run here; the message says what to change."""


@dataclass(frozen=True)
class House:
    """One database with its rows, ready to be asked."""

    database: str
    rows: int
    folder: Path
    environment: dict[str, str]
    database_pid: int | None  # PostgreSQL's first process; SQLite has none

    def ask(self, module: str, function: str, **arguments: Any) -> Any:
        """What a function of the benchmark answers in a process with our Django on this database (inside.py)."""
        return self._said("tests.bench.inside", f"tests.bench.{module}", function, json.dumps(arguments))

    def ask_floor(self, *arguments: str) -> Any:
        """What the floors' own command says."""
        return self._said("tests.bench.floors", *arguments)

    def _said(self, *command: str) -> Any:
        words = (sys.executable, "-m", *command)
        done = subprocess.run(words, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command[:3])} did not succeed:\n{done.stderr[-3000:]}")
        return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def open_house(database: str, rows: int, keep: Path, say: Callable[[str], None]) -> Iterator[House]:
    """The database with so many rows, kept in the folder `keep` for the next time."""
    folder = keep / f"{database}-{rows}-{_schema_digest()}"
    with ExitStack() as ends:
        ends.enter_context(_alone(keep, database))
        for old in keep.glob(f"{database}-{rows}-*"):
            if not (old == folder and (old / FILLED).exists()):
                shutil.rmtree(old)
        folder.mkdir(mode=0o711, exist_ok=True)
        url, floor, pid = _on_sqlite(folder)
        if database == "postgresql":
            url, floor, pid = ends.enter_context(_on_postgresql(folder / "cluster"))
        house = House(database, rows, folder, _environment(folder, url, floor), pid)
        _prepare(house, say)
        yield house


@contextmanager
def _alone(keep: Path, database: str) -> Iterator[None]:
    """Two benchmarks on one database would measure each other."""
    keep.mkdir(mode=0o711, parents=True, exist_ok=True)
    with (keep / f"{database}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise HouseError(f"another benchmark uses {keep}: wait for it, or name a folder with --keep.") from None
        yield


def _schema_digest() -> str:
    """Of everything that decides which rows are in which tables."""
    digest = hashlib.sha256()
    for rows in ("data.py", "recorded.py"):
        digest.update((Path(__file__).parent / rows).read_bytes())
    for migration in sorted(ROOT.glob("*/migrations/*.py")) + sorted(ROOT.glob("emma_eval/*/migrations/*.py")):
        digest.update(migration.read_bytes())
    return digest.hexdigest()[:8]


def _environment(folder: Path, url: str, floor: dict[str, Any]) -> dict[str, str]:
    """What every process of the benchmark sees: nothing of the site that this machine may run otherwise."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PYTHONUNBUFFERED": "1",
        "DJANGO_SETTINGS_MODULE": "tests.bench.ours.settings",
        "EMMA_VAR": str(folder),
        "EMMA_SECRET_KEY": "a-secret-of-the-benchmark-alone-which-keeps-nothing-safe",
        "DATABASE_URL": url,
        "FLOOR_DATABASE": json.dumps(floor),
    }


def _prepare(house: House, say: Callable[[str], None]) -> None:
    """What `./emma up` prepares, and the rows, if they aren't there yet."""
    prepare = (sys.executable, "-m", "emma_eval.prepare", "--no-demo")
    subprocess.run(prepare, cwd=ROOT, env=house.environment, check=True, stdout=subprocess.DEVNULL)
    if (house.folder / FILLED).exists():
        return
    say(f"{house.database}: writing {house.rows:,} results, once; later runs find them there ...")
    began = time.monotonic()
    house.ask("data", "load", rows=house.rows)
    (house.folder / FILLED).touch()
    say(f"{house.database}: written in {time.monotonic() - began:.0f} s")


# --- the databases -----------------------------------------------------------------------------

Database = tuple[str, dict[str, Any], int | None]


def _on_sqlite(folder: Path) -> Database:
    """The address for us, the entry of DATABASES for the floors, and no process."""
    file = str(folder / "emma.sqlite3")
    return f"sqlite:///{file}", {"ENGINE": "django.db.backends.sqlite3", "NAME": file}, None


@contextmanager
def _on_postgresql(data: Path) -> Iterator[Database]:
    """The same for a cluster of our own. Its connections are kept open for the floors, as they are for us."""
    programs, port = _postgres_programs(), find_free()
    if not data.exists():
        data.mkdir(mode=0o700)
        if os.getuid() == 0:
            shutil.chown(data, "postgres")
        _as_postgres(
            programs / "initdb", "-D", data, "-A", "trust", "-U", "emma", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8"
        )
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k '' " + " ".join(f"-c {word}" for word in QUICK)
    _as_postgres(programs / "pg_ctl", "-D", data, "-l", data / "log", "-w", "start", "-o", options)
    try:
        pid = int((data / "postmaster.pid").read_text().splitlines()[0])
        floor = {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": "127.0.0.1",
            "PORT": port,
            "USER": "emma",
            "NAME": "postgres",
            "CONN_MAX_AGE": None,
        }
        yield f"postgres://emma@127.0.0.1:{port}/postgres", floor, pid
    finally:
        _as_postgres(programs / "pg_ctl", "-D", data, "-m", "fast", "-w", "stop")


def _postgres_programs() -> Path:
    """Where the newest PostgreSQL of this machine has its programs."""
    on_path = shutil.which("initdb")
    found = [Path(on_path)] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise HouseError("there is no PostgreSQL here: install it, or say --databases sqlite.")
    return found[-1].parent


def _as_postgres(*command: str | Path) -> None:
    """Its server refuses to run as root, so root lends it its own user."""
    words = [str(word) for word in command]
    if os.getuid() == 0:
        words = ["runuser", "-u", "postgres", "--", *words]
    done = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        folder = words[words.index("-D") + 1]
        raise HouseError(
            f"PostgreSQL could not work in {folder}; its user must be able to get there. "
            f"Name another folder with --keep. It said: {done.stderr.strip()[-500:]}"
        )
