"""Reading and writing scripts as YAML."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scripts_catalog.catalogue_file import CatalogueError, Entry, read, write
from scripts_catalog.forms import TYPED_MARK
from scripts_catalog.management.commands.load_catalogue import SHIPPED
from scripts_catalog.wording import Anchor
from tests.scripts_catalog.wordings import PLAIN

GOOD = write([Entry("plain-talk", PLAIN)])


def said_of(text: str) -> list[str]:
    with pytest.raises(CatalogueError) as caught:
        read(text)
    return [str(wrong) for wrong in caught.value.wrongs]


def changed(**fields: object) -> str:
    """The good file with some fields of its script replaced; None takes one away."""
    found = yaml.safe_load(GOOD)
    script = {**found["scripts"][0], **fields}
    found["scripts"] = [{key: value for key, value in script.items() if value is not None}]
    return yaml.safe_dump(found)


def test_what_is_written_is_read_again() -> None:
    assert read(GOOD) == [Entry("plain-talk", PLAIN)]


def test_the_shipped_file_survives_the_round_trip() -> None:
    entries = read(SHIPPED.read_text())
    assert read(write(entries)) == entries


WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=40)
STEPS = WORDS.filter(lambda words: not TYPED_MARK.match(words))  # numbers before steps are the page's to add


@given(title=WORDS, steps=st.lists(STEPS, min_size=1, max_size=5), five=WORDS, one=WORDS)
def test_whatever_is_written_survives_the_round_trip(title: str, steps: list[str], five: str, one: str) -> None:
    wording = replace(PLAIN, title=title, steps=tuple(steps), anchors={"content": Anchor(five=five, one=one)})
    assert read(write([Entry("plain-talk", wording)])) == [Entry("plain-talk", wording)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"slug": None}, "script 1, slug: Every script needs a slug."),
        ({"slug": "Bad News"}, "script 1, slug: Use small letters, digits and single hyphens."),
        ({"slug": "a" * 61}, "script 1, slug: A slug has at most 60 characters."),
        ({"area": "garden"}, "plain-talk, area: Choose one of the areas."),
        ({"area": None}, "plain-talk, area: Choose an area."),
        ({"main_dimension": "smell"}, "plain-talk, main_dimension: Choose one of the six dimensions."),
        ({"colour": "red"}, "plain-talk, colour: Unknown key."),
        ({"title": 5}, "plain-talk, title: This must be text (put it in quotes)."),
        ({"title": None}, "plain-talk, title: Give the script a title."),
        ({"uses_camera": "yes please"}, "plain-talk, uses_camera: This must be true or false."),
        ({"steps": "Say hello."}, "plain-talk, steps: This must be a list of sentences."),
        ({"steps": [["nested"]]}, "plain-talk, steps: This must be a list of sentences."),
        ({"steps": []}, "plain-talk, steps: Write at least one step."),
        ({"steps": ["x"] * 31}, "plain-talk, steps: Write at most 30 steps; these are 31."),
        ({"steps": ["x" * 501]}, "plain-talk, steps: Step 1 has 501 characters; 500 is the most."),
        ({"anchors": []}, "plain-talk, anchors: This must name dimensions, each with five and one."),
        ({"anchors": {"smell": {"five": "a", "one": "b"}}}, "plain-talk, anchors: There is no dimension 'smell'."),
        (
            {"anchors": {"content": {"five": "a"}}},
            "plain-talk, anchors.content: Both five and one must be given, as text, and nothing else.",
        ),
        (
            {"anchors": {"content": {"five": "a", "one": " "}}},
            "plain-talk, anchors.content.one: Say what both 5 and 1 look like, or leave both empty.",
        ),
        (
            {"anchors": {"vision": {"five": "a", "one": "b"}}},
            "plain-talk, anchors.vision.five: Only a script that uses the camera says what Vision looks like.",
        ),
        (
            {"main_dimension": "vision"},
            "plain-talk, main_dimension: Vision can only be the main dimension of a script that uses the camera.",
        ),
    ],
)
def test_it_says_what_is_wrong_by_script_and_field(fields: dict[str, object], said: str) -> None:
    assert said in said_of(changed(**fields))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "The file must hold"),
        ("just words", "The file must hold"),
        ("- a list", "The file must hold"),
        ("edition: 1\nscripts: 5", "The file must hold"),
        ("edition: 2\nscripts: []", "edition: This site reads edition 1."),
        ("edition: 1\nscripts: []\nmore: 1", "more: Unknown key."),
        ("edition: 1\nscripts: [5]", "script 1: Each script must be a mapping of fields."),
        ("edition: 1\nscripts: ]", "Line 2"),
        ("edition: 1\nedition: 1\nscripts: []", "the key 'edition' stands there twice"),
        ("a: &a [1]\nscripts: [*a, *a]", "The file uses YAML aliases"),
        ("edition: !!python/object/apply:os.system ['true']\nscripts: []", "The file uses YAML tags"),
        ("[" * 100_000, "This is not a YAML file we can read."),
        ("edition: 1\nscripts: " + "{a: " * 5000, "This is not a YAML file we can read."),
        ("\x00", "This is not a YAML file we can read."),
        ("edition: 2026-99-99\nscripts: []", "edition: This site reads edition 1."),
        ("? [a, b]\n: 1\nscripts: []", "This is not a YAML file we can read."),
        ("edition: 1\nscripts: [" + "{}," * 501 + "]", "scripts: A file may hold at most 500 scripts."),
    ],
)
def test_it_refuses_what_is_no_catalogue(text: str, said: str) -> None:
    assert any(said in line for line in said_of(text))


def test_it_refuses_the_same_slug_twice() -> None:
    twice = write([Entry("plain-talk", PLAIN), Entry("plain-talk", PLAIN)])
    assert said_of(twice) == ["plain-talk, slug: This slug stands in the file twice."]


def test_it_tells_everything_that_is_wrong_at_once() -> None:
    assert len(said_of(changed(area="garden", title="", steps=[]))) == 3


def test_control_characters_are_removed_and_not_refused() -> None:
    text = GOOD.replace("Plain talk", '"Pl\\x07ain\\0 talk\\x1b"')
    assert read(text)[0].wording.title == "Plain talk"


@given(st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    with contextlib.suppress(CatalogueError):
        assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "!!map [1]",
        'a: !!bool "maybe"',
        'a: !!timestamp "x"',
        'a: !!int ""',
        'a: !!float ""',
        "a: !!set [1]",
        "a: !!python/object:os.system x",
        "edition: 1\nscripts: []\n? 0x" + "F" * 5000 + "\n: 1\n",
        "edition: 1\nscripts:\n- slug: a\n  anchors:\n    ? 0x" + "F" * 5000 + "\n    : 1\n",
        "edition: 1\nscripts: []\n<<: {a: 1}\n",
        "? [a]\n: 1\n",
        "edition: 0129\nscripts: []\n",
        "edition: 2026-02-31\nscripts: []\n",
    ],
)
def test_whatever_else_yaml_can_do_is_refused_in_words(text: str) -> None:
    with pytest.raises(CatalogueError):
        read(text)


def test_a_word_that_yaml_takes_for_something_else_stays_a_word() -> None:
    assert read(GOOD.replace(PLAIN.title, "no"))[0].wording.title == "no"


def test_a_file_of_many_keys_or_many_colons_is_read_in_one_pass() -> None:
    """Quadratic, either took minutes and held a thread of the server; ten times the size is ten times the work."""
    for text in ("{" + ",".join(f"k{i}: 1" for i in range(60_000)) + "}", "scripts: " + ":".join(["1"] * 400_000)):
        started = time.thread_time()
        with pytest.raises(CatalogueError):
            read(text)
        assert time.thread_time() - started < 20
