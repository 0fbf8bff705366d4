"""The list of results for programs: the filters and the order of the Results tab, page by page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.api.asked import NO_FILTERS
from results.api.describe import LIST_PARAMETERS
from results.listing.choices import Choices
from results.listing.filter_form import FilterForm
from results.models import QueuedFor, Result, Review
from results.review.file_review import Judged, file_review
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
PATH = "/api/v1/results/"
WHEN = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


@pytest.fixture
def program(tester: User) -> Program:
    return Program(tester)


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


def test_a_result_is_told_whole(program: Program, tester: User, script: Script, build: Build) -> None:
    result = make.result(
        tester,
        script,
        build,
        problems=("too_fast", "cut_in"),
        comment="She waited.",
        called_at=WHEN,
        recording_link="https://a.example/1",
    )
    said = program.get(PATH).json()
    assert (said["next"], said["previous"]) == (None, None)
    (row,) = said["items"]
    assert row["id"] == str(result.pk)
    assert row["url"].endswith(f"/results/{result.pk}/")
    assert (row["script"], row["script_version"], row["title"], row["build"]) == (
        *("bad-news-day", 1),
        *("Bad news day", "2026.43"),
    )
    assert row["called_at"] == "2026-05-04T09:30:00Z"
    assert row["ratings"] == {
        **dict.fromkeys(("listening_timing", "content", "voice_audio", "face_video", "emotional_fit"), 4),
        "vision": None,
    }
    assert [(problem["tag"], problem["place"]) for problem in row["problems"]] == [("too_fast", 1), ("cut_in", 2)]
    assert (row["comment"], row["recording_link"], row["tester"]["id"]) == (
        *("She waited.", "https://a.example/1"),
        tester.pk,
    )
    assert row == program.get(f"{PATH}{result.pk}/").json()


def test_an_order_that_is_not_known_is_not_told(program: Program, tester: User, script: Script, build: Build) -> None:
    make.result(tester, script, build, problems=("too_fast", "cut_in"), ranks=(None, None), problem_order="groups")
    (row,) = program.get(PATH).json()["items"]
    assert row["problem_order"] == "groups"
    assert [problem["place"] for problem in row["problems"]] == [None, None]


def test_the_tags_as_reviewed_stand_beside_those_filed_for_whom_the_page_shows_them(
    program: Program, tester: User, eval_member: User, manager: User, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build, problems=("too_fast", "cut_in"), queued_for=QueuedFor.OTHER_TAG)
    other = Program(make.user("other@example.test", Role.TESTER))
    leading = {"team": Program(eval_member), "manager": Program(manager)}
    readers = {**leading, "its tester": program, "another tester": other}

    def told(name: str) -> dict[str, Any]:
        rows = {who: reader.get(PATH).json()["items"][0] for who, reader in readers.items()}
        assert rows == {who: reader.get(f"{PATH}{result.pk}/").json() for who, reader in readers.items()}
        assert {tuple(problem["tag"] for problem in row["problems"]) for row in rows.values()} == {
            ("too_fast", "cut_in")
        }
        return {who: row[name] for who, row in rows.items()}

    assert told("waits_for") == {**dict.fromkeys(leading, "other"), "its tester": None, "another tester": None}
    assert told("problems_as_reviewed") == dict.fromkeys(readers)
    file_review(eval_member, result.pk, Judged(("cut_in",), "So."), based_on=1, now=WHEN)
    as_reviewed = [{"tag": "cut_in", "label": taxonomy.TAG_BY_KEY["cut_in"].label, "place": 1}]
    who_read = dict.fromkeys((*leading, "its tester"), as_reviewed)
    assert told("problems_as_reviewed") == {**who_read, "another tester": None}
    assert told("waits_for") == dict.fromkeys(readers)


def test_who_is_still_to_review_reads_a_row_as_if_nobody_had(
    tester: User, eval_member: User, script: Script, build: Build, settings: LazySettings
) -> None:
    """To the letter, but for what was filed; the same of a row that waits for the lead's pick."""
    settings.REVIEWERS_PER_RESULT = 2
    fields: dict[str, Any] = {"called_at": WHEN, "problems": ("too_fast",), "queued_for": QueuedFor.SAMPLE}
    half, nobody = (make.result(tester, script, build, **fields) for _ in range(2))
    Result.objects.update(filed_at=WHEN)
    first, lead = make.user("first@example.test", Role.EVAL_TEAM), make.user("lead@example.test", Role.EVAL_LEAD)
    file_review(first, half.pk, Judged(("cut_in",), "So."), based_on=1, now=WHEN)
    for reader in (eval_member, lead, first):
        texts = [Program(reader, name=str(row.pk)).get(f"{PATH}{row.pk}/").text for row in (half, nobody)]
        same = [
            text.replace(str(row.pk), "").replace(str(row.call_uuid), "")
            for text, row in zip(texts, (half, nobody), strict=True)
        ]
        assert same[0] == same[1]
    file_review(eval_member, half.pk, Judged(("too_slow",), "So."), based_on=1, now=WHEN)
    row = Program(lead, name="Later").get(f"{PATH}{half.pk}/").json()
    assert (row["waits_for"], row["problems_as_reviewed"], row["reviewed_at"] is None) == ("pick", None, False)


def test_pages_follow_each_other_and_lead_back(program: Program, tester: User, script: Script, build: Build) -> None:
    made = [
        str(make.result(tester, script, build, called_at=WHEN + timedelta(minutes=minute)).pk) for minute in range(7)
    ]
    there, seen = program.get(f"{PATH}?page_size=3&script=bad-news-day"), []
    seen.append(ids(there))
    while there.json()["next"]:
        there = program.get(there.json()["next"])
        seen.append(ids(there))
    assert seen == [made[:3:-1], made[3:0:-1], made[0::-1]]
    assert ids(program.get(there.json()["previous"])) == seen[1]


def test_a_rating_that_is_missing_comes_last_in_either_direction(
    program: Program, tester: User, script: Script, build: Build
) -> None:
    camera = make.script("show-an-object", uses_camera=True)
    low, high = (str(make.result(tester, camera, build, ratings=rating).pk) for rating in (1, 5))
    none = str(make.result(tester, script, build).pk)
    assert ids(program.get(f"{PATH}?sort=vision&direction=asc")) == [low, high, none]
    assert ids(program.get(f"{PATH}?sort=vision&direction=desc")) == [high, low, none]


def test_it_is_narrowed_as_the_tab_is(program: Program, tester: User, eval_member: User, script: Script) -> None:
    build, other = make.build("2026.9"), make.build("2026.10")
    noisy = make.script("noisy-room", area="conditions")
    one = make.result(tester, script, build, problems=("cut_in",), comment="Waited.", called_at=WHEN, ratings=2)
    two = make.result(tester, noisy, other, called_at=WHEN + timedelta(days=2), met_emma_before=True)
    asked = {
        *("script=bad-news-day", "build=2026.09", "problem=cut_in", "problem=cut_in&biggest=yes", "q=waited"),
        *("dimension=content&high=2", "to=2026-05-04", "returning=no", f"area={script.area}"),
    }
    assert {query: ids(program.get(f"{PATH}?{query}")) for query in asked} == {query: [str(one.pk)] for query in asked}
    assert ids(program.get(f"{PATH}?tester={tester.pk}&sort=date&direction=desc")) == [str(two.pk), str(one.pk)]
    assert ids(program.get(f"{PATH}?q=%23{two.pk}")) == [str(two.pk)]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("scirpt=bad-news-day", "scirpt"),
        ("script=quiet-hint", "script"),
        ("script=no-such", "script"),
        ("script=", "script"),
        ("script=bad-news-day&script=bad-news-day", "script"),
        ("build=1999.1", "build"),
        ("tester=0", "tester"),
        ("tester=9999999999999999999999", "tester"),
        ("tester=x", "tester"),
        ("area=safety", "area"),
        ("problem=none", "problem"),
        ("biggest=yes", "biggest"),
        ("problem=cut_in&biggest=no", "biggest"),
        ("low=2", "dimension"),
        ("dimension=content&low=6", "low"),
        ("dimension=content&low=4&high=2", "low"),
        ("from=yesterday", "from"),
        ("from=2026-05-02&to=2026-05-01", "from"),
        ("camera=perhaps", "camera"),
        ("tags=mine", "tags"),
        ("review=reviewed", "review"),
        ("sort=comment", "sort"),
        ("direction=up", "direction"),
        ("after=x", "after"),
        ("after=1.%C2%B2", "after"),
        ("before=1.9999999999999999999", "before"),
        ("after=1.1&before=1.1", "before"),
        ("sort=vision&after=5.9", "after"),
        ("page_size=0", "page_size"),
        ("page_size=101", "page_size"),
        ("page_size=ten", "page_size"),
        ("q=" + "x" * 201, "q"),
    ],
)
def test_what_is_not_understood_is_refused_and_widens_nothing(
    program: Program, script: Script, query: str, parameter: str
) -> None:
    make.script("quiet-hint", area="safety")
    answer = program.get(f"{PATH}?{query}")
    assert answer.status_code == 422
    assert parameter in [fault["parameter"] for fault in answer.json()["errors"]]


def test_a_script_that_may_not_be_known_is_refused_like_one_that_is_not(program: Program) -> None:
    make.script("quiet-hint", area="safety")
    hidden, none = (program.get(f"{PATH}?script={slug}").content for slug in ("quiet-hint", "no-such"))
    assert hidden == none


def test_a_tester_of_whom_nothing_may_be_seen_is_nobody(program: Program, trained_tester: User, build: Build) -> None:
    make.result(trained_tester, make.script("quiet-hint", area="safety"), build)
    answers = [program.get(f"{PATH}?tester={pk}") for pk in (trained_tester.pk, 10**9)]
    assert [answer.status_code for answer in answers] == [422, 422]
    assert answers[0].content == answers[1].content


def test_no_row_costs_a_query_more(tester: User, program: Program, script: Script, build: Build) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            assert program.get(path).status_code == 200
        return len([query for query in found.captured_queries if "busy_timeout" not in query["sql"]])

    make.result(tester, script, build, problems=("too_fast",))
    program.get(PATH)
    before = queries(PATH)
    for _ in range(30):
        make.result(tester, script, build, problems=("too_fast", "cut_in"))
    assert queries(PATH) == before
    assert before <= 9, "token, owner, both counts and their transaction, the rows, their problems and recordings"
    assert queries(f"{PATH}?script=bad-news-day&page_size=5") <= 10, "and the script that is asked for"
    assert Result.objects.count() == 31
    reviewed = Result.objects.order_by("-called_at", "-id")[:20]
    for result in reviewed:
        Review.objects.create(result=result, reviewer=tester, filed_at=WHEN, stands=True)
    Result.objects.filter(pk__in=[result.pk for result in reviewed]).update(reviewed_at=WHEN)
    assert queries(PATH) == before + 1, "the tags as reviewed of all of them"


def test_every_filter_and_order_of_the_tab_is_in_the_document() -> None:
    form = FilterForm({}, Choices(scripts={}, area_of={}, builds=[], testers={}, sees_reviews=True, sees_safety=True))
    assert {parameter.name for parameter in LIST_PARAMETERS} == {*form.fields, *NO_FILTERS}


def test_how_far_it_is_reviewed_is_for_those_who_review(
    program: Program, tester: User, eval_member: User, script: Script, build: Build
) -> None:
    made = str(make.result(tester, script, build).pk)
    reviewer = Program(eval_member)
    assert ids(reviewer.get(f"{PATH}?review=unreviewed")) == [made]
    assert ids(reviewer.get(f"{PATH}?review=reviewed")) == []
    assert ids(program.get(f"{PATH}?tags=reviewed")) == []


def test_safety_is_left_out_on_demand_and_nobody_learns_from_that_whether_there_is_any(
    tester: User, trained_tester: User, script: Script, build: Build
) -> None:
    hidden = make.result(trained_tester, make.script("quiet-talk", area="safety"), build)
    once = make.result(trained_tester, script, build, filed_as_safety=True)
    made = make.result(tester, script, build)
    trained, other = Program(trained_tester), Program(tester)
    assert set(ids(trained.get(PATH))) == {str(each.pk) for each in (hidden, once, made)}
    for query in ("?safety=no", "?safety=no&sort=content", "?safety=no&problem=cut_in&biggest=yes"):
        assert ids(trained.get(PATH + query)) == ids(other.get(PATH + query))
    assert ids(trained.get(f"{PATH}?safety=no")) == [str(made.pk)]
    assert trained.get(f"{PATH}?safety=yes").status_code == other.get(f"{PATH}?safety=yes").status_code == 422
