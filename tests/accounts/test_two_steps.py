"""Two-step sign-in, offered to everybody."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core.cache import cache
from django.test import Client

from emma_eval.accounts.models import AuditEntry, User
from tests import make

pytestmark = pytest.mark.django_db


def code_now(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


@pytest.fixture
def two_steps(tester: User) -> User:
    TOTP.activate(tester, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    return tester


def password_step(client: Client, user: User) -> Any:
    return client.post("/account/login/?next=/scripts/", {"login": user.email, "password": make.PASSWORD})


def test_it_is_switched_on_with_the_app(
    tester_client: Client, tester: User, django_capture_on_commit_callbacks: Any
) -> None:
    assert "Switch it on" in tester_client.get("/account/two-steps/").text
    asked = tester_client.get("/account/two-steps/totp/activate/")
    assert asked["Location"].startswith("/account/reauthenticate/"), "a stolen session must not do this"
    tester_client.post(asked["Location"], {"password": make.PASSWORD})
    page = tester_client.get("/account/two-steps/totp/activate/")
    assert 'src="data:image/svg+xml;base64,' in page.text
    code = code_now(page.context["form"].secret)
    with django_capture_on_commit_callbacks(execute=True):
        done = tester_client.post("/account/two-steps/totp/activate/", {"code": code}, follow=True)
    assert done.redirect_chain[-1][0] == "/account/two-steps/recovery-codes/"
    assert len(done.context["unused_codes"]) == 10
    assert AuditEntry.objects.get().action == "switched on two-step sign-in"
    text = tester_client.get("/account/two-steps/recovery-codes/download/")
    assert text["Content-Type"].startswith("text/plain")
    assert all(code in text.text for code in done.context["unused_codes"])


def test_a_wrong_code_does_not_switch_it_on(tester_client: Client, tester: User) -> None:
    tester_client.post("/account/reauthenticate/", {"password": make.PASSWORD})
    tester_client.get("/account/two-steps/totp/activate/")
    answer = tester_client.post("/account/two-steps/totp/activate/", {"code": "000000"})
    assert answer.status_code == 422
    assert not Authenticator.objects.exists()


def test_the_password_alone_opens_nothing(client: Client, two_steps: User) -> None:
    assert password_step(client, two_steps)["Location"].startswith("/account/two-steps/authenticate/")
    assert client.get("/scripts/").status_code == 302
    assert "Second step" in client.get("/account/two-steps/authenticate/").text


def test_the_code_leads_to_the_page_that_was_asked_for(client: Client, two_steps: User) -> None:
    password_step(client, two_steps)
    code = code_now("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    answer = client.post("/account/two-steps/authenticate/", {"code": code})
    assert answer["Location"] == "/scripts/"
    assert client.get("/scripts/").status_code == 200


def test_codes_cannot_be_found_by_trying(client: Client, two_steps: User) -> None:
    password_step(client, two_steps)
    statuses = [
        client.post(
            "/account/two-steps/authenticate/", {"code": f"00000{n % 10}"}, REMOTE_ADDR=f"198.51.100.{n}"
        ).status_code
        for n in range(11)
    ]
    assert statuses == [422] * 10 + [429]


def test_it_is_switched_off_after_the_person_proved_who_they_are(tester_client: Client, two_steps: User) -> None:
    asked = tester_client.get("/account/two-steps/totp/deactivate/")
    assert asked["Location"].startswith("/account/reauthenticate/")
    tester_client.post("/account/reauthenticate/", {"password": make.PASSWORD})
    assert "Switch two-step sign-in off?" in tester_client.get("/account/two-steps/totp/deactivate/").text
    tester_client.post("/account/two-steps/totp/deactivate/")
    assert not Authenticator.objects.exists()
    assert AuditEntry.objects.get().action == "switched off two-step sign-in"


def test_new_recovery_codes_replace_the_old_ones(tester_client: Client, two_steps: User) -> None:
    tester_client.post("/account/reauthenticate/", {"password": make.PASSWORD})
    made = tester_client.post("/account/two-steps/recovery-codes/generate/", follow=True)
    old = made.context["unused_codes"]
    assert "stop working at once" in tester_client.get("/account/two-steps/recovery-codes/generate/").text
    again = tester_client.post("/account/two-steps/recovery-codes/generate/", follow=True)
    assert not set(old) & set(again.context["unused_codes"])


def test_a_recovery_code_signs_in_once(client: Client, two_steps: User) -> None:
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    code = RecoveryCodes.activate(two_steps).get_unused_codes()[0]
    password_step(client, two_steps)
    assert client.post("/account/two-steps/authenticate/", {"code": code}).status_code == 302
    client.post("/account/logout/")
    password_step(client, two_steps)
    assert client.post("/account/two-steps/authenticate/", {"code": code}).status_code == 422


def test_a_code_is_asked_for_instead_of_the_password_where_one_likes(tester_client: Client, two_steps: User) -> None:
    page = tester_client.get("/account/reauthenticate/")
    assert 'href="/account/two-steps/reauthenticate/"' in page.text
    assert "enter a code first" in tester_client.get("/account/two-steps/reauthenticate/").text


# --- where this site demands it of administrators ----------------------------------------------


@pytest.fixture
def demanded(settings: Any) -> None:
    settings.MFA_FOR_ADMINISTRATORS = True


@pytest.mark.usefixtures("demanded")
def test_administrators_are_led_to_set_it_up_first(administrator: User, tester: User) -> None:
    client = make.client_of(administrator)
    for path in ("/people/", "/audit/", f"/people/{tester.pk}/"):
        answer = client.get(path)
        assert (answer.status_code, answer["Location"]) == (302, "/account/two-steps/totp/activate/")
    assert "Set up the second one" in client.get("/account/two-steps/", follow=True).text
    assert client.post(f"/people/{tester.pk}/deactivate/").status_code == 403
    assert client.get("/people/", headers={"HX-Request": "true"}).status_code == 403
    assert User.objects.get(pk=tester.pk).is_active
    assert client.get("/guide/").status_code == 200, "pages of everybody stay open"
    TOTP.activate(administrator, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    assert client.get("/people/").status_code == 200


@pytest.mark.usefixtures("demanded")
def test_nothing_is_demanded_of_others(manager_client: Client, tester_client: Client) -> None:
    assert manager_client.get("/people/").status_code == 200
    assert tester_client.get("/scripts/").status_code == 200


def test_where_it_is_not_demanded_administrators_only_may(administrator: User) -> None:
    assert make.client_of(administrator).get("/people/").status_code == 200


@pytest.mark.usefixtures("demanded")
def test_sign_on_has_asked_for_it_itself(administrator: User) -> None:
    client = make.client_of(administrator)
    session = client.session
    session["by_sign_on"] = True
    session.save()
    assert client.get("/people/").status_code == 200


def test_ten_wrong_codes_close_the_second_step_for_every_process(client: Client, two_steps: User) -> None:
    """Counted in the database: what one process keeps in its memory is emptied between the tries."""
    password_step(client, two_steps)
    statuses = []
    for _ in range(11):
        cache.clear()
        statuses.append(client.post("/account/two-steps/authenticate/", {"code": "000000"}).status_code)
    assert statuses == [422] * 10 + [429]
