"""What people write may turn the direction of text; it turns nothing that stands beside it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Draft
from scripts_catalog.models import Build, Script
from tests import make

from .payloads import PROBE
from .test_xss import pages_of, plant
from .world import World

pytestmark = pytest.mark.django_db

OVERRIDE = "\u202e"
TURNED = f"{OVERRIDE}turned {PROBE}"
# As it is planted: as a part of a link, with a word or a number of its own behind it.
WHOLE = re.compile(rf"(https://\S+/)?{TURNED}( again| \d+)?")
ISOLATED = re.compile("\u2068[^\u2068\u2069]*\u2069")  # set apart in plain text, as by <bdi>
BLOCK = re.compile(
    "address|article|aside|blockquote|body|caption|d[dlt]|details|dialog|div|fieldset|figcaption|figure|footer|form"
    "|h[1-6]|header|hr|legend|li|main|nav|[ou]l|p|pre|section|summary|table|tbody|t[dhr]|tfoot|thead"
)
# What stands by itself, or is shown by the browser and not in the page.
APART = {"bdi", "option", "textarea", "title", "script", "style"}
EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}


@dataclass
class Block:
    """The inline pieces of one paragraph: whether each stands apart, and its text."""

    pieces: list[tuple[bool, str]] = field(default_factory=list)

    def faults(self) -> list[str]:
        """The pieces that turn, or are part of a piece that turns, what stands beside them."""
        words = [(apart, " ".join(ISOLATED.sub("", text).split())) for apart, text in self.pieces if text.strip()]
        mixed = len(words) > 1
        return [
            text for apart, text in words if OVERRIDE in text and not apart and (mixed or not WHOLE.fullmatch(text))
        ]


class Lines(HTMLParser):
    """A page, taken apart into the paragraphs in which directions are worked out."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool, Block]] = [("body", False, Block())]
        self.blocks = [self.open[0][2]]
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in EMPTY:
            return
        _, apart, block = self.open[-1]
        if BLOCK.fullmatch(tag):
            apart, block = False, Block()
            self.blocks.append(block)
        self.open.append((tag, apart or tag in APART or ("dir", "auto") in attrs, block))

    def handle_endtag(self, tag: str) -> None:
        if any(tag == each for each, _, _ in self.open):
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        _, apart, block = self.open[-1]
        block.pieces.append((apart, data))

    def faults(self) -> list[str]:
        return [fault for block in self.blocks for fault in block.faults()]


def plant_more(world: World) -> None:
    """A tester, a current build and a call that waits for its link, and a draft of that call, all of that name."""
    tester = world.user(Role.TESTER.value)
    User.objects.filter(pk=tester.pk).update(name=TURNED)
    Build.objects.filter(is_current=True).update(is_current=False)
    Build.objects.filter(name__startswith=TURNED).update(is_current=True)
    script, build = Script.objects.get(slug="planted-0"), Build.objects.get(is_current=True)
    waiting = make.result(tester, script, build, comment=TURNED)
    fields = {"script_version": str(script.latest.pk), "build": str(build.pk), "call": str(waiting.call_uuid)}
    Draft.objects.create(tester=tester, uuid=uuid.uuid4(), script=script, fields={**fields, "comment": TURNED})


def filtered(world: World) -> Iterator[tuple[str, str]]:
    """Pages that are asked for by an address with filters."""
    build, tester = Build.objects.get(is_current=True), world.user(Role.TESTER.value)
    asked = {"build": build.name, "tester": tester.pk, "script": "planted-0", "q": OVERRIDE}
    for path in ("/results/", "/dashboard/"):
        yield path, world.client(Role.MANAGER.value).get(path, asked).text


def test_what_people_wrote_turns_nothing_beside_it(world: World) -> None:
    plant(world, [TURNED])
    plant_more(world)
    seen, wrong = 0, set()
    for where, page in [*pages_of(world, 1), *filtered(world)]:
        seen += OVERRIDE in page
        wrong |= {f"{where}: {fault}" for fault in Lines(page).faults()}
    assert sorted(wrong) == []
    assert seen > 20


@pytest.mark.parametrize(
    ("page", "is_wrong"),
    [
        (f"<p>{TURNED}</p>", False),
        (f"<p>By {TURNED}</p>", True),
        (f"<p>By \u2068{TURNED}\u2069 today</p>", False),
        (f"<p>By \u2068{TURNED} today</p>", True),
        (f"<p>By <bdi>{TURNED}</bdi> today</p>", False),
        (f"<p>By <a href='/'>{TURNED}</a> today</p>", True),
        (f"<p>By <a href='/'><bdi>{TURNED}</bdi></a> today</p>", False),
        (f"<p dir='auto'>By {TURNED}</p>", False),
        (f"<div>By <p>{TURNED}</p> today</div>", False),
        (f"<td><b>{TURNED}</b><br>today</td>", True),
    ],
)
def test_text_that_turns_its_neighbours_is_seen(page: str, is_wrong: bool) -> None:
    assert bool(Lines(page).faults()) == is_wrong
