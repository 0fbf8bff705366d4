"""The list, narrowed to calls that were held on one kind of browser, device or connection."""

from __future__ import annotations

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from results.listing.filters import Filters
from results.listing.list_results import Asked, list_results
from results.models import Browser, Result
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture
def filed(tester: User) -> dict[str, Result]:
    script, build = make.script(), make.build()
    noted = {
        "phone": {"browser": "Chrome", "device": "phone", "connection": "wifi"},
        "tablet": {"browser": "Safari", "device": "tablet"},
        "rare": {"browser": "Other", "device": "computer", "connection": "4g"},
        "nothing": {},
    }
    return {name: make.result(tester, script, build, **fields) for name, fields in noted.items()}


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        (Filters(browser="Chrome"), ["phone"]),
        (Filters(browser="Other"), ["rare"]),
        (Filters(device="tablet"), ["tablet"]),
        (Filters(connection="4g"), ["rare"]),
        (Filters(browser="Chrome", device="tablet"), []),
        (Filters(browser="Chrome", device="phone", connection="wifi"), ["phone"]),
        (Filters(), ["phone", "tablet", "rare", "nothing"]),
    ],
)
@pytest.mark.parametrize("sort", ["date", "content"])
def test_each_leaves_what_fits(
    tester: User, filed: dict[str, Result], filters: Filters, names: list[str], sort: str
) -> None:
    asked = Asked(filters)
    listing = list_results(tester, Asked(filters, asked.sort.by(sort)))
    assert {row.id for row in listing.rows} == {filed[name].pk for name in names}
    assert listing.count == len(names)


def test_an_address_narrows_and_says_so(tester_client: Client, filed: dict[str, Result]) -> None:
    page = tester_client.get("/results/?browser=Chrome&device=phone&connection=wifi").text
    assert "1 result<" in page
    for words in ("Browser: Chrome", "Device: Phone", "Connection: Wi-Fi"):
        assert f"<bdi>{words}</bdi>" in page
    assert '<option value="Chrome" selected>' in page
    assert "<details open>" in page
    assert 'href="/results/?device=phone&amp;connection=wifi"' in page


def test_the_number_found_stands_below_the_filters_too_and_follows_them(
    tester_client: Client, filed: dict[str, Result]
) -> None:
    """On a phone the list begins far below filters that are open."""
    page = tester_client.get("/results/?device=phone").text
    form = page[page.index('id="filters"') : page.index("</form>", page.index('id="filters"'))]
    assert '<a class="to-rows" id="to-rows" href="#rows">1 result ' in form
    swapped = tester_client.get("/results/", headers={"HX-Request": "true"}).text
    assert '<a class="to-rows" id="to-rows" href="#rows" hx-swap-oob="true">4 results ' in swapped


@pytest.mark.parametrize("name", ["browser", "device", "connection"])
def test_what_is_not_on_the_list_narrows_nothing_and_is_told(
    tester_client: Client, filed: dict[str, Result], name: str
) -> None:
    page = tester_client.get(f"/results/?{name}=Chrome'+or+1").text
    assert f"There is no such {name}" in page
    assert "4 results" in page


def test_what_can_be_chosen_does_not_depend_on_what_was_filed(tester_client: Client) -> None:
    """So nothing is searched for it, and nobody learns from it."""
    page = tester_client.get("/results/").text
    assert all(f'<option value="{value}"' in page for value in Browser.values)
