"""What is kept about a person: handed out to them in one file, and taken away for good when they are erased."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from emma_eval.accounts import change_access, invite
from emma_eval.accounts.models import ApiToken, AuditEntry, Training, User
from emma_eval.accounts.personal_data.erase_person import OwnAccountError, erase_person
from emma_eval.accounts.personal_data.own_data import OWN_DATA
from emma_eval.accounts.personal_data.rooms import sections
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.tokens import make_token
from emma_eval.accounts.roles import Role
from emma_eval.accounts.session_store import Session
from emma_eval.webhooks.models import Endpoint
from results.comments.comment_on import comment_on
from results.models import Call, Comment, Draft, Moment, Recording, RecordingNote, Result, Review, SavedView, Watch
from results.recordings.player.note_watch import note_watch
from results.recordings.removal.removal_reasons import Reason
from results.recordings.removal.remove_recording import remove_recording
from scripts_catalog.models import Script
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
PATH = "/account/my-data/"


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    cache.clear()


@pytest.fixture
def result(tester: User) -> Result:
    """A result with everything around it that its tester can leave behind."""
    filed: Result = make.result(tester, make.script("plain-talk"), make.build(), comment="Emma sang")
    comment_on(tester, filed, "I am Tess from the third floor")
    Draft.objects.create(tester=tester, uuid=uuid.uuid4(), script=filed.script, fields={"comment": "half a word"})
    call = Call.objects.create(tester=tester, user_agent="Netscape 4", browser="Other")
    Moment.objects.create(call=call, uuid=uuid.uuid4(), number=1, at_ms=61_000, words="she laughed")
    make_token(tester, "Nightly run", [Scope.RESULTS_READ], days=9)
    Endpoint.objects.create(owner=tester, name="Ours", url="https://hooks.example.test/key", secret="whsec_hidden")
    SavedView.objects.create(owner=tester, name="Mine", path="/results/")
    return filed


def own_data(user: User) -> dict[str, Any]:
    answer = make.client_of(user).post(PATH)
    assert answer.status_code == 200
    said: dict[str, Any] = json.loads(answer.getvalue())
    return said


def test_the_file_holds_what_one_left_in_every_room(tester: User, result: Result) -> None:
    said = own_data(tester)
    assert set(said) == {"made_at", *(section.name for section in sections)}
    assert said["account"][0]["email"] == tester.email
    assert [each["comment"] for each in said["results"]] == ["Emma sang"]
    assert [each["fields"] for each in said["drafts"]] == [{"comment": "half a word"}]
    assert [each["words"] for call in said["calls"] for each in call["moments"]] == ["she laughed"]
    assert [each["text"] for each in said["comments"]] == ["I am Tess from the third floor"]
    assert [each["name"] for each in said["api_tokens"] + said["webhooks"] + said["saved_views"]] == [
        "Nightly run",
        "Ours",
        "Mine",
    ]
    assert "commented on a result" in [each["action"] for each in said["audit_trail"]]


def test_the_file_holds_no_secret_and_nobody_elses_work(tester: User, result: Result, eval_member: User) -> None:
    make.result(eval_member, result.script, result.build, comment="somebody else's")
    text = json.dumps(own_data(tester))
    token = ApiToken.objects.get()
    for secret in (tester.password, token.digest, "whsec_hidden", "hooks.example.test/key", "somebody else's"):
        assert secret not in text
    assert not any(session.session_key in text for session in Session.objects.all())


def test_safety_is_in_it_only_while_one_is_trained(trained_tester: User) -> None:
    make.result(trained_tester, make.script("quiet-matter", area="safety"), make.build(), comment="the covered words")
    assert "the covered words" in json.dumps(own_data(trained_tester))
    Training.objects.update(revoked_at=timezone.now())
    assert "quiet-matter" not in json.dumps(own_data(User.objects.get(pk=trained_tester.pk)))


def test_saved_views_are_those_that_the_page_of_views_shows(trained_tester: User) -> None:
    make.script("quiet-matter", area="safety")
    moving = make.script("plain-talk")
    for name, query in (("kq77", "script=quiet-matter"), ("jx55", "script=plain-talk"), ("Mine", "")):
        SavedView.objects.create(owner=trained_tester, name=name, path="/results/", query=query)
    assert len(own_data(trained_tester)["saved_views"]) == 3
    Training.objects.update(revoked_at=timezone.now())
    untrained = User.objects.get(pk=trained_tester.pk)
    assert [each["name"] for each in own_data(untrained)["saved_views"]] == ["Mine", "jx55"]
    Script.objects.filter(pk=moving.pk).update(area="safety")
    assert [each["name"] for each in own_data(untrained)["saved_views"]] == ["Mine"]


def test_each_file_stands_in_the_audit_trail_and_they_are_few_within_an_hour(tester: User) -> None:
    client = make.client_of(tester)
    assert [client.post(PATH).status_code for _ in range(OWN_DATA.most + 1)] == [200] * OWN_DATA.most + [429]
    assert AuditEntry.objects.filter(action="exported their own data", actor=tester).count() == OWN_DATA.most


def test_erasing_takes_the_identity_and_leaves_the_evidence(tester: User, result: Result, administrator: User) -> None:
    was, name = tester.email, f"Former member {tester.pk}"
    assert erase_person(tester, administrator)
    erased = User.objects.get(pk=tester.pk)
    assert (str(erased), erased.is_active, erased.has_usable_password()) == (name, False, False)
    assert Result.objects.get(pk=result.pk).comment == "Emma sang"
    assert Moment.objects.get().words == "she laughed"
    assert (Comment.objects.get().text, Comment.objects.get().withdrawn_at is None) == ("", False)
    assert Call.objects.get().user_agent == ""
    for gone in (Draft, ApiToken, Endpoint, SavedView):
        assert not gone.objects.exists()
    assert not Session.objects.filter(user=tester).exists()
    assert was not in "".join(str(vars(entry)) for entry in AuditEntry.objects.all())
    page = make.client_of(administrator).get(f"/results/{result.pk}/").content.decode()
    assert name in page
    assert was not in page


def test_nothing_of_an_erased_person_signs_in_again(tester: User, administrator: User) -> None:
    client = make.client_of(tester)
    invite.invite_again(tester, administrator)
    erase_person(tester, administrator)
    assert client.get("/results/").status_code == 302
    assert not tester.invitations.exists()
    change_access.reactivate(User.objects.get(pk=tester.pk), administrator)
    assert not User.objects.get(pk=tester.pk).is_active


def test_the_address_is_free_for_somebody_new(tester: User, administrator: User) -> None:
    was = tester.email
    erase_person(tester, administrator)
    assert invite.invite(was, "", [Role.TESTER], administrator).user_id != tester.pk


def test_a_review_that_is_filed_stays_and_one_under_way_goes(
    result: Result, eval_member: User, administrator: User
) -> None:
    another = make.result(result.tester, result.script, result.build)
    Review.objects.create(result=result, reviewer=eval_member, filed_at=timezone.now(), reason="Too long")
    Review.objects.create(result=another, reviewer=eval_member, draft={"fields": {"reason": "half"}})
    erase_person(eval_member, administrator)
    assert Review.objects.get().reason == "Too long"


def test_neither_oneself_nor_the_last_administrator_is_erased(administrator: User) -> None:
    other = make.user("other@example.test", Role.ADMINISTRATOR)
    User.objects.filter(pk=administrator.pk).update(is_active=False)
    with pytest.raises(change_access.LastAdministratorError):
        erase_person(other, administrator)
    with pytest.raises(OwnAccountError):
        erase_person(administrator, administrator)
    assert not User.objects.exclude(erased_at=None).exists()


def test_erasing_twice_changes_nothing_more(tester: User, administrator: User) -> None:
    assert (erase_person(tester, administrator), erase_person(tester, administrator)) == (True, False)
    assert AuditEntry.objects.filter(action="erased a person").count() == 1


@pytest.fixture
def admin_client(administrator: User) -> Client:
    return make.client_of(administrator)


def test_the_page_says_what_stays_and_wants_a_tick(admin_client: Client, tester: User) -> None:
    path = f"/people/{tester.pk}/erase/"
    assert "What stays, without the name" in admin_client.get(path).content.decode()
    answer = admin_client.post(path)
    assert answer.status_code == 422
    assert answer.content.decode().count("Tick this to erase the person for good.") == 2
    assert User.objects.get(pk=tester.pk).erased_at is None
    assert admin_client.post(path, {"is_sure": "on"}).status_code == 302
    assert "Erased on" in admin_client.get(f"/people/{tester.pk}/").content.decode()


def test_older_lines_that_name_the_address_are_told_of(admin_client: Client, tester: User) -> None:
    AuditEntry.objects.create(action="changed roles", target=tester.email)
    assert "1 older line holds the address" in admin_client.get(f"/people/{tester.pk}/erase/").content.decode()


def test_nothing_is_given_to_somebody_who_is_erased(tester: User, administrator: User) -> None:
    erase_person(tester, administrator)
    training = Training(user=tester, starts_on=timezone.localdate())
    with pytest.raises(change_access.ErasedError):
        change_access.change_roles(tester, [Role.ADMINISTRATOR], administrator)
    with pytest.raises(change_access.ErasedError):
        change_access.grant_training(training, administrator)
    client = make.client_of(administrator)
    for path, sent in (("roles", {"roles": ["manager"]}), ("training", {"starts_on": f"{timezone.localdate()}"})):
        answer = client.post(f"/people/{tester.pk}/{path}/", sent, follow=True)
        assert "This person was erased" in answer.content.decode()
    assert not User.objects.get(pk=tester.pk).roles
    assert not Training.objects.exists()


def test_the_file_tells_ones_recordings_notes_and_watches_and_not_where_files_lie(
    tester: User, eval_member: User
) -> None:
    call = uuid.uuid4()
    make.result(tester, make.script(), make.build(), call_uuid=call)
    recording = make.recording(tester, call, name="Kitchen.mp4", consented_at=timezone.now())
    RecordingNote.objects.create(recording=recording, by=eval_member, at_ms=4, words="she waits")
    note_watch(recording, eval_member, timezone.now())
    [told] = own_data(tester)["recordings"]
    assert (told["uuid"], told["name"], told["state"]) == (str(recording.pk), "Kitchen.mp4", "ready")
    assert told["consented_at"]
    assert recording.key not in json.dumps(told)
    assert own_data(tester)["watches"] == own_data(tester)["recording_notes"] == []
    said = own_data(eval_member)
    assert said["recordings"] == []
    assert [each["words"] for each in said["recording_notes"]] == ["she waits"]
    assert [each["recording"] for each in said["watches"]] == [str(recording.pk)]


def test_recordings_of_a_call_that_became_safetys_are_in_no_file_of_the_untrained(tester: User) -> None:
    script, call = make.script("plain-talk"), uuid.uuid4()
    make.result(tester, script, make.build(), call_uuid=call)
    recording = make.recording(tester, call)
    note_watch(recording, tester, timezone.now())
    Script.objects.filter(pk=script.pk).update(area="safety")
    assert recording.pk.hex not in json.dumps(own_data(tester)).replace("-", "")


def test_who_is_erased_takes_their_recordings_along_and_their_words_on_others(
    tester: User, eval_lead: User, administrator: User
) -> None:
    call = uuid.uuid4()
    make.result(tester, make.script(), make.build(), call_uuid=call)
    own, others = make.recording(tester, call, name="Kitchen.mp4"), make.recording(eval_lead, uuid.uuid4())
    removed = make.recording(tester, call)
    remove_recording(removed, tester, Reason.OTHER, "My sister is in it.")
    RecordingNote.objects.create(recording=others, by=tester, at_ms=4, words="as I said")
    note_watch(others, tester, timezone.now())
    erase_person(tester, administrator)
    gone = Recording.objects.get(pk=own.pk)
    assert (gone.state, gone.name, gone.key, gone.removed_because) == ("removed", "", "", Reason.ERASED.label)
    assert Recording.objects.get(pk=removed.pk).removed_because == Reason.OTHER.label
    assert Recording.objects.get(pk=others.pk).state == "ready"
    assert RecordingNote.objects.get(recording=others).words == ""
    assert Watch.objects.get().by_id == tester.pk, "the key of the account stays, and nobody is behind it"
    assert AuditEntry.objects.filter(action="removed a recording", details__reason="erased").count() == 1


def test_erasing_reaches_all_recordings_of_somebody_who_has_many(tester: User, administrator: User) -> None:
    for _ in range(120):
        make.recording(tester, uuid.uuid4())
    erase_person(tester, administrator)
    assert not Recording.objects.standing().exists()
