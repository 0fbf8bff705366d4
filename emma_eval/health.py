"""Is the house standing: for load balancers (/healthz, /readyz) and for people (`python -m emma_eval.health`)."""

from __future__ import annotations

import logging
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from emma_eval.bucket import bucket_of_this_site
from emma_eval.start import read_settings

PATIENCE_S = 2.0


@dataclass(frozen=True)
class Finding:
    """What one part of the house says of itself. `needed`: pages can't be served while it is down."""

    part: str
    is_up: bool
    words: str
    needed: bool = True


def _database() -> Finding:
    kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[connection.vendor]
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except OperationalError:
        if not _is_of_this_folder("DATABASE_URL", "database_url"):
            raise
        return Finding("database", False, "this folder's own PostgreSQL is not running: ./emma up --postgres")
    return Finding("database", True, f"{kind} answers")


def _is_of_this_folder(variable: str, kept: str) -> bool:
    """Whether the server is one that `./emma up` runs in this folder."""
    return not os.environ.get(variable, "").strip() and (settings.VAR_DIR / kept).exists()


def _migrations() -> Finding:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        return Finding("migrations", False, f"{len(waiting)} not applied: run ./emma up or manage.py migrate")
    return Finding("migrations", True, "all applied")


def _outbox() -> Finding:
    from emma_eval.outbox.models import Row

    now = timezone.now()
    late = Row.objects.due(now - timedelta(minutes=5)).count()
    aside = Row.objects.exclude(set_aside_at=None).count()
    words = f"{late} rows waiting for more than 5 minutes, {aside} set aside"
    return Finding("outbox", late == 0, words, needed=False)


def _counts() -> Finding:
    from emma_eval.accounts.models import AuditEntry
    from results.counts.rebuild_counts import CORRECTED

    week_ago = timezone.now() - timedelta(days=7)
    last = AuditEntry.objects.filter(action=CORRECTED, at__gte=week_ago).order_by("-id").first()
    if last is None:
        return Finding("counts", True, "nothing was out of step in the last 7 days", needed=False)
    words = f"out of step on {timezone.localtime(last.at):%d %b}, and put right: see the audit trail"
    return Finding("counts", False, words, needed=False)


def _broker() -> Finding:
    from emma_eval.celery import app

    kind = "Redis" if settings.REDIS_URL else "the filesystem broker"
    if not settings.REDIS_URL and not os.access(settings.QUEUE_DIR, os.W_OK):
        return Finding("broker", False, f"no folder to write to at {settings.QUEUE_DIR}", needed=False)
    try:
        with app.connection_for_write() as link:
            link.ensure_connection(max_retries=1, timeout=2)
    except Exception:
        if not (settings.REDIS_URL and _is_of_this_folder("REDIS_URL", "redis_url")):
            raise
        return Finding("broker", False, "this folder's own Redis is not running: ./emma up --redis", needed=False)
    return Finding("broker", True, f"{kind} can be reached", needed=False)


def _web() -> Finding:
    """Only for people at a terminal: whether a web server runs here at all, however it was started."""
    port = os.environ.get("GRANIAN_PORT") or os.environ.get("EMMA_PORT") or str(urlsplit(settings.ORIGIN).port or 8000)
    address = f"http://127.0.0.1:{port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/healthz", timeout=PATIENCE_S) as answer:
            is_ours = answer.read(3) == b"ok\n"
    except urllib.error.HTTPError:
        is_ours = False
    except OSError:
        return Finding("web server", False, f"none runs here: nothing answers at {address}", needed=False)
    words = f"answers at {address}" if is_ours else f"something else than this site answers at {address}"
    return Finding("web server", is_ours, words, needed=False)


def _worker() -> Finding:
    """Only for people at a terminal: the answer takes a second to come."""
    from emma_eval.celery import app

    answers = len(app.control.ping(timeout=1.5) or [])
    words = f"{answers} answer" if answers else "none answers: what is to be done waits in the outbox"
    return Finding("workers", answers > 0, words, needed=False)


def _recordings() -> Finding:
    if settings.S3_BUCKET:
        return Finding("recordings", True, f"kept in the bucket {settings.S3_BUCKET}", needed=False)
    folder = settings.RECORDINGS_DIR
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return Finding("recordings", False, f"no folder to write to at {folder}", needed=False)
    return Finding("recordings", True, f"kept in the folder {folder}", needed=False)


def _bucket() -> Finding:
    bucket = bucket_of_this_site(PATIENCE_S)
    if bucket is None:
        return Finding("bucket", True, "none is configured: files are kept in folders", needed=False)
    bucket.reach()
    return Finding("bucket", True, f"{bucket.name} answers to our key", needed=False)


def _strangers() -> Finding:
    """Only for people at a terminal: nobody without our key may look into the bucket."""
    bucket = bucket_of_this_site(PATIENCE_S)
    if bucket is None:
        return Finding("bucket's door", True, "there is no bucket", needed=False)
    closed = bucket.is_closed()
    if not closed.strangers_are_refused:
        return Finding("bucket's door", False, "OPEN: whoever asks without a key is let in. Close it now", needed=False)
    if closed.block_is_on is False:
        return Finding("bucket's door", False, "closed, but its public access block is off: turn it on", needed=False)
    block = "its public access block is on" if closed.block_is_on else "its server tells of no public access block"
    return Finding("bucket's door", True, f"closed to strangers; {block}", needed=False)


def _pages_at_the_bucket() -> Finding:
    """Only for people at a terminal: browsers bring recordings there themselves, if its server lets our pages in."""
    bucket = bucket_of_this_site(PATIENCE_S)
    if bucket is None:
        return Finding("bucket's pages", True, "there is no bucket", needed=False)
    if bucket.lets_in(settings.ORIGIN):
        return Finding("bucket's pages", True, f"pages of {settings.ORIGIN} may send and play files", needed=False)
    words = f"pages of {settings.ORIGIN} are turned away: run manage.py recordings_bucket"
    return Finding("bucket's pages", False, words, needed=False)


def _sign_on() -> Finding:
    """Only for people at a terminal: whether the provider answers, and what its word counts for here."""
    from emma_eval.accounts.sign_on.session import way_out  # what it needs weighs on every process that answers pages

    found = settings.SIGN_ON
    if found is None:
        return Finding("sign-on", True, "none is configured: people sign in with passwords", needed=False)
    roles = f"roles from {len(found.roles)} groups" if found.roles else "roles given by hand"
    training = f"training from the claim {found.training_claim}" if found.training_claim else "training given by hand"
    doors = "and no other way in" if found.only else "beside passwords"
    address = f"{found.issuer}/.well-known/openid-configuration"
    answer = way_out(PATIENCE_S).send("GET", address)
    if answer.status != 200:
        return Finding("sign-on", False, f"{found.issuer} answers with {answer.status}", needed=False)
    return Finding("sign-on", True, f"{found.issuer} answers; {roles}, {training}, {doors}", needed=False)


def _mail() -> Finding:
    if settings.EMAIL_BACKEND.endswith("filebased.EmailBackend"):
        return Finding("mail", True, f"written to files in {settings.EMAIL_FILE_PATH}", needed=False)
    return Finding("mail", True, f"sent through {settings.EMAIL_HOST}:{settings.EMAIL_PORT} (not tried)", needed=False)


Probe = tuple[str, Callable[[], Finding]]
PROBES: tuple[Probe, ...] = (
    ("database", _database),
    ("migrations", _migrations),
    ("outbox", _outbox),
    ("counts", _counts),
    ("broker", _broker),
    ("recordings", _recordings),
    ("bucket", _bucket),
    ("mail", _mail),
)
SLOW_PROBES: tuple[Probe, ...] = (
    ("web server", _web),
    ("workers", _worker),
    ("bucket's door", _strangers),
    ("bucket's pages", _pages_at_the_bucket),
    ("sign-on", _sign_on),
)
NEEDED = frozenset({"database", "migrations"})
IN_THE_DATABASE = frozenset({"migrations", "outbox", "counts"})


def findings(probes: tuple[Probe, ...]) -> list[Finding]:
    """Ask every part in turn; what lives in a database that is down is not waited for again."""
    found: list[Finding] = []
    for part, probe in probes:
        database_is_down = any(finding.part == "database" and not finding.is_up for finding in found)
        if database_is_down and part in IN_THE_DATABASE:
            found.append(Finding(part, False, "not asked: the database is down", needed=part in NEEDED))
        else:
            found.append(_ask(part, probe))
    return found


def _ask(part: str, probe: Callable[[], Finding]) -> Finding:
    """One that fails in any way is down; it never takes the answer with it."""
    try:
        return probe()
    except Exception as cause:  # whatever the part's library raises, the part is down
        return Finding(part, False, f"does not answer ({type(cause).__name__})", needed=part in NEEDED)


def healthz(request: HttpRequest) -> HttpResponse:
    """The process is alive. Touches nothing else."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """Which part is up and which is down, without saying where anything is; 503 while a needed one is down."""
    found = findings(PROBES)
    is_ready = all(finding.is_up for finding in found if finding.needed)
    parts = {finding.part: "up" if finding.is_up else "down" for finding in found}
    return JsonResponse({"ready": is_ready, "parts": parts}, status=200 if is_ready else 503)


def main() -> int:
    """Print what is configured and what is reachable, in words. 1 when a needed part is down."""
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # that it tries and tries is said once, in words
    found = findings(PROBES + SLOW_PROBES)
    address = urlsplit(settings.ORIGIN)
    sys.stdout.write(f"Emma Eval at {address.scheme}://{address.netloc}, data in {settings.VAR_DIR}\n")
    for finding in found:
        sys.stdout.write(f"  {'ok  ' if finding.is_up else 'DOWN'}  {finding.part}: {finding.words}\n")
    return 0 if all(finding.is_up for finding in found if finding.needed) else 1


if __name__ == "__main__":
    read_settings()
    django.setup()
    sys.exit(main())
