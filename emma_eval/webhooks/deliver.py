"""Try one delivery: read what may be told now, sign it, send it, and write down what came of it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from emma_eval.adapters.errors import NeighbourError, TooSlowError
from emma_eval.adapters.outgoing import Answer, Limits, Outgoing
from emma_eval.outbox.deliver import is_last_try
from emma_eval.outbox.registry import TryLaterError

from .kinds import Said, kind_named
from .models import Delivery, Endpoint, State, Try
from .owners import owner_who_may
from .pause import GONE, pause, pause_if_it_keeps_failing
from .sign import signed_headers
from .turns import not_now, note_pace, passed_on, turn_of

LIMITS = Limits(connect_s=5, read_s=10, whole_s=15, most_bytes=256_000)
# In the turn that is not for those who let us wait.
SHORT = Limits(connect_s=3, read_s=3, whole_s=3, most_bytes=256_000)
QUICK_MS = 2000
LONGEST_ASKED_WAIT = timedelta(hours=1)
WAIT_FOR_A_SLOW_ONE = timedelta(minutes=1)
ASKS_TO_WAIT = frozenset({429, 503})
CUT_SHORT = "it did not answer within {:g} seconds; it is tried again with more time, when there is some"


@dataclass(frozen=True)
class Outcome:
    """What came of a try. `why` is empty for one that went well; `wait` is what the endpoint asked for or earned.

    `counts`: whether it was one of the tries that a delivery is given. One that was cut short is not.
    """

    status: int | None
    took_ms: int
    why: str = ""
    may_retry: bool = True
    wait: timedelta = timedelta(0)
    counts: bool = True


def deliver(delivery_id: int) -> None:
    """Try a delivery that waits. Run twice, it may send twice, with the same id: receivers know it by that.

    Raises TryLaterError while another try is to come.
    """
    with passed_on():
        _deliver(delivery_id)


def _deliver(delivery_id: int) -> None:
    delivery = Delivery.objects.select_related("endpoint").filter(pk=delivery_id, state=State.WAITING).first()
    if delivery is None or delivery.endpoint.paused_at is not None:
        return  # settled, removed, or kept until the endpoint is resumed
    endpoint, now = delivery.endpoint, timezone.now()
    if endpoint.held_until is not None and now < endpoint.held_until:
        raise TryLaterError("the endpoint is left in peace for a while", endpoint.held_until - now, counts=False)
    said = _what_to_tell(delivery)
    if said is None:
        _settle(delivery, State.WITHHELD)
        return
    with turn_of(endpoint.owner_id, endpoint.pk) as turn:
        began_at = timezone.now()
        outcome = _send(delivery, _body_of(delivery, said), began_at, is_short=turn.is_short)
        note_pace(endpoint.pk, is_slow=outcome.took_ms > QUICK_MS or not outcome.counts)
    _note(delivery, began_at, outcome)
    if not outcome.counts:
        raise not_now(outcome.why, endpoint.owner_id, endpoint.pk)
    if delivery.state == State.WAITING:
        raise TryLaterError(outcome.why, outcome.wait)


def _what_to_tell(delivery: Delivery) -> Said | None:
    """What the owner may know of the subject now; None where they may know nothing of it, or nothing any more."""
    owner, kind = owner_who_may(delivery.endpoint.owner_id), kind_named(delivery.kind)
    return None if owner is None or kind is None else kind.tell(owner, delivery.subject)


def _body_of(delivery: Delivery, said: Said) -> bytes:
    whole = {"type": delivery.kind, "timestamp": delivery.occurred_at.astimezone(UTC).isoformat(), "data": said}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def _send(delivery: Delivery, body: bytes, now: datetime, *, is_short: bool) -> Outcome:
    endpoint = delivery.endpoint
    headers = {
        "content-type": "application/json",
        **signed_headers(delivery.event, now, body, endpoint.secrets_at(now)),
    }
    limits = SHORT if is_short else LIMITS
    began = time.monotonic()
    try:
        answer = Outgoing(settings.OUTGOING_ALLOW, limits).send("POST", endpoint.url, headers=headers, body=body)
    except TooSlowError as fault:
        if is_short:
            return Outcome(None, _ms_since(began), CUT_SHORT.format(limits.whole_s), counts=False)
        return Outcome(None, _ms_since(began), str(fault), fault.may_retry, WAIT_FOR_A_SLOW_ONE)
    except NeighbourError as fault:
        return Outcome(None, _ms_since(began), str(fault), fault.may_retry)
    return _read(answer, _ms_since(began), now)


def _read(answer: Answer, took_ms: int, now: datetime) -> Outcome:
    """Every 2xx is a success, whatever else is said. A redirect is none: an endpoint has one address."""
    status = answer.status
    if 200 <= status < 300:
        return Outcome(status, took_ms)
    if 300 <= status < 400:
        return Outcome(status, took_ms, f"it answered {status}, which leads elsewhere; redirects are not followed")
    if status == GONE:
        return Outcome(status, took_ms, "it answered 410: it wants nothing more", may_retry=False)
    wait = _asked_wait(answer.header("retry-after"), now) if status in ASKS_TO_WAIT else timedelta(0)
    return Outcome(status, took_ms, f"it answered {status}", wait=wait)


def _asked_wait(said: str, now: datetime) -> timedelta:
    """What Retry-After asks for, in seconds or as a date, but no longer than an hour; nothing for what it can't be."""
    try:
        wait = timedelta(seconds=int(said)) if said.isdecimal() else parsedate_to_datetime(said) - now
    except (ValueError, TypeError, OverflowError):
        return timedelta(0)
    return min(max(wait, timedelta(0)), LONGEST_ASKED_WAIT)


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


@transaction.atomic
def _note(delivery: Delivery, at: datetime, outcome: Outcome) -> None:
    """The line of the log, and what follows from it for the delivery and its endpoint."""
    Try.objects.create(delivery=delivery, at=at, status=outcome.status, took_ms=outcome.took_ms, why=outcome.why[:500])
    endpoint = delivery.endpoint
    if not outcome.why:
        _settle(delivery, State.DELIVERED)
    elif outcome.counts and (not outcome.may_retry or is_last_try()):
        _settle(delivery, State.FAILED)
        if outcome.status == GONE:
            pause(endpoint, None, f"{endpoint.host} answered 410: it wants nothing more.")
        else:
            pause_if_it_keeps_failing(endpoint)
    if outcome.wait:
        Endpoint.objects.filter(pk=endpoint.pk).update(held_until=timezone.now() + outcome.wait)


def _settle(delivery: Delivery, state: State) -> None:
    """Once: of two workers that tried the same, the first to tell is believed."""
    waiting = Delivery.objects.filter(pk=delivery.pk, state=State.WAITING)
    waiting.update(state=state, settled_at=timezone.now())
    delivery.state = state
