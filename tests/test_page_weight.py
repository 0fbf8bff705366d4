"""What a first visit costs: the page with everything it asks for, gzipped as the server sends it."""

from __future__ import annotations

import gzip
import re
import uuid
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.scoring.turns import EDITION, Event, Kind, Who
from results.models import CallFigures, QueuedFor
from results.recordings.kept_events import write_event
from results.review.hold_result import begin_review
from tests import make
from tests.security.access import ACCESS, address
from tests.security.world import ANONYMOUS, build_world

STATIC = Path(settings.BASE_DIR) / "static"
ASKED_FOR = re.compile(r'(?:src|href)="/static/([^"]+)"')


class Weight(NamedTuple):
    """Bytes over the wire, and how many files they come in, the page among them."""

    total: int
    scripts: int
    styles: int
    requests: int


MOST = Weight(total=150_000, scripts=60_000, styles=20_000, requests=15)


def gzipped(content: bytes) -> int:
    return len(gzip.compress(content))


def weight_of(name: str) -> int:
    return gzipped((STATIC / name).read_bytes())


@pytest.mark.django_db
def test_no_page_is_heavier_than_it_may_be() -> None:
    world = build_world()
    too_heavy = {}
    for name, page in ACCESS.items():
        who = next(role.value for role in Role if role.value in page.who) if page.who & set(Role) else ANONYMOUS
        answer = world.client(who).get(address(name, page.args, world))
        if answer.status_code != 200 or not answer.headers["content-type"].startswith("text/html"):
            continue
        asked_for = set(ASKED_FOR.findall(answer.text))
        weight = weight_with_all(answer.content, asked_for)
        if any(found > most for found, most in zip(weight, MOST, strict=True)):
            too_heavy[name] = weight
    assert too_heavy == {}


def weight_with_all(page: bytes, asked_for: set[str]) -> Weight:
    return Weight(
        total=gzipped(page) + sum(map(weight_of, asked_for)),
        scripts=sum(weight_of(file) for file in asked_for if file.endswith(".js")),
        styles=sum(weight_of(file) for file in asked_for if file.endswith(".css")),
        requests=len(asked_for) + 1,
    )


@pytest.mark.django_db
def test_nor_is_one_with_a_player(tester: User, eval_member: User) -> None:
    """What is played, its waveform and its picture come beside these; all that an hour says is there."""
    result = make.result(tester, make.script(), make.build(), call_uuid=uuid.uuid4(), queued_for=QueuedFor.VERY_LOW)
    recording = make.recording(tester, result.call_uuid)
    events = [write_event(event_at(each, kind)) for each in range(600) for kind in (Kind.REPLY, Kind.OVERLAP)]
    CallFigures.objects.create(recording=recording, edition=EDITION, measured_at=timezone.now(), events=events)
    begin_review(eval_member, result, timezone.now())
    for path in (recording.get_absolute_url(), result.get_absolute_url(), f"/review/{result.pk}/"):
        answer = make.client_of(eval_member).get(path)
        asked_for = set(ASKED_FOR.findall(answer.text))
        assert "js/player.js" in asked_for
        assert answer.text.count('data-kind="reply"') == 600
        weight = weight_with_all(answer.content, asked_for)
        assert all(found <= most for found, most in zip(weight, MOST, strict=True)), (path, weight)


def event_at(number: int, kind: Kind) -> Event:
    lasts_ms = 300 + number * 37 % 1_700
    from_ms = number * 5_900 + lasts_ms
    ends = ("end of the tester’s speech", "beginning of Emma’s speech")
    return Event(kind, Who.EMMA, from_ms, from_ms + lasts_ms, *ends, lasts_ms, Who.TESTER)


@pytest.mark.django_db
def test_nor_is_the_one_that_sends_a_file(tester: User) -> None:
    result = make.result(tester, make.script(), make.build(), call_uuid=uuid.uuid4())
    answer = make.client_of(tester).get(f"/recordings/new/?call={result.call_uuid}")
    asked_for = set(ASKED_FOR.findall(answer.text))
    assert "js/uploader.js" in asked_for
    weight = weight_with_all(answer.content, asked_for)
    assert all(found <= most for found, most in zip(weight, MOST, strict=True)), weight


def test_the_sign_in_page_links_what_it_needs(client: Client, db: None) -> None:
    """So that the pattern above can't count nothing at all."""
    assert len(ASKED_FOR.findall(client.get("/account/login/").text)) >= 5
