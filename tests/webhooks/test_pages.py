"""The pages of webhooks."""

from __future__ import annotations

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.adapters.addresses import Allowed
from emma_eval.webhooks import show_log
from emma_eval.webhooks.change_endpoint import MOST_ENDPOINTS
from emma_eval.webhooks.models import Delivery, Endpoint, State, Try
from emma_eval.webhooks.replay import BY_HAND
from tests import make
from tests.receivers import Receiver

from .hooks import delivery, endpoint, rows, work

pytestmark = pytest.mark.django_db
SENT = {"name": "Team dashboard", "url": "https://hooks.example.test/a?k=b", "kinds": ["result.filed"]}


def press(client: Client, name: str, *args: int) -> Any:
    return client.post(reverse(name, args=args), follow=True)


def words_of(answer: Any) -> str:
    return unescape(answer.text)


# --- making one --------------------------------------------------------------------------------


def test_a_new_endpoint_shows_its_secret_once(manager_client: Client, manager: User) -> None:
    page = words_of(manager_client.post(reverse("webhook_new"), SENT, follow=True))
    made = Endpoint.objects.get()
    assert made.owner == manager
    assert (made.name, made.url, made.kinds) == tuple(SENT.values())
    assert f'value="{made.secret}"' in page
    for _ in range(2):
        answer = manager_client.get(made.get_absolute_url())
        assert made.secret not in words_of(answer)
    assert "no-store" in answer.headers["Cache-Control"]
    assert made.secret not in str(dict(manager_client.session.items()))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": ""}, "Name: Enter a name."),
        ({"name": "x" * 81}, "Name: Ensure this value has at most 80 characters"),
        ({"url": ""}, "Address: Enter the address where your program listens."),
        ({"url": "http://hooks.example.test/"}, "over http without TLS only what EMMA_OUTGOING_ALLOW names is opened"),
        ({"url": "https://10.0.0.1/"}, "10.0.0.1 is a private address, which this site does not open"),
        ({"url": "https://me:word@hooks.example.test/"}, "an address holds no name or password"),
        ({"url": "javascript:alert(1)"}, "an address begins with https://"),
        ({"url": "https://hooks.example.test:25/"}, "port 25 belongs to another protocol than https"),
        ({"url": "https://b\u00fccher.example/"}, "letters beyond a to z"),
        ({"kinds": []}, "Events: Choose at least one kind of event."),
        ({"kinds": ["no.such"]}, "no.such is not one of the available choices"),
        ({"kinds": ["endpoint.test"]}, "endpoint.test is not one of the available choices"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_what_can_not_be_is_said_and_nothing_typed_is_lost(
    manager_client: Client, wrong: dict[str, Any], words: str, settings: Settings
) -> None:
    settings.OUTGOING_ALLOW = Allowed()
    sent = {**SENT, **wrong}
    answer = manager_client.post(reverse("webhook_new"), sent)
    page = words_of(answer)
    assert answer.status_code == 422
    assert page.index('class="error-summary"') < page.index(words)
    assert f'value="{sent["name"]}"' in page or not sent["name"]
    assert f'value="{sent["url"]}"' in page or not sent["url"]
    assert not Endpoint.objects.exists()


def test_a_name_is_one_line_of_what_can_be_seen(manager_client: Client) -> None:
    manager_client.post(reverse("webhook_new"), {**SENT, "name": " Team\r\ndashboard\t2 "})
    assert Endpoint.objects.get().name == "Team dashboard 2"
    answer = manager_client.post(reverse("webhook_new"), {**SENT, "name": "Team\u202eboard"})
    assert (answer.status_code, "Leave out what can" in words_of(answer)) == (422, True)
    assert Endpoint.objects.count() == 1


def test_nobody_has_more_than_twenty(manager_client: Client, manager: User, eval_member: User) -> None:
    for _ in range(MOST_ENDPOINTS):
        endpoint(manager)
    endpoint(eval_member)
    answer = manager_client.post(reverse("webhook_new"), SENT)
    assert (answer.status_code, "You have 20 endpoints" in words_of(answer)) == (422, True)
    last = Endpoint.objects.filter(owner=manager).first()
    assert last is not None
    assert manager_client.post(reverse("webhook_edit", args=[last.pk]), SENT).status_code == 302


def test_changing_one_keeps_its_secret(manager_client: Client, manager: User) -> None:
    to = endpoint(manager)
    path = reverse("webhook_edit", args=[to.pk])
    assert to.secret not in words_of(manager_client.get(path))
    page = words_of(manager_client.post(path, {**SENT, "name": "Board"}, follow=True))
    assert "Board is saved." in page
    changed = Endpoint.objects.get()
    assert (changed.name, changed.secret) == ("Board", to.secret)
    assert "Nothing was changed." in words_of(manager_client.post(path, {**SENT, "name": "Board"}, follow=True))


# --- the list ------------------------------------------------------------------------------------


def test_the_list_shows_ones_own_with_what_became_of_their_deliveries(manager_client: Client, manager: User) -> None:
    to = endpoint(manager, url="https://hooks.example.test/key-in-the-path")
    endpoint(manager, name="Old board", paused_at=timezone.now(), why_paused="The last 5 deliveries were given up.")
    for state in (State.DELIVERED, State.DELIVERED, State.FAILED, State.WAITING):
        delivery(to, state=state)
    page = words_of(manager_client.get(reverse("webhooks")))
    assert "hooks.example.test" in page
    assert "key-in-the-path" not in page
    assert '<td data-label="Delivered" class="number">2</td>' in page
    assert '<td data-label="Given up" class="number">1</td>' in page
    assert "The last 5 deliveries were given up." in page
    assert "Of others" not in page


def test_administrators_see_that_others_have_some_and_nothing_of_what_they_are_told(
    administrator: User, manager: User
) -> None:
    to = endpoint(manager, url="https://hooks.example.test/key")
    delivery(to, state=State.FAILED, event="evt_of_another")
    client = make.client_of(administrator)
    page = words_of(client.get(reverse("webhooks")))
    others = page[page.index("Of others") :]
    assert "Team dashboard" in others
    assert str(manager) in others
    assert "running" in others
    assert not any(word in page for word in ("hooks.example.test", "evt_of_another", "result.filed", to.secret))
    assert client.get(to.get_absolute_url()).status_code == 404


@pytest.mark.parametrize("name", ["webhook_test", "webhook_pause", "webhook_rotate", "webhook_remove"])
def test_nobody_touches_what_is_anothers(administrator: User, manager: User, name: str) -> None:
    to = endpoint(manager)
    assert make.client_of(administrator).post(reverse(name, args=[to.pk])).status_code == 404
    before = Endpoint.objects.get()
    assert (before.secret, before.paused_at) == (to.secret, None)


# --- the log -------------------------------------------------------------------------------------


def test_the_log_says_of_each_what_came_of_every_try(manager_client: Client, manager: User) -> None:
    to = endpoint(manager)
    one = delivery(to, kind="result.filed", event="evt_one", state=State.DELIVERED)
    Try.objects.create(delivery=one, at=timezone.now(), took_ms=10_000, why="it did not answer in full")
    Try.objects.create(delivery=one, at=timezone.now(), status=204, took_ms=43)
    page = words_of(manager_client.get(to.get_absolute_url()))
    assert "A result was filed" in page
    assert "evt_one" in page
    assert "2 tries; answered 204 in 43 ms" in page
    assert "it did not answer in full" in page
    assert "Send again" in page


def test_the_log_is_read_page_by_page_and_each_delivery_once(
    manager_client: Client, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show_log, "A_PAGE", 3)
    to = endpoint(manager)
    for number in range(7):
        delivery(to, event=f"evt_nr{number}")
    seen, path = [], to.get_absolute_url()
    for _ in range(3):
        page = words_of(manager_client.get(path))
        seen += [number for number in range(7) if f'id"><bdi>evt_nr{number}<' in page]
        if "?before=" not in page:
            break
        path = to.get_absolute_url() + page.split('rel="next" href="')[1].split('"')[0]
    assert sorted(seen) == list(range(7))
    assert "Older" not in page
    assert manager_client.get(to.get_absolute_url() + "?before=²").status_code == 200
    assert manager_client.get(to.get_absolute_url() + "?before=" + "9" * 40).status_code == 200


def test_a_page_of_the_log_asks_no_more_for_more_lines(
    manager_client: Client, manager: User, django_assert_max_num_queries: Any
) -> None:
    to = endpoint(manager)
    for number in range(20):
        one = delivery(to, event=f"evt_{number}", state=State.DELIVERED)
        Try.objects.create(delivery=one, at=timezone.now(), took_ms=1, status=200)
    with django_assert_max_num_queries(8):
        manager_client.get(to.get_absolute_url())


def test_what_tells_of_safety_is_in_no_log_of_the_untrained(manager_client: Client, manager: User) -> None:
    make.script("quiet-one", area="safety")
    to = endpoint(manager)
    hidden = [
        delivery(to, event="evt_hidden_1", is_safety=True, state=State.WITHHELD),
        delivery(to, event="evt_hidden_2", script="quiet-one", state=State.DELIVERED),
    ]
    page = words_of(manager_client.get(to.get_absolute_url()))
    assert "evt_hidden" not in page
    assert "Each event that is sent here will be listed" in page
    assert '<td data-label="Delivered" class="number">0</td>' in words_of(manager_client.get(reverse("webhooks")))
    for each in hidden:
        assert manager_client.post(reverse("webhook_replay", args=[to.pk, each.pk])).status_code == 404
    trained = make.user("trained@example.test", Role.MANAGER, is_trained=True)
    Endpoint.objects.update(owner=trained)
    assert words_of(make.client_of(trained).get(to.get_absolute_url())).count("evt_hidden") == 4


# --- by hand -------------------------------------------------------------------------------------


def test_a_delivery_can_be_sent_again_from_the_log(manager_client: Client, manager: User) -> None:
    to = endpoint(manager)
    given_up = delivery(to, state=State.FAILED)
    page = words_of(press(manager_client, "webhook_replay", to.pk, given_up.pk))
    assert "It is on its way once more, with the same id." in page
    assert Delivery.objects.get().state == State.WAITING
    assert len(rows()) == 1
    assert "It is on its way already." in words_of(press(manager_client, "webhook_replay", to.pk, given_up.pk))


def test_a_delivery_of_another_endpoint_is_not_there(manager_client: Client, manager: User, eval_member: User) -> None:
    own, of_another = endpoint(manager), delivery(endpoint(eval_member), state=State.FAILED)
    assert press(manager_client, "webhook_replay", own.pk, of_another.pk).status_code == 404


def test_a_test_is_sent_and_told_in_the_log(manager_client: Client, manager: User, receiver: Receiver) -> None:
    to = endpoint(manager, receiver.url)
    assert "A test is on its way." in words_of(press(manager_client, "webhook_test", to.pk))
    work()
    assert len(receiver.heard) == 1
    page = words_of(manager_client.get(to.get_absolute_url()))
    assert ">Test<" in page
    assert "answered 204" in page


def test_who_sends_a_lot_by_hand_is_asked_to_wait(manager_client: Client, manager: User) -> None:
    to = endpoint(manager)
    for _ in range(BY_HAND.most):
        press(manager_client, "webhook_test", to.pk)
    assert "That was a lot by hand." in words_of(press(manager_client, "webhook_test", to.pk))
    assert Delivery.objects.count() == BY_HAND.most


def test_pausing_and_resuming_by_hand(manager_client: Client, manager: User) -> None:
    to = endpoint(manager)
    page = words_of(press(manager_client, "webhook_pause", to.pk))
    assert "Paused by hand." in page
    assert "Send a test" not in page
    assert "is told of events again" in words_of(press(manager_client, "webhook_resume", to.pk))


def test_a_new_secret_is_shown_once_and_the_old_one_can_be_dropped(manager_client: Client, manager: User) -> None:
    to = endpoint(manager)
    page = words_of(press(manager_client, "webhook_rotate", to.pk))
    rotated = Endpoint.objects.get()
    assert rotated.old_secret == to.secret
    assert rotated.secret in page
    assert to.secret not in page
    until = timezone.localtime(timezone.now() + timedelta(days=7))
    assert f"Two secrets sign until {until.day} {until:%b %Y}" in page
    page = words_of(press(manager_client, "webhook_drop_old_secret", to.pk))
    assert rotated.secret not in page
    assert "only the new secret signs" in page
    assert Endpoint.objects.get().old_secret == ""


def test_removing_one_takes_its_log_along(manager_client: Client, manager: User) -> None:
    to = endpoint(manager)
    delivery(to)
    assert "is removed, with its log." in words_of(press(manager_client, "webhook_remove", to.pk))
    assert not Endpoint.objects.exists()
    assert "Programs that are told of results will be listed here." in words_of(manager_client.get(reverse("webhooks")))


def test_the_menu_of_those_who_may_have_endpoints_leads_there(manager_client: Client, tester_client: Client) -> None:
    link = f'<a href="{reverse("webhooks")}">Webhooks</a>'
    assert link in manager_client.get(reverse("scripts")).text
    assert link not in tester_client.get(reverse("scripts")).text
