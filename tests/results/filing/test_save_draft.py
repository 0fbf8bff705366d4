"""Saving as you go: the same again is the same answer, and no tab writes over another."""

from __future__ import annotations

import json
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.filing.merge_drafts import differences, merged
from results.filing.save_draft import ChangedElsewhereError, FiledAlreadyError, changed_elsewhere, save_draft
from results.models import Draft, Result
from scripts_catalog.models import Build, Script, ScriptVersion
from tests import make
from tests.results.filing.sent import fields, file

pytestmark = pytest.mark.data_layer


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10", is_current=True)


def put(client: Client, key: uuid.UUID, version: int, typed: dict[str, Any], **more: Any) -> HttpResponse:
    body = {"version": version, "script": "bad-news-day", "fields": typed, **more}
    answer: HttpResponse = client.put(f"/drafts/{key}/", json.dumps(body), content_type="application/json")
    return answer


def test_a_save_answers_with_version_and_time(tester_client: Client, tester: User, script: Script) -> None:
    key = uuid.uuid4()
    answer = put(tester_client, key, 0, {"comment": "Half a", "content": "2"})
    draft = Draft.objects.get(tester=tester, uuid=key)
    assert answer.status_code == 200
    assert answer.json() == {"version": 1, "saved_at": json.loads(json.dumps(answer.json()))["saved_at"]}
    assert draft.fields == {"comment": "Half a", "content": "2"}


def test_the_same_save_again_is_the_same_answer(tester_client: Client, script: Script) -> None:
    key = uuid.uuid4()
    first = put(tester_client, key, 0, {"comment": "a"})
    second = put(tester_client, key, 0, {"comment": "a", "vision": ""})
    assert second.json() == first.json()
    assert Draft.objects.get().version == 1


def test_each_change_makes_a_version(tester_client: Client, script: Script) -> None:
    key = uuid.uuid4()
    for version in range(5):
        assert put(tester_client, key, version, {"comment": "a" * (version + 1)}).json()["version"] == version + 1
    assert Draft.objects.get().fields == {"comment": "aaaaa"}


def test_an_older_tab_is_refused_and_gets_the_words_of_the_other(tester_client: Client, script: Script) -> None:
    key = uuid.uuid4()
    put(tester_client, key, 0, {"comment": "a"})
    put(tester_client, key, 1, {"comment": "from one tab"})
    answer = put(tester_client, key, 1, {"comment": "from another"})
    assert answer.status_code == 409
    assert answer.json()["fields"] == {"comment": "from one tab"}
    assert answer.json()["version"] == 2
    assert Draft.objects.get().fields == {"comment": "from one tab"}


def test_a_version_from_nowhere_does_not_overwrite(tester_client: Client, script: Script) -> None:
    key = uuid.uuid4()
    put(tester_client, key, 0, {"comment": "a"})
    assert put(tester_client, key, 9, {"comment": "b"}).status_code == 409


def test_a_tab_goes_on_after_another_has_discarded(tester_client: Client, script: Script) -> None:
    key = uuid.uuid4()
    put(tester_client, key, 0, {"comment": "a"})
    assert tester_client.delete(f"/drafts/{key}/").status_code == 204
    assert tester_client.delete(f"/drafts/{key}/").status_code == 204
    assert put(tester_client, key, 1, {"comment": "ab"}).json()["version"] == 2


def test_a_filed_draft_says_where_its_result_is(tester_client: Client, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    file(tester_client, fields(script, build), key)
    answer = put(tester_client, key, 3, {"comment": "late"})
    assert answer.status_code == 409
    assert answer.json()["filed"] == Result.objects.get().get_absolute_url()
    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b'{"version": 0, "script": "bad-news-day"}',
        b'{"version": 0, "script": "bad-news-day", "fields": []}',
        b'{"version": "0", "script": "bad-news-day", "fields": {}}',
        b'{"version": true, "script": "bad-news-day", "fields": {}}',
        b'{"version": -1, "script": "bad-news-day", "fields": {}}',
        b'{"version": 99999999999, "script": "bad-news-day", "fields": {}}',
        b'{"version": 0, "script": 1, "fields": {}}',
        b'{"version": 0, "script": "\\u0000", "fields": {}}',
        b'{"version": 0, "script": "\\ud800", "fields": {}}',
        b'{"version": 0, "script": "bad-news-day\\u0000", "fields": {}}',
        b"[" * 100_000,
    ],
)
def test_a_malformed_save_is_refused(tester_client: Client, script: Script, body: bytes) -> None:
    answer = tester_client.put(f"/drafts/{uuid.uuid4()}/", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["error"] == "malformed"


def test_only_text_of_known_fields_is_kept(tester_client: Client, script: Script) -> None:
    odd = {
        "comment": "a\x00b\ud83dc",
        "content": 4,
        "vision": None,
        "is_admin": "1",
        "place-cut_in": "1",
        "build": ["1"],
    }
    assert put(tester_client, uuid.uuid4(), 0, odd).status_code == 200
    assert Draft.objects.get().fields == {"comment": "abc", "place-cut_in": "1"}


def test_a_draft_that_is_too_long_is_refused_in_words(tester_client: Client, script: Script) -> None:
    answer = put(tester_client, uuid.uuid4(), 0, {"comment": "x" * 200_001})
    assert answer.status_code == 413
    assert "too long" in answer.json()["message"]


def test_a_full_comment_of_wide_letters_is_not_too_long(tester_client: Client, script: Script) -> None:
    body = json.dumps(
        {"version": 0, "script": "bad-news-day", "fields": {"comment": "😀" * 20_000}}, ensure_ascii=False
    )
    answer = tester_client.put(f"/drafts/{uuid.uuid4()}/", body, content_type="application/json")
    assert answer.status_code == 200


def test_a_tester_may_keep_two_hundred_drafts(tester_client: Client, tester: User, script: Script) -> None:
    Draft.objects.bulk_create(Draft(tester=tester, uuid=uuid.uuid4(), script=script) for _ in range(199))
    last = uuid.uuid4()
    assert put(tester_client, last, 0, {"comment": "a"}).status_code == 200
    answer = put(tester_client, uuid.uuid4(), 0, {"comment": "a"})
    assert (answer.status_code, answer.json()["error"]) == (409, "too_many")
    assert put(tester_client, last, 1, {"comment": "ab"}).status_code == 200


def test_another_persons_draft_is_nobody_elses(tester_client: Client, trained_tester: User, script: Script) -> None:
    key = uuid.uuid4()
    save_draft(trained_tester, key, script, {"comment": "private"}, based_on=0)
    answer = put(tester_client, key, 0, {"comment": "mine"})
    assert (answer.status_code, answer.json()["version"]) == (200, 1)
    assert Draft.objects.get(tester=trained_tester).fields == {"comment": "private"}


def test_what_somebody_else_typed_is_not_saved(tester_client: Client, trained_tester: User, script: Script) -> None:
    answer = put(tester_client, uuid.uuid4(), 0, {"comment": "a"}, typed_by=trained_tester.pk)
    assert (answer.status_code, answer.json()["error"]) == (401, "someone_else")
    assert not Draft.objects.exists()


def test_without_a_sign_in_it_says_so_in_json(script: Script) -> None:
    answer = put(Client(), uuid.uuid4(), 0, {"comment": "a"})
    assert (answer.status_code, answer.json()["error"]) == (401, "signed_out")


def test_a_save_needs_the_csrf_token_of_today(tester: User, script: Script) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(tester)
    assert put(client, uuid.uuid4(), 0, {"comment": "a"}).status_code == 403
    client.get("/results/new/?script=bad-news-day")
    token = client.cookies["csrf"].value
    body = json.dumps({"version": 0, "script": "bad-news-day", "fields": {}})
    answer = client.put(
        f"/drafts/{uuid.uuid4()}/", body, content_type="application/json", headers={"X-CSRFToken": token}
    )
    assert answer.status_code == 200


def test_safety_is_as_unknown_as_nothing(tester_client: Client, tester: User, script: Script) -> None:
    key = uuid.uuid4()
    put(tester_client, key, 0, {"comment": "canary"})
    Script.objects.update(area="safety")
    other = make.script("noisy-room")
    for slug in ("bad-news-day", "no-such-script", other.slug):
        answer = put(tester_client, key, 0, {"comment": "b"}, script=slug)
        assert answer.status_code == 404
        assert "canary" not in answer.text
    assert Draft.objects.get().fields == {"comment": "canary"}


# --- two tabs ------------------------------------------------------------------------------------------


def test_differences_are_told_field_by_field(tester: User, script: Script) -> None:
    mine = {"content": "2", "comment": "a", "place-cut_in": "1", "place-too_fast": "2", "vision": "na"}
    theirs = {"content": "3", "comment": "a", "place-too_fast": "1", "place-cut_in": "2", "vision": "na"}
    found = differences(tester, mine, theirs)
    assert [(each.label, each.mine, each.theirs) for each in found] == [
        ("Content", ["2"], ["3"]),
        (
            "Problems, the biggest first",
            ["Cut in while the user was still talking", "Too fast / no pauses"],
            ["Too fast / no pauses", "Cut in while the user was still talking"],
        ),
    ]


def test_what_was_chosen_is_put_together(tester: User, script: Script) -> None:
    mine = {"content": "2", "comment": "a", "place-cut_in": "1", "page": "1"}
    theirs = {"content": "3", "place-too_fast": "1", "call": "x"}
    choices = {"keep-content": "theirs", "keep-problems": "theirs", "keep-comment": "mine"}
    chosen = differences(tester, mine, theirs, choices)
    assert merged(mine, theirs, chosen) == {"content": "3", "comment": "a", "place-too_fast": "1", "call": "x"}


def test_a_version_is_told_by_the_number_that_the_tester_knows(
    tester: User, trained_tester: User, script: Script
) -> None:
    """A script that was Safety once: its hidden version reads as one that does not exist, and leaves no gap."""
    kept, second = script.latest, ScriptVersion.objects.get()
    assert kept is not None
    hidden = ScriptVersion.objects.create(script=script, number=2, area="safety", **wording_of(second))
    newest = ScriptVersion.objects.create(script=script, number=3, area="everyday", **wording_of(second))

    def told(user: User, mine: int, theirs: int) -> list[str]:
        found = differences(user, {"script_version": str(mine)}, {"script_version": str(theirs)})
        return [*found[0].mine, *found[0].theirs]

    assert told(tester, kept.pk, newest.pk) == ["version 1", "version 2"]
    assert told(trained_tester, kept.pk, newest.pk) == ["version 1", "version 3"]
    assert told(tester, hidden.pk, 7) == [str(hidden.pk), "7"]
    assert told(trained_tester, hidden.pk, 7) == ["version 2", "7"]


def wording_of(version: ScriptVersion) -> dict[str, Any]:
    names = ("title", "main_dimension", "summary", "what_to_do", "steps")
    return {name: getattr(version, name) for name in names}


def conflict(client: Client, script: Script, build: Build) -> tuple[uuid.UUID, dict[str, str]]:
    """One tab that knows version 1 of a draft, which is at version 2 from another tab."""
    key, sent = uuid.uuid4(), fields(script, build, comment="from one tab")
    put(client, key, 0, {**sent, "comment": "a"})
    put(client, key, 1, {**sent, "comment": "from another", "content": "1"})
    return key, {**sent, "version": "1"}


def test_filing_from_an_older_tab_asks_first(tester_client: Client, script: Script, build: Build) -> None:
    key, sent = conflict(tester_client, script, build)
    answer = file(tester_client, sent, key)
    assert answer.status_code == 409
    assert "from one tab" in answer.text
    assert "from another" in answer.text
    assert not Result.objects.exists()


def test_a_place_of_any_length_is_merged(tester_client: Client, script: Script, build: Build) -> None:
    """Python refuses to read a number of 5,000 digits; it is no place, so it comes last."""
    key, sent = conflict(tester_client, script, build)
    places = {"place-cut_in": "9" * 5000, "place-too_fast": "2"}
    answer = tester_client.post(f"/drafts/{key}/merge/", {**sent, **places, "against": "2"})
    assert answer.status_code == 409
    assert answer.text.index("Too fast / no pauses") < answer.text.index("Cut in while the user was still talking")
    done = tester_client.post(f"/drafts/{key}/merge/", {**sent, **places, "against": "2", "whole": "mine"})
    assert done.status_code == 303
    assert tester_client.get(done["Location"]).status_code == 200
    assert file(tester_client, {**sent, **places, "version": "3"}, key).status_code == 422


def test_halves_of_letters_and_other_marks_are_dropped_from_every_text(tester_client: Client, script: Script) -> None:
    answer = put(
        tester_client,
        uuid.uuid4(),
        0,
        {"comment": "a\ud800b\x00c", "build": "\udfff", "place-cut\ud800_in": "1\x00"},
        typed_by="",
    )
    assert answer.status_code == 200
    assert Draft.objects.get().fields == {"comment": "abc", "place-cut_in": "1"}


def test_a_choice_for_every_field_goes_on(tester_client: Client, script: Script, build: Build) -> None:
    key, sent = conflict(tester_client, script, build)
    address = f"/drafts/{key}/merge/"
    some = tester_client.post(address, {**sent, "against": "2", "keep-comment": "mine"})
    assert some.status_code == 409
    assert "Choose one side for every field." in some.text
    done = tester_client.post(address, {**sent, "against": "2", "keep-comment": "mine", "keep-content": "theirs"})
    assert (done.status_code, done["Location"]) == (303, f"/drafts/{key}/?merged=1")
    draft = Draft.objects.get()
    assert (draft.version, draft.fields["comment"], draft.fields["content"]) == (3, "from one tab", "1")


@pytest.mark.parametrize(("side", "comment"), [("mine", "from one tab"), ("theirs", "from another")])
def test_a_whole_side_can_be_kept(tester_client: Client, script: Script, build: Build, side: str, comment: str) -> None:
    key, sent = conflict(tester_client, script, build)
    tester_client.post(f"/drafts/{key}/merge/", {**sent, "against": "2", "whole": side})
    assert Draft.objects.get().fields["comment"] == comment


def test_choices_made_on_an_older_version_are_asked_again(tester_client: Client, script: Script, build: Build) -> None:
    key, sent = conflict(tester_client, script, build)
    put(tester_client, key, 2, {**sent, "comment": "changed once more"})
    answer = tester_client.post(f"/drafts/{key}/merge/", {**sent, "against": "2", "whole": "mine"})
    assert answer.status_code == 409
    assert "changed once more" in answer.text


def test_a_page_whose_own_save_overtook_it_is_no_other_tab() -> None:
    draft = Draft(version=5, fields={"comment": "a", "page": "1-2"})
    assert not changed_elsewhere(draft, {"comment": "ab", "page": "1-2"}, based_on=4)
    assert changed_elsewhere(draft, {"comment": "ab", "page": "3-4"}, based_on=4)
    assert not changed_elsewhere(draft, {"comment": "a", "page": "3-4"}, based_on=4)
    assert not changed_elsewhere(draft, {"comment": "ab"}, based_on=5)


# --- many at once ---------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_many_tabs_at_once_one_saves_and_all_others_are_told() -> None:
    tester = make.user("tess@example.test", Role.TESTER)
    script, key = make.script("bad-news-day"), uuid.uuid4()
    gate = threading.Barrier(20)

    def act(number: int) -> str:
        gate.wait()
        try:
            save_draft(tester, key, script, {"comment": str(number % 5)}, based_on=0)
        except ChangedElsewhereError as refused:
            return f"refused for {refused.draft.fields['comment']}"
        finally:
            connection.close()
        return f"saved {number % 5}"

    with ThreadPoolExecutor(20) as pool:
        outcomes = Counter(pool.map(act, range(20)))
    kept = Draft.objects.get()
    assert kept.version == 1
    assert outcomes == {f"saved {kept.fields['comment']}": 4, f"refused for {kept.fields['comment']}": 16}


@pytest.mark.django_db
def test_no_order_of_saves_loses_what_a_tab_was_told_is_saved(tester: User, script: Script) -> None:
    """Three tabs type, save, lose answers and put together, in any order: what was saved is in the draft
    or was shown to somebody who chose against it."""

    class Tabs(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.key = uuid.uuid4()
            self.words = 0
            self.tabs: dict[int, tuple[int, str]] = dict.fromkeys(range(3), (0, ""))
            self.saved = ""
            self.version = 0

        @rule(tab=st.integers(0, 2))
        def types(self, tab: int) -> None:
            self.words += 1
            self.tabs[tab] = (self.tabs[tab][0], f"{tab}: {self.words}")

        @rule(tab=st.integers(0, 2), loses_answer=st.booleans())
        def saves(self, tab: int, loses_answer: bool) -> None:
            version, text = self.tabs[tab]
            if not text:
                return
            if version != self.version and text != self.saved:
                with pytest.raises(ChangedElsewhereError) as refused:
                    save_draft(tester, self.key, script, {"comment": text}, based_on=version)
                assert refused.value.draft.fields == {"comment": self.saved}
                return
            draft = save_draft(tester, self.key, script, {"comment": text}, based_on=version)
            self.saved, self.version = text, draft.version
            if not loses_answer:
                self.tabs[tab] = (draft.version, text)

        @rule(tab=st.integers(0, 2), takes_theirs=st.booleans())
        def puts_together(self, tab: int, takes_theirs: bool) -> None:
            if self.version:
                self.tabs[tab] = (self.version, self.saved if takes_theirs else self.tabs[tab][1])

        @invariant()
        def the_draft_is_what_was_saved_last(self) -> None:
            draft = Draft.objects.filter(tester=tester, uuid=self.key).first()
            assert (draft.fields["comment"] if draft else "") == self.saved
            assert (draft.version if draft else 0) == self.version

    run_state_machine_as_test(
        Tabs,
        settings=settings(
            max_examples=100,
            stateful_step_count=20,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_filed_draft_can_not_be_saved(tester: User, script: Script, build: Build) -> None:
    result = make.result(tester, script, build)
    with pytest.raises(FiledAlreadyError):
        save_draft(tester, result.draft_uuid, script, {}, based_on=0)
