"""What is exported is imported as it was: an export, an import into a site without results, and an export again.

Equal in every column that the import knows, whatever stands in the texts.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emma_eval.accounts.models import Attempt, User
from emma_eval.accounts.roles import Role
from results.export.columns import COLUMNS
from results.export.export_form import imported
from results.filing.rules import without_control_characters
from results.models import MOST_NOTE_CHARACTERS, Problem, ProblemOrder, Result
from results.old_sheet.import_sheet import import_sheet
from results.old_sheet.read_sheet import COLUMNS as SHEET_COLUMNS
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, RunCount, Script
from tests import make

from .asking import exported, read_csv, read_workbook

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
KNOWN = [column.key for column in imported()]
CALLED = datetime(2026, 3, 2, 7, 44, 5, tzinfo=UTC)
ANY_TEXT = st.text(
    st.one_of(st.sampled_from("'=+-@＝＋－＠\t\n\r ,;\"_x000B0123456789.()&<>|#é😀"), st.characters(codec="utf-8"))
)


def kept(text: str) -> str:
    """As the form keeps what is typed. What a text can't hold in PostgreSQL never comes so far."""
    return without_control_characters(text).strip()


COMMENTS = ANY_TEXT.map(kept)
NOTES = ANY_TEXT.map(kept).map(lambda text: text[:MOST_NOTE_CHARACTERS].strip())
SEVERAL_TAGS = st.lists(
    st.sampled_from([tag for tag in taxonomy.TAG_BY_KEY if not tag.startswith("other_")]), unique=True
)


@st.composite
def said_of_results(draw: Any) -> dict[str, Any]:
    """What a tester may have said of a call, in the form or by an old sheet."""
    never_started = draw(st.integers(0, 5)) == 0
    problems = draw(SEVERAL_TAGS.map(lambda tags: tags[:8]))
    if never_started and "stuck_start" not in problems:
        problems.append("stuck_start")
    order = draw(st.sampled_from(list(ProblemOrder)))
    camera_used = not never_started and draw(st.booleans())
    return {
        "never_started": never_started,
        "camera_used": camera_used,
        "camera_note": "" if camera_used or never_started else draw(NOTES),
        "ratings": draw(st.integers(1, 5)),
        **in_order(problems, order),
        "comment": draw(COMMENTS),
        "met_emma_before": draw(st.booleans()),
        "sheet_worst_moment": draw(COMMENTS),
        "sheet_minute_in_call": draw(COMMENTS),
        "recording_link": draw(
            st.sampled_from(["", "https://recordings.example.test/1?a=1&b='2'", "https://x.example/=1"])
        ),
        "browser": draw(st.sampled_from(["", "Chrome", "Safari"])),
        "device": draw(st.sampled_from(["", "phone", "computer"])),
        "connection": draw(st.sampled_from(["", "wifi", "4g"])),
    }


def in_order(problems: list[str], order: ProblemOrder) -> dict[str, Any]:
    """Tags as they are filed: where the order between groups is not known, those of a group stand together."""
    groups = list(dict.fromkeys(taxonomy.GROUP_OF_TAG[tag].key for tag in problems))
    if len(groups) <= 1:
        order = ProblemOrder.OVERALL
    if order == ProblemOrder.OVERALL:
        return {"problem_order": order, "problems": tuple(problems), "ranks": tuple(range(1, len(problems) + 1))}
    first, *rest = problems
    if order == ProblemOrder.GROUPS:
        first, rest = "", problems
    by_group = [tag for group in taxonomy.TAG_GROUPS for tag in rest if taxonomy.GROUP_OF_TAG[tag] is group]
    found = [first, *by_group] if first else by_group
    ranks = (1 if first else None, *[None] * (len(found) - 1))
    return {"problem_order": order, "problems": tuple(found), "ranks": ranks}


@pytest.fixture
def exporter(db: None) -> User:
    return make.user("evan@example.test", Role.EVAL_TEAM, is_trained=True)


@pytest.fixture
def tester(db: None) -> User:
    return make.user("ana@example.test", Role.TESTER)


@pytest.fixture
def scripts(db: None) -> list[Script]:
    return [make.script("small-talk"), make.script("show-me", uses_camera=True), make.script("quiet", area="safety")]


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10")


def there_and_back(exporter: User, format: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of an export, and those of an export of what its import made. Everything is undone afterwards."""
    client, read = make.client_of(exporter), {"csv": read_csv, "xlsx": read_workbook}[format]
    Attempt.objects.all().delete()
    data = exported(client, format, columns=KNOWN)
    with transaction.atomic(), tempfile.TemporaryDirectory() as folder:
        Problem.objects.all().delete()
        Result.objects.all().delete()
        RunCount.objects.all().delete()
        path = Path(folder) / f"sheet.{format}"
        path.write_bytes(data)
        found = import_sheet(path, exporter, path.name)
        again = exported(client, format, columns=KNOWN)
        transaction.set_rollback(True)
    assert (found.bad, found.here) == ([], 0)
    return read(data), read(again)  # type: ignore[operator]


@pytest.mark.parametrize("format", ["csv", "xlsx"])
@given(said=st.lists(said_of_results(), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_filed_comes_back_as_it_was(
    exporter: User, tester: User, scripts: list[Script], build: Build, format: str, said: list[dict[str, Any]]
) -> None:
    with transaction.atomic():
        for place, fields in enumerate(said):
            called_at = CALLED + timedelta(days=place, microseconds=place * 137)
            make.result(tester, scripts[place % 3], build, called_at=called_at, **fields)
        before, after = there_and_back(exporter, format)
        transaction.set_rollback(True)
    assert len(before) == len(said)
    assert after == before


@pytest.mark.parametrize("format", ["csv", "xlsx"])
@pytest.mark.parametrize(
    "comment",
    [
        "=1+1",
        "'=1+1",
        "''",
        "'",
        "- she waited",
        "-5",
        "+852 1234 5678",
        "'-5",
        "\ufeff=1",
        "＝1+1",
        "a\tb\nc",
        "_x000B_ and _x005F_",
        "none",
        "N/A",
        '"quoted", with; separators|and\ttabs',
        "sep=;",
        "\ufffe\uffff",
        "a\u2028\u2029b",
        "x" * 20_000,
        "#REF!",
        "TRUE",
        "2026-03-02",
        "1e5",
        "007",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_comment_that_looks_like_something_else_comes_back_as_it_was(
    exporter: User, tester: User, scripts: list[Script], build: Build, format: str, comment: str
) -> None:
    make.result(
        tester, scripts[1], build, called_at=CALLED, comment=comment, camera_used=False, camera_note=comment[:200]
    )
    before, after = there_and_back(exporter, format)
    assert after == before
    assert len(before) == 1


def test_every_column_that_the_import_knows_is_exported() -> None:
    assert {column.name for column in SHEET_COLUMNS} <= {column.name for column in COLUMNS}
