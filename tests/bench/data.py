"""The rows that everything is measured on: `load(rows)` fills an empty, migrated database.

The same rows each time: chance is seeded. 200 scripts are run as often as Zipf says, 300 testers file about 2.5
problems a result, over two years and twelve builds; the calls of the last months have recordings (recorded.py). Rows go
in by COPY or executemany while the indexes are away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from django.contrib.auth.models import Group
from django.db import connection, models, transaction

from emma_eval.accounts.keys import KEYS_A_MS, START_MS
from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from results.counts.rebuild_counts import count_months_not_counted
from results.models import DIMENSION_KEYS, CallFigures, Problem, QueuedFor, Recording, Result
from results.review.reasons import VERY_LOW
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, RunCount, Script, ScriptVersion

from . import recorded

SEED = 20_261
SCRIPTS, TESTERS, BUILDS = 200, 300, 12
FIRST_CALL = datetime(2025, 1, 6, tzinfo=UTC)
OVER = timedelta(days=690)
RATING_WEIGHTS = (6, 14, 28, 34, 18)
PROBLEMS_A_RESULT = (12, 20, 24, 18, 12, 8, 4, 2)  # how many of a hundred have none, one, two, ...
BATCH = 20_000
TESTER, EVAL_MEMBER = "tester-001@example.test", "evaluator@example.test"
TAGS = tuple(tag for tag in taxonomy.TAG_BY_KEY if not tag.startswith("other_"))
TAG_WEIGHTS = [1 / place for place in range(1, len(TAGS) + 1)]
PHRASES = (
    "she answered before I had finished",
    "went quiet for a while",
    "the voice was warm but the face did not follow",
    "asked me to repeat what I had just said",
    "kept to the point",
    "remembered my name from the start",
    "looked away while I was talking",
    "laughed where nothing was funny",
    "gave a date that was wrong by a year",
    "sounded tired",
)


def load(rows: int) -> None:
    """Fill the database with so many results and everything that they stand on."""
    rng, of_recordings = Random(SEED), Random(recorded.SEED)
    testers, scripts, builds = _people(), _scripts(), _builds()
    runs: Counter[tuple[str, str, bool]] = Counter()
    with _without_indexes(Result, Problem, Recording), transaction.atomic():
        for batch in _batches(rng, rows, testers, scripts, builds):
            _insert(Result, RESULT_FIELDS, batch.results)
            _insert(Problem, PROBLEM_FIELDS, batch.problems)
            _insert_recordings(of_recordings, batch)
            runs.update(batch.runs)
    _count_runs(runs)
    count_months_not_counted()
    with connection.cursor() as cursor:  # what a site's autovacuum does, which is off here: it would be measured
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


# --- what results stand on ---------------------------------------------------------------------


def _people() -> list[int]:
    testers = [
        User(email=f"tester-{number:03}@example.test", name=f"Tester {number:03}", password="!")
        for number in range(1, TESTERS + 1)
    ]
    evaluator = User(email=EVAL_MEMBER, name="Evaluator", password="!")
    User.objects.bulk_create([*testers, evaluator])
    for role, people in ((Role.TESTER, testers), (Role.EVAL_TEAM, [evaluator])):
        Group.objects.get_or_create(name=role.value)[0].user_set.set(people)
    # The first tester, whose pages are measured, is not trained: the Safety rule has something to do.
    trained = [evaluator, *testers[4::5]]
    Training.objects.bulk_create(Training(user=user, starts_on=date(2025, 1, 1)) for user in trained)
    return [user.pk for user in testers]


def _scripts() -> list[ScriptVersion]:
    """Eight of the two hundred are Safety, none of them among the first, which are run most."""
    areas = [area for area, _ in taxonomy.AREAS if area != taxonomy.SAFETY]
    made = []
    for number in range(1, SCRIPTS + 1):
        area = taxonomy.SAFETY if number % 25 == 0 else areas[number % len(areas)]
        script = Script.objects.create(slug=f"script-{number:03}", area=area)
        script.latest = ScriptVersion.objects.create(
            script=script,
            number=1,
            area=area,
            title=f"{taxonomy.AREA_NAMES[area]}, script {number}",
            main_dimension=DIMENSION_KEYS[number % 6],
            uses_camera=area == "camera",
            summary="What this script finds out.",
            what_to_do="Find a quiet place.",
            steps=["Say hello.", "Ask her a question.", "Interrupt her once.", "Say goodbye."],
        )
        script.save()
        made.append(script.latest)
    return made


def _builds() -> list[str]:
    weeks = [FIRST_CALL + OVER / BUILDS * number for number in range(BUILDS)]
    names = [f"{week:%G}.{week:%V}" for week in weeks]
    made = [Build.objects.create(name=name, is_current=name == names[-1]) for name in names]
    return [build.sort_key for build in made]


def _count_runs(runs: Counter[tuple[str, str, bool]]) -> None:
    scripts = dict(Script.objects.values_list("slug", "pk"))
    builds = dict(Build.objects.values_list("sort_key", "pk"))
    RunCount.objects.bulk_create(
        RunCount(script_id=scripts[script], build_id=builds[build], filed_as_safety=is_safety, runs=number)
        for (script, build, is_safety), number in sorted(runs.items())
    )


# --- the results -------------------------------------------------------------------------------

RESULT_FIELDS = (
    *("id", "tester", "draft_uuid", "call_uuid", "script", "script_version", "build", "called_at", "filed_at"),
    *("recording_link", *DIMENSION_KEYS, "camera_used", "never_started", "comment", "met_emma_before"),
    *("filed_as_safety", "sheet_digest", "queued_for"),
)
NEVER_STARTED = RESULT_FIELDS.index("never_started")
TESTER_OF, CALL_OF, FILED_AT = (RESULT_FIELDS.index(name) for name in ("tester", "call_uuid", "filed_at"))
OLDEST_RECORDING = str((FIRST_CALL + OVER - recorded.KEPT_FOR).replace(tzinfo=None))
PROBLEM_FIELDS = ("result", "tag", "position", "rank")


@dataclass(frozen=True)
class Batch:
    """Rows in the order of their fields, as both databases read them, and the runs that they count for."""

    results: list[tuple[Any, ...]]
    problems: list[tuple[Any, ...]]
    runs: list[tuple[str, str, bool]]


def _insert_recordings(rng: Random, batch: Batch) -> None:
    """Of some of the calls; a call that never started has none."""
    calls = [
        (row[TESTER_OF], row[CALL_OF], row[FILED_AT])
        for row in batch.results
        if row[FILED_AT] > OLDEST_RECORDING and not row[NEVER_STARTED] and rng.random() < recorded.SHARE
    ]
    rows = [recorded.recording(rng, *call) for call in calls]
    _insert(Recording, recorded.RECORDING_FIELDS, rows)
    _insert(CallFigures, recorded.FIGURES_FIELDS, [recorded.figures(rng, row) for row in rows])


def _batches(
    rng: Random, rows: int, testers: list[int], scripts: list[ScriptVersion], builds: list[str]
) -> Iterator[Batch]:
    zipf = [1 / place for place in range(1, SCRIPTS + 1)]
    for first in range(0, rows, BATCH):
        numbers = range(first, min(first + BATCH, rows))
        picked = rng.choices(scripts, zipf, k=len(numbers))
        filers = rng.choices(testers, k=len(numbers))
        counts = rng.choices(range(8), PROBLEMS_A_RESULT, k=len(numbers))
        batch = Batch([], [], [])
        for number, version, tester, count in zip(numbers, picked, filers, counts, strict=True):
            filed_at = FIRST_CALL + OVER / rows * (number + rng.random())
            build = builds[number * BUILDS // rows]
            row = _result(rng, filed_at, version, tester, build)
            batch.results.append(row)
            tags = _tags(rng, count)
            batch.problems.extend((row[0], tag, place, place) for place, tag in enumerate(tags, 1))
            if not row[NEVER_STARTED]:
                batch.runs.append((version.script.slug, build, version.is_safety))
        yield batch


def _result(rng: Random, filed_at: datetime, version: ScriptVersion, tester: int, build: str) -> tuple[Any, ...]:
    """A row in the order of RESULT_FIELDS. Keys are those of accounts/keys.py, at the time of filing."""
    never_started = rng.random() < 0.02
    camera_used = version.uses_camera and not never_started
    ratings: list[int | None] = [None] * 6 if never_started else rng.choices(range(1, 6), RATING_WEIGHTS, k=6)
    if not camera_used:
        ratings[-1] = None
    called_at = (filed_at - timedelta(minutes=rng.randint(6, 90))).replace(second=0, microsecond=0)
    key = (int(filed_at.timestamp() * 1000) - START_MS) * KEYS_A_MS + rng.randrange(KEYS_A_MS)
    link = f"https://recordings.example.test/{key:x}.webm" if rng.random() < 0.95 else ""
    comment = ", ".join(rng.choices(PHRASES, k=rng.randint(1, 9))) if rng.random() < 0.6 else ""
    return (
        *(key, tester, f"{rng.getrandbits(128):032x}", f"{rng.getrandbits(128):032x}"),
        *(version.script.slug, version.pk, build, _text(called_at), _text(filed_at), link),
        *(*ratings, int(camera_used), int(never_started), comment, int(rng.random() < 0.7)),
        *(int(version.is_safety), f"{key:064x}" if rng.random() < 0.1 else "", _queued_for(rng, ratings)),
    )


def _queued_for(rng: Random, ratings: list[int | None]) -> int | None:
    """Nothing is reviewed yet: the queue is as long as it can be."""
    if VERY_LOW in ratings:
        return QueuedFor.VERY_LOW.value
    return QueuedFor.SAMPLE.value if rng.random() < 0.1 else None


def _text(moment: datetime) -> str:
    """As Django writes it to SQLite, where times are compared as texts: no fraction where it is none."""
    return str(moment.replace(tzinfo=None))


def _tags(rng: Random, count: int) -> list[str]:
    """So many different tags; some are picked far more often than others."""
    found = dict.fromkeys(rng.choices(TAGS, TAG_WEIGHTS, k=count))
    while len(found) < count:
        found[rng.choice(TAGS)] = None
    return list(found)


# --- how they go in ----------------------------------------------------------------------------


def _insert(model: type[models.Model], given: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    """Write rows of the given fields; every other column holds what the model says when nobody says anything."""
    fields = [model._meta.get_field(name) for name in given]
    others = [field for field in model._meta.concrete_fields if field not in fields and not _is_numbered(field)]
    rest = tuple(field.get_db_prep_save(field.get_default(), connection) for field in others)
    columns = ", ".join(f'"{field.column}"' for field in (*fields, *others))
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            marks = ", ".join("?" * (len(fields) + len(others)))
            sql = f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({marks})"
            connection.connection.executemany(sql, (row + rest for row in rows))
            return
        cursor.execute("SET LOCAL TIME ZONE 'UTC'")
        with cursor.copy(f"COPY {model._meta.db_table} ({columns}) FROM STDIN") as copy:
            copy.write("".join("\t".join(map(_copied, row + rest)) + "\n" for row in rows))


def _is_numbered(field: models.Field[Any, Any]) -> bool:
    return isinstance(field, models.AutoField | models.BigAutoField) and not field.has_default()


def _copied(value: Any) -> str:
    """A value as COPY reads it; no text of ours holds a tab, a backslash or an end of line."""
    if value is None:
        return "\\N"
    return str(int(value)) if isinstance(value, bool) else str(value)


@contextmanager
def _without_indexes(*tables: type[models.Model]) -> Iterator[None]:
    """Take the indexes away that aren't part of a constraint, and make them again behind the rows."""
    names = [model._meta.db_table for model in tables]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA journal_mode = OFF")  # the next connection keeps a log again
            cursor.execute("PRAGMA synchronous = OFF")
            cursor.execute("PRAGMA cache_size = -600000")
            cursor.execute("PRAGMA foreign_keys = OFF")
            found = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = %s"
        else:
            cursor.execute("SET maintenance_work_mem = '400MB'")
            cursor.execute("SET session_replication_role = replica")  # asks no foreign key for each row
            cursor.execute("SET statement_timeout = 0")
            found = (
                "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s"
                " AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)"
            )
        indexes = []
        for name in names:
            cursor.execute(found, [name])
            indexes += cursor.fetchall()
        for index, _ in indexes:
            cursor.execute(f'DROP INDEX "{index}"')
        yield
        for _, sql in indexes:
            cursor.execute(sql)
