"""The pages of the results form: what they show, what they refuse, and that nothing typed is lost."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import User
from results.filing.save_draft import save_draft
from results.models import Draft, Problem, Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, RunCount, Script, ScriptVersion
from tests import make
from tests.results.filing.sent import fields, file, unrated

pytestmark = pytest.mark.django_db


@pytest.fixture
def script() -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def camera_script() -> Script:
    return make.script("show-an-object", title="Show an object", uses_camera=True, main_dimension="vision")


@pytest.fixture
def build() -> Build:
    return make.build("2026.10", is_current=True)


def errors(page: Any) -> list[str]:
    """The sentences of the summary, each of which must lead to something that is on the page."""
    summary = re.search(r'<div class="error-summary".*?</div>', page.text, re.DOTALL)
    if summary is None:
        return []
    links = re.findall(r'<a href="#([^"]+)">(.*?)</a>', summary.group())
    for anchor, _ in links:
        assert f'id="{anchor}"' in page.text
    return [unescape(words) for _, words in links]


def text_of(page: Any) -> str:
    """What a page says, without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page.text)).split())


def newer_version(script: Script, number: int = 2) -> ScriptVersion:
    assert script.latest is not None
    old = script.latest
    script.latest = ScriptVersion.objects.create(
        script=script,
        number=number,
        title=old.title,
        area=old.area,
        main_dimension=old.main_dimension,
        summary=old.summary,
        what_to_do=old.what_to_do,
        steps=old.steps,
    )
    script.save()
    return script.latest


# --- the fresh form -------------------------------------------------------------------------------


def test_without_a_script_it_asks_for_one(tester_client: Client, script: Script) -> None:
    page = tester_client.get("/results/new/")
    assert "/results/new/?script=bad-news-day" in page.text


def test_it_shows_the_scripts_own_words_and_the_guides(tester_client: Client, script: Script, build: Build) -> None:
    page = unescape(tester_client.get("/results/new/?script=bad-news-day").text)
    assert "Answers it well." in page
    assert "General quality" in page
    for dimension in taxonomy.DIMENSIONS:
        assert all(words in page for words in (dimension.name, dimension.meaning, dimension.one, dimension.five))
    for tag in taxonomy.TAG_BY_KEY.values():
        assert tag.label in page
    for pointer in taxonomy.POINTERS:
        assert pointer.text in page


def test_it_starts_with_the_current_build_and_the_scripts_camera(
    tester_client: Client, camera_script: Script, build: Build
) -> None:
    page = tester_client.get("/results/new/?script=show-an-object").text
    assert f'<option value="{build.pk}" selected>' in page
    assert re.search(r'id="camera_used-yes" value="yes" checked', page)


def test_a_browser_without_javascript_is_sent_to_the_address_of_its_draft(
    tester_client: Client, script: Script, build: Build
) -> None:
    page = tester_client.get("/results/new/?script=bad-news-day").text
    address = re.search(r'<noscript><meta http-equiv="refresh" content="0; url=(/drafts/[^"]+)">', page)
    assert address is not None
    there = tester_client.get(unescape(address[1]))
    assert there.status_code == 200
    assert address[1].split("?")[0] in there.text


@pytest.mark.parametrize("address", ["/results/new/?script=quiet-hint", "/results/new/?script=no-such-script"])
def test_a_safety_script_is_as_unknown_as_one_that_is_not(tester_client: Client, address: str) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    assert tester_client.get(address).status_code == 404
    assert "quiet-hint" not in tester_client.get("/results/new/").text


def test_a_retired_script_is_not_offered_and_can_be_asked_for(tester_client: Client, script: Script) -> None:
    Script.objects.update(retired_at="2026-01-01T00:00Z")
    assert "bad-news-day" not in tester_client.get("/results/new/").text
    page = tester_client.get("/results/new/?script=bad-news-day").text
    assert "This script was retired on 1 Jan 2026, 08:00. A call made before that can still be filed." in page
    assert 'id="id_called_at" value=""' in page


def test_only_testers_file(eval_client: Client, script: Script) -> None:
    assert eval_client.get("/results/new/?script=bad-news-day").status_code == 403


# --- filing ------------------------------------------------------------------------------------------


def test_it_files_and_leads_to_the_result(tester_client: Client, tester: User, script: Script, build: Build) -> None:
    sent = fields(script, build, problems=("too_fast", "cut_in"), comment="A\r\nB\x00", met_emma_before="yes")
    answer = file(tester_client, sent)
    result = Result.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/results/{result.pk}/")
    assert list(result.problems.values_list("tag", "position", "rank")) == [("too_fast", 1, 1), ("cut_in", 2, 2)]
    assert (result.tester, result.comment, result.vision, result.met_emma_before) == (tester, "A\nB", None, True)
    assert f"{result.called_at:%Y-%m-%d %H:%M}" == "2026-03-02 06:36"  # 14:36 in Hong Kong
    assert RunCount.objects.get().runs == 1


CUT_IN = "“Cut in while the user was still talking”"
ALWAYS = [dimension.name for dimension in taxonomy.DIMENSIONS[:-1]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"content": "0"}, ["Content must be from 1 to 5, not 0."]),
        ({"content": "6"}, ["Content must be from 1 to 5, not 6."]),
        ({"content": "4.5"}, ["Content must be a whole number from 1 to 5, not “4.5”."]),
        ({"content": "five"}, ["Content must be a whole number from 1 to 5, not “five”."]),
        ({"content": None}, ["Rate Content from 1 to 5."]),
        ({"vision": "3"}, ["Vision is rated, but you say the camera was not used: take one of the two back."]),
        ({"camera_used": "yes"}, ["Rate Vision from 1 to 5, or say that the camera was not used."]),
        (
            {"camera_used": "yes", "vision": "na"},
            ["Vision is N/A only when the camera was not used: rate it, or say so above."],
        ),
        ({"met_emma_before": None}, ["Say whether you had talked to Emma before this call."]),
        ({"met_emma_before": "maybe"}, ["Say yes or no: had you talked to Emma before this call?"]),
        ({"build": None}, ["Choose the build of Emma that you called."]),
        ({"build": "9999"}, ["Choose a build from the list."]),
        ({"build": "x"}, ["Choose a build from the list."]),
        ({"called_at": None}, ["Say when the call took place."]),
        ({"called_at": "yesterday"}, ["Write the day and time of the call like 2026-03-02 14:36."]),
        ({"called_at": "2026-02-30T10:00"}, ["Write the day and time of the call like 2026-03-02 14:36."]),
        ({"called_at": "9999-12-31T23:59"}, ["The call can't be in the future."]),
        ({"called_at": "0001-01-01T00:00"}, ["Check the year: nobody called Emma before 2000."]),
        ({"place-cut_in": "first"}, [f"The place of {CUT_IN} must be a whole number: 1 for the biggest."]),
        ({"place-cut_in": "0"}, [f"Places start at 1, the biggest: {CUT_IN} has 0."]),
        (
            {"place-cut_in": "1", "place-too_fast": "1"},
            [f"{CUT_IN} and “Too fast / no pauses” both have place 1: give each its own."],
        ),
        ({"place-nonsense": "1"}, ["“nonsense” is not on the list of problems."]),
        (
            {"place-other_content": "1", "comment": " \u200b "},
            ["You picked “Other content problem (describe in a note)”: write a few words about it in the comment."],
        ),
        (
            {"comment": "x" * 1_000_000},
            ["1,000,000 characters are too many: at most 20,000 can be kept, so take out 980,000."],
        ),
        (
            {"never_started": "on"},
            [f"{name} is rated, but the call never started: take one of the two back." for name in ALWAYS],
        ),
    ],
)
def test_a_wrong_field_is_named_and_nothing_typed_is_lost(
    tester_client: Client, script: Script, build: Build, changes: dict[str, Any], words: list[str]
) -> None:
    sent = fields(
        script, build, **{"comment": "Keep <b>this</b> \u202e!", "recording_link": "https://a.example/1", **changes}
    )
    answer = file(tester_client, sent)
    assert answer.status_code == 422
    assert errors(answer) == words
    assert Result.objects.count() == 0
    text = unescape(answer.text)
    assert sent["comment"] in text
    assert sent["recording_link"] in text
    for name, value in sent.items():
        if name.startswith("place-") or name == "called_at":
            assert re.search(rf'name="{name}"[^>]* value="{re.escape(value)}"', text)


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "https://me:secret@a.example/", "http://10.0.0.1/", "https://a.example/" + "a" * 10_000],
)
def test_a_wrong_link_is_shown_again_as_text(tester_client: Client, script: Script, build: Build, link: str) -> None:
    answer = file(tester_client, fields(script, build, recording_link=link))
    assert answer.status_code == 422
    assert f'value="{link}"' in unescape(answer.text)
    assert f'href="{link}"' not in unescape(answer.text)


def test_gaps_between_places_are_closed(tester_client: Client, script: Script, build: Build) -> None:
    file(tester_client, fields(script, build, **{"place-cut_in": "７", "place-too_fast": "3", "place-weird_gaze": ""}))
    assert list(Problem.objects.values_list("tag", "position")) == [("too_fast", 1), ("cut_in", 2)]


def test_vision_may_be_rated_off_script(tester_client: Client, script: Script, build: Build) -> None:
    file(tester_client, fields(script, build, camera_used="yes", vision="2"))
    result = Result.objects.get()
    assert result.vision_off_script
    assert result.vision == 2


def test_a_camera_script_without_camera_needs_a_word_why(
    tester_client: Client, camera_script: Script, build: Build
) -> None:
    sent = fields(camera_script, build, camera_used="no", vision="na")
    assert errors(file(tester_client, sent)) == ["This script uses the camera. Say in a few words why it was not used."]
    assert file(tester_client, {**sent, "camera_note": "It was broken."}).status_code == 303
    assert Result.objects.get().camera_note == "It was broken."


def test_a_call_that_never_started_gets_its_tag_first(
    tester_client: Client, camera_script: Script, build: Build
) -> None:
    sent = fields(camera_script, build, never_started="on", **unrated(**{"place-audio_glitches": "1"}))
    page = tester_client.post(reverse("draft_file", args=[uuid.uuid4()]), sent)
    result = Result.objects.get()
    assert page["Location"] == result.get_absolute_url()
    assert list(result.problems.values_list("tag", flat=True)) == ["stuck_start", "audio_glitches"]
    assert result.never_started
    assert not RunCount.objects.exists()


def test_it_says_that_the_tag_was_added(tester_client: Client, script: Script, build: Build) -> None:
    sent = fields(script, build, never_started="on", **unrated())
    tester_client.post(reverse("draft_file", args=[uuid.uuid4()]), sent)
    assert "was put first among the problems" in tester_client.get("/todo/").text


def test_two_scripts_of_one_call_share_it(tester_client: Client, script: Script, build: Build) -> None:
    other = make.script("noisy-room")
    old_build = make.build("2025.1")
    link = "https://a.example/rec"
    facts = {"recording_link": link, "met_emma_before": "yes"}
    file(tester_client, fields(script, old_build, **facts))
    first = Result.objects.get()
    page = tester_client.get(f"/results/new/?call={first.call_uuid}&script=noisy-room").text
    assert f'name="call" value="{first.call_uuid}"' in page
    assert f'<option value="{old_build.pk}" selected>' in page
    assert link in page
    assert 'value="2026-03-02T14:36"' in page
    file(tester_client, fields(other, old_build, call=str(first.call_uuid), **facts))
    assert Result.objects.filter(call_uuid=first.call_uuid).count() == 2


# --- one call ----------------------------------------------------------------------------------------------


def mate_of(result: Result, script: Script, **changes: Any) -> dict[str, str]:
    """Another script of the same call, telling the same of it."""
    return fields(script, result.build, call=str(result.call_uuid), **changes)


def test_the_form_says_which_call_it_belongs_to(tester_client: Client, script: Script, build: Build) -> None:
    make.script("noisy-room")
    file(tester_client, fields(script, build))
    first = Result.objects.get()
    page = text_of(tester_client.get(f"/results/new/?call={first.call_uuid}&script=noisy-room"))
    assert "Another script of your call of 2 Mar 2026, 14:36 on build 2026.10." in page
    assert "Filed of it already: Bad news day." in page


def test_a_script_is_filed_once_for_a_call(tester_client: Client, script: Script, build: Build) -> None:
    file(tester_client, fields(script, build))
    first = Result.objects.get()
    answer = file(tester_client, mate_of(first, script, comment="Kept."))
    assert answer.status_code == 422
    assert errors(answer) == ["“Bad news day” is filed for this call already: one call has one of each."]
    assert "Kept." in answer.text
    assert first.get_absolute_url() in answer.text
    assert RunCount.objects.get().runs == 1


def test_what_was_another_call_after_all_is_filed_as_one(tester_client: Client, script: Script, build: Build) -> None:
    file(tester_client, fields(script, build))
    first = Result.objects.get()
    key, sent = uuid.uuid4(), mate_of(first, script, another_call="1")
    assert [file(tester_client, sent, key).status_code for _ in range(2)] == [303, 303]
    assert Result.objects.exclude(pk=first.pk).get().call_uuid != first.call_uuid


def test_the_choice_of_scripts_tells_what_is_filed_for_the_call(
    tester_client: Client, script: Script, build: Build
) -> None:
    make.script("noisy-room")
    file(tester_client, fields(script, build))
    call = Result.objects.get().call_uuid
    for address in (f"/results/new/?call={call}", f"/results/new/?call={call}&script=bad-news-day"):
        page = tester_client.get(address)
        assert re.findall(r"\?script=([a-z-]+)", page.text) == ["noisy-room"]
        assert "Bad news day filed for this call" in text_of(page)
    assert "is filed for this call already. Pick another script." in text_of(page)


def test_another_script_tells_the_same_of_the_call_or_says_what_to_do(
    tester_client: Client, script: Script, build: Build
) -> None:
    other, other_build = make.script("noisy-room"), make.build("2026.11")
    file(tester_client, fields(script, build, recording_link="https://a.example/1"))
    first = Result.objects.get()
    sent = fields(
        other,
        other_build,
        call=str(first.call_uuid),
        called_at="2026-03-02T14:37",
        met_emma_before="yes",
        recording_link="https://a.example/2",
    )
    what_to_do = "Say the same here, correct what is filed, or file this as another call."
    assert errors(file(tester_client, sent)) == [
        f"This call is filed with {words}. {what_to_do}"
        for words in ("build 2026.10", "the time 2 Mar 2026, 14:36", "the link https://a.example/1", "“no”")
    ]
    assert file(tester_client, {**sent, "another_call": "1"}).status_code == 303


def test_a_link_that_comes_with_another_script_is_that_of_the_call(
    tester_client: Client, script: Script, build: Build
) -> None:
    file(tester_client, fields(script, build))
    first = Result.objects.get()
    file(tester_client, mate_of(first, make.script("noisy-room"), recording_link="https://a.example/1"))
    first.refresh_from_db()
    assert first.recording_link == "https://a.example/1"
    assert first.changes.get().fields == {"recording_link": ["", "https://a.example/1"]}
    assert "The recording link was added to “Bad news day” too." in unescape(tester_client.get("/todo/").text)


def test_a_second_draft_of_a_script_tells_of_the_first(
    tester_client: Client, tester: User, script: Script, build: Build
) -> None:
    key = uuid.uuid4()
    typed = {"called_at": "2026-03-02T14:36", "build": str(build.pk), "comment": "She  spoke\nfirst. " + "x" * 100}
    save_draft(tester, key, script, typed, based_on=0)
    page = tester_client.get("/results/new/?script=bad-news-day")
    assert "You have begun another draft of this script" in page.text
    assert f'<a href="/drafts/{key}/">Call of 2 Mar 2026, 14:36' in page.text
    assert f"on build 2026.10: “She spoke first. {'x' * 63}…”" in text_of(page)
    assert "You have begun" not in tester_client.get(f"/drafts/{key}/").text


@pytest.mark.parametrize("typed", [{}, {"called_at": "2026-02-30T99:00", "build": "9" * 40}])
def test_a_draft_without_a_readable_call_says_so(
    tester_client: Client, tester: User, script: Script, typed: dict[str, str]
) -> None:
    save_draft(tester, uuid.uuid4(), script, {"comment": "x", **typed}, based_on=0)
    assert "Without a time" in tester_client.get("/results/new/?script=bad-news-day").text
    assert "Call without a time" in tester_client.get("/todo/").text


def test_dimensions_without_words_of_the_script_show_the_guides(
    tester_client: Client, script: Script, build: Build
) -> None:
    page = unescape(tester_client.get("/results/new/?script=bad-news-day").text)
    here = re.findall(r'<div class="rate-here small">(.*?)</div>', page, re.DOTALL)
    assert len(here) == 6
    assert all("rating-5" in words and "rating-1" in words for words in here)
    assert sum("General quality" in words for words in here) == 5


def test_a_call_that_never_started_asks_for_words_and_needs_none(
    tester_client: Client, script: Script, build: Build
) -> None:
    assert "Say in the comment what you saw or heard." in tester_client.get("/results/new/?script=bad-news-day").text
    assert file(tester_client, fields(script, build, never_started="on", **unrated())).status_code == 303


def test_nobody_joins_the_call_of_another(
    tester_client: Client, trained_tester: User, script: Script, build: Build
) -> None:
    foreign = make.result(trained_tester, script, build, recording_link="https://a.example/secret")
    page = tester_client.get(f"/results/new/?call={foreign.call_uuid}&script=bad-news-day").text
    assert "secret" not in page
    assert str(foreign.call_uuid) not in page.split("<main")[1].split("<form")[1]
    answer = file(tester_client, fields(script, build, call=str(foreign.call_uuid)))
    own = Result.objects.exclude(pk=foreign.pk).get()
    assert (answer.status_code, own.recording_link) == (303, "")
    clients = (tester_client, make.client_of(trained_tester))
    assert not any(
        "same call" in client.get(f"/results/{pk}/").text for client in clients for pk in (own.pk, foreign.pk)
    )
    file(tester_client, fields(script, build, recording_link="https://a.example/own"), own.draft_uuid)
    foreign.refresh_from_db()
    assert (foreign.recording_link, foreign.version) == ("https://a.example/secret", 1)


@pytest.mark.parametrize("is_there", [True, False], ids=["hidden", "nothing"])
def test_no_answer_tells_whether_a_call_is_known_to_somebody_else(
    tester_client: Client, trained_tester: User, script: Script, build: Build, *, is_there: bool
) -> None:
    """The UUIDs of a sheet's calls can be worked out: whoever tries one gets the same, whatever others have filed."""
    call = uuid.uuid4()
    if is_there:
        make.result(trained_tester, make.script("quiet-hint", area="safety"), build, call_uuid=call)
    answer = file(tester_client, fields(script, build, call=str(call)))
    assert answer.status_code == 303
    own = Result.objects.get(script=script)
    assert own.call_uuid == call
    assert "same call" not in tester_client.get(answer["Location"]).text
    assert f"/results/new/?call={call}" in tester_client.get(answer["Location"]).text
    page = tester_client.get(f"/results/new/?call={call}").text
    assert page.count(f'href="/results/{own.pk}/"') == 1
    again = file(tester_client, fields(make.script("noisy-room"), build, call=str(call)))
    assert again.status_code == 303
    assert Result.objects.filter(call_uuid=call, tester=own.tester).count() == 2


@pytest.mark.parametrize("address", ["file", "merge"])
def test_nothing_is_filed_or_merged_over_a_draft_that_is_hidden(
    tester_client: Client, tester: User, script: Script, build: Build, address: str
) -> None:
    key, hidden = uuid.uuid4(), make.script("quiet-hint", area="safety")
    Draft.objects.create(tester=tester, uuid=key, script=hidden, fields={"comment": "canary"}, version=3)
    sent = {**fields(script, build), "version": "0", "against": "3", "whole": "theirs"}
    answer = tester_client.post(f"/drafts/{key}/{address}/", sent)
    assert answer.status_code == 404
    assert "canary" not in answer.text
    assert Draft.objects.get().fields == {"comment": "canary"}
    assert not Result.objects.exists()


def test_a_newer_version_is_told_and_the_one_that_was_run_is_kept(
    tester_client: Client, script: Script, build: Build
) -> None:
    sent = fields(script, build, comment="As I ran it.")
    new = newer_version(script)
    answer = file(tester_client, sent)
    assert answer.status_code == 422
    assert errors(answer) == [
        "The script was changed while you had this form open. Version 1, the one shown here, is chosen: "
        "file again if you ran that one, or choose the newer one."
    ]
    assert "As I ran it." in answer.text
    assert file(tester_client, {**sent, "newest": str(new.pk)}).status_code == 303
    assert Result.objects.get().script_version.number == 1


def test_the_form_numbers_versions_as_the_tester_knows_them(
    tester_client: Client, trained_tester: User, script: Script, build: Build
) -> None:
    """Of a script that was Safety before, the untrained read no number that tells so."""
    ScriptVersion.objects.update(number=4, open_number=1)
    sent, old = fields(script, build), script.latest
    newer_version(script, 6)
    for client, run, latest in ((tester_client, 1, 2), (make.client_of(trained_tester), 4, 6)):
        answer = file(client, sent)
        page = text_of(answer)
        assert f"Version {run} of the script" in page
        assert f"Version {run}, the one shown here, is chosen" in page
        assert f"I ran version {run}, the one shown here" in page
        assert f"I ran version {latest}, " in page
        assert old is not None
        assert f"Version {run} of the script" in text_of(client.get(f"/drafts/{uuid.uuid4()}/?script_version={old.pk}"))


def test_a_draft_of_an_older_version_offers_both(
    tester_client: Client, tester: User, script: Script, build: Build
) -> None:
    key = uuid.uuid4()
    save_draft(tester, key, script, {"script_version": str(script.latest.pk)}, based_on=0)
    newer_version(script)
    page = tester_client.get(f"/drafts/{key}/").text
    assert "I ran version 1, the one shown here" in page
    assert "I ran version 2" in page


def test_a_retired_script_takes_no_later_call(tester_client: Client, script: Script, build: Build) -> None:
    sent = fields(script, build, comment="Too late.")
    Script.objects.update(retired_at="2026-03-02T06:35Z")  # the call was at 06:36
    answer = file(tester_client, sent)
    assert errors(answer) == ["This script was retired before this time: only calls made before that can be filed."]
    assert "Too late." in answer.text


def test_a_call_before_the_script_was_retired_can_still_be_filed(
    tester_client: Client, script: Script, build: Build
) -> None:
    sent = fields(script, build)
    Script.objects.update(retired_at="2026-03-02T06:37Z")
    assert file(tester_client, sent).status_code == 303


def test_a_safety_script_can_not_be_filed_by_the_untrained(
    tester_client: Client, trained_tester: User, build: Build
) -> None:
    hidden = make.script("quiet-hint", area="safety")
    assert file(tester_client, fields(hidden, build)).status_code == 404
    assert file(make.client_of(trained_tester), fields(hidden, build)).status_code == 303
    assert Result.objects.get().filed_as_safety


@pytest.mark.parametrize("version", ["", "0", "x", "-1", "9" * 30, "１"])
def test_a_broken_version_is_not_found(tester_client: Client, script: Script, build: Build, version: str) -> None:
    assert file(tester_client, fields(script, build, script_version=version)).status_code == 404


def test_what_somebody_else_typed_is_not_filed(
    tester_client: Client, trained_tester: User, script: Script, build: Build
) -> None:
    answer = file(tester_client, fields(script, build, typed_by=str(trained_tester.pk), comment="Mine."))
    assert "typed by somebody else" in errors(answer)[0]
    assert "Mine." in answer.text


# --- once -----------------------------------------------------------------------------------------------


def test_filing_again_gives_the_same_answer(tester_client: Client, script: Script, build: Build) -> None:
    key, sent = uuid.uuid4(), fields(script, build)
    answers = [file(tester_client, sent, key) for _ in range(3)]
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {
        (303, Result.objects.get().get_absolute_url())
    }


def test_the_same_draft_with_other_words_says_what_differs(tester_client: Client, script: Script, build: Build) -> None:
    key, sent = uuid.uuid4(), fields(script, build, comment="First words.", problems=("cut_in",))
    file(tester_client, sent, key)
    answer = file(tester_client, {**sent, "comment": "Second words.", "place-cut_in": "", "place-too_fast": "1"}, key)
    assert answer.status_code == 409
    text = unescape(answer.text)
    assert all(words in text for words in ("First words.", "Second words.", "Cut in while", "Too fast / no pauses"))
    assert Result.objects.get().get_absolute_url() in text
    assert Result.objects.get().comment == "First words."


def test_a_broken_form_of_a_filed_draft_says_so_too(tester_client: Client, script: Script, build: Build) -> None:
    key, sent = uuid.uuid4(), fields(script, build)
    file(tester_client, sent, key)
    assert file(tester_client, {**sent, "content": "9"}, key).status_code == 409


def test_the_form_of_a_filed_draft_leads_to_its_result(tester_client: Client, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    file(tester_client, fields(script, build), key)
    page = tester_client.get(f"/drafts/{key}/?script=bad-news-day")
    assert "Already filed" in page.text
    assert Result.objects.get().get_absolute_url() in page.text
    assert "data-result-form" not in page.text


def test_the_address_of_filing_shows_the_form(tester_client: Client, script: Script) -> None:
    key = uuid.uuid4()
    assert tester_client.get(f"/drafts/{key}/file/")["Location"] == f"/drafts/{key}/"


def test_an_earlier_result_answers_for_returning_user(tester_client: Client, script: Script, build: Build) -> None:
    assert (
        'id="met_emma_before-yes" value="yes" checked'
        not in tester_client.get("/results/new/?script=bad-news-day").text
    )
    file(tester_client, fields(script, build))
    assert 'id="met_emma_before-yes" value="yes" checked' in tester_client.get("/results/new/?script=bad-news-day").text


# --- drafts on the page ---------------------------------------------------------------------------------------


def test_a_draft_is_shown_as_it_was_typed(tester_client: Client, tester: User, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    typed = {"script_version": str(script.latest.pk), "content": "2", "place-cut_in": "1", "comment": "\n <i>half a"}
    save_draft(tester, key, script, typed, based_on=0)
    page = tester_client.get(f"/drafts/{key}/")
    text = unescape(page.text)
    assert 'id="content-2" value="2" checked' in text
    assert re.search(r'name="place-cut_in"[^>]* value="1"', text)
    assert "<textarea" in text
    assert ">\n\n <i>half a</textarea>" in text
    assert 'name="version" value="1"' in text
    assert f'<option value="{build.pk}" selected>' not in text  # it was left empty, so it stays empty


def test_another_persons_draft_looks_like_a_new_one(
    tester_client: Client, trained_tester: User, script: Script, build: Build
) -> None:
    key = uuid.uuid4()
    save_draft(trained_tester, key, script, {"comment": "private words"}, based_on=0)
    fresh = uuid.uuid4()

    def shown(address: uuid.UUID) -> str:
        page = tester_client.get(f"/drafts/{address}/?script=bad-news-day").text
        page = page.replace(str(address), "UUID")
        return re.sub(r'(name="(call|csrfmiddlewaretoken)" value=")[^"]*', r"\1", page)

    assert shown(key) == shown(fresh)
    tester_client.delete(f"/drafts/{key}/")
    assert Draft.objects.filter(uuid=key).exists()


def test_a_draft_of_a_script_that_became_safety_is_gone_for_the_untrained(
    tester_client: Client, tester: User, script: Script
) -> None:
    key = uuid.uuid4()
    save_draft(tester, key, script, {"script_version": str(script.latest.pk), "comment": "canary"}, based_on=0)
    Script.objects.update(area="safety")
    assert "canary" not in tester_client.get(f"/drafts/{key}/").text
    assert "Bad news day" not in tester_client.get("/todo/").text
    assert tester_client.get(f"/drafts/{key}/?script=bad-news-day").status_code == 404
    tester_client.delete(f"/drafts/{key}/")
    assert Draft.objects.filter(uuid=key).exists()


# --- to do ----------------------------------------------------------------------------------------------------


def test_the_to_do_page_has_drafts_and_results_without_a_link(
    tester_client: Client, tester: User, script: Script, build: Build
) -> None:
    key = uuid.uuid4()
    save_draft(tester, key, script, {"comment": "x"}, based_on=0)
    file(tester_client, fields(script, build))
    page = tester_client.get("/todo/").text
    assert f"/drafts/{key}/" in page
    result = Result.objects.get()
    answer = tester_client.post("/todo/", {"result": result.pk, "recording_link": " https://a.example/1 "})
    assert answer.status_code == 302
    result.refresh_from_db()
    assert result.recording_link == "https://a.example/1"
    assert result.changes.get().fields == {"recording_link": ["", "https://a.example/1"]}
    assert 'name="recording_link"' not in tester_client.get("/todo/").text


def test_a_wrong_link_stays_in_its_field(tester_client: Client, script: Script, build: Build) -> None:
    file(tester_client, fields(script, build))
    answer = tester_client.post("/todo/", {"result": Result.objects.get().pk, "recording_link": "javascript:1"})
    assert answer.status_code == 422
    assert 'value="javascript:1"' in answer.text
    assert "This is not a link that others can open" in unescape(answer.text)
    assert 'method="post" novalidate' in answer.text
    empty = tester_client.post("/todo/", {"result": Result.objects.get().pk, "recording_link": " "})
    assert "Paste the link of the recording." in empty.text


def test_a_link_that_is_too_long_is_told_so(tester_client: Client, script: Script, build: Build) -> None:
    words = "This link has 9,000 characters, and at most 2,000 can be kept: paste a shorter one."
    link = "https://a.example/".ljust(9_000, "a")
    assert errors(file(tester_client, fields(script, build, recording_link=link))) == [words]
    file(tester_client, fields(script, build))
    answer = tester_client.post("/todo/", {"result": Result.objects.get().pk, "recording_link": link})
    assert words in answer.text


def test_one_link_is_asked_for_each_call_and_given_to_all_its_results(
    tester_client: Client, tester: User, script: Script, build: Build
) -> None:
    other = make.script("noisy-room", title="Noisy room")
    file(tester_client, fields(script, build))
    first = Result.objects.get()
    file(tester_client, mate_of(first, other))
    file(tester_client, fields(script, build, called_at="2026-03-01T10:00"))
    page = tester_client.get("/todo/").text
    assert page.count('name="recording_link"') == 2
    assert "one recording for its 2 results" in page
    tester_client.post("/todo/", {"result": first.pk, "recording_link": "https://a.example/1"})
    assert sorted(Result.objects.values_list("recording_link", flat=True)) == ["", *["https://a.example/1"] * 2]
    page = unescape(tester_client.get("/todo/").text)
    assert "The recording link is added to “Bad news day” and “Noisy room”." in page
    assert page.count('name="recording_link"') == 1


def test_who_has_filed_nothing_is_not_told_that_all_have_their_recording(tester_client: Client, tester: User) -> None:
    assert "Nothing here yet." in tester_client.get("/todo/").text


def test_the_to_do_page_tells_drafts_of_one_script_apart(
    tester_client: Client, tester: User, script: Script, build: Build
) -> None:
    for time, words in (("2026-03-02T14:36", "The first."), ("2026-03-03T09:00", "The second.")):
        typed = {"called_at": time, "build": str(build.pk), "comment": words}
        save_draft(tester, uuid.uuid4(), script, typed, based_on=0)
    page = text_of(tester_client.get("/todo/"))
    assert "Call of 2 Mar 2026, 14:36 · build 2026.10 “The first.”" in page
    assert "Call of 3 Mar 2026, 09:00 · build 2026.10 “The second.”" in page


def test_only_what_is_mine_and_still_open_waits_for_a_link(
    tester_client: Client, tester: User, trained_tester: User, script: Script, build: Build
) -> None:
    make.result(trained_tester, script, build)
    make.result(tester, script, build, recording_link="https://a.example/1")
    make.result(tester, script, build, reviewed_at="2026-03-03T00:00Z")
    make.result(tester, script, build, sheet_digest="x")
    make.result(tester, script, build, never_started=True)
    assert 'name="recording_link"' not in tester_client.get("/todo/").text


def test_nobody_adds_a_link_to_anothers_result(
    tester_client: Client, trained_tester: User, script: Script, build: Build
) -> None:
    foreign = make.result(trained_tester, script, build)
    answer = tester_client.post("/todo/", {"result": foreign.pk, "recording_link": "https://a.example/1"})
    assert answer.status_code == 403
    assert tester_client.post("/todo/", {"result": "x", "recording_link": "https://a.example/1"}).status_code == 404


def test_a_draft_is_discarded_from_the_to_do_page(tester_client: Client, tester: User, script: Script) -> None:
    key = uuid.uuid4()
    save_draft(tester, key, script, {"comment": "x"}, based_on=0)
    assert tester_client.post(f"/drafts/{key}/")["Location"] == "/todo/"
    assert not Draft.objects.exists()


# --- an expired session, and a CSRF token that is too old --------------------------------------------------------


def test_what_was_typed_survives_a_sign_in(tester: User, script: Script, build: Build) -> None:
    client, key = Client(), uuid.uuid4()
    sent = fields(script, build, comment="Typed before.", typed_by=str(tester.pk), problems=("cut_in",), content="2")
    answer = file(client, sent, key)
    assert answer.status_code == 302
    assert "/account/login/" in answer["Location"]
    assert not Result.objects.exists()
    client.post(answer["Location"], {"login": tester.email, "password": make.PASSWORD})
    page = client.get(f"/drafts/{key}/").text
    assert "Typed before." in page
    assert 'id="content-2" value="2" checked' in page
    assert re.search(r'name="place-cut_in"[^>]* value="1"', page)
    assert "data-unsaved" in page


def test_of_many_calls_without_a_link_the_newest_ten_are_asked_for_first(
    tester_client: Client, tester: User, script: Script, build: Build
) -> None:
    for days in range(12):
        make.result(tester, script, build, called_at=timezone.now() - timedelta(days=days), recording_link="")
    page = tester_client.get("/todo/").text
    assert page.count('name="recording_link"') == 10
    assert "The newest 10 of 12." in page
    assert '<a class="button" href="?links=all#links">Show all (12)</a>' in page
    whole = tester_client.get("/todo/?links=all").text
    assert whole.count('name="recording_link"') == 12
    assert "Show all" not in whole
    oldest = Result.objects.order_by("called_at")[0]
    wrong = tester_client.post("/todo/", {"result": oldest.pk, "recording_link": "no link"})
    assert 'value="no link"' in wrong.text, "nothing typed is lost, however far down it was typed"
