"""The tabs of the dashboard pages carry what is asked for to the pages that know of it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from tests import make

pytestmark = pytest.mark.django_db


def tabs(client: Client, address: str, **headers: str) -> dict[str, str]:
    page = client.get(address, headers=headers).content.decode()
    nav = page[page.index('id="dashboard-tabs"') :].partition("</nav>")[0]
    return {label: unescape(href) for href, label in re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)<', nav)}


@pytest.fixture(autouse=True)
def builds() -> None:
    make.build("2026.43")
    make.build("2026.47", is_current=True)
    make.script("small-talk")


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["whole", "by htmx"])
def test_from_an_older_build_they_stay_on_it(manager_client: Client, headers: dict[str, str]) -> None:
    found = tabs(manager_client, "/dashboard/?build=2026.43&area=everyday&tags=reviewed&over=week", **headers)
    assert found == {
        "Ratings and problems": "/dashboard/?build=2026.43&area=everyday&tags=reviewed",
        "Compare builds": "/dashboard/compare/?build=2026.43&area=everyday&tags=reviewed",
        "Coverage": "/dashboard/coverage/?build=2026.43&area=everyday",
        "Agreement": "/dashboard/agreement/?build=2026.43",
    }


@pytest.mark.parametrize(
    "path", ["/dashboard/scripts/small-talk/", "/dashboard/compare/", "/dashboard/coverage/", "/dashboard/agreement/"]
)
def test_they_do_so_from_every_page(manager_client: Client, path: str) -> None:
    found = tabs(manager_client, f"{path}?build=2026.43")
    assert all(href.endswith("?build=2026.43") for href in found.values()), found


def test_every_build_is_asked_only_of_the_page_that_can_show_them(manager_client: Client) -> None:
    found = tabs(manager_client, "/dashboard/?build=any&from=2026-03-02")
    assert found["Ratings and problems"] == "/dashboard/?build=any&from=2026-03-02"
    assert found["Coverage"] == "/dashboard/coverage/"


def test_what_was_not_understood_is_carried_nowhere(manager_client: Client) -> None:
    assert tabs(manager_client, "/dashboard/?build=no-such")["Coverage"] == "/dashboard/coverage/"
