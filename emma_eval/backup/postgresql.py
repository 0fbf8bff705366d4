"""A PostgreSQL database: dumped in one snapshot, loaded in one transaction, counted; by PostgreSQL's own programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from . import trail
from .contents import Contents
from .refused import Refused

DEBIAN_KEEPS_THEM = Path("/usr/lib/postgresql")
OF_LIBPQ = {"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY"}
PIECE = 1024 * 1024
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
TRIGGERS = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname"


@dataclass(frozen=True)
class Database:
    """Where a database is, and as whom to speak to it."""

    name: str
    host: str = ""
    port: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of_settings(cls, found: dict[str, Any]) -> Database:
        options = tuple((name, str(found["OPTIONS"][name])) for name in OF_LIBPQ if name in found.get("OPTIONS", {}))
        return cls(
            name=found["NAME"],
            host=found.get("HOST", ""),
            port=str(found.get("PORT", "")),
            user=found.get("USER", ""),
            password=found.get("PASSWORD", ""),
            options=options,
        )

    def environment(self) -> dict[str, str]:
        """For PostgreSQL's programs. A password in their arguments could be read by everybody on the machine."""
        said = {
            "PGDATABASE": self.name,
            "PGHOST": self.host,
            "PGPORT": self.port,
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            **{OF_LIBPQ[name]: value for name, value in self.options},
        }
        return {**os.environ, **{name: value for name, value in said.items() if value}}

    def connect(self, autocommit: bool = False) -> psycopg.Connection[Any]:
        said = {"host": self.host, "port": self.port, "user": self.user, "password": self.password}
        said = {**said, **dict(self.options), "dbname": self.name, "connect_timeout": "10"}
        address = make_conninfo(**{name: value for name, value in said.items() if value})
        try:
            return psycopg.connect(address, autocommit=autocommit)
        except psycopg.Error as cause:
            raise Refused(
                f"PostgreSQL does not answer at {self.host or 'this machine'}{self.port and f':{self.port}'}: is it "
                "running? (One of a folder's own runs for as long as ./emma up --postgres does.)"
            ) from cause


def program(name: str, at_least: int = 0) -> str:
    """The newest `pg_dump` or `pg_restore` of this machine; an older one can't read a newer server."""
    folders = sorted(DEBIAN_KEEPS_THEM.glob("[0-9]*/bin"), key=lambda folder: int(folder.parent.name), reverse=True)
    found = [str(folder / name) for folder in folders if (folder / name).exists()]
    on_path = shutil.which(name)
    best = found[0] if found else on_path
    if best is None:
        raise Refused(f"{name} is not on this machine: install postgresql-client.")
    said = subprocess.run([best, "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603
    version = int((re.findall(r"\d+", said) or ["0"])[0])
    if version < at_least:
        raise Refused(
            f"{best} is of version {version}, the server of {at_least}: install postgresql-client-{at_least}."
        )
    return best


def dump(database: Database, target: IO[bytes]) -> Contents:
    """One moment of a database that is written to meanwhile: rows are counted in the snapshot that is dumped."""
    with database.connect() as link:
        link.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        link.execute("SET LOCAL statement_timeout = 0")
        snapshot = link.execute("SELECT pg_export_snapshot()").fetchone()
        pg_dump = program("pg_dump", link.info.server_version // 10000)
        shape = ["--format=custom", "--no-owner", "--no-privileges"]
        _run([pg_dump, *shape, f"--snapshot={snapshot[0] if snapshot else ''}"], database, stdout=target)
        return _counted(link)


def is_superuser(database: Database) -> bool:
    """Whether what is loaded as this role may do anything on the whole server, and on its machine."""
    with database.connect() as link:
        found = link.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
        return bool(found and found[0])


def contents(database: Database) -> Contents:
    with database.connect() as link:
        return _counted(link)


def _counted(link: psycopg.Connection[Any]) -> Contents:
    tables = [name for (name,) in link.execute(TABLES)]
    rows = {}
    for name in tables:
        found = link.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("public", name))).fetchone()
        rows[name] = int(found[0]) if found else 0
    asked = link.execute("SELECT app, name FROM django_migrations") if "django_migrations" in rows else None
    return Contents(
        engine_version=str(link.info.server_version // 10000),
        migrations=tuple(sorted(f"{app}.{name}" for app, name in asked or ())),
        rows=rows,
        triggers=tuple(name for (name,) in link.execute(TRIGGERS)),
        trail=_trail(link) if trail.TABLE in rows else trail.Trail(),
    )


def _trail(link: psycopg.Connection[Any]) -> trail.Trail:
    """Some thousand rows at a time: a trail may be long."""
    try:
        with link.cursor(name="trail") as cursor:
            cursor.itersize = 2000
            return trail.walk(cursor.execute(trail.LINKED))
    except psycopg.Error as cause:
        raise Refused(f"The audit trail can't be read: {str(cause).splitlines()[0]}.") from cause


def load(database: Database, dumped: Path) -> None:
    """Into an empty database, all of it or nothing."""
    shape = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    _run([program("pg_restore"), *shape, f"--dbname={database.name}", str(dumped)], database)


def rows_in(dumped: Path) -> dict[str, int]:
    """The rows of each table in a dump, read without any server: one line each, in the form of COPY."""
    rows: dict[str, int] = {}
    command = [program("pg_restore"), "--data-only", "--file=-", str(dumped)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as reading:  # noqa: S603
        table, begins_a_line = None, True
        # In pieces: of a dump that somebody made for us, one line might fill the memory.
        while piece := reading.stdout.readline(PIECE) if reading.stdout else b"":
            begins = re.match(rb'COPY public\."?([^ "]+)"? ', piece) if table is None and begins_a_line else None
            if begins:
                table = begins[1].decode(errors="replace")
                rows[table] = 0
            elif begins_a_line and piece == b"\\.\n":
                table = None
            elif begins_a_line and table is not None:
                rows[table] += 1
            begins_a_line = piece.endswith(b"\n")
    if reading.returncode != 0:
        raise Refused("pg_restore can't read the dump in this backup: it may be of a newer PostgreSQL.")
    return dict(sorted(rows.items()))


def _run(command: list[str], database: Database, **more: Any) -> None:
    """Its words go into ours: PostgreSQL's programs say well what is wrong, and no password."""
    done = subprocess.run(command, env=database.environment(), stderr=subprocess.PIPE, check=False, **more)  # noqa: S603
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise Refused(f"{Path(command[0]).name} failed: {next((one for one in words if 'error' in one), words[-1])}")
