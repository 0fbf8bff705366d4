"""Sign-on against a real provider: who comes in, with which roles and which training, and who doesn't."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts import change_access, invite, people
from emma_eval.accounts.models import AuditEntry, Invitation, Training, User
from emma_eval.accounts.roles import Role
from emma_eval.accounts.sign_on.claims import Claims, read_trained
from emma_eval.accounts.sign_on.configured import SignOn
from emma_eval.accounts.sign_on.let_in import let_in
from tests import make
from tests.accounts.provider.road import Provider, come_in, go, press_the_button
from tests.security.payloads import PAYLOADS
from tests.security.test_xss import Page

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer, pytest.mark.usefixtures("sign_on")]
TOMORROW = timezone.localdate() + timedelta(days=1)


def who_is_in(client: Client) -> User | None:
    user_id = client.session.get("_auth_user_id")
    return User.objects.get(pk=user_id) if user_id else None


def actions() -> list[str]:
    return [entry.action for entry in AuditEntry.objects.order_by("pk")]


def details_of(action: str) -> dict[str, Any]:
    """Without whom it is about."""
    details = AuditEntry.objects.filter(action=action).latest("pk").details
    return {name: said for name, said in details.items() if name != "person"}


# --- who comes in ------------------------------------------------------------------------------


def test_somebody_new_comes_in_with_the_roles_of_their_groups(client: Client, provider: Provider) -> None:
    provider.says("ann", groups=["emma-testers", "emma-admins", "canteen"], name="Ann  Archer")
    answer = come_in(client, provider, "ann")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    user = who_is_in(client)
    assert user is not None
    assert (user.email, user.name, user.roles) == ("ann@example.test", "Ann Archer", {Role.TESTER, Role.ADMINISTRATOR})
    assert (user.is_trained, user.has_usable_password(), user.has_joined) == (False, False, True)
    assert actions() == ["made an account by sign-on", "linked an account to sign-on", "changed roles"]
    assert details_of("changed roles")["by"] == "sign-on"


def test_the_same_subject_is_the_same_person_whatever_their_address_is(client: Client, provider: Provider) -> None:
    provider.says("ann")
    come_in(client, provider, "ann")
    provider.says("ann", email="ann.archer@example.test", name="Somebody else")
    come_in(other := Client(), provider, "ann")
    assert who_is_in(other) == who_is_in(client)
    user = User.objects.get()
    assert (user.email, user.name) == ("ann@example.test", "Ann"), "an account keeps its address and its name"


def test_a_verified_address_is_the_account_that_it_has(client: Client, provider: Provider, tester: User) -> None:
    provider.says("tess", email="Tess@Example.test")
    come_in(client, provider, "tess")
    assert who_is_in(client) == tester
    assert User.objects.count() == 1
    assert "linked an account to sign-on" in actions()


def test_an_address_that_was_given_on_does_not_hand_over_the_account(client: Client, provider: Provider) -> None:
    provider.says("ann")
    come_in(client, provider, "ann")
    provider.says("newcomer", email="ann@example.test")
    answer = come_in(other := Client(), provider, "newcomer")
    assert answer.status_code == 403
    assert who_is_in(other) is None
    assert details_of("refused a sign-on")["reason"] == "the account of this address belongs to another subject"


def test_a_subject_of_another_provider_is_another_person(client: Client, provider: Provider, tester: User) -> None:
    SocialAccount.objects.create(user=tester, provider="https://id.example.org", uid="subject-of-ann")
    provider.says("ann")
    come_in(client, provider, "ann")
    assert who_is_in(client) not in {None, tester}


NO_ENTRY: dict[str, dict[str, Any]] = {
    "no group that gives a role": {"groups": ["canteen"]},
    "no groups": {"groups": None},
    "groups of an unknown shape": {"groups": {"emma-testers": True}},
    "a group that only begins like one": {"groups": ["emma-testers-of-old"]},
    "an unverified address": {"email_verified": False},
    "an address nobody speaks of": {"email_verified": None},
    "an address verified in words": {"email_verified": "true"},
    "no address": {"email": None},
    "an address that is none": {"email": "ann"},
    "several addresses": {"email": ["ann@example.test"]},
}


@pytest.mark.parametrize("claims", NO_ENTRY.values(), ids=NO_ENTRY)
def test_everybody_else_is_told_nothing_and_is_written_down(
    client: Client, provider: Provider, claims: dict[str, Any]
) -> None:
    provider.says("ann", **claims)
    answer = come_in(client, provider, "ann")
    assert answer.status_code == 403
    assert "This site isn&#x27;t open to you" in answer.text or "This site isn't open to you" in answer.text
    assert (who_is_in(client), User.objects.count()) == (None, 0)
    assert actions() == ["refused a sign-on"]
    assert details_of("refused a sign-on")["subject"] == "subject-of-ann"


def test_the_page_that_refuses_says_the_same_whatever_the_reason(
    client: Client, provider: Provider, tester: User
) -> None:
    provider.says("stranger", groups=[])
    provider.says("unverified", email=tester.email, email_verified=False)
    pages = {come_in(Client(), provider, name).text for name in ("stranger", "unverified")}
    assert len(pages) == 1


def test_who_was_deactivated_stays_out_and_nothing_of_them_changes(
    client: Client, provider: Provider, tester: User
) -> None:
    provider.says("tess", groups=["emma-admins"], emma_trained=TOMORROW.isoformat())
    change_access.deactivate(tester, None)
    answer = come_in(client, provider, "tess")
    assert answer["Location"] == "/account/inactive/"
    assert who_is_in(client) is None
    user = User.objects.get()
    assert (user.roles, user.is_trained) == ({Role.TESTER}, False)


def test_without_a_mapping_only_people_with_an_account_come_in_and_keep_their_roles(
    client: Client, provider: Provider, tester: User, settings: Settings
) -> None:
    settings.SIGN_ON = provider.configured(roles=())
    provider.says("tess", groups=["emma-admins"])
    provider.says("ann", groups=["emma-admins"])
    come_in(client, provider, "tess")
    assert who_is_in(client) == tester
    assert User.objects.get().roles == {Role.TESTER}
    assert come_in(Client(), provider, "ann").status_code == 403


def test_an_invitation_is_over_once_its_person_came_by_sign_on(
    client: Client, provider: Provider, administrator: User
) -> None:
    invite.invite("ann@example.test", "Ann A.", {Role.TESTER}, administrator)
    provider.says("ann")
    come_in(client, provider, "ann")
    assert not Invitation.objects.open().exists()
    rows = people.page(administrator).rows
    assert [(row.user.name, row.state) for row in rows] == [("", "active"), ("Ann A.", "active")]


def test_an_invitation_link_leads_to_sign_on_where_there_are_no_passwords(
    client: Client, provider: Provider, settings: Settings, administrator: User
) -> None:
    invitation = invite.invite("ann@example.test", "", {Role.TESTER}, administrator)
    settings.SIGN_ON = provider.configured(only=True, roles=())
    page = client.get(f"/invitations/{invitation.token}/")
    assert "Sign in with the provider" in page.text
    assert 'type="password"' not in page.text
    client.post(f"/invitations/{invitation.token}/", {"name": "Ann", "password": "x" * 12, "password_again": "x" * 12})
    assert not User.objects.get(email="ann@example.test").has_usable_password()
    provider.says("ann", groups=[])
    come_in(client, provider, "ann")
    assert who_is_in(client) == invitation.user


@pytest.mark.django_db(transaction=True)
def test_somebody_new_who_comes_twice_at_the_same_moment_gets_one_account(sign_on: SignOn) -> None:
    claims = Claims("subject", "ann@example.test", "Ann", frozenset({"emma-testers"}), None)

    def come(_: int) -> int:
        try:
            return let_in(claims, sign_on).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(come, range(4)))) == 1
    assert User.objects.get().roles == {Role.TESTER}
    assert actions().count("made an account by sign-on") == 1


@pytest.mark.django_db
def test_somebody_new_whose_account_is_made_just_after_it_was_looked_for_is_let_in(
    sign_on: SignOn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL each question sees what was written meanwhile; that moment is too short to be met by chance."""
    claims = Claims("subject", "ann@example.test", "Ann", frozenset({"emma-testers"}), None)
    made = let_in(claims, sign_on)
    monkeypatch.setattr("emma_eval.accounts.sign_on.let_in._known", lambda *args: None)
    assert let_in(claims, sign_on) == made
    assert actions().count("linked an account to sign-on") == 1


# --- roles -------------------------------------------------------------------------------------


def test_roles_become_exactly_those_of_the_groups_at_each_sign_on(client: Client, provider: Provider) -> None:
    provider.says("ann", groups=["emma-testers", "emma-admins"])
    come_in(client, provider, "ann")
    user = User.objects.get()
    change_access.change_roles(user, {Role.MANAGER, Role.ADMINISTRATOR}, None)
    provider.says("ann", groups=["emma-testers"])
    come_in(client, provider, "ann")
    assert User.objects.get().roles == {Role.TESTER}, "the last administrator too: the provider alone decides"
    assert details_of("changed roles") == {
        "before": ["administrator", "manager"],
        "after": ["tester"],
        "by": "sign-on",
    }


def test_who_lost_every_group_has_no_role_left(client: Client, provider: Provider) -> None:
    provider.says("ann")
    come_in(client, provider, "ann")
    provider.says("ann", groups=[])
    come_in(client, provider, "ann")
    assert User.objects.get().roles == set()
    assert client.get("/", follow=True).status_code == 403


def test_roles_that_the_provider_gives_are_not_changed_by_hand(client: Client, provider: Provider) -> None:
    provider.says("ann")
    come_in(client, provider, "ann")
    user = User.objects.get()
    admin = make.client_of(make.user("ada@example.test", Role.ADMINISTRATOR))
    page = admin.get(f"/people/{user.pk}/").text
    assert "Save the roles" not in page
    assert "The provider says which" in page
    answer = admin.post(f"/people/{user.pk}/roles/", {"roles": ["administrator"]})
    assert answer.status_code == 422
    assert "Change their groups there" in answer.text
    assert User.objects.get(pk=user.pk).roles == {Role.TESTER}


# --- training ----------------------------------------------------------------------------------


def trainings() -> list[tuple[date, date | None, bool, bool]]:
    return [
        (each.starts_on, each.ends_on, each.from_claim, each.revoked_at is None)
        for each in Training.objects.order_by("pk")
    ]


def test_a_claim_gives_a_training_renews_it_and_ends_it(client: Client, provider: Provider) -> None:
    today, later = timezone.localdate(), TOMORROW + timedelta(days=300)
    provider.says("ann", emma_trained=TOMORROW.isoformat())
    for _ in range(2):  # said again, it is the same training
        come_in(client, provider, "ann")
        assert trainings() == [(today, TOMORROW, True, True)]
    assert User.objects.get().is_trained
    provider.says("ann", emma_trained=later.isoformat())
    come_in(client, provider, "ann")
    assert trainings() == [(today, TOMORROW, True, False), (today, later, True, True)]
    provider.says("ann")
    come_in(client, provider, "ann")
    assert not User.objects.get().is_trained
    assert [action for action in actions() if "training" in action] == [
        "granted a training",
        "revoked a training",
        "granted a training",
        "revoked a training",
    ]
    assert details_of("revoked a training")["source"] == "sign-on"


def test_a_training_by_hand_stays_whatever_the_claim_says(
    client: Client, provider: Provider, trained_tester: User
) -> None:
    for said in (TOMORROW.isoformat(), None, "2020-01-01"):
        provider.says("tara", emma_trained=said)
        come_in(client, provider, "tara")
        assert User.objects.get().is_trained
    assert trainings()[0] == (date(2020, 1, 1), None, False, True)


NO_TRAINING: dict[str, Any] = {
    "yes": True,
    "a number": 20301231,
    "yes in words": "true",
    "over": "2020-01-01",
    "over, with its beginning": "2019-01-01/2020-01-01",
    "not begun": {"from": "2999-01-01", "until": "2999-12-31"},
    "no end": {"from": "2020-01-01"},
    "no end in words": "2020-01-01/",
    "no end at all": {"from": "2020-01-01", "until": None},
    "an end before its beginning": "2999-12-31/2999-01-01",
    "a beginning that is no day": {"from": "once", "until": "2999-12-31"},
    "a time of day": "2999-12-31T00:00:00Z",
    "a week": "2999-W01-1",
    "days without lines": "29991231",
    "no day of the calendar": "2999-02-30",
    "a list": ["2999-12-31"],
    "an empty text": "",
    "words": "for ever",
    "days in other digits": "２９９９-12-31",
}


def test_a_claim_gives_no_training_that_it_does_not_say() -> None:
    today, trained = timezone.localdate(), {}
    for words, said in NO_TRAINING.items():
        found = read_trained(said)
        if found and (found.starts_on or today) <= today <= found.ends_on:
            trained[words] = found
    assert trained == {}


@pytest.mark.parametrize("words", ["yes", "over", "not begun"])
def test_somebody_without_a_training_in_force_sees_nothing_of_safety(
    client: Client, provider: Provider, words: str
) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    provider.says("ann", emma_trained=NO_TRAINING[words])
    come_in(client, provider, "ann")
    assert not User.objects.get().is_trained
    assert "A quiet hint" not in client.get("/scripts/").text


def test_a_claim_counts_only_where_it_is_the_one_that_was_configured(
    client: Client, provider: Provider, settings: Settings
) -> None:
    settings.SIGN_ON = provider.configured(training_claim="")
    provider.says("ann", emma_trained=TOMORROW.isoformat(), is_trained=True, training=TOMORROW.isoformat(), **{"": 1})
    come_in(client, provider, "ann")
    assert not Training.objects.exists()


@pytest.mark.parametrize("shape", ["{0}/{1}", {"from": "{0}", "until": "{1}"}], ids=["text", "object"])
def test_a_claim_may_say_from_when(client: Client, provider: Provider, shape: Any) -> None:
    days = ("2020-02-03", TOMORROW.isoformat())
    said = shape.format(*days) if isinstance(shape, str) else {key: day.format(*days) for key, day in shape.items()}
    provider.says("ann", emma_trained=said)
    come_in(client, provider, "ann")
    assert trainings() == [(date(2020, 2, 3), TOMORROW, True, True)]
    assert User.objects.get().is_trained


def test_what_an_administrator_revoked_the_same_claim_does_not_give_again(
    client: Client, provider: Provider, administrator: User
) -> None:
    provider.says("ann", emma_trained=TOMORROW.isoformat())
    come_in(client, provider, "ann")
    page = make.client_of(administrator).get(f"/people/{User.objects.get(email='ann@example.test').pk}/").text
    assert "from sign-on" in page
    change_access.revoke_training(Training.objects.get(), administrator)
    come_in(client, provider, "ann")
    assert not User.objects.get(email="ann@example.test").is_trained
    provider.says("ann", emma_trained=(TOMORROW + timedelta(days=1)).isoformat())
    come_in(client, provider, "ann")
    assert User.objects.get(email="ann@example.test").is_trained, "a new grant is a new grant"


def test_a_training_that_a_claim_gave_lapses_without_another_sign_on(client: Client, provider: Provider) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    provider.says("ann", emma_trained=f"2020-01-01/{TOMORROW.isoformat()}")
    come_in(client, provider, "ann")
    assert "A quiet hint" in client.get("/scripts/").text
    Training.objects.update(ends_on=timezone.localdate() - timedelta(days=1))
    assert "A quiet hint" not in client.get("/scripts/").text


# --- what the provider says is text ------------------------------------------------------------


def test_what_the_provider_says_becomes_no_markup_anywhere(
    client: Client, provider: Provider, administrator: User, settings: Settings
) -> None:
    admin = make.client_of(administrator)
    some = dict(list(enumerate(PAYLOADS))[::10])
    for number, payload in some.items():
        provider.says(f"p{number}", name=payload, sub=f"{payload}{number}"[:150], groups=["emma-testers", payload])
        provider.says(f"q{number}", name=payload, email=payload, sub=f"{number}{payload}"[:150], groups=[payload])
    settings.SIGN_ON = provider.configured(name=PAYLOADS[0])
    for number in some:
        assert come_in(client, provider, f"p{number}").status_code == 302
        pages = [client.get("/account/sessions/"), come_in(Client(), provider, f"q{number}")]
        pages += [
            admin.get("/people/"),
            admin.get("/audit/"),
            client.get("/account/login/"),
            press_the_button(Client()),
        ]
        for page in pages:
            assert Page(page.text).wrong == []


def test_a_very_long_name_is_cut_and_a_subject_that_is_too_long_comes_not_in(
    client: Client, provider: Provider
) -> None:
    provider.says("ann", name="A" * 10_000)
    come_in(client, provider, "ann")
    assert len(User.objects.get().name) == 150
    provider.says("bob", sub="s" * 192)
    assert come_in(Client(), provider, "bob").status_code == 502


# --- the road ----------------------------------------------------------------------------------


def test_it_leads_back_to_the_page_one_came_from(client: Client, provider: Provider) -> None:
    provider.says("ann")
    asked_for = client.get("/scripts/?q=news")["Location"]
    page = client.get(asked_for)
    assert 'name="next" value="/scripts/?q=news"' in page.text
    assert come_in(client, provider, "ann", "/scripts/?q=news")["Location"] == "/scripts/?q=news"


@pytest.mark.parametrize("elsewhere", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)"])
def test_it_leads_to_no_other_site(client: Client, provider: Provider, elsewhere: str) -> None:
    provider.says("ann")
    assert come_in(client, provider, "ann", elsewhere)["Location"] == "/"


def test_an_answer_is_used_once(client: Client, provider: Provider) -> None:
    provider.says("ann")
    back = go(client, provider, "ann")
    assert client.get(back).status_code == 302
    client.logout()
    assert client.get(back).status_code == 400
    assert who_is_in(client) is None


def test_nobody_is_signed_in_by_the_answer_that_somebody_else_got(client: Client, provider: Provider) -> None:
    """Else a link could sign people in to an account that is not theirs, and what they file would be another's."""
    provider.says("mallory")
    back = go(client, provider, "mallory")
    for victim in (Client(), client_on_the_way(provider)):
        answer = victim.get(back)
        assert answer.status_code == 400
        assert "Please sign in once more" in answer.text
        assert who_is_in(victim) is None


def client_on_the_way(provider: Provider) -> Client:
    client = Client()
    press_the_button(client)
    return client


@pytest.mark.parametrize("path", ["back/", "back/?code=made-up", "back/?state=made-up&code=made-up", "back/?error=x"])
def test_an_answer_out_of_nothing_signs_nobody_in(client: Client, path: str) -> None:
    assert client.get(f"/account/sign-on/{path}").status_code == 400


def test_a_made_up_code_signs_nobody_in(client: Client, provider: Provider) -> None:
    provider.says("ann")
    back = go(client, provider, "ann")
    answer = client.get(back.replace("code=", "code=x"))
    assert answer.status_code == 502
    assert "doesn&#x27;t work at present" in answer.text or "doesn't work at present" in answer.text
    assert who_is_in(client) is None


def test_the_code_of_another_browser_fails_for_want_of_its_verifier(client: Client, provider: Provider) -> None:
    """The provider demands PKCE, so a code that was stolen on its way is of no use in another browser."""
    provider.says("ann")
    stolen = go(client, provider, "ann").partition("code=")[2].partition("&")[0]
    thief = Client()
    own = go(thief, provider, "ann")
    answer = thief.get(own.replace(own.partition("code=")[2].partition("&")[0], stolen))
    assert answer.status_code == 502
    assert who_is_in(thief) is None


def test_who_thinks_better_of_it_is_back_at_the_sign_in_page(client: Client) -> None:
    address = press_the_button(client, "/scripts/").context["address"]
    state = address.partition("state=")[2].partition("&")[0]
    answer = client.get(f"/account/sign-on/back/?error=access_denied&state={state}", follow=True)
    assert answer.redirect_chain == [("/account/login/?next=%2Fscripts%2F", 302)]
    assert "You did not sign in with the provider." in answer.text


def test_a_sign_in_takes_a_button(client: Client) -> None:
    assert client.get("/account/sign-on/").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/account/sign-on/").status_code == 403


def test_the_button_may_be_pressed_thirty_times_a_minute_from_one_address(client: Client) -> None:
    statuses = [press_the_button(client).status_code for _ in range(31)]
    assert statuses == [200] * 30 + [429]
    assert press_the_button(client, REMOTE_ADDR="198.51.100.7").status_code == 200


def test_a_sign_in_gets_a_new_session_key(client: Client, provider: Provider) -> None:
    provider.says("ann")
    back = go(client, provider, "ann")
    before = client.session.session_key
    client.get(back)
    assert client.session.session_key not in {None, before}


def test_a_second_step_of_ours_is_not_asked_for_after_sign_on(client: Client, provider: Provider, tester: User) -> None:
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    TOTP.activate(tester, generate_totp_secret())
    provider.says("tess")
    assert come_in(client, provider, "tess")["Location"] == "/"
    assert who_is_in(client) == tester


def test_nothing_that_the_provider_says_is_kept_beyond_who_it_is(client: Client, provider: Provider) -> None:
    provider.says("ann", shoe_size=42)
    come_in(client, provider, "ann")
    kept = SocialAccount.objects.get()
    assert (kept.uid, kept.extra_data) == ("subject-of-ann", {})
    assert "shoe_size" not in str(dict(client.session))


# --- where there is none, and where there is nothing else ---------------------------------------


def test_where_none_is_configured_there_is_no_trace_of_it(client: Client, settings: Settings) -> None:
    settings.SIGN_ON = None
    assert "sign-on" not in client.get("/account/login/").text
    assert client.post("/account/sign-on/").status_code == 404
    assert client.get("/account/sign-on/back/?state=a&code=b").status_code == 404


@pytest.fixture
def no_passwords(settings: Settings, provider: Provider, sign_on: SignOn) -> SignOn:
    settings.SIGN_ON = provider.configured(only=True)
    found: SignOn = settings.SIGN_ON
    return found


@pytest.mark.usefixtures("no_passwords")
def test_where_there_are_no_passwords_none_is_taken(client: Client, tester: User) -> None:
    page = client.get("/account/login/").text
    assert "Sign in with the provider" in page
    assert 'type="password"' not in page
    answer = client.post("/account/login/", {"login": tester.email, "password": make.PASSWORD})
    assert answer.status_code == 404
    assert who_is_in(client) is None
    for path in ("password/reset/", "password/reset/key/1-abc-def/"):
        assert client.get(f"/account/{path}").status_code == 404
        assert client.post(f"/account/{path}", {"email": tester.email}).status_code == 404
    client.force_login(tester)
    for path in ("password/change/", "password/set/", "two-steps/", "two-steps/totp/activate/"):
        assert client.get(f"/account/{path}").status_code == 404


def test_who_has_no_password_is_shown_no_page_to_set_one(client: Client, provider: Provider) -> None:
    provider.says("ann")
    come_in(client, provider, "ann")
    page = client.get("/scripts/").text
    assert "/account/password/" not in page
    assert client.get("/account/password/set/").status_code == 404
    assert client.post("/account/password/set/", {"password1": "x" * 12, "password2": "x" * 12}).status_code == 404
    assert not User.objects.get().has_usable_password()
