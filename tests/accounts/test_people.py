"""The People page, a person's page, and what changes there."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts import change_access, invite, people
from emma_eval.accounts.forms import InviteForm
from emma_eval.accounts.invite import invited_account
from emma_eval.accounts.models import AuditEntry, Invitation, Training, User
from emma_eval.accounts.roles import Role
from tests import make

pytestmark = pytest.mark.django_db
TODAY = date(2026, 5, 10)


@pytest.fixture
def admin_client(administrator: User) -> Client:
    return make.client_of(administrator)


def fresh(user: User) -> User:
    return User.objects.get(pk=user.pk)


def addresses(client: Client, query: str = "") -> list[str]:
    return [row.user.email for row in client.get(f"/people/{query}").context["page"].rows]


def test_administrators_see_everybody_and_managers_testers(
    admin_client: Client, manager_client: Client, tester: User, eval_member: User
) -> None:
    assert addresses(admin_client) == ["ada@example.test", "eve@example.test", "max@example.test", "tess@example.test"]
    assert addresses(manager_client) == ["tess@example.test"]


def test_a_search_looks_at_names_and_addresses(admin_client: Client) -> None:
    make.user("abc@example.test", Role.TESTER, name="Grace Hopper")
    assert addresses(admin_client, "?q=hopper+grace") == ["abc@example.test"]
    assert addresses(admin_client, "?q=ABC@") == ["abc@example.test"]
    assert addresses(admin_client, "?q=nobody") == []
    assert addresses(admin_client, "?role=tester") == ["abc@example.test"]
    assert "Nobody here matches" in admin_client.get("/people/?q=nobody").text


def test_a_search_of_too_many_words_looks_at_the_first_ones(admin_client: Client) -> None:
    assert addresses(admin_client, "?q=" + "+".join(["ada"] * 10 + ["nobody"] * 1100)) == ["ada@example.test"]
    assert addresses(admin_client, "?q=" + "+".join(["ada"] * 9 + ["nobody"] * 1100)) == []
    assert addresses(admin_client, "?q=" + "x" * 100_000) == []


def test_each_person_is_shown_as_what_they_are(admin_client: Client, administrator: User) -> None:
    invited_account("from-a-sheet@example.test")
    invite.invite("invited@example.test", "", {Role.TESTER}, administrator)
    invite.invite("late@example.test", "", {Role.TESTER}, administrator)
    Invitation.objects.filter(user__email="late@example.test").update(expires_at=timezone.now())
    make.user("gone@example.test", Role.TESTER, is_active=False)
    states = {row.user.email: row.state for row in admin_client.get("/people/").context["page"].rows}
    assert states == {
        "ada@example.test": "active",
        "from-a-sheet@example.test": "not invited yet",
        "gone@example.test": "deactivated",
        "invited@example.test": "invited",
        "late@example.test": "invitation ran out",
    }


@pytest.mark.parametrize(
    ("grants", "words"),
    [
        ([], ""),
        ([(date(2026, 1, 1), None)], "trained"),
        ([(date(2026, 1, 1), date(2026, 5, 10))], "trained until 10 May 2026"),
        ([(date(2026, 1, 1), date(2026, 5, 9))], ""),
        ([(date(2026, 5, 11), None)], "trained from 11 May 2026"),
        (
            [(date(2026, 1, 1), date(2026, 6, 1)), (date(2026, 2, 1), date(2026, 9, 1))],
            "trained until 1 Sep 2026",
        ),
        ([(date(2026, 1, 1), date(2026, 6, 1)), (date(2026, 2, 1), None)], "trained"),
    ],
)
def test_training_is_said_in_words(grants: list[tuple[date, date | None]], words: str) -> None:
    assert people.training_in_words([Training(starts_on=a, ends_on=b) for a, b in grants], TODAY) == words


def test_the_list_comes_in_pages_with_the_same_number_of_queries(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(people, "A_PAGE", 3)
    for n in range(6):
        make.user(f"t{n}@example.test", Role.TESTER, is_trained=n % 2 == 0)
    with django_assert_num_queries(6):
        first = admin_client.get("/people/").context["page"]
    assert [row.user.email for row in first.rows] == ["ada@example.test", "t0@example.test", "t1@example.test"]
    with django_assert_num_queries(6):
        assert addresses(admin_client, f"?after={first.next_after}") == [f"t{n}@example.test" for n in (2, 3, 4)]
    assert addresses(admin_client, "?after=t4@example.test") == ["t5@example.test"]


def test_an_administrator_invites_with_roles_and_training(admin_client: Client) -> None:
    fields = {
        "email": "New@Example.test",
        "name": "New",
        "roles": ["eval team", "manager"],
        "starts_on": "2026-01-01",
        "ends_on": "2030-01-01",
    }
    page = admin_client.post("/people/invite/", fields, follow=True)
    user = User.objects.get(email="new@example.test")
    assert user.roles == {Role.EVAL_TEAM, Role.MANAGER}
    assert (user.trainings.get().ends_on, user.trainings.get().granted_by.email) == (
        date(2030, 1, 1),
        "ada@example.test",
    )
    assert f"/invitations/{Invitation.objects.get().token}/" in page.text
    assert "/invitations/" not in admin_client.get(f"/people/{user.pk}/").text, "the link is shown once"


def test_a_manager_invites_testers_and_nothing_else(manager_client: Client) -> None:
    assert 'name="roles"' not in manager_client.get("/people/invite/").text
    fields = {"email": "new@example.test", "roles": ["administrator"], "starts_on": "2020-01-01"}
    page = manager_client.post("/people/invite/", fields, follow=True)
    user = User.objects.get(email="new@example.test")
    assert (user.roles, user.is_trained) == ({Role.TESTER}, False)
    assert "/invitations/" not in page.text, "who opens the link holds the account, so only its owner gets it"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"email": ""}, "Enter an e-mail address."),
        ({"email": "nonsense"}, "such as name@example.org"),
        ({"email": "TESS@example.test"}, "There is an account with this address already"),
        ({"starts_on": "yesterday"}, "Enter a day."),
        ({"ends_on": "2026-01-01"}, "Enter the first day of the training too."),
        ({"starts_on": "2026-01-02", "ends_on": "2026-01-01"}, "The last day is before the first one."),
        ({"roles": ["emperor"]}, "There is no role of this name."),
    ],
)
def test_what_is_wrong_with_an_invitation_is_said_and_nothing_is_lost(
    admin_client: Client, tester: User, fields: dict[str, Any], words: str
) -> None:
    sent = {"email": "new@example.test", "name": "Somebody New", "roles": ["tester"], **fields}
    answer = admin_client.post("/people/invite/", sent)
    assert answer.status_code == 422
    assert answer.text.count(words) == 2
    assert 'value="Somebody New"' in answer.text
    assert Invitation.objects.count() == 0


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tess@example.test", "look for it on the People page"),
        ("eve@example.test", "Ask an administrator to make its owner a tester too."),
    ],
)
def test_a_manager_is_sent_to_a_page_only_where_the_person_stands_on_it(
    manager_client: Client, tester: User, eval_member: User, address: str, words: str
) -> None:
    answer = manager_client.post("/people/invite/", {"email": address})
    assert answer.status_code == 422
    assert answer.text.count(words) == 2
    assert (address in addresses(manager_client)) == ("People page" in words)


def test_roles_are_changed_and_written_down(admin_client: Client, tester: User) -> None:
    admin_client.post(f"/people/{tester.pk}/roles/", {"roles": ["tester", "eval team"]})
    assert fresh(tester).roles == {Role.TESTER, Role.EVAL_TEAM}
    entry = AuditEntry.objects.get()
    assert (entry.actor.email, entry.action, entry.about) == ("ada@example.test", "changed roles", tester.pk)
    assert entry.details == {"person": tester.pk, "before": ["tester"], "after": ["eval team", "tester"]}


def test_saving_the_same_roles_again_writes_nothing_down(admin_client: Client, tester: User) -> None:
    admin_client.post(f"/people/{tester.pk}/roles/", {"roles": ["tester"]})
    assert not AuditEntry.objects.exists()


def test_the_last_administrator_stays(admin_client: Client, administrator: User) -> None:
    answer = admin_client.post(f"/people/{administrator.pk}/roles/", {"roles": ["tester"]})
    assert (answer.status_code, answer.text.count("This is the last administrator")) == (422, 2)
    page = admin_client.post(f"/people/{administrator.pk}/deactivate/", follow=True)
    assert "This is the last administrator" in page.text
    assert (fresh(administrator).roles, fresh(administrator).is_active) == ({Role.ADMINISTRATOR}, True)


@pytest.mark.parametrize("other", ["invited", "deactivated"])
def test_an_administrator_who_cannot_sign_in_does_not_count(
    admin_client: Client, administrator: User, other: str
) -> None:
    if other == "invited":
        invite.invite("second@example.test", "", {Role.ADMINISTRATOR}, administrator)
    else:
        make.user("second@example.test", Role.ADMINISTRATOR, is_active=False)
    with pytest.raises(change_access.LastAdministratorError):
        change_access.change_roles(administrator, set(), administrator)


def test_with_a_second_administrator_the_first_may_leave(admin_client: Client, administrator: User) -> None:
    make.user("second@example.test", Role.ADMINISTRATOR)
    admin_client.post(f"/people/{administrator.pk}/roles/", {"roles": []})
    assert fresh(administrator).roles == frozenset()
    assert admin_client.get("/people/").status_code == 403


def test_training_is_granted_and_revoked_at_once(admin_client: Client, tester: User) -> None:
    fields = {"starts_on": timezone.localdate().isoformat(), "ends_on": "", "note": "Course of May"}
    admin_client.post(f"/people/{tester.pk}/training/", fields)
    assert fresh(tester).is_trained
    training = tester.trainings.get()
    admin_client.post(f"/people/{tester.pk}/training/{training.pk}/revoke/")
    assert not fresh(tester).is_trained
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == ["granted a training", "revoked a training"]
    admin_client.post(f"/people/{tester.pk}/training/{training.pk}/revoke/")
    assert AuditEntry.objects.count() == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [("ada", "look for it on the People page"), ("max", "Ask an administrator to make its owner a tester too")],
)
def test_an_address_taken_since_it_was_looked_at_is_an_error_of_the_form(
    eval_member: User, administrator: User, manager: User, name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InviteForm, "clean_email", lambda form: form.cleaned_data["email"])
    client = make.client_of(User.objects.get(email=f"{name}@example.test"))
    answer = client.post("/people/invite/", {"email": eval_member.email, "name": "Somebody", "roles": ["tester"]})
    assert (answer.status_code, answer.text.count(words)) == (422, 2)
    assert 'value="Somebody"' in answer.text
    assert not Invitation.objects.exists()


def test_nobody_trains_themselves(admin_client: Client, administrator: User) -> None:
    answer = admin_client.post(f"/people/{administrator.pk}/training/", {"starts_on": TODAY.isoformat()})
    assert answer.status_code == 422
    assert answer.text.count("Your own training is for another administrator") == 2, "in the summary and in its place"
    with pytest.raises(change_access.OwnTrainingError):
        change_access.grant_training(Training(user=administrator, starts_on=TODAY), administrator)
    assert not Training.objects.exists()
    assert not AuditEntry.objects.exists()


def test_ones_own_page_has_no_form_for_a_training(admin_client: Client, administrator: User, tester: User) -> None:
    own, other = (admin_client.get(f"/people/{user.pk}/").text for user in (administrator, tester))
    assert ("Add a training" in own, "Add a training" in other) == (False, True)


def test_a_bad_day_loses_nothing_typed(admin_client: Client, tester: User) -> None:
    fields = {"starts_on": "soon", "ends_on": "", "note": "Course of May"}
    answer = admin_client.post(f"/people/{tester.pk}/training/", fields)
    assert answer.status_code == 422
    assert 'value="Course of May"' in answer.text
    assert "<details open>" in answer.text
    assert answer.text.count("Enter a day.") == 2


def test_a_training_is_revoked_on_its_own_person_only(admin_client: Client, tester: User, trained_tester: User) -> None:
    training = trained_tester.trainings.get()
    assert admin_client.post(f"/people/{tester.pk}/training/{training.pk}/revoke/").status_code == 404
    assert fresh(trained_tester).is_trained


def test_an_account_is_deactivated_and_reactivated(admin_client: Client, tester: User) -> None:
    client = make.client_of(tester)
    admin_client.post(f"/people/{tester.pk}/deactivate/")
    assert client.get("/scripts/").status_code == 302
    admin_client.post(f"/people/{tester.pk}/reactivate/")
    assert fresh(tester).is_active
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == [
        "deactivated an account",
        "reactivated an account",
    ]


def test_a_manager_invites_a_tester_again_and_takes_it_back(manager_client: Client) -> None:
    user = invited_account("from-a-sheet@example.test")
    assert "a sheet names the address" in manager_client.get(f"/people/{user.pk}/").text
    page = manager_client.post(f"/people/{user.pk}/invite/", follow=True)
    assert "is on its way to from-a-sheet@example.test" in page.text
    assert "/invitations/" not in page.text
    manager_client.post(f"/people/{user.pk}/invite/revoke/")
    assert not Invitation.objects.open().exists()


def test_a_manager_invites_nobody_again_who_holds_another_role(manager_client: Client, administrator: User) -> None:
    invite.invite("both@example.test", "", {Role.TESTER, Role.EVAL_TEAM}, administrator)
    user = User.objects.get(email="both@example.test")
    assert manager_client.get(f"/people/{user.pk}/").status_code == 200
    assert manager_client.post(f"/people/{user.pk}/invite/").status_code == 404
    assert manager_client.post(f"/people/{user.pk}/invite/revoke/").status_code == 404


def test_nobody_is_invited_again_who_has_joined(admin_client: Client, tester: User) -> None:
    assert admin_client.post(f"/people/{tester.pk}/invite/").status_code == 404


@pytest.mark.parametrize("page", ["", "roles/", "training/", "deactivate/", "reactivate/", "invite/", "invite/revoke/"])
def test_people_a_manager_does_not_look_after_do_not_exist(
    manager_client: Client, eval_member: User, page: str
) -> None:
    answer = (
        manager_client.post(f"/people/{eval_member.pk}/{page}")
        if page
        else manager_client.get(f"/people/{eval_member.pk}/")
    )
    assert answer.status_code in {403, 404}
    assert (answer.status_code == 403) == (page in {"roles/", "training/", "deactivate/", "reactivate/"})


@pytest.mark.parametrize("page", ["roles/", "training/", "deactivate/", "reactivate/"])
def test_a_manager_changes_nobodys_rights(manager_client: Client, tester: User, page: str) -> None:
    fields = {"roles": ["administrator"], "starts_on": "2020-01-01"}
    assert manager_client.post(f"/people/{tester.pk}/{page}", fields).status_code == 403
    assert (fresh(tester).roles, fresh(tester).is_active, fresh(tester).is_trained) == ({Role.TESTER}, True, False)


def test_what_a_manager_sees_of_a_tester_has_no_buttons_for_rights(manager_client: Client, tester: User) -> None:
    page = manager_client.get(f"/people/{tester.pk}/").text
    assert "Deactivate" not in page
    assert "Save the roles" not in page


@pytest.mark.parametrize(
    "take_away",
    [
        lambda user: change_access.change_roles(user, set(), None),
        lambda user: change_access.deactivate(user, None),
    ],
    ids=["roles", "account"],
)
def test_what_is_taken_away_is_gone_on_the_next_request(tester_client: Client, tester: User, take_away: Any) -> None:
    assert tester_client.get("/scripts/").status_code == 200
    take_away(tester)
    assert tester_client.get("/scripts/").status_code in {302, 403}


def test_a_training_that_ends_hides_safety_on_the_next_request(trained_tester: User) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    client = make.client_of(trained_tester)
    assert "A quiet hint" in client.get("/scripts/").text
    change_access.revoke_training(trained_tester.trainings.get(), None)
    assert "A quiet hint" not in client.get("/scripts/").text


def test_a_training_lapses_by_itself(trained_tester: User) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    client = make.client_of(trained_tester)
    trained_tester.trainings.update(ends_on=timezone.localdate())
    assert "A quiet hint" in client.get("/scripts/").text, "the last day is included"
    trained_tester.trainings.update(ends_on=timezone.localdate() - timedelta(days=1))
    assert "A quiet hint" not in client.get("/scripts/").text
