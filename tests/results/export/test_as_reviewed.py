"""What files say of reviews: the tags of the one that stands and what waits, by the rules of the pages; no import
takes any of it.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.export.columns import COLUMNS
from results.models import GoldAnswer, Problem, QueuedFor, Result, Review, ReviewedProblem
from results.old_sheet.import_sheet import import_sheet
from results.review.file_review import Judged, file_review
from results.review.pick_review import pick_review
from scripts_catalog import taxonomy
from tests import make
from tests.results.review.conftest import NOW, reviewer

from .asking import exported, read_csv, read_json_lines, read_workbook

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
OF_REVIEWS = ["waits_for", "problems_as_reviewed", "biggest_as_reviewed"]
NAMES = ["In review queue", "Problems as reviewed", "Biggest as reviewed"]
LONG, STOP = taxonomy.TAG_BY_KEY["too_long"].label, taxonomy.TAG_BY_KEY["did_not_stop"].label


@pytest.fixture
def filed(db: None) -> list[Result]:
    """Three that wait."""
    tester, script, build = make.user("ana@example.test", Role.TESTER), make.script("bad-news-day"), make.build()
    fields: dict[str, Any] = {"problems": ("cut_in", "too_long"), "queued_for": QueuedFor.DISAGREEMENT}
    return [make.result(tester, script, build, called_at=NOW - timedelta(days=day), **fields) for day in range(3)]


def review(result: Result, *tags: str, by: User | None = None) -> Review:
    return file_review(by or reviewer(), result.pk, Judged(tags, "So."), based_on=1, now=NOW)


def told(client: Client) -> dict[int, list[Any]]:
    """By its key, what the file says of each result to a program."""
    rows = read_json_lines(exported(client, "jsonl", columns=["id", *OF_REVIEWS]))
    return {row["id"]: [row[key] for key in OF_REVIEWS] for row in rows}


def labelled(*tags: str) -> list[dict[str, str]]:
    return [{"key": tag, "label": taxonomy.TAG_BY_KEY[tag].label} for tag in tags]


def test_a_file_tells_what_waits_and_the_tags_as_reviewed(client: Client, filed: list[Result]) -> None:
    waits, none, some = filed
    review(none)
    review(some, "did_not_stop", "too_long")
    long, stop = labelled("too_long", "did_not_stop")
    assert told(client) == {
        waits.pk: ["disagreement", None, None],
        none.pk: [None, [], None],
        some.pk: [None, [stop, long], stop],
    }
    for format, read in (("csv", read_csv), ("xlsx", read_workbook)):
        rows = read(exported(client, format))  # type: ignore[operator]
        said = {int(row["Number"]): [row[name] or "" for name in NAMES] for row in rows}
        assert said == {
            waits.pk: ["Testers disagree", "", ""],
            none.pk: ["", "No problem", ""],
            some.pk: ["", f"{STOP}, {LONG}", STOP],
        }
        assert [row["Biggest problem"] for row in rows] == [taxonomy.TAG_BY_KEY["cut_in"].label] * 3, "as filed"


def test_nothing_is_told_before_all_are_in_and_one_is_picked(
    client: Client, filed: list[Result], eval_member: User, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    lead, manager = make.user("lead@example.test", Role.EVAL_LEAD), make.client_of(make.user(None, Role.MANAGER))
    first, *_ = filed
    hers = review(first, "did_not_stop")
    for reader in (client, manager):
        assert told(reader)[first.pk] == ["disagreement", None, None], "to the letter as the others"
    review(first, "too_long")
    assert told(client)[first.pk] == ["pick", None, None]
    pick_review(lead, first.pk, hers.pk, "She is right.")
    for reader in (client, manager):
        assert told(reader)[first.pk] == [None, labelled("did_not_stop"), labelled("did_not_stop")[0]]


def test_who_may_still_meet_it_as_gold_is_told_nothing(client: Client, filed: list[Result], eval_member: User) -> None:
    first, *_ = filed
    review(first, "did_not_stop")
    GoldAnswer.objects.create(result=first, tags=["cut_in"], why="Late.", set_by=eval_member)
    assert told(client)[first.pk] == [None, None, None]
    assert told(make.client_of(make.user(None, Role.MANAGER)))[first.pk][1] == labelled("did_not_stop")


def test_what_is_reviewed_of_safety_is_in_no_file_of_the_untrained(client: Client, trained_tester: User) -> None:
    hidden = make.result(
        trained_tester, make.script("quiet-talk", area="safety"), make.build(), queued_for=QueuedFor.SAMPLE
    )
    review(hidden, "did_not_stop", by=reviewer("Trained", is_trained=True))
    assert told(client) == {}
    assert told(make.client_of(reviewer("Other", is_trained=True)))[hidden.pk][1] == labelled("did_not_stop")


def test_no_row_costs_a_query_more_and_what_is_not_chosen_costs_none(client: Client, filed: list[Result]) -> None:
    def asked_for_reviews(columns: list[str]) -> int:
        with CaptureQueriesContext(connection) as seen:
            exported(client, "jsonl", columns=columns)
        return sum("results_reviewedproblem" in query["sql"] for query in seen.captured_queries)

    review(filed[0], "cut_in")
    assert asked_for_reviews(["id", "problems_as_reviewed"]) == 1
    for each in filed[1:]:
        review(each, "cut_in")
    assert asked_for_reviews(["id", "problems_as_reviewed"]) == 1
    assert asked_for_reviews(["id", "comment", "reviewed_at", "waits_for"]) == 0


@pytest.mark.parametrize("format", ["csv", "xlsx"])
def test_an_import_takes_the_rows_as_they_were_filed_and_no_review(
    client: Client, filed: list[Result], eval_member: User, tmp_path: Path, format: str
) -> None:
    """With every column in the file, into a site without results: the tester's tags come back, nobody's review does."""
    review(filed[0], "did_not_stop")
    path = tmp_path / f"sheet.{format}"
    path.write_bytes(exported(client, format, columns=[column.key for column in COLUMNS]))
    again = import_sheet(path, eval_member, path.name)
    assert (again.bad, again.here) == ([], 3), "whatever was reviewed meanwhile, they are here"
    ReviewedProblem.objects.all().delete()
    Review.objects.all().delete()
    Problem.objects.all().delete()
    Result.objects.all().delete()
    found = import_sheet(path, eval_member, path.name)
    assert (found.bad, found.here) == ([], 0)
    for made in Result.objects.all():
        assert list(made.problems.values_list("tag", flat=True)) == ["cut_in", "too_long"]
        assert made.reviewed_at is None
    assert Result.objects.count() == 3
    assert not Review.objects.exists()
