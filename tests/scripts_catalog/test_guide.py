"""The Guide page and the taxonomy, against the team's guide, to the letter."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from scripts_catalog import taxonomy

LINES = (Path(__file__).parents[1] / "cases" / "live_test_guide.txt").read_text().splitlines()
GROUP = re.compile(r"(?P<name>.+) \(Label Studio: (?P<theirs>.+)\)")


def bullets_under(heading: str) -> list[str]:
    """The bulleted lines under a heading, up to the first line after them that is neither bullet nor empty."""
    found: list[str] = []
    for line in LINES[LINES.index(heading) + 1 :]:
        if line.startswith("• "):
            found.append(line.removeprefix("• "))
        elif line and found:
            break
    return found


def test_the_dimensions_are_those_of_the_guide_in_its_order() -> None:
    ours = [
        f"{one.name}: {one.meaning} 1 = {one.one} | 3 = {one.three} | 5 = {one.five}" for one in taxonomy.DIMENSIONS
    ]
    assert ours == bullets_under("Dimensions (score each on its own)")


def test_the_scale_is_that_of_the_guide() -> None:
    ours = [f"{figure} = {words}" for figure, words in taxonomy.SCALE]
    assert ours == bullets_under("Score scale (all scores)")


def test_the_groups_carry_both_names_in_the_order_of_the_guide() -> None:
    theirs = [(found["name"], found["theirs"]) for line in LINES if (found := GROUP.fullmatch(line))]
    ours = [(group.name, group.label_studio) for group in taxonomy.TAG_GROUPS if group.label_studio]
    assert ours == theirs
    assert len(ours) == 4


@pytest.mark.parametrize("group", taxonomy.TAG_GROUPS, ids=lambda group: group.key)
def test_the_tags_of_each_group_are_those_of_the_guide_in_its_order(group: taxonomy.TagGroup) -> None:
    heading = (
        f"{group.name} (Label Studio: {group.label_studio})"
        if group.label_studio
        else f"{group.name} (not in Label Studio; optional)"
    )
    assert [tag.label for tag in group.tags if tag.retired_in is None] == bullets_under(heading)


def test_the_pointers_lead_where_the_guide_leads() -> None:
    emotional, vision = bullets_under("Emotional fit and Vision (score only, no tag group)")
    first, second = taxonomy.POINTERS
    listed = ", ".join(f"{taxonomy.TAG_BY_KEY[key].label} ({taxonomy.GROUP_OF_TAG[key].name})" for key in first.tags)
    assert f"{taxonomy.DIMENSION_BY_KEY[first.dimension].name}: {first.text}: {listed}." == emotional
    assert f"{taxonomy.DIMENSION_BY_KEY[second.dimension].name}: {second.text}" == vision
    assert [taxonomy.GROUP_OF_TAG[key].name for key in second.tags] == ["Live call only"]


def test_keys_are_given_once() -> None:
    tags = [tag.key for group in taxonomy.TAG_GROUPS for tag in group.tags]
    assert len(tags) == len(set(tags)) == 34


@pytest.mark.django_db
def test_the_page_prints_the_taxonomy_to_the_letter_and_in_order(tester_client: Client) -> None:
    text = unescape(tester_client.get("/guide/").text)
    printed = [
        *(part for one in taxonomy.DIMENSIONS for part in (one.name, one.meaning, one.one, one.three, one.five)),
        *(words for _, words in taxonomy.SCALE),
        *(
            part
            for group in taxonomy.TAG_GROUPS
            if group.label_studio
            for part in (group.name, f"Label Studio: {group.label_studio}", *(tag.label for tag in group.tags))
        ),
        *(pointer.text for pointer in taxonomy.POINTERS),
        *(tag.label for tag in taxonomy.TAG_GROUPS[-1].tags),
    ]
    place = text.index('id="dimensions"')
    for words in printed:
        place = text.index(words, place)


@pytest.mark.django_db
def test_every_entry_of_its_contents_leads_to_a_heading(tester_client: Client) -> None:
    text = tester_client.get("/guide/").text
    anchors = set(re.findall(r'href="#([\w-]+)"', text))
    assert {"how", "dimensions", "scale", "problems"} <= anchors
    assert anchors <= set(re.findall(r'id="([\w-]+)"', text))


@pytest.mark.django_db
def test_it_promises_no_mark_moment_button_on_our_pages(tester_client: Client) -> None:
    text = tester_client.get("/guide/").text
    assert "where you call from a page that has it" in text.split("“Mark moment”")[1].split("</li>")[0]


@pytest.mark.django_db
def test_it_has_nine_steps(tester_client: Client) -> None:
    steps = tester_client.get("/guide/").text.split('<ol class="steps">')[1].split("</ol>")[0]
    assert steps.count("<li>") == 9
