"""The page of one result: everything as filed, and nothing that may not be known."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.filing.correct_result import correct_result, filing_of
from results.filing.rules import Ratings
from results.models import Change, ProblemOrder, Result
from scripts_catalog.models import Build, RunCount, Script
from scripts_catalog.publish_version import publish_version
from tests import make

pytestmark = pytest.mark.django_db

MARCH = datetime(2026, 3, 3, 12, tzinfo=UTC)


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day", main_dimension="emotional_fit")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10")


def page_of(client: Client, result: Result) -> str:
    answer = client.get(f"/results/{result.pk}/")
    assert answer.status_code == 200
    return str(answer.text)


def words_of(client: Client, result: Result) -> str:
    """The page's text, without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page_of(client, result))).split())


def test_it_shows_everything_that_was_filed(tester: User, tester_client: Client, build: Build) -> None:
    script = make.script("show", title="Show an object", uses_camera=True)
    result = make.result(
        tester,
        script,
        build,
        ratings=2,
        called_at=MARCH,
        problems=("too_long", "wrong_vision_comment"),
        comment="First line\nsecond line",
        met_emma_before=True,
        recording_link="https://recordings.example.test/a/b.webm?c=d",
    )
    said = words_of(tester_client, result)
    for words in (
        *("Show an object", "2026.10", "tess@example.test", "3 Mar 2026, 20:00", "Talked to Emma before yes"),
        *("version 1 of Show an object", "noticeable problem, hurt the conversation", "Answers it well."),
        "Too long or rambling biggest Content",
        "Wrong or unwanted comment about what she sees Live call only",
        *("First line second line", "Open on recordings.example.test"),
    ):
        assert words in said, words
    assert "Label Studio" not in said, "whoever labels there finds its names in the Guide"


def test_the_recording_opens_as_a_stranger(tester: User, tester_client: Client, script: Script, build: Build) -> None:
    link = "https://recordings.example.test/a.webm?x=1&y=2"
    page = page_of(tester_client, make.result(tester, script, build, recording_link=link))
    anchor = re.search(r'<a class="button" href="(https:[^"]+)" rel="([^"]+)"', page)
    assert anchor
    assert unescape(anchor[1]) == link
    assert set(anchor[2].split()) == {"noopener", "noreferrer", "nofollow"}


def test_a_missing_recording_is_told_and_its_tester_may_add_it(
    tester: User, tester_client: Client, eval_client: Client, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build)
    assert "There is no recording of this call yet." in words_of(tester_client, result)
    assert "Add the recording link" in words_of(tester_client, result)
    assert "Add the recording link" not in words_of(eval_client, result)


@pytest.mark.parametrize(
    ("uses_camera", "camera_used", "note", "expected"),
    [
        (False, False, "", "N/A The camera was not used; this script has no use for it."),
        (True, False, "lens broken", "N/A The camera was not used: lens broken ."),
        (False, True, "", "Rated off-script"),
        (True, True, "", ""),
    ],
)
def test_vision_says_why_it_is_na_or_off_script(
    tester: User, tester_client: Client, build: Build, uses_camera: bool, camera_used: bool, note: str, expected: str
) -> None:
    script = make.script("one", uses_camera=uses_camera)
    said = words_of(
        tester_client, make.result(tester, script, build, camera_used=camera_used, camera_note=note, ratings=4)
    )
    assert expected in said
    assert ("off-script" in said) == (camera_used and not uses_camera)
    assert ("N/A" in said) == (not camera_used)


@pytest.mark.parametrize(
    ("order", "ranks", "expected", "biggest"),
    [
        (ProblemOrder.OVERALL, (1, 2, 3), "", 1),
        (ProblemOrder.BIGGEST, (1, None, None), "the order of the others is not", 1),
        (ProblemOrder.GROUPS, (None, None, None), "Order not known", 0),
    ],
)
def test_it_says_how_much_of_the_order_is_known(
    tester: User,
    tester_client: Client,
    script: Script,
    build: Build,
    order: ProblemOrder,
    ranks: tuple[int | None, ...],
    expected: str,
    biggest: int,
) -> None:
    tags = ("too_long", "cut_in", "too_fast")
    result = make.result(tester, script, build, problem_order=order, problems=tags, ranks=ranks)
    page = page_of(tester_client, result)
    assert expected in page
    assert page.count(">biggest<") == biggest


def test_what_was_not_rated_is_not_explained(tester: User, tester_client: Client, build: Build) -> None:
    anchors = {key: {"five": f"five of {key}", "one": f"one of {key}"} for key in ("content", "vision")}
    said = words_of(tester_client, make.result(tester, make.script(anchors=anchors), build))
    assert "5: five of content" in said
    assert "of vision" not in said


def test_its_number_stands_in_the_address_alone(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build)
    assert "Results › Result" in words_of(tester_client, result)
    assert str(result.pk) not in words_of(tester_client, result)


def test_a_call_that_never_started_has_no_ratings(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    said = words_of(tester_client, make.result(tester, script, build, never_started=True, problems=("stuck_start",)))
    assert "the call never started" in said
    assert "N/A" not in said


def test_old_columns_of_the_sheet_are_kept(tester: User, tester_client: Client, script: Script, build: Build) -> None:
    said = words_of(
        tester_client,
        make.result(
            tester, script, build, sheet_digest="d" * 64, sheet_worst_moment="the pause", sheet_minute_in_call="4:10"
        ),
    )
    assert "imported" in said
    assert "Worst moment the pause Minute in call 4:10" in said


@pytest.mark.parametrize(
    ("is_imported", "is_older", "is_known"), [(True, True, False), (True, False, True), (False, True, True)]
)
def test_a_sheet_older_than_every_version_names_none(
    tester: User,
    tester_client: Client,
    script: Script,
    build: Build,
    is_imported: bool,
    is_older: bool,
    is_known: bool,
) -> None:
    time = script.latest.created_at - timedelta(days=1) if is_older else script.latest.created_at
    digest = "d" * 64 if is_imported else ""
    said = words_of(tester_client, make.result(tester, script, build, called_at=time, sheet_digest=digest))
    assert ("version 1 of Bad news day" in said) == is_known
    assert ("The version of that time is not known" in said) == (not is_known)
    assert ("as in version 1, which is later than this call" in said) == (not is_known)


def test_it_links_the_version_that_was_run(tester: User, tester_client: Client, script: Script, build: Build) -> None:
    result = make.result(tester, script, build)
    wording = replace(script.latest.wording, title="Good news day")
    publish_version(script, wording, by=None, started_from=script.latest.pk)
    page = page_of(tester_client, result)
    assert 'href="/scripts/bad-news-day/versions/1/"' in page
    assert "Good news day" not in page


def test_a_hidden_version_leaves_no_gap_in_the_numbers(tester: User, tester_client: Client, build: Build) -> None:
    """The second version was Safety; the third is the second that an untrained tester knows."""
    script = make.script("moved")
    wording = script.latest.wording
    for area, title in (("safety", "Hidden"), ("everyday", "Shown")):
        wording = replace(wording, area=area, title=title)
        publish_version(script, wording, by=None, started_from=script.latest.pk)
        script = Script.objects.get(pk=script.pk)
    result = make.result(tester, script, build)
    assert 'href="/scripts/moved/versions/2/"' in page_of(tester_client, result)
    assert "version 3" not in page_of(tester_client, result)


# --- the call, the history, the actions ------------------------------------------------------------


def test_it_shows_the_other_scripts_of_the_call_that_may_be_seen(
    tester: User, trained_tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build)
    call = {"call_uuid": result.call_uuid}
    make.result(tester, make.script(title="Another script"), build, **call)
    make.result(tester, make.script(title="Canary script", area="safety"), build, **call)
    assert "Another script" in words_of(tester_client, result)
    assert "Canary script" not in words_of(tester_client, result)
    assert "Canary script" in words_of(make.client_of(trained_tester), result)


def test_the_only_other_script_of_the_call_leaves_no_trace_if_it_is_safety(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build)
    make.result(tester, make.script(area="safety"), build, call_uuid=result.call_uuid)
    assert "same call" not in words_of(tester_client, result)


def test_the_history_is_told_in_words(tester: User, tester_client: Client, script: Script, build: Build) -> None:
    make.build("2026.11")
    result = make.result(tester, script, build, called_at=MARCH, problems=("too_long", "cut_in"), comment="before\nit")
    RunCount.objects.all().add(script, build, filed_as_safety=False)
    filing = replace(
        filing_of(result),
        build=Build.objects.get(name="2026.11"),
        called_at=MARCH.replace(hour=13),
        ratings=Ratings(5, 4, 4, 4, 4, 2),
        camera_used=True,
        problems=("cut_in", "too_long"),
        comment="after it",
        met_emma_before=True,
        recording_link="https://recordings.example.test/a.webm",
    )
    assert correct_result(tester, result, filing, based_on=1)
    said = words_of(tester_client, result)
    for label, before, after in (
        ("Build", "2026.10", "2026.11"),
        ("When the call took place", "3 Mar 2026, 20:00", "3 Mar 2026, 21:00"),
        ("Listening & timing", "4", "5"),
        ("Vision", "N/A", "2"),
        ("Camera used", "no", "yes"),
        ("Comment", "before it", "after it"),
        ("Returning user", "no", "yes"),
        (
            "Problems",
            "1. Too long or rambling 2. Cut in while the user was still talking",
            "1. Cut in while the user was still talking 2. Too long or rambling",
        ),
    ):
        assert f"{label} before: {before} after: → {after}" in said, label
    assert "Recording link added: https://recordings.example.test/a.webm" in said
    assert "tess@example.test ," in said


def test_a_history_of_fields_and_tags_that_are_no_more_is_still_told(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build)
    fields = {"gone_field": ["a", "b"], "problems": [["gone_tag"], []], "build_id": ["gone", "2026"]}
    Change.objects.create(result=result, by=tester, version=2, fields=fields)
    said = words_of(tester_client, result)
    assert "gone_field before: a after: → b" in said
    assert "Problems taken away: 1. gone_tag" in said


@pytest.mark.parametrize(
    ("field", "values", "told"),
    [
        ("recording_link", ["", "https://a.example.test"], "Recording link added: https://a.example.test"),
        ("comment", ["Too slow.", ""], "Comment taken away: Too slow."),
        ("problems", [[], ["too_long"]], "Problems added: 1. Too long or rambling"),
        ("content", [3, 4], "Content before: 3 after: → 4"),
    ],
)
def test_what_was_not_there_before_is_told_as_added(
    tester: User, tester_client: Client, script: Script, build: Build, field: str, values: list[Any], told: str
) -> None:
    result = make.result(tester, script, build)
    Change.objects.create(result=result, by=tester, version=2, fields={field: values})
    assert told in words_of(tester_client, result)
    assert page_of(tester_client, result).count("<del") == (0 if "added" in told else 1)


@pytest.mark.parametrize(
    ("who", "is_reviewed", "actions"),
    [
        ("tester", False, {"edit", "call"}),
        ("tester", True, {"call"}),
        ("eval_member", False, set()),
        ("manager", False, set()),
    ],
)
def test_its_tester_may_correct_it_until_it_is_reviewed(
    request: pytest.FixtureRequest,
    tester: User,
    script: Script,
    build: Build,
    who: str,
    is_reviewed: bool,
    actions: set[str],
) -> None:
    result = make.result(tester, script, build, reviewed_at=timezone.now() if is_reviewed else None)
    page = page_of(make.client_of(request.getfixturevalue(who)), result)
    offered = set()
    if f"/results/{result.pk}/edit/" in page:
        offered.add("edit")
    if f"/results/new/?call={result.call_uuid}" in page:
        offered.add("call")
    assert offered == actions


def test_who_is_no_tester_any_more_is_offered_nothing(script: Script, build: Build) -> None:
    person = make.user(None, Role.EVAL_TEAM)
    page = page_of(make.client_of(person), make.result(person, script, build))
    assert "/results/new/" not in page
    assert "/edit/" not in page


# --- what may not be known -------------------------------------------------------------------------


@pytest.mark.parametrize("pk", [1, 999, 2**63 - 1, 2**63, 10**30])
def test_what_is_not_there_is_not_found(tester_client: Client, pk: int) -> None:
    assert tester_client.get(f"/results/{pk}/").status_code == 404


def test_a_safety_result_and_none_get_the_same_answer(
    trained_tester: User, tester_client: Client, build: Build
) -> None:
    result = make.result(trained_tester, make.script(area="safety"), build)

    def answer(pk: int) -> tuple[int, str]:
        page = tester_client.get(f"/results/{pk}/")
        return page.status_code, re.sub(r'value="\w+"', "", page.text)

    assert answer(result.pk) == answer(result.pk + 1)
    assert make.client_of(trained_tester).get(f"/results/{result.pk}/").status_code == 200


def test_a_result_is_covered_when_its_script_becomes_safety(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build)
    Script.objects.filter(pk=script.pk).update(area="safety")
    assert tester_client.get(f"/results/{result.pk}/").status_code == 404


def test_what_people_wrote_is_text(script: Script, build: Build) -> None:
    evil = '"><img src=x onerror="alert(1)"><script>alert(2)</script>'
    person = make.user(name=evil)
    fields: dict[str, Any] = {
        "comment": evil,
        "camera_note": evil,
        "sheet_worst_moment": evil,
        "sheet_minute_in_call": evil,
        "recording_link": f"https://recordings.example.test/{evil}",
    }
    result = make.result(person, make.script(title=evil), build, **fields)
    Change.objects.create(result=result, by=person, version=2, fields={"comment": [evil, evil], evil: [evil, evil]})
    page = page_of(make.client_of(make.user("reader@example.test", Role.TESTER)), result)
    assert "<img src=x" not in page
    assert "<script>alert" not in page


def test_a_comment_may_run_in_either_direction(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    page = page_of(tester_client, make.result(tester, script, build, comment="היא חיכתה לי"))
    assert '<p class="said" dir="auto">היא חיכתה לי</p>' in page


def test_the_number_of_queries_does_not_depend_on_the_history(tester: User, script: Script, build: Build) -> None:
    result = make.result(tester, script, build, problems=("too_long",))

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            page_of(make.client_of(tester), result)
        return len(seen)

    make.result(tester, make.script(), build, call_uuid=result.call_uuid)
    Change.objects.create(result=result, by=tester, version=2, fields={"build_id": ["a", "b"]})
    few = queries()
    for version in range(3, 20):
        make.result(tester, make.script(), build, call_uuid=result.call_uuid)
        Change.objects.create(result=result, by=make.user(), version=version, fields={"build_id": ["a", "b"]})
    assert queries() == few
