"""`./emma backup|restore|verify`: `python -m emma_eval.backup take [TARGET] | restore SOURCE | verify SOURCE`."""

from __future__ import annotations

import argparse
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import django

from emma_eval.adapters.bucket import BucketError
from emma_eval.start import read_settings

from . import archive
from .manifest import Manifest
from .refused import Refused


def _take(target: Path | None, with_files: bool) -> None:
    read_settings()
    django.setup()
    from django.conf import settings

    from .take import take

    now = datetime.now(UTC)
    if target is None:
        target = settings.VAR_DIR / "backups" / f"emma-eval-{now:%Y%m%dT%H%M%SZ}.tar"
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    said = take(target.absolute(), with_files, now)
    _say(f"Backed up to {target}, one moment of {said.taken_at}:", *_summary(said))
    _say("Whoever can read it can read everything: keep it as you keep the site, and on another disk.")


def _summary(said: Manifest) -> list[str]:
    size = sum(kept.size for kept in said.files)
    files = sum(kept.name.startswith(("recordings/", "imports/")) for kept in said.files)
    has_secret = any(kept.name == "secret_key" for kept in said.files)
    copies = sum(kept.name.startswith("bucket/") for kept in said.files)
    lines = [
        f"  {sum(said.rows.values()):,} rows in {len(said.rows)} tables of {said.engine} {said.engine_version}",
        f"  recordings and waiting sheets: {files}; {size:,} bytes in all",
        "  the secret of this folder" if has_secret else "  not EMMA_SECRET_KEY: keep that yourself, beside it",
    ]
    lines.append(f"  the audit trail, up to {said.trail_head}{_in_doubt(said)}")
    if said.bucket:
        lines.append(f"  {len(said.objects)} files of the bucket {said.bucket}: all listed, {copies} copied")
    return lines


def _in_doubt(said: Manifest) -> str:
    return f"; its chain does NOT hold: {said.trail_fault}" if said.trail_fault else ", each line as it was linked"


def _restore(source: Path) -> None:
    from .restore import restore

    done = restore(archive.opened(source))
    rows, tables = sum(done.said.rows.values()), len(done.said.rows)
    _say(f"Restored what {source} kept on {done.said.taken_at}:")
    _say(f"  {rows:,} rows in {tables} tables, each counted and equal")
    _say(f"  recordings and waiting sheets: {done.files}, each with its checksum")
    if done.said.trail_head:
        _say(f"  the audit trail, up to {done.said.trail_head}{_in_doubt(done.said)}")
    if done.applied:
        _say(f"  brought from version {done.said.version} to this one by {done.applied} migrations")
    if not done.has_same_secret:
        _say("  The secret is another one than before: sessions, invitations and mailed links no longer open, and")
        _say("  an old sheet that is imported again is not known again. Set EMMA_SECRET_KEY to the old one to mend it.")
    if done.lacking:
        _say(f"  {len(done.lacking)} files of the bucket are not in the bucket of this site: {done.lacking[0]} ...")
    _say(f"  {done.who_made_it}")
    if done.ran_as_superuser:
        _say("  Its dump was run with the rights of a superuser: give the site a role without them.")
    _say(*_what_next(done.has_demo_team))


def _what_next(has_demo_team: bool) -> list[str]:
    from django.conf import settings

    from . import site

    where = (
        "a PostgreSQL of its own"
        if site.keeps_its_postgres()
        else f"the database {settings.DATABASES['default']['NAME']}"
    )
    up = "./emma up --postgres" if site.keeps_its_postgres() else "./emma up"
    lines = [f"It lies in {settings.VAR_DIR} and {where}."]
    if has_demo_team:
        return [*lines, f"Start the site now, where ./emma runs it by {up}: it prints new passwords of the demo team."]
    return [*lines, f"Start the site now, where ./emma runs it by {up} --no-demo."]


def _verify(source: Path) -> None:
    from .verify import verify

    for proven in verify(archive.opened(source)):
        _say(proven)


def _say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{printable(line)}\n")
    sys.stdout.flush()


def printable(words: str) -> str:
    """What a stranger wrote into a backup is not to move a terminal's cursor, or worse."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in words)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./emma", description="Take a backup, put it back, prove it.")
    acts = parser.add_subparsers(dest="act", required=True)
    take = acts.add_parser(
        "take", prog="./emma backup", help="of everything that can't be made again; the site may run"
    )
    take.add_argument("target", nargs="?", type=Path, help="a new NAME.tar, or a new folder")
    take.add_argument("--with-files", action="store_true", help="copy what is in the bucket, not only its list")
    for act, words in (("restore", "onto an empty folder and database"), ("verify", "changes nothing")):
        acts.add_parser(act, help=words).add_argument("source", type=Path)
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was begun is taken back
    try:
        if chosen.act == "take":
            _take(chosen.target, chosen.with_files)
        elif chosen.act == "restore":
            _restore(chosen.source)
        else:
            _verify(chosen.source)
    except Refused as told:
        return _refused(str(told))
    except BucketError as told:
        return _refused(f"the bucket: {told}")
    except OSError as told:
        where = f" ({told.filename})" if told.filename else ""
        return _refused(f"{told.strerror or told}{where}. What was begun was taken back.")
    return 0


def _refused(words: str) -> int:
    sys.stderr.write(f"emma: {printable(words)}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
