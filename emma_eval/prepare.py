"""Make everything ready to be served: `python -m emma_eval.prepare [--no-demo | --static]`, part of `./emma up`.

`--no-demo` is what a server runs at each release, before the new web processes start; `--static` collects the static
files alone, for an image.

Safe to run again and again; quick when there is nothing to do. What it does goes to standard error,
the closing words for people to standard output.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import shlex
import sys
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

from emma_eval.start import read_settings

BASE_DIR = Path(__file__).resolve().parent.parent
FOLDERS = ("recordings", "queue", "control", "mail", "static")


def new_secret() -> str:
    return secrets.token_urlsafe(50)


def write_secret(var: Path, secret: str) -> None:
    """Keep it in the folder, readable by its owner alone."""
    with os.fdopen(os.open(var / "secret_key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as kept:
        kept.write(secret)


def make_secret(var: Path) -> None:
    """A secret of this folder's own; made once."""
    if not os.environ.get("EMMA_SECRET_KEY") and not (var / "secret_key").exists():
        write_secret(var, new_secret())


def make_folders(var: Path) -> None:
    """Where things are kept. Recordings, mails and the database are personal: for the owner's eyes alone."""
    var.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in FOLDERS:
        (var / name).mkdir(mode=0o700, exist_ok=True)


def keep_database_to_its_owner() -> None:
    """SQLite gives its further files the rights of the first. It holds passwords' digests and keys of sessions."""
    database = settings.DATABASES["default"]
    if database["ENGINE"] != "django.db.backends.sqlite3" or database["NAME"] == ":memory:":
        return
    try:
        os.close(os.open(database["NAME"], os.O_RDWR | os.O_CREAT, 0o600))
        for path in (Path(f"{database['NAME']}{more}") for more in ("", "-wal", "-shm")):
            if path.exists() and path.stat().st_mode & 0o077:
                path.chmod(0o600)
    except OSError as cause:
        sys.exit(f"Emma Eval can't start. {database['NAME']} ({cause.strerror}) has to be a database file of ours.")


def static_digest() -> str:
    """Names and contents of all files that pages may ask for: in an image their times are those of its making."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: str(found[0])):
            content = hashlib.sha256(Path(storage.path(path)).read_bytes()).hexdigest()
            digest.update(f"{path} {content}\n".encode())
    return digest.hexdigest()


def collect_static_files() -> None:
    """Copy, hash and compress what pages ask for, if any of it changed."""
    stamp = settings.STATIC_ROOT / ".collected"
    digest = static_digest()
    if not stamp.exists() or stamp.read_text() != digest:
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        stamp.write_text(digest)


def said_by(command: str) -> str:
    words = io.StringIO()
    call_command(command, stdout=words)
    return words.getvalue()


def count_earlier_months() -> None:
    """Figures are read from counts by month: those of a folder that is older than such counts are made here."""
    from results.counts.rebuild_counts import count_months_not_counted

    if months := count_months_not_counted():
        sys.stderr.write(f"counted the results of {months} months, once\n")


def way_in() -> str:
    """How the first administrator comes in, where there is none yet."""
    from emma_eval.accounts.models import User
    from emma_eval.accounts.role import Role

    if User.objects.filter(groups__name=Role.ADMINISTRATOR.value, is_active=True).exists():
        return ""
    folder = "" if settings.VAR_DIR == BASE_DIR / "var" else f"EMMA_VAR={shlex.quote(str(settings.VAR_DIR))} "
    command = f"{folder}python3 manage.py invite name@example.org --role administrator"
    return f"First administrator: {command} prints a link.\n"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--no-demo"], ["--static"]):
        sys.stderr.write("python -m emma_eval.prepare knows only --no-demo and --static.\n")
        return 2
    var = Path(os.environ.get("EMMA_VAR") or BASE_DIR / "var").resolve()
    try:
        make_folders(var)
        make_secret(var)
    except OSError as cause:
        sys.exit(f"Emma Eval can't start. EMMA_VAR is {str(var)!r} ({cause.strerror}): set it to a folder of ours.")
    read_settings()
    django.setup()
    if arguments == ["--static"]:
        collect_static_files()
        return 0
    keep_database_to_its_owner()
    call_command("migrate", interactive=False, verbosity=0)
    count_earlier_months()
    collect_static_files()
    said_by("load_catalogue")
    if arguments == []:
        import emma_eval.celery  # noqa: F401  (the demo's recordings wake the worker; without an app, a default broker)

        # Its first line says what was loaded, the others are the sign-ins.
        sign_ins = said_by("load_demo").splitlines()[1:]
        sys.stdout.write("The demo team signs in with:\n" + "".join(f"  {line}\n" for line in sign_ins))
    else:
        sys.stdout.write(way_in())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
