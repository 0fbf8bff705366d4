"""What a first visit costs: the page with everything it asks for, gzipped as the server sends it."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from emma_eval.accounts.roles import Role
from tests.security.access import ACCESS, address
from tests.security.world import ANONYMOUS, build_world

STATIC = Path(settings.BASE_DIR) / "static"
MOST_BYTES, MOST_SCRIPT_BYTES, MOST_STYLE_BYTES, MOST_REQUESTS = 150_000, 60_000, 20_000, 15
ASKED_FOR = re.compile(r'(?:src|href)="/static/([^"]+)"')


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
        scripts = sum(weight_of(file) for file in asked_for if file.endswith(".js"))
        total = gzipped(answer.content) + sum(weight_of(file) for file in asked_for)
        if total > MOST_BYTES or scripts > MOST_SCRIPT_BYTES or len(asked_for) + 1 > MOST_REQUESTS:
            too_heavy[name] = (total, scripts, len(asked_for) + 1)
    assert too_heavy == {}


def test_all_our_styles_together_stay_small() -> None:
    assert sum(gzipped(file.read_bytes()) for file in (STATIC / "css").glob("*.css")) <= MOST_STYLE_BYTES


def test_the_sign_in_page_links_what_it_needs(client: Client, db: None) -> None:
    """So that the pattern above can't count nothing at all."""
    assert len(ASKED_FOR.findall(client.get("/account/login/").text)) >= 5
