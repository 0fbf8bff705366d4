"""`./emma up`, as a newcomer sees it. It works in this checkout's .venv, on data of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from emma_eval.knock import find_free, is_free, is_ready
from results.demo import PEOPLE

ROOT = Path(__file__).resolve().parent.parent


class Site:
    """One `./emma up`, with the words it has said so far."""

    def __init__(self, var: Path, *arguments: str) -> None:
        self.var, self.port = var, find_free()
        self.address = f"http://127.0.0.1:{self.port}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("EMMA_")}
        kept = {name: value for name, value in kept.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
        self.environment = {**kept, "EMMA_VAR": str(var), "EMMA_PORT": str(self.port)}
        self.log = var.with_suffix(".log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["env", "--default-signal=INT", ROOT / "emma", "up", *arguments],
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def said(self) -> str:
        return self.log.read_text()

    def wait_until(self, claim: Callable[[], object], within_s: float = 90) -> None:
        until = time.monotonic() + within_s
        while not claim():
            assert time.monotonic() < until, self.said()
            time.sleep(0.1)

    def get_ready(self) -> None:
        self.wait_until(lambda: "Ctrl-C stops it" in self.said() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()

    def parts(self) -> list[int]:
        """The processes that serve this site: web and worker, with their children."""
        mine = f"EMMA_VAR={self.var}\0".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = mine in (folder / "environ").read_bytes() + b"\0"
                is_part = is_ours and re.search(rb"granian|celery", (folder / "cmdline").read_bytes())
            except OSError:
                continue
            if is_part:
                found.append(int(folder.name))
        return sorted(found)

    def part(self, name: str) -> int:
        """The parent process of the web server or the worker."""
        return next(pid for pid in self.parts() if name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes())

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        self.process.send_signal(with_signal)
        return self.process.wait(timeout=60)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    sites: list[Site] = []

    def start_(*arguments: str) -> Site:
        sites.append(Site(tmp_path / "var", *arguments))
        return sites[-1]

    yield start_
    for site in sites:
        if site.process.poll() is None:
            site.stop()


def test_it_starts_says_where_and_who_and_stops_whole(start: Callable[..., Site]) -> None:
    site = start()
    site.get_ready()
    assert f"Emma Eval is at {site.address}\n" in site.said()
    for sign_in in json.loads((site.var / "demo_sign_ins.json").read_text()):
        assert re.search(rf"{sign_in['email']} +{sign_in['password']}\n", site.said())
    with urllib.request.urlopen(f"{site.address}/account/login/") as page:
        assert "Content-Security-Policy" in page.headers
    assert (site.var / "secret_key").stat().st_mode & 0o777 == 0o600
    assert "broker" not in site.said(), "what was prepared waits in a queue of our own"
    site.wait_until(lambda: list((site.var / "recordings").glob("*/media.*")), within_s=60)

    again = subprocess.run([ROOT / "emma", "up"], env=site.environment, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert f"already running at {site.address}" in again.stderr

    told = subprocess.run(
        [
            ROOT / ".venv" / "bin" / "python",
            "manage.py",
            "shell",
            "-c",
            "print(User.objects.filter(is_demo=True).count())",
        ],
        cwd=ROOT,
        env={name: value for name, value in site.environment.items() if name != "EMMA_PORT"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout.splitlines()[-1:] == [str(len(PEOPLE))], told.stderr

    assert site.stop(signal.SIGINT) == 0
    assert site.parts() == []
    assert is_free(site.port)

    later = start()
    before = time.monotonic()
    later.get_ready()
    assert time.monotonic() - before < 30  # ten seconds on a machine that does nothing else
    assert is_ready(later.address)


@pytest.mark.parametrize(("killed", "told"), [("granian", "the web server stopped"), ("celery", "the worker stopped")])
def test_if_one_part_dies_the_other_is_stopped_and_it_says_which(
    killed: str, told: str, start: Callable[..., Site]
) -> None:
    site = start("--no-demo")
    site.get_ready()
    assert "demo" not in site.said()
    os.kill(site.part(killed), signal.SIGKILL)
    assert site.process.wait(timeout=60) == 1
    assert told in site.said()
    site.wait_until(lambda: site.parts() == [] and is_free(site.port), within_s=10)


# --- PostgreSQL and Redis of its own --------------------------------------------------------------


@pytest.fixture
def start_stack() -> Iterator[Callable[..., Site]]:
    """Sites on one folder that PostgreSQL's own user can get to, as it can to /var/lib."""
    folder = Path(tempfile.mkdtemp(prefix="emma-up-"))
    folder.chmod(0o755)
    sites: list[Site] = []

    def start_(*arguments: str) -> Site:
        sites.append(Site(folder / "var", *arguments))
        return sites[-1]

    yield start_
    for site in sites:
        if site.process.poll() is None:
            site.stop()
    shutil.rmtree(folder)


def port_of(site: Site, server: str) -> int:
    return int((site.var / f"{server}_access").read_text().split()[0])


def manage(site: Site, code: str) -> str:
    """What manage.py says on this folder: it finds the servers by itself."""
    told = subprocess.run(
        [ROOT / ".venv" / "bin" / "python", "manage.py", "shell", "-v0", "-c", code],
        cwd=ROOT,
        env=site.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    return told.stdout.strip()


COUNT = "from django.db import connection; print(connection.vendor, Build.objects.filter(name='kept').count())"


def test_the_full_stack_keeps_its_data_and_leaves_nothing_running(start_stack: Callable[..., Site]) -> None:
    site = start_stack("--postgres", "--redis", "--no-demo")
    site.get_ready()
    commands = [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ") for pid in site.parts()]
    assert sum(b" beat --schedule" in command for command in commands) == 1
    assert [command for command in commands if b" worker " in command and b"--beat" in command] == []
    for kept in ("database_url", "redis_url", "postgres_access", "redis_access", "redis/redis.conf", "PostgreSQL.log"):
        assert (site.var / kept).stat().st_mode & 0o777 == 0o600
    told = subprocess.run([ROOT / "emma", "doctor"], env=site.environment, capture_output=True, text=True, check=False)
    assert "ok    database: PostgreSQL answers" in told.stdout
    assert "ok    broker: Redis can be reached" in told.stdout
    assert "ok    workers: 1 answer" in told.stdout
    assert manage(site, "Build.objects.create(name='kept');" + COUNT) == "postgresql 1"
    durable = "from django.db import connection; print(connection.cursor().execute('SHOW fsync').fetchone()[0])"
    assert manage(site, durable) == "on"
    rights = "rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
    asked = f"from django.db import connection; print(connection.cursor().execute('SELECT {rights}').fetchone())"
    assert manage(site, asked) == "(False, False, False)"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(host="127.0.0.1", port=port_of(site, "postgres"), user="postgres", password="x", dbname="emma")
    ports = [site.port, port_of(site, "postgres"), port_of(site, "redis")]
    assert not any(is_free(port) for port in ports)
    assert site.stop(signal.SIGINT) == 0
    assert site.parts() == []
    assert all(is_free(port) for port in ports)

    again = start_stack("--postgres", "--no-demo")
    again.get_ready()
    assert port_of(again, "postgres") == ports[1]
    assert manage(again, COUNT) == "postgresql 1"
    assert is_free(ports[2])
    assert again.stop() == 0

    other = start_stack("--redis", "--no-demo")
    other.get_ready()
    assert "This folder was last used with PostgreSQL. Its data stays in" in other.said()
    assert manage(other, COUNT) == "sqlite 0"
    assert not is_free(ports[2])
    assert other.stop() == 0


def test_if_its_postgresql_dies_the_site_is_stopped_and_it_says_so(start_stack: Callable[..., Site]) -> None:
    site = start_stack("--postgres", "--no-demo")
    site.get_ready()
    os.kill(int((site.var / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    assert site.process.wait(timeout=60) == 1
    assert "the PostgreSQL server (its words are in" in site.said()
    assert site.parts() == []


@pytest.mark.parametrize(("option", "variable"), [("--postgres", "DATABASE_URL"), ("--redis", "REDIS_URL")])
def test_a_server_of_its_own_beside_a_given_one_is_refused(option: str, variable: str, tmp_path: Path) -> None:
    environment = {**os.environ, "EMMA_VAR": str(tmp_path / "var"), "EMMA_PORT": str(find_free())}
    environment[variable] = "postgres://emma@127.0.0.1:1/emma" if option == "--postgres" else "redis://127.0.0.1:1/0"
    told = subprocess.run(
        [ROOT / "emma", "up", option], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert told.returncode == 1
    assert re.search(rf"emma: {variable} is set, so .* leave out one of it and {option}\.", told.stderr)


def test_a_check_it_does_not_know_is_told(tmp_path: Path) -> None:
    environment = {**os.environ, "EMMA_VAR": str(tmp_path / "var")}
    told = subprocess.run(
        [ROOT / "emma", "check", "style", "bogus"], env=environment, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stdout) == (1, "")
    assert "there is no check 'bogus': they are style format" in told.stderr


def test_the_help_of_the_benchmark_comes_before_anything_is_installed(tmp_path: Path) -> None:
    """By a PATH without the real parts, which it would otherwise ask for."""
    (tmp_path / "bin").mkdir()
    for program in ("sh", "dirname", "env"):
        (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    environment = {**os.environ, "EMMA_VAR": str(tmp_path / "var"), "PATH": str(tmp_path / "bin")}
    told = subprocess.run(
        [ROOT / "emma", "bench", "--help"], env=environment, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stdout[:20]) == (0, "usage: ./emma bench "), told.stderr


def test_an_option_it_does_not_know_is_told(tmp_path: Path) -> None:
    environment = {**os.environ, "EMMA_VAR": str(tmp_path / "var")}
    told = subprocess.run(
        [ROOT / "emma", "up", "--mysql"], env=environment, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (1, "emma: ./emma up knows only --postgres, --redis and --no-demo.\n")
