"""`python -m emma_eval.prepare`, which `./emma up` and every release run before the site starts."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def prepared(var: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EMMA_")}
    environment = {**kept, "DATABASE_URL": "", "REDIS_URL": "", "EMMA_VAR": str(var), **more}
    command = [sys.executable, "-m", "emma_eval.prepare", *options]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_the_database_is_for_its_owner_alone_and_the_first_administrator_is_told_the_way_in(tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir(mode=0o755)
    umask = os.umask(0o022)
    try:
        told = prepared(var, "--no-demo")
        assert told.returncode == 0, told.stderr
        command = f"EMMA_VAR={var} python3 manage.py invite name@example.org --role administrator"
        assert told.stdout == f"First administrator: {command} prints a link.\n"
        database = var / "emma.sqlite3"
        assert rights(database) == 0o600

        database.chmod(0o644)  # as earlier releases left it
        with sqlite3.connect(database) as link:
            link.execute("PRAGMA journal_mode=WAL")
            link.execute(
                "INSERT INTO accounts_user (id, email, name, password, is_active, is_superuser, is_demo, date_joined)"
                " VALUES (7, 'ada@example.test', '', '!', 1, 0, 0, '2026-01-01')"
            )
            link.execute(
                "INSERT INTO accounts_user_groups (user_id, group_id)"
                " SELECT 7, id FROM auth_group WHERE name = 'administrator'"
            )
            link.commit()
            again = prepared(var, "--no-demo")
            assert again.returncode == 0, again.stderr
            assert again.stdout == "", "there is an administrator"
            kept = sorted(path.name for path in var.glob("emma.sqlite3*"))
            assert kept == ["emma.sqlite3", "emma.sqlite3-shm", "emma.sqlite3-wal"]
            assert {rights(path) for path in var.glob("emma.sqlite3*")} == {0o600}
    finally:
        os.umask(umask)


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_database_that_is_no_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "emma.sqlite3").mkdir()
    told = prepared(tmp_path, "--no-demo")
    assert told.returncode == 1
    assert told.stderr.startswith("Emma Eval can't start. ")
    assert "has to be a database file of ours" in told.stderr


def test_a_wrong_number_of_threads_is_told_in_a_sentence_before_a_server_is_started(tmp_path: Path) -> None:
    told = prepared(tmp_path, "--no-demo", EMMA_WEB_THREADS="many")
    assert told.returncode == 1
    assert "EMMA_WEB_THREADS is 'many': set it to a whole number from 1 to 1024." in told.stderr
    assert "Traceback" not in told.stderr
