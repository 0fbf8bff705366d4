"""`./emma backup`, `restore` and `verify`, on sites of their own: both databases, real servers, real damage."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from emma_eval.adapters.bucket import Bucket
from emma_eval.adapters.recordings_folder import FolderStore
from emma_eval.backup import __main__ as command
from emma_eval.backup import archive, manifest, postgresql, stranger, verify
from emma_eval.backup.manifest import KeptFile
from emma_eval.backup.refused import Refused
from emma_eval.knock import find_free, is_free

pytestmark = pytest.mark.xdist_group("backup")  # one process makes the sites for all of them
ROOT = Path(__file__).resolve().parent.parent
RECORDING = "11111111-2222-4333-8444-555555555555/"
RECORDED = (f"{RECORDING}chunks/001-000001", f"{RECORDING}media.webm")
MANIFEST, DUMPS = "manifest.json", {"sqlite": "database.sqlite3", "postgresql": "database.pgdump"}
SIGN_IN = """
import sys, emma_eval.celery, django
django.setup()
from django.test import Client
from django.conf import settings
site = Client()
tried = site.post("/account/login/", {"login": sys.argv[1], "password": sys.argv[2]}, headers={"host": "127.0.0.1"})
print(tried.status_code, site.get("/scripts/", headers={"host": "127.0.0.1"}).status_code)
"""
SPOIL = """
import sys, emma_eval.celery, django
django.setup()
from django.db import connection, DatabaseError
for words in ("UPDATE accounts_auditentry SET action = 'x'", "DELETE FROM accounts_auditentry"):
    try:
        connection.cursor().execute(words)
        print("done")
    except DatabaseError as told:
        print(str(told).splitlines()[0])
"""


@dataclass(frozen=True)
class Site:
    """A folder of data, and the database it goes with."""

    var: Path
    engine: str
    database_url: str = ""
    more: tuple[tuple[str, str], ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        outside = {name: value for name, value in os.environ.items() if not name.startswith("EMMA_")}
        outside.pop("REDIS_URL", None)
        return {**outside, "EMMA_VAR": str(self.var), "DATABASE_URL": self.database_url, **dict(self.more)}

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False, timeout=120
        )

    def emma(self, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(ROOT / "emma"), *map(str, arguments)]
        return subprocess.run(
            command, cwd=cwd, env=self.environment, capture_output=True, text=True, check=False, timeout=180
        )

    def backed_up(self, target: Path, *options: str) -> Path:
        told = self.emma("backup", target, *options)
        assert told.returncode == 0, told.stderr
        return target


def counts(site: Site) -> dict[str, int]:
    """Rows of every table, counted by other means than the backup's own."""
    if site.engine == "sqlite":
        with sqlite3.connect(site.var / "emma.sqlite3") as link:
            names = [name for (name,) in link.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            names.remove("sqlite_sequence")
            return {name: link.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}
    with psycopg.connect(site.database_url) as link:
        asked = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        names = [name for (name,) in link.execute(asked)]
        return {name: link.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}  # type: ignore[index]


def sums(folder: Path) -> dict[str, str]:
    kept = [path for path in folder.rglob("*") if path.is_file() and ".arriving" not in path.parts]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


@pytest.fixture(scope="module")
def new_database() -> Iterator[Callable[[], str]]:
    """Empty databases on the PostgreSQL of this run, gone at its end."""
    server = os.environ.get("EMMA_TEST_POSTGRES_URL", "")
    made: list[str] = []

    def make() -> str:
        if not server:
            pytest.skip("no EMMA_TEST_POSTGRES_URL: ./emma test sets it")
        made.append(f"backup_{os.getpid()}_{len(made)}")
        with psycopg.connect(server, autocommit=True) as link:
            link.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(made[-1])))
        return urlsplit(server)._replace(path=f"/{made[-1]}").geturl()

    yield make
    for name in made:
        with psycopg.connect(server, autocommit=True) as link:
            link.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]
) -> Site:
    """The demo team's site, with two recordings, a sheet that waits, and what is not kept."""
    var = tmp_path_factory.mktemp("site") / "var"
    made = Site(var, request.param, new_database() if request.param == "postgresql" else "")
    prepared = made.python("-m", "emma_eval.prepare")
    assert prepared.returncode == 0, prepared.stderr
    linked = made.python("manage.py", "verify_audit", "--link")
    assert linked.returncode == 0, linked.stderr
    (var / "recordings" / "2026").mkdir()
    (var / "recordings" / "2026" / "call – eins.webm").write_bytes(random.Random(1).randbytes(3_000_000))
    (var / "recordings" / "empty.webm").write_bytes(b"")
    (var / "imports").mkdir()
    (var / "imports" / "sheet.csv").write_text("waits\n")
    os.utime(var / "imports" / "sheet.csv", (1_700_000_000, 1_700_000_000))
    (var / "exports").mkdir()
    (var / "exports" / "made again.xlsx").write_text("not kept")
    (var / "mail" / "letter.log").write_text("not kept")
    _record(FolderStore(var / "recordings", "secret", str), var / "recordings" / "2026" / "call – eins.webm")
    return made


def _record(store: FolderStore, media: Path) -> None:
    """What a recording leaves in the folder: what is played, a chunk, and an upload that is on its way."""
    for key in RECORDED:
        store.keep(key, media, media_type="video/webm")
    store.begin_parts(f"{RECORDING}sent", media_type="video/webm")


@pytest.fixture(scope="module")
def backup(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.backed_up(tmp_path_factory.mktemp("kept") / "site.tar")


def empty_beside(site: Site, tmp_path: Path, new_database: Callable[[], str]) -> Site:
    url = new_database() if site.engine == "postgresql" else ""
    return replace(site, var=tmp_path / "restored", database_url=url)


# --- what is in it --------------------------------------------------------------------------------


def test_a_backup_holds_what_cannot_be_made_again_for_its_owner_alone(site: Site, backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with tarfile.open(backup) as tar:
        names = tar.getnames()
        said = json.loads(tar.extractfile(MANIFEST).read())  # type: ignore[union-attr]
    kept = [DUMPS[site.engine], "recordings/empty.webm", "recordings/2026/call – eins.webm", "imports/sheet.csv"]
    of_folders = [name for name in names if not re.match(r"recordings/[0-9a-f-]{36}/", name)]
    assert of_folders == [*kept, "secret_key", MANIFEST]
    assert {f"recordings/{key}" for key in RECORDED} <= set(names)
    assert not [name for name in names if "arriving" in name]
    assert said["rows"] == counts(site) | {"django_session": said["rows"]["django_session"]}
    assert said["rows"]["results_result"] > 50
    assert said["engine"] == site.engine
    assert said["version"] in (ROOT / "pyproject.toml").read_text()
    assert "results.0001_initial" in said["migrations"]
    assert {entry["name"] for entry in said["files"]} == set(names) - {MANIFEST}
    assert [name for name in backup.parent.iterdir() if name != backup] == []


def test_a_backup_overwrites_nothing(site: Site, backup: Path, tmp_path: Path) -> None:
    before = backup.read_bytes()
    told = site.emma("backup", backup)
    assert (told.returncode, backup.read_bytes()) == (1, before)
    assert "overwrites nothing" in told.stderr
    told = site.emma("backup", tmp_path / "nowhere" / "site.tar")
    assert told.returncode == 1
    assert "There is no folder" in told.stderr


def test_paths_are_those_of_whoever_types_them_and_a_folder_will_do(site: Site, tmp_path: Path) -> None:
    told = site.emma("backup", "as-folder", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    folder = tmp_path / "as-folder"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()} == {0o600}
    assert site.emma("verify", "as-folder", cwd=tmp_path).returncode == 0
    (folder / "imports" / "sheet.csv").unlink()
    (folder / "recordings" / "new.webm").write_text("x")
    told = site.emma("verify", folder)
    assert told.returncode == 1
    assert "imports/sheet.csv is missing" in told.stderr
    assert "recordings/new.webm was added later" in told.stderr


def test_with_no_target_it_goes_to_the_folder_of_backups(site: Site) -> None:
    told = site.emma("backup")
    assert told.returncode == 0, told.stderr
    (made,) = (site.var / "backups").iterdir()
    assert re.fullmatch(r"emma-eval-\d{8}T\d{6}Z\.tar", made.name)
    made.unlink()


# --- restore --------------------------------------------------------------------------------------


def test_restored_onto_an_empty_folder_everything_is_as_it_was(
    site: Site, backup: Path, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    restored = empty_beside(site, tmp_path, new_database)
    told = restored.emma("restore", backup)
    assert told.returncode == 0, told.stderr
    assert "each counted and equal" in told.stdout
    assert "Who made it is NOT proven" in told.stdout  # its secret came with it
    assert f"It lies in {restored.var} and " in told.stdout
    assert "by ./emma up: it prints new passwords of the demo team" in told.stdout
    assert ("with the rights of a superuser" in told.stdout) == (site.engine == "postgresql")
    assert counts(restored) == counts(site)
    for folder in ("recordings", "imports"):
        assert sums(restored.var / folder) == sums(site.var / folder) != {}
    assert (restored.var / "imports" / "sheet.csv").stat().st_mtime == 1_700_000_000
    assert (restored.var / "secret_key").read_text() == (site.var / "secret_key").read_text()
    assert {stat.S_IMODE(path.stat().st_mode) for path in restored.var.glob("recordings/*.webm")} == {0o600}
    store = FolderStore(restored.var / "recordings", "secret", str)
    assert {kept.key for kept in store.under(RECORDING)} == set(RECORDED)
    assert not (restored.var / "recordings" / ".arriving").exists()
    assert not (restored.var / "exports").exists()
    assert not (restored.var / "restoring").exists()

    assert restored.python("-m", "emma_eval.prepare", "--no-demo").returncode == 0  # as every start does
    somebody = json.loads((site.var / "demo_sign_ins.json").read_text())[0]
    assert restored.python("-c", SIGN_IN, somebody["email"], somebody["password"]).stdout.split() == ["302", "200"]
    assert restored.python("-c", SIGN_IN, somebody["email"], "another one").stdout.split() == ["422", "302"]
    refused = restored.python("-c", SPOIL).stdout.splitlines()
    assert refused == ["the audit trail is append-only"] * 2

    again = restored.emma("restore", backup)
    assert again.returncode == 1
    assert "already" in again.stderr
    assert counts(restored)["results_result"] == counts(site)["results_result"]


def test_a_folder_with_files_is_not_restored_onto(
    site: Site, backup: Path, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    full = empty_beside(site, tmp_path, new_database)
    (full.var / "recordings").mkdir(parents=True)
    (full.var / "recordings" / "mine.webm").write_text("x")
    told = full.emma("restore", backup)
    assert told.returncode == 1
    assert "There are files in" in told.stderr
    assert sums(full.var / "recordings").keys() == {"mine.webm"}


def test_an_older_backup_is_brought_forward(site: Site, tmp_path: Path, new_database: Callable[[], str]) -> None:
    """A site of an earlier release: one migration of ours was not there yet."""
    older = empty_beside(site, tmp_path, new_database)
    older = replace(older, var=tmp_path / "older")
    older.var.mkdir()
    (older.var / "secret_key").write_text("0123456789" * 6)
    assert older.python("manage.py", "migrate", "--verbosity=0", "results", "0001").returncode == 0
    kept = older.backed_up(tmp_path / "older.tar")
    told = (restored := empty_beside(site, tmp_path, new_database)).emma("restore", kept)
    assert told.returncode == 0, told.stderr
    assert re.search(r"brought from version \S+ to this one by \d+ migrations", told.stdout)
    assert restored.python("manage.py", "migrate", "--check").returncode == 0


def test_a_backup_of_a_newer_schema_is_refused_in_words(
    site: Site, backup: Path, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    changed = rewritten(backup, tmp_path / "newer.tar", migrations=lambda known: [*known, "results.9999_later"])
    newer = empty_beside(site, tmp_path, new_database)
    told = newer.emma("restore", changed)
    assert told.returncode == 1
    assert "made by a newer Emma Eval" in told.stderr
    assert "results.9999_later" in told.stderr
    assert not (newer.var / "emma.sqlite3").exists()
    assert not (newer.var / "secret_key").exists()


def test_a_backup_of_the_other_database_is_refused_in_words(backup: Path, site: Site, tmp_path: Path) -> None:
    url = "" if site.engine == "postgresql" else "postgres://emma@127.0.0.1:1/emma"
    told = Site(tmp_path / "other", "other", url).emma("restore", backup)
    assert told.returncode == 1
    assert re.search("is of a site on (SQLite|PostgreSQL), and this one is configured for", told.stderr)


def test_a_secret_of_ones_own_is_not_kept_and_another_one_is_told(
    site: Site, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    own = replace(site, more=(("EMMA_SECRET_KEY", "0123456789" * 6),))
    kept = own.backed_up(tmp_path / "own.tar")
    with tarfile.open(kept) as tar:
        assert "secret_key" not in tar.getnames()
    assert b"0123456789" * 6 not in kept.read_bytes()
    other = replace(empty_beside(site, tmp_path, new_database), more=(("EMMA_SECRET_KEY", "abcdefghij" * 6),))
    told = other.emma("restore", kept)
    assert told.returncode == 0, told.stderr
    assert "The secret is another one than before" in told.stdout


def test_a_server_of_its_own_is_brought_for_a_backup_of_postgresql(site: Site, backup: Path) -> None:
    if site.engine != "postgresql":
        pytest.skip("SQLite needs none")
    var = Path(f"/tmp/emma-restored-{os.getpid()}")  # PostgreSQL's own user must get there
    alone = Site(var, "postgresql")
    try:
        told = alone.emma("restore", "--postgres", backup)
        assert told.returncode == 0, told.stderr
        url = (var / "database_url").read_text().strip()
        assert is_free(int(urlsplit(url).port or 0)), "its server still runs"
        assert "a PostgreSQL of its own" in told.stdout
        assert "by ./emma up --postgres: it prints new passwords" in told.stdout
        assert "superuser" not in told.stdout
        stopped = alone.emma("doctor")
        assert "DOWN  database: this folder's own PostgreSQL is not running: ./emma up --postgres" in stopped.stdout
        assert stopped.stderr == ""
        assert "there is a PostgreSQL in" in alone.emma("restore", "--postgres", backup).stderr
        assert stat.S_IMODE((var / "database_url").stat().st_mode) == 0o600
    finally:
        shutil.rmtree(var, ignore_errors=True)


# --- while others write ---------------------------------------------------------------------------


def test_sqlite_is_kept_at_one_moment_while_a_writer_keeps_writing(tmp_path: Path) -> None:
    site = Site(tmp_path / "var", "sqlite")
    assert site.python("-m", "emma_eval.prepare", "--no-demo").returncode == 0
    done = threading.Event()
    written: list[int] = []

    def write() -> None:
        """Two rows in each transaction: a copy that holds one of them was torn."""
        link = sqlite3.connect(site.var / "emma.sqlite3", timeout=20, isolation_level=None)
        link.execute("CREATE TABLE pairs (number INTEGER, half INTEGER, filler TEXT)")
        while not done.is_set():
            link.execute("BEGIN IMMEDIATE")
            link.executemany("INSERT INTO pairs VALUES (?, ?, ?)", [(len(written), half, "x" * 500) for half in (1, 2)])
            link.execute("COMMIT")
            written.append(len(written))
        link.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        time.sleep(0.3)
        before = len(written)
        kept = site.backed_up(tmp_path / "kept.tar")
        after = len(written)
    finally:
        done.set()
        writer.join()
    assert after > before > 0, "nobody was kept from writing"
    assert site.emma("verify", kept).returncode == 0
    with tarfile.open(kept) as tar:
        tar.extract("database.sqlite3", tmp_path, filter="data")
    with sqlite3.connect(tmp_path / "database.sqlite3") as link:
        halves = link.execute("SELECT count(*), count(DISTINCT number) FROM pairs").fetchone()
    assert halves[0] == 2 * halves[1]
    assert before <= halves[1] <= after


# --- verify, and damage ---------------------------------------------------------------------------


def test_verify_says_what_it_proved(site: Site, backup: Path) -> None:
    told = site.emma("verify", backup)
    assert told.returncode == 0, told.stderr
    count = len(members(backup)) - 1  # all but the manifest
    assert re.search(rf"Every one of its {count} files \([\d,]+ bytes\) has the size and checksum", told.stdout)
    how = "opened, found sound" if site.engine == "sqlite" else "loaded into a PostgreSQL of its own"
    assert re.search(
        rf"The database was {how}: [\d,]+ rows in \d+ tables, as many in each as were counted", told.stdout
    )
    assert "Its audit trail is append-only (4 triggers are there)" in told.stdout
    assert "It was made by somebody who knows the secret of this site" in told.stdout


# --- the chain of the audit trail -----------------------------------------------------------------


def head_of(site: Site) -> str:
    """As the site itself says it."""
    told = site.python("manage.py", "verify_audit")
    assert told.returncode == 0, told.stderr
    return re.findall(r"Head: ([0-9a-f]{64})\.", told.stdout)[0]


def test_the_head_of_the_trail_stands_in_the_manifest_and_the_chain_is_walked(site: Site, backup: Path) -> None:
    with tarfile.open(backup) as kept:
        written = kept.extractfile(MANIFEST)
        assert written is not None
        said = manifest.read(written.read())
    assert (said.trail_head, said.trail_fault) == (head_of(site), "")
    assert said.rows["accounts_auditlink"] > 5
    told = site.emma("verify", backup)
    links = f"{said.rows['accounts_auditlink']:,}"
    wanted = f"Its audit trail is a chain of {links} lines, which holds; its head is {said.trail_head}, as its manifest"
    assert wanted in told.stdout, told.stderr


def test_another_head_than_the_manifests_is_found(
    site: Site, backup: Path, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    changed = rewritten(backup, tmp_path / "other.tar", trail_head=lambda _: "f" * 64)
    nowhere = Site(tmp_path / "nothing", "sqlite")
    for act, here in (("verify", nowhere), ("restore", empty_beside(site, tmp_path, new_database))):
        told = here.emma(act, changed)
        assert told.returncode == 1
        assert re.search(
            "The audit trail in this backup is not what was kept: its head is [0-9a-f]{64}, not ffff", told.stderr
        )


TAMPER = """
import emma_eval.celery, django
django.setup()
from django.db import connection
from emma_eval.accounts import append_only
from emma_eval.accounts.models import AuditLink
with connection.cursor() as cursor:
    for words in append_only.UNSEAL[connection.vendor]:
        if "FUNCTION" not in words:
            cursor.execute(words)
    third = AuditLink.objects.get(place=3).entry
    cursor.execute("UPDATE accounts_auditentry SET target = 'another' WHERE id = %s", [third])
"""


def test_a_chain_that_does_not_hold_is_told_when_it_is_kept_when_it_is_proven_and_when_it_is_restored(
    site: Site, backup: Path, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    there = empty_beside(site, tmp_path, new_database)
    assert there.emma("restore", backup).returncode == 0
    assert there.python("-c", TAMPER).stderr == ""
    kept = tmp_path / "tampered.tar"
    fault = "does NOT hold: the line in place 3 is not as it was linked"
    for act in ("backup", "verify"):
        told = there.emma(act, kept)
        assert told.returncode == 0, told.stderr
        assert fault in told.stdout
    silent = rewritten(kept, tmp_path / "silent.tar", trail_fault=lambda _: "")
    told = Site(tmp_path / "nothing", "sqlite").emma("verify", silent)
    assert (told.returncode, "not what was kept: the line in place 3" in told.stderr) == (1, True)


def test_a_manifest_of_before_names_no_head_and_is_believed_as_before(site: Site, backup: Path, tmp_path: Path) -> None:
    secret = (site.var / "secret_key").read_text().strip()
    before = {"format": lambda _: 1, "trail_head": lambda _: "", "trail_fault": lambda _: ""}
    older = rewritten(backup, tmp_path / "older.tar", secret=secret, **before)
    with tarfile.open(older) as kept:
        written = kept.extractfile(MANIFEST)
        assert written is not None
        assert "trail_head" not in json.loads(written.read())
    told = site.emma("verify", older)
    assert told.returncode == 0, told.stderr
    assert "It was made by somebody who knows the secret of this site" in told.stdout
    assert re.search("which holds; its head is [0-9a-f]{64}, which its manifest does not name", told.stdout)


def test_a_manifest_that_was_changed_is_known_by_the_secret_of_the_site(
    site: Site, backup: Path, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    """Its checksums are right: only who knows the secret could have signed it."""
    changed = rewritten(backup, tmp_path / "changed.tar", version=lambda _: "0.0.9")
    own = (("EMMA_SECRET_KEY", (site.var / "secret_key").read_text()),)
    for act, here in (("verify", site), ("restore", replace(empty_beside(site, tmp_path, new_database), more=own))):
        told = here.emma(act, changed)
        assert told.returncode == 1
        assert "it was not: somebody changed it" in told.stderr
    other = replace(site, more=(("EMMA_SECRET_KEY", "abcdefghij" * 6),))
    told = other.emma("verify", changed)
    assert told.returncode == 0, told.stderr
    assert "Who made it is NOT proven (made with another secret than this site's)" in told.stdout


def test_a_dump_that_asks_for_more_than_its_own_database_gets_nowhere(site: Site, tmp_path: Path) -> None:
    """What a superuser could have done by it: run a program, take another role over."""
    if site.engine != "postgresql":
        pytest.skip("SQLite runs no program")
    (tmp_path / "here").mkdir()
    (tmp_path / "here").chmod(0o777)
    acts = (f"COPY (SELECT 1) TO PROGRAM 'touch {tmp_path}/here/ran'", "ALTER ROLE postgres PASSWORD 'mine'")
    dumps = [tmp_path / f"{number}.dump" for number, _ in enumerate(acts)]
    with stranger.room() as room:
        assert room.database is not None, room.why_not
        as_superuser = replace(room.database, user="postgres")
        with as_superuser.connect(autocommit=True) as link:
            shape = sql.SQL("CREATE OR REPLACE FUNCTION f(integer) RETURNS integer LANGUAGE plpgsql AS {}")
            link.execute(shape.format(sql.Literal("BEGIN RETURN 1; END")))
            link.execute("CREATE TABLE t (number integer CHECK (f(number) > 0))")
            link.execute("INSERT INTO t VALUES (1)")
            for act, dumped in zip(acts, dumps, strict=True):  # what loading it runs, when it comes to the row
                quoted = sql.Literal(act).as_string(link)
                link.execute(shape.format(sql.Literal(f"BEGIN EXECUTE {quoted}; RETURN 1; END")))
                with dumped.open("wb") as target:
                    made = [postgresql.program("pg_dump"), "-Fc"]
                    subprocess.run(made, env=as_superuser.environment(), stdout=target, check=True)
    for dumped in dumps:
        with pytest.raises(Refused, match=r"ERROR: +(permission denied|must be)"):
            list(verify.verify(archive.Source(crafted(dumped.with_suffix(".tar"), dumped, {"t": 1}))))
    assert list((tmp_path / "here").iterdir()) == []


def crafted(target: Path, dumped: Path, rows: dict[str, int]) -> Path:
    """A backup that somebody made who knows no secret."""
    content = dumped.read_bytes()
    kept = KeptFile("database.pgdump", len(content), hashlib.sha256(content).hexdigest())
    said = manifest.Manifest("0.1", "2026", "postgresql", "15", (), rows, (kept,), "")
    with tarfile.open(target, "w") as tar:
        for name, written in ((kept.name, content), (MANIFEST, said.to_bytes("guessed"))):
            entry = tarfile.TarInfo(name)
            entry.size = len(written)
            tar.addfile(entry, io.BytesIO(written))
    return target


def test_verify_needs_no_site_and_says_what_it_could_not_prove(site: Site, backup: Path, tmp_path: Path) -> None:
    told = Site(tmp_path / "nothing", "sqlite").emma("verify", backup)
    assert told.returncode == 0, told.stderr
    if site.engine == "postgresql":
        assert "loaded into a PostgreSQL of its own" in told.stdout
    assert "Who made it is NOT proven (there is no secret here" in told.stdout
    assert not (tmp_path / "nothing").exists()


def test_where_no_server_can_be_started_the_rows_are_still_counted(
    site: Site, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine with PostgreSQL's clients alone, as our image is."""
    if site.engine != "postgresql":
        pytest.skip("SQLite has no server")
    monkeypatch.setattr(stranger, "_programs", lambda: None)
    told = list(verify.verify(archive.Source(backup)))
    assert re.search(r"The dump was read to its end: [\d,]+ rows in \d+ tables", told[-2])
    assert "It was not loaded, since no PostgreSQL server is installed here" in told[-1]


def test_a_count_that_differs_is_found(site: Site, backup: Path, tmp_path: Path) -> None:
    changed = rewritten(backup, tmp_path / "fewer.tar", rows=lambda rows: rows | {"results_result": 1})
    told = Site(tmp_path / "nothing", "sqlite").emma("verify", changed)
    assert told.returncode == 1
    assert re.search("results_result has [0-9]+ rows instead of 1", told.stderr)


def members(backup: Path) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(backup) as tar:
        return {found.name: found for found in tar}


def spoilt_at(backup: Path, target: Path, offset: int) -> Path:
    shutil.copy(backup, target)
    with target.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ 1]))
    return target


@pytest.mark.parametrize("name", ["database", "recordings/2026/call – eins.webm", "secret_key", MANIFEST])
def test_one_damaged_bit_is_found(name: str, site: Site, backup: Path, tmp_path: Path) -> None:
    entry = members(backup)[DUMPS[site.engine] if name == "database" else name]
    for place in (0, entry.size // 3, entry.size - 1):
        spoilt = archive.Source(spoilt_at(backup, tmp_path / f"{place}.tar", entry.offset_data + place))
        with pytest.raises(Refused, match=r"damaged|can't be trusted|newer"):
            spoilt.checked()


def test_a_damaged_backup_is_refused_before_anything_is_touched(
    site: Site, backup: Path, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    entry = members(backup)["recordings/2026/call – eins.webm"]
    spoilt = spoilt_at(backup, tmp_path / "spoilt.tar", entry.offset_data + 1000)
    empty = empty_beside(site, tmp_path, new_database)
    for act in ("restore", "verify"):
        told = empty.emma(act, spoilt)
        assert told.returncode == 1
        assert "call – eins.webm is not what was kept" in told.stderr
        assert "Traceback" not in told.stderr
    assert [path.name for path in empty.var.iterdir() if path.name != "lock"] == []


@pytest.mark.parametrize("share", [0.0, 0.001, 0.4, 0.97, 0.999])
def test_a_backup_that_was_cut_off_is_refused_in_words(share: float, backup: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.tar"
    end = members(backup)[MANIFEST].offset_data + members(backup)[MANIFEST].size
    cut.write_bytes(backup.read_bytes()[: int(end * share)])
    with pytest.raises(Refused, match="cut off"):
        archive.Source(cut).checked()


def test_a_file_that_is_missing_is_named(backup: Path, tmp_path: Path) -> None:
    lacking = rewritten(backup, tmp_path / "lacking.tar", without="imports/sheet.csv")
    with pytest.raises(Refused, match=r"imports/sheet.csv is missing"):
        archive.Source(lacking).checked()


@pytest.mark.parametrize("name", ["../escaped", "/etc/escaped", "recordings/../../escaped", "static/x", "recordings"])
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    crooked = tmp_path / "crooked.tar"
    with tarfile.open(crooked, "w") as tar:
        tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(Refused, match="no backup of ours"):
        archive.Source(crooked).checked()


def test_a_link_in_a_backup_is_refused(tmp_path: Path) -> None:
    crooked = tmp_path / "crooked.tar"
    link = tarfile.TarInfo("recordings/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(crooked, "w") as tar:
        tar.addfile(link)
    with pytest.raises(Refused, match="which is no file"):
        archive.Source(crooked).checked()


@pytest.mark.parametrize("content", [b"", b"hello", b"{}", os.urandom(5000)])
def test_what_is_no_backup_is_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "no.tar").write_bytes(content)
    told = Site(tmp_path / "var", "sqlite").emma("verify", tmp_path / "no.tar")
    assert told.returncode == 1
    assert "no backup" in told.stderr
    assert "Traceback" not in told.stderr


def written_by_hand(target: Path, *files: tuple[str, bytes], pax: dict[str, str] | None = None) -> Path:
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.pax_headers = len(content), dict(pax or {})
            tar.addfile(entry, io.BytesIO(content))
    return target


def named(**changes: object) -> bytes:
    """A manifest that somebody wrote, with the right checksum."""
    said = json.loads(manifest.Manifest("0.1", "2026", "sqlite", "3", (), {}, (), "").to_bytes(""))
    said = {**said, **changes}
    words = {name: value for name, value in said.items() if name not in {"sha256", "signature"}}
    checksum = hashlib.sha256(json.dumps(words, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    return json.dumps({**said, "sha256": checksum}).encode()


LISTED = {"name": "recordings/a", "size": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
A_FILE = ("recordings/a", b"x")
SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "99999999999"}


@pytest.mark.parametrize(
    ("files", "pax", "words"),
    [
        ([(MANIFEST, b"[" * 200_000 + b"]" * 200_000)], {}, "manifest is damaged"),
        ([(MANIFEST, named(engine="oracle"))], {}, "manifest is damaged"),
        ([(MANIFEST, named(rows=[1]))], {}, "manifest is damaged"),
        ([(MANIFEST, named(rows={"t": "1"}))], {}, "manifest is damaged"),
        ([(MANIFEST, named(files=[{**LISTED, "size": -1}]))], {}, "manifest is damaged"),
        ([(MANIFEST, named(taken_at=["x"]))], {}, "manifest is damaged"),
        ([A_FILE, (MANIFEST, named())], SPARSE, "a file with holes"),
        ([A_FILE, (MANIFEST, named())], {"GNU.sparse.map": "0,1"}, "a file with holes"),
        ([A_FILE, (MANIFEST, named())], {"size": "-5"}, "no backup of ours"),
        ([A_FILE, (MANIFEST, named())], {"path": "recordings/a\0b"}, "no backup of ours"),
        ([A_FILE, (MANIFEST, named())], {"comment": "x" * 2_000_000}, "no backup of ours"),
        ([A_FILE, A_FILE, (MANIFEST, named())], {}, "twice"),
        ([A_FILE, (MANIFEST, named(files=[{**LISTED, "name": "\x1b]0;x\x07"}]))], {}, r"\x1b]0;x\x07 is missing"),
    ],
)
def test_what_somebody_made_up_is_refused_in_words(
    files: list[tuple[str, bytes]],
    pax: dict[str, str],
    words: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    made = written_by_hand(tmp_path / "made.tar", *files, pax=pax)
    assert command.main(["verify", str(made)]) == 1
    said = capfd.readouterr().err
    assert words in said
    assert "\x1b" not in said


@pytest.mark.parametrize("time_said", ["nan", "1e30", "-1e30", "inf"])
def test_a_time_that_no_file_can_have_is_not_believed(time_said: str, tmp_path: Path) -> None:
    made = written_by_hand(tmp_path / "made.tar", A_FILE, (MANIFEST, named(files=[LISTED])), pax={"mtime": time_said})
    source = archive.Source(made)
    source.checked()
    source.extract(("recordings",), tmp_path)
    assert (tmp_path / "recordings" / "a").stat().st_mtime == 0


def test_headers_upon_headers_and_a_manifest_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nested = tarfile.TarInfo("x")
    nested.type = tarfile.XHDTYPE
    (tmp_path / "nested.tar").write_bytes(nested.tobuf() * 5000 + bytes(10240))
    with pytest.raises(Refused, match="no backup"):
        archive.Source(tmp_path / "nested.tar").checked()
    monkeypatch.setattr(manifest, "LARGEST", 1000)
    long = written_by_hand(tmp_path / "long.tar", (MANIFEST, b" " * 1001))
    with pytest.raises(Refused, match="larger than any of ours"):
        archive.Source(long).checked()


def test_what_is_neither_a_file_nor_a_backup_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.tar")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "somebody's.txt").write_text("x")
    site = Site(tmp_path / "var", "sqlite")
    assert "is neither a file nor a folder" in site.emma("verify", tmp_path / "fifo.tar").stderr
    assert "has no manifest: it was cut off, or is no backup" in site.emma("verify", tmp_path / "folder").stderr


def test_a_name_that_promises_something_else_is_refused(tmp_path: Path) -> None:
    for name in ("x.tar.gz", "x.zip", "x.tgz"):
        with pytest.raises(Refused, match=r"name it \.tar"), archive.write(tmp_path / name):
            pass
    assert list(tmp_path.iterdir()) == []


def test_words_that_restore_does_not_know_are_told_and_nothing_is_done(backup: Path, tmp_path: Path) -> None:
    site = Site(tmp_path / "var", "sqlite")
    for words, told in (
        (["--bogus", backup], "knows only --postgres, not --bogus"),
        ([backup, "--redis"], "knows only --postgres, not --redis"),
        ([backup, tmp_path / "b.tar"], "one backup, not both"),
        ([], "say which backup"),
    ):
        said = site.emma("restore", *words)
        assert (said.returncode, told in said.stderr) == (1, True), said.stderr
    assert not site.var.exists()
    for act in ("backup", "restore", "verify"):
        assert site.emma(act, "--help").stdout.startswith(f"usage: ./emma {act} ")


def test_a_refused_restore_with_a_server_of_its_own_leaves_none(site: Site, backup: Path) -> None:
    if site.engine != "sqlite":
        pytest.skip("a backup that fits")
    var = Path(f"/tmp/emma-refused-{os.getpid()}")  # PostgreSQL's own user must get there
    try:
        told = Site(var, "sqlite").emma("restore", backup, "--postgres")
        assert told.returncode == 1
        assert "leave out --postgres and DATABASE_URL" in told.stderr
        assert {path.name for path in var.iterdir()} <= {"lock"}
        assert Site(var, "sqlite").emma("restore", backup).returncode == 0
    finally:
        shutil.rmtree(var, ignore_errors=True)


def test_root_restores_into_nobody_elses_folder(site: Site, backup: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("not root here")
    (tmp_path / "var").mkdir()
    os.chown(tmp_path / "var", 10001, 10001)
    theirs = replace(site, var=tmp_path / "var")
    assert "belongs to another user than root" in theirs.emma("restore", backup).stderr
    assert "restore as that user" in theirs.python("-m", "emma_eval.backup", "restore", str(backup)).stderr
    assert list((tmp_path / "var").iterdir()) == []


def test_a_folder_and_a_backup_both_count_from_where_one_stands(site: Site, backup: Path, tmp_path: Path) -> None:
    if site.engine != "sqlite":
        pytest.skip("the same for both")
    here = Site(Path("data"), "sqlite")
    shutil.copy(backup, tmp_path / "b.tar")
    told = here.emma("restore", "b.tar", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert (tmp_path / "data" / "emma.sqlite3").exists()
    assert f"data in {tmp_path}/data\n" in here.emma("doctor", cwd=tmp_path).stdout


def test_packages_that_somebody_else_installed_are_left_as_they_are(backup: Path, tmp_path: Path) -> None:
    """A release whose .venv was made as docs/operations.md says for systemd: pip alone, owned by root."""
    release = tmp_path / "release"
    shutil.copytree(ROOT / "emma_eval", release / "emma_eval", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("results", "scripts_catalog"):
        (release / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "emma", release / "emma")
    shutil.copy(ROOT / "pyproject.toml", release / "pyproject.toml")
    (release / ".venv" / "bin").mkdir(parents=True)
    python = release / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    told = subprocess.run(
        [release / "emma", "verify", backup],
        env=Site(tmp_path / "var", "sqlite").environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "Installing" not in told.stderr
    assert [path.name for path in (release / ".venv").iterdir()] == ["bin"]


def test_a_backup_that_is_not_there_is_told(tmp_path: Path) -> None:
    told = Site(tmp_path / "var", "sqlite").emma("verify", tmp_path / "no.tar")
    assert (told.returncode, told.stderr) == (1, f"emma: There is no {tmp_path / 'no.tar'}.\n")


def rewritten(
    backup: Path,
    target: Path,
    without: str = "",
    secret: str = "a secret that is not the site's",
    **changes: Callable[[Any], Any],
) -> Path:
    """Another backup with other words in its manifest, right in itself."""
    with tarfile.open(backup) as old, tarfile.open(target, "w") as new:
        for found in old:
            content = old.extractfile(found)
            assert content is not None
            if found.name == MANIFEST:
                said = manifest.read(content.read())
                changed = {name: change(getattr(said, name)) for name, change in changes.items()}
                written = replace(said, **changed).to_bytes(secret)
                found.size = len(written)
                new.addfile(found, io.BytesIO(written))
            elif found.name != without:
                new.addfile(found, content)
    return target


@pytest.mark.parametrize("name", ["kept.tar", "kept"])
def test_a_file_that_grows_is_kept_as_it_was_and_one_that_shrinks_stops_the_backup(name: str, tmp_path: Path) -> None:
    with archive.write(tmp_path / f"grown-{name}") as (target, _):
        target.add("recordings/grows", io.BytesIO(b"12345 and more"), 5, 0)
        assert target.files == [KeptFile("recordings/grows", 5, hashlib.sha256(b"12345").hexdigest())]
    with (
        pytest.raises(Refused, match="became shorter while it was read"),
        archive.write(tmp_path / name) as (target, _),
    ):
        target.add("recordings/shrinks", io.BytesIO(b"123"), 5, 0)
    assert [path.name for path in tmp_path.iterdir()] == [f"grown-{name}"]


# --- the bucket -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    """A bucket on an S3 server of its own."""
    folder = tmp_path_factory.mktemp("s3")
    ports = {
        part: next(port for port in iter(find_free, 0) if port < 55_000) for part in ("s3", "master", "volume", "filer")
    }
    command = [
        str(Path(sys.executable).parent / "weed"),
        "mini",
        f"-dir={folder}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
    ]
    command += ["-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"]
    command += [f"-{part}.port={port}" for part, port in ports.items()]
    command += [f"-admin.port={next(port for port in iter(find_free, 0) if port < 55_000)}"]
    key = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "S3_BUCKET": "kept"}
    with (folder.parent / "s3.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env={**os.environ, **key}, stdout=log, stderr=log)
    made = Bucket("kept", f"http://127.0.0.1:{ports['s3']}", "us-east-1", "key", "secret")
    until = time.monotonic() + 60
    while True:
        try:
            made.reach()
            break
        except Exception:
            assert time.monotonic() < until, (folder.parent / "s3.log").read_text()
            time.sleep(0.2)
    yield made
    server.terminate()
    server.wait(timeout=30)


def test_files_of_a_bucket_are_listed_and_copied_when_asked_for(bucket: Bucket, tmp_path: Path) -> None:
    content = {
        "recordings/a.webm": b"a" * 10,
        "recordings/odd name.webm": b"b" * 2_000_000,
        **{f"recordings/{key}": key.encode() for key in RECORDED},
        "exports/x.csv": b"not kept",
    }
    for key, said in content.items():
        bucket.put(key, io.BytesIO(said))
    bucket.as_owner.create_multipart_upload(Bucket="kept", Key=f"recordings/{RECORDING}sent")  # no file yet
    more = {"EMMA_S3_BUCKET": "kept", "EMMA_S3_ENDPOINT": str(bucket.endpoint), "EMMA_S3_KEY": "key"}
    site = Site(tmp_path / "var", "sqlite", more=(*more.items(), ("EMMA_S3_SECRET", "secret")))
    assert site.python("-m", "emma_eval.prepare", "--no-demo").returncode == 0
    listed = site.backed_up(tmp_path / "listed.tar")
    copied = site.backed_up(tmp_path / "copied.tar", "--with-files")
    for kept in (listed, copied):
        said = archive.Source(kept).checked()
        assert [(one.key, one.size) for one in said.objects] == [
            (key, len(content[key])) for key in sorted(content) if not key.startswith("exports/")
        ]
        assert all(one.etag for one in said.objects)
    assert not [name for name in members(listed) if name.startswith("bucket/")]

    for key in content:
        bucket.as_owner.delete_object(Bucket="kept", Key=key)
    told = replace(site, var=tmp_path / "from-list").emma("restore", listed)
    assert told.returncode == 0, told.stderr
    assert "4 files of the bucket are not in the bucket of this site: recordings/1111" in told.stdout
    told = replace(site, var=tmp_path / "from-copies").emma("restore", copied)
    assert told.returncode == 0, told.stderr
    assert "not in the bucket" not in told.stdout
    there = {}
    for found in bucket.objects():
        with bucket.open(found.key) as body:
            there[found.key] = body.read()
    assert there == {key: said for key, said in content.items() if key != "exports/x.csv"}


def test_a_bucket_that_is_down_is_told_and_leaves_nothing_half_kept(tmp_path: Path) -> None:
    more = {"EMMA_S3_BUCKET": "kept", "EMMA_S3_ENDPOINT": "http://127.0.0.1:1", "EMMA_S3_KEY": "k"}
    site = Site(tmp_path / "var", "sqlite", more=(*more.items(), ("EMMA_S3_SECRET", "s")))
    assert site.python("-m", "emma_eval.prepare", "--no-demo").returncode == 0
    (tmp_path / "kept").mkdir()
    told = site.emma("backup", tmp_path / "kept" / "site.tar")
    assert told.returncode == 1
    assert told.stderr.startswith("emma: the bucket: ")
    assert "Traceback" not in told.stderr
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing_half_kept(tmp_path: Path) -> None:
    """By a limit on the size of files, which a process meets as it meets a full disk."""
    site = Site(tmp_path / "var", "sqlite")
    assert site.python("-m", "emma_eval.prepare", "--no-demo").returncode == 0
    (site.var / "recordings" / "large.webm").write_bytes(b"x" * 3_000_000)
    (tmp_path / "kept").mkdir()
    limited = ["sh", "-c", 'ulimit -f 4000; trap "" XFSZ; exec "$@"', "sh", str(ROOT / "emma"), "backup"]
    told = subprocess.run(
        [*limited, tmp_path / "kept" / "site.tar"],
        env=site.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stderr) == (1, "emma: File too large. What was begun was taken back.\n")
    assert list((tmp_path / "kept").iterdir()) == []
