"""Correcting a filed result: by its tester, until it is reviewed, with a history of every change."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User, details_in_words
from results.filing.correct_result import CorrectedElsewhereError, ReviewedError, correct_result, filing_of
from results.models import Change, ProblemOrder, Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, RunCount, Script
from tests import make
from tests.results.filing.sent import fields, file

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture
def script() -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build() -> Build:
    return make.build("2026.10", is_current=True)


@pytest.fixture
def result(tester_client: Client, script: Script, build: Build) -> Result:
    sent = fields(script, build, problems=("too_fast", "cut_in"), comment="As filed.", called_at="2026-03-02T14:36:07")
    file(tester_client, sent)
    return Result.objects.get()


def sent_for(result: Result, **changes: Any) -> dict[str, str]:
    order = tuple(result.problems.values_list("tag", flat=True))
    typed = fields(
        result.script,
        result.build,
        problems=order,
        comment=result.comment,
        called_at="2026-03-02T14:36:07",
        version="1",
    )
    return {**typed, **changes}


def test_the_form_shows_what_was_filed(tester_client: Client, result: Result) -> None:
    page = unescape(tester_client.get(f"/results/{result.pk}/edit/").text)
    assert "As filed." in page
    assert 'value="2026-03-02T14:36:07"' in page
    assert 'id="content-4" value="4" checked' in page
    assert "data-draft=" not in page


def test_a_change_is_written_with_before_and_after(tester_client: Client, tester: User, result: Result) -> None:
    changes = {"content": "2", "comment": "Corrected.", "place-too_fast": "2", "place-cut_in": "1"}
    answer = tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, **changes))
    assert answer["Location"] == result.get_absolute_url()
    result.refresh_from_db()
    assert (result.content, result.comment, result.version) == (2, "Corrected.", 2)
    assert list(result.problems.values_list("tag", "position", "rank")) == [("cut_in", 1, 1), ("too_fast", 2, 2)]
    change = Change.objects.get()
    assert (change.by, change.version) == (tester, 2)
    assert change.fields == {
        "content": [4, 2],
        "comment": ["As filed.", "Corrected."],
        "problems": [["too_fast", "cut_in"], ["cut_in", "too_fast"]],
    }
    entry = AuditEntry.objects.get(action="corrected a result")
    assert (entry.actor, entry.target) == (tester, str(result.pk))
    assert details_in_words(entry.details) == [("changed", "Content, Comment, Problems")]


def test_nothing_changed_is_said_and_not_written(tester_client: Client, result: Result) -> None:
    tester_client.post(f"/results/{result.pk}/edit/", sent_for(result))
    assert "Nothing was changed" in tester_client.get("/todo/").text
    result.refresh_from_db()
    assert result.version == 1
    assert not Change.objects.exists()


def test_a_time_with_microseconds_is_no_change(
    tester_client: Client, tester: User, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build)
    page = tester_client.get(f"/results/{result.pk}/edit/").text
    shown = page.split('name="called_at"')[1].split('value="')[1].split('"')[0]
    sent = {**fields(script, build), "called_at": shown, "version": "1"}
    tester_client.post(f"/results/{result.pk}/edit/", sent)
    assert not Change.objects.exists()


@pytest.mark.parametrize(
    ("changes", "runs"),
    [
        ({"comment": "x"}, {"2026.10": 1}),
        ({"build": "other"}, {"2026.10": 0, "2026.11": 1}),
        ({"never_started": True}, {"2026.10": 0}),
    ],
)
def test_the_count_of_runs_moves_along(
    tester: User, result: Result, changes: dict[str, Any], runs: dict[str, int]
) -> None:
    said = filing_of(result)
    if "build" in changes:
        said = replace(said, build=make.build("2026.11"))
    elif "never_started" in changes:
        said = replace(said, never_started=True, ratings=type(said.ratings)(), problems=("stuck_start",))
    else:
        said = replace(said, **changes)
    assert correct_result(tester, result, said, based_on=1) is not None
    assert dict(RunCount.objects.values_list("build__name", "runs")) == runs


def test_a_reviewed_result_stays_as_it_is(tester_client: Client, tester: User, result: Result) -> None:
    Result.objects.update(reviewed_at=timezone.now())
    for answer in (
        tester_client.get(f"/results/{result.pk}/edit/"),
        tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, content="1")),
    ):
        assert answer.status_code == 409
        assert "has been reviewed" in answer.text
    with pytest.raises(ReviewedError):
        correct_result(tester, result, replace(filing_of(result), comment="x"), based_on=1)
    assert not Change.objects.exists()


def test_two_tabs_do_not_correct_over_each_other(tester_client: Client, tester: User, result: Result) -> None:
    correct_result(tester, result, replace(filing_of(result), comment="From another tab."), based_on=1)
    answer = tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, comment="From this tab."))
    assert answer.status_code == 409
    text = unescape(answer.text)
    assert "Comment: another tab changed this to “From another tab.”. Save again to keep yours." in text
    assert "From this tab." in text
    again = sent_for(result, comment="From this tab.", version="2")
    assert tester_client.post(f"/results/{result.pk}/edit/", again).status_code == 302
    assert [change.fields["comment"] for change in Change.objects.all()] == [
        ["As filed.", "From another tab."],
        ["From another tab.", "From this tab."],
    ]
    with pytest.raises(CorrectedElsewhereError):
        correct_result(tester, result, replace(filing_of(result), comment="x"), based_on=2)


def test_a_wrong_correction_is_refused_and_kept_in_the_form(tester_client: Client, result: Result) -> None:
    answer = tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, content="9", comment="Kept."))
    assert answer.status_code == 422
    assert "Content must be from 1 to 5, not 9." in answer.text
    assert "Kept." in answer.text


def test_only_the_tester_corrects(trained_tester: User, eval_client: Client, result: Result) -> None:
    assert make.client_of(trained_tester).get(f"/results/{result.pk}/edit/").status_code == 403
    assert eval_client.get(f"/results/{result.pk}/edit/").status_code == 403


def test_what_is_safety_now_is_not_found(tester_client: Client, result: Result) -> None:
    Script.objects.update(area=taxonomy.SAFETY)
    assert tester_client.get(f"/results/{result.pk}/edit/").status_code == 404


def test_a_retired_tag_that_was_there_may_stay(
    tester_client: Client, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("too_fast", "weird_gaze"):
        tag = taxonomy.TAG_BY_KEY[key]
        monkeypatch.setitem(taxonomy.TAG_BY_KEY, key, replace(tag, retired_in=2))
    kept = tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, comment="Still."))
    assert kept.status_code == 302
    new = tester_client.post(
        f"/results/{result.pk}/edit/", sent_for(result, **{"place-weird_gaze": "3", "version": "2"})
    )
    assert new.status_code == 422
    assert "was retired and can't be picked any more" in unescape(new.text)


def test_a_retired_script_can_still_be_corrected(tester_client: Client, result: Result) -> None:
    Script.objects.update(retired_at=timezone.now())
    assert tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, content="1")).status_code == 302


def test_an_unknown_order_stays_unknown_until_the_problems_change(
    tester_client: Client, tester: User, script: Script, build: Build
) -> None:
    result = make.result(
        tester, script, build, sheet_digest="x", problem_order=ProblemOrder.GROUPS, draft_uuid=uuid.uuid4()
    )
    result.problems.create(tag="cut_in", position=1, rank=None)
    result.problems.create(tag="too_fast", position=2, rank=None)
    sent = sent_for(result, comment="Looked at again.")
    sent.pop("called_at")
    sent["called_at"] = f"{timezone.localtime(result.called_at):%Y-%m-%dT%H:%M:%S}"
    tester_client.post(f"/results/{result.pk}/edit/", sent)
    result.refresh_from_db()
    assert (result.comment, result.problem_order) == ("Looked at again.", ProblemOrder.GROUPS)
    tester_client.post(
        f"/results/{result.pk}/edit/", {**sent, "version": "2", "place-cut_in": "2", "place-too_fast": "1"}
    )
    result.refresh_from_db()
    assert result.problem_order == ProblemOrder.OVERALL
    assert list(result.problems.values_list("tag", "rank")) == [("too_fast", 1), ("cut_in", 2)]


# --- the facts of a call ---------------------------------------------------------------------------------------


@pytest.fixture
def mates(tester_client: Client, result: Result) -> list[Result]:
    """Two more scripts of the same call."""
    for slug in ("noisy-room", "small-talk"):
        script = make.script(slug)
        file(tester_client, fields(script, result.build, call=str(result.call_uuid), called_at="2026-03-02T14:36:07"))
    return list(Result.objects.exclude(pk=result.pk).order_by("pk"))


def test_the_facts_of_a_call_are_corrected_on_all_its_results(
    tester: User, result: Result, mates: list[Result]
) -> None:
    build = make.build("2026.11")
    said = replace(
        filing_of(result),
        build=build,
        called_at=result.called_at - timedelta(hours=1),
        recording_link="https://a.example/1",
        met_emma_before=True,
        comment="Of this one alone.",
    )
    corrected = correct_result(tester, result, said, based_on=1)
    assert corrected is not None
    assert corrected.shared == tuple(mates)
    for mate in Result.objects.exclude(pk=result.pk):
        assert (mate.build, mate.called_at, mate.recording_link) == (build, said.called_at, "https://a.example/1")
        assert (mate.met_emma_before, mate.comment, mate.version) == (True, "", 2)
        change = mate.changes.get()
        assert (change.by, change.version) == (tester, 2)
        assert set(change.fields) == {"build_id", "called_at", "recording_link", "met_emma_before"}
        assert change.fields["build_id"] == ["00002026.00000010", "00002026.00000011"]
    runs = dict(RunCount.objects.filter(build=build).values_list("script__slug", "runs"))
    assert runs == {"bad-news-day": 1, "noisy-room": 1, "small-talk": 1}
    assert not RunCount.objects.filter(build=result.build, runs__gt=0).exists()


def test_what_was_not_changed_stays_different(tester: User, result: Result, mates: list[Result]) -> None:
    Result.objects.filter(pk=mates[0].pk).update(met_emma_before=True)
    correct_result(tester, result, replace(filing_of(result), recording_link="https://a.example/1"), based_on=1)
    mates[0].refresh_from_db()
    assert (mates[0].met_emma_before, mates[0].recording_link) == (True, "https://a.example/1")


def test_a_change_of_this_result_alone_leaves_the_others(tester: User, result: Result, mates: list[Result]) -> None:
    correct_result(tester, result, replace(filing_of(result), comment="x"), based_on=1)
    assert set(Result.objects.exclude(pk=result.pk).values_list("version", flat=True)) == {1}


def test_reviewed_results_of_the_call_stay_and_are_named(
    tester_client: Client, result: Result, mates: list[Result]
) -> None:
    Result.objects.filter(pk=mates[0].pk).update(reviewed_at=timezone.now())
    page = unescape(tester_client.get(f"/results/{result.pk}/edit/").text)
    assert "hold for all 2 scripts of this call: what you change of them is changed on “Small talk” too." in page
    assert "“Noisy room” was reviewed and stays as filed." in page
    answer = tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, met_emma_before="yes"), follow=True)
    said = unescape(answer.text)
    assert "What you changed about the call was changed on 1 other result of this call too: “Small talk”." in said
    assert "“Noisy room” has been reviewed, so it stays as filed." in said
    assert set(Result.objects.filter(met_emma_before=True)) == {result, mates[1]}


def test_results_that_the_tester_may_not_see_stay_and_are_not_told_of(
    tester_client: Client, result: Result, mates: list[Result]
) -> None:
    Script.objects.filter(slug="noisy-room").update(area=taxonomy.SAFETY)
    page = tester_client.get(f"/results/{result.pk}/edit/").text
    assert "for all 2 scripts" in page
    answer = tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, met_emma_before="yes"), follow=True)
    assert "1 other result of this call" in answer.text
    assert "Noisy room" not in page + answer.text
    assert set(Result.objects.filter(met_emma_before=True)) == {result, mates[1]}


def test_results_of_others_and_of_other_calls_stay(
    trained_tester: User, tester: User, result: Result, build: Build
) -> None:
    other = make.script("noisy-room")
    make.result(trained_tester, other, build, call_uuid=result.call_uuid)
    make.result(tester, other, build)
    correct_result(tester, result, replace(filing_of(result), met_emma_before=True), based_on=1)
    assert Result.objects.get(met_emma_before=True) == result


def test_a_result_alone_on_its_call_says_nothing_of_others(tester_client: Client, result: Result) -> None:
    assert "scripts of this call" not in tester_client.get(f"/results/{result.pk}/edit/").text


def test_an_older_tab_of_another_result_of_the_call_is_told(
    tester_client: Client, tester: User, result: Result, mates: list[Result]
) -> None:
    correct_result(tester, result, replace(filing_of(result), recording_link="https://a.example/1"), based_on=1)
    sent = sent_for(mates[0], comment="From the older tab.")
    sent.pop("script_version")  # the form of a correction does not send it
    answer = tester_client.post(f"/results/{mates[0].pk}/edit/", sent)
    assert answer.status_code == 409
    assert "Recording link: another tab changed this" in unescape(answer.text)
    assert "Version of the script" not in unescape(answer.text)


def test_a_script_that_was_retired_before_the_call_does_not_bar_a_correction(
    tester_client: Client, result: Result
) -> None:
    Script.objects.update(retired_at="2026-01-01T00:00Z")
    kept = tester_client.post(f"/results/{result.pk}/edit/", sent_for(result, comment="Still."))
    assert kept.status_code == 302
    later = sent_for(result, called_at="2026-03-02T15:00", version="2")
    assert tester_client.post(f"/results/{result.pk}/edit/", later).status_code == 422
