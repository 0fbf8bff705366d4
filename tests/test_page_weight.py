"""What a first visit costs: the page with everything it asks for, gzipped as the server sends it."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from django.test import Client

from emma_eval.accounts.roles import Role
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
        weight = Weight(
            total=gzipped(answer.content) + sum(map(weight_of, asked_for)),
            scripts=sum(weight_of(file) for file in asked_for if file.endswith(".js")),
            styles=sum(weight_of(file) for file in asked_for if file.endswith(".css")),
            requests=len(asked_for) + 1,
        )
        if any(found > most for found, most in zip(weight, MOST, strict=True)):
            too_heavy[name] = weight
    assert too_heavy == {}


def test_the_sign_in_page_links_what_it_needs(client: Client, db: None) -> None:
    """So that the pattern above can't count nothing at all."""
    assert len(ASKED_FOR.findall(client.get("/account/login/").text)) >= 5
