"""Scripts as a YAML file: the form in which they are shipped, exported and imported.

    edition: 1
    scripts:
      - slug: bad-news-day
        title, area, main_dimension, uses_camera, summary, what_to_do
        steps: [...]
        anchors: {dimension: {five: text, one: text}}      (may be left out)

Whatever is wrong is told by script and field, all of it at once; a file with one wrong script is not read at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml
from django.core.exceptions import ValidationError

from . import taxonomy
from .forms import ScriptForm
from .models import SLUG_IS
from .wording import Wording

EDITION = 1
MOST_SCRIPTS = 500
LONGEST_SLUG = 60
TEXTS = ("title", "area", "main_dimension", "summary", "what_to_do")
KEYS = ("slug", *TEXTS[:3], "uses_camera", *TEXTS[3:], "steps", "anchors")
ENDS = {"five", "one"}
Areas = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Entry:
    """One script of the file."""

    slug: str
    wording: Wording


@dataclass(frozen=True)
class Wrong:
    """What is wrong with one field of one script; both are empty where the file as a whole is wrong."""

    slug: str
    field: str
    reason: str

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.slug, self.field) if part)
        return f"{where}: {self.reason}" if where else self.reason


class CatalogueError(Exception):
    """The file can't be taken; `wrongs` says all that is wrong with it."""

    def __init__(self, wrongs: Iterable[Wrong]) -> None:
        self.wrongs = tuple(wrongs)
        super().__init__("\n".join(str(wrong) for wrong in self.wrongs))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Text, true and false, short whole numbers, lists and mappings; no key twice in one mapping.

    YAML alone would keep the last of two equal keys and drop the other, read “no” as false and 1:30 as ninety.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, list[Any]]] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen = Counter(key.value for key, _ in node.value if isinstance(key.value, str))
        doubled = [name for name, times in seen.items() if times > 1]
        if doubled:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {min(doubled)!r} stands there twice", node.start_mark
            )
        return super().construct_mapping(node, deep=deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|false)$", re.IGNORECASE), list("tTfF"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"(?:0|[1-9][0-9]{0,8})$"), list("0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|)$"), ["~", "n", ""])


def _refused_in(text: str) -> str:
    """What YAML can do beyond plain values: aliases let a small file expand without end, tags make other things."""
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent):
            return "The file uses YAML aliases (*name); write the words out."
        if getattr(event, "tag", None) is not None:
            return "The file uses YAML tags (!name); write plain values."
    return ""


def _parse(text: str) -> Any:
    """The values of the file."""
    try:
        if refused := _refused_in(text):
            raise CatalogueError([Wrong("", "", refused)])
        return yaml.load(text, _Loader)  # noqa: S506 (a safe loader of our own)
    except yaml.YAMLError as cause:
        mark = getattr(cause, "problem_mark", None)
        line = f" Line {mark.line + 1}:" if mark else ""
        said = getattr(cause, "problem", None) or getattr(cause, "reason", None) or "not readable"
        raise CatalogueError([Wrong("", "", f"This is not a YAML file we can read.{line} {said}.")]) from cause
    except (RecursionError, ValueError) as cause:
        raise CatalogueError([Wrong("", "", "This is not a YAML file we can read.")]) from cause


def _scripts_of(found: Any) -> list[Any]:
    if not isinstance(found, dict) or not isinstance(found.get("scripts"), list):
        raise CatalogueError([Wrong("", "", "The file must hold “edition: 1” and a list “scripts”.")])
    wrongs = [Wrong("", str(key), "Unknown key.") for key in found if key not in {"edition", "scripts"}]
    if found.get("edition") != EDITION:
        wrongs.append(Wrong("", "edition", f"This site reads edition {EDITION}."))
    if len(found["scripts"]) > MOST_SCRIPTS:
        wrongs.append(Wrong("", "scripts", f"A file may hold at most {MOST_SCRIPTS} scripts."))
    if wrongs:
        raise CatalogueError(wrongs)
    return list(found["scripts"])


def _wrong_slug(slug: Any) -> str:
    if not isinstance(slug, str) or not slug:
        return "Every script needs a slug."
    if len(slug) > LONGEST_SLUG:
        return f"A slug has at most {LONGEST_SLUG} characters."
    try:
        SLUG_IS(slug)
    except ValidationError as cause:
        return str(cause.messages[0])
    return ""


def _wrong_shapes(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields that are not even of the right kind."""
    for key in given:
        if key not in KEYS:
            yield str(key), "Unknown key."
    for key in TEXTS:
        if not isinstance(given.get(key, ""), str):
            yield key, "This must be text (put it in quotes)."
    if not isinstance(given.get("uses_camera", False), bool):
        yield "uses_camera", "This must be true or false."
    steps = given.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        yield "steps", "This must be a list of sentences."
    yield from _wrong_anchors(given.get("anchors", {}))


def _wrong_anchors(anchors: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(anchors, dict):
        yield "anchors", "This must name dimensions, each with five and one."
        return
    for key, words in anchors.items():
        if key not in taxonomy.DIMENSION_BY_KEY:
            yield "anchors", f"There is no dimension {key!r}."
        elif not isinstance(words, dict) or set(words) != ENDS or not all(isinstance(w, str) for w in words.values()):
            yield f"anchors.{key}", "Both five and one must be given, as text, and nothing else."


def _form_of(given: Mapping[str, Any], areas: Areas) -> ScriptForm:
    """The form that a person would have filled in to write this script."""
    data: dict[str, Any] = {key: given.get(key, "") for key in TEXTS}
    data["uses_camera"] = given.get("uses_camera", False)
    data["steps"] = "\n".join(" ".join(step.split()) for step in given.get("steps", []))
    for key, words in given.get("anchors", {}).items():
        data.update({f"{key}_{end}": words[end] for end in ENDS})
    return ScriptForm(data, areas=areas)


def _field_of(name: str) -> str:
    """How the file calls a field of the form."""
    key, _, end = name.rpartition("_")
    return f"anchors.{key}.{end}" if key in taxonomy.DIMENSION_BY_KEY else name


def _read_one(given: Any, place: int, areas: Areas) -> Entry | list[Wrong]:
    if not isinstance(given, dict):
        return [Wrong(f"script {place}", "", "Each script must be a mapping of fields.")]
    slug = given.get("slug")
    wrong_slug = _wrong_slug(slug)
    if wrong_slug:
        return [Wrong(f"script {place}", "slug", wrong_slug)]
    shapes = [Wrong(str(slug), field, reason) for field, reason in _wrong_shapes(given)]
    if shapes:
        return shapes
    form = _form_of(given, areas)
    if form.is_valid():
        return Entry(str(slug), form.wording())
    return [
        Wrong(str(slug), _field_of(name), str(words)) for name, all_words in form.errors.items() for words in all_words
    ]


def read(text: str, areas: Areas = taxonomy.AREAS) -> list[Entry]:
    """The scripts of a file, in its order; CatalogueError tells everything that is wrong.

    `areas` are those that may be chosen: whoever isn't trained can't bring in a Safety script.
    """
    entries: list[Entry] = []
    wrongs: list[Wrong] = []
    for place, given in enumerate(_scripts_of(_parse(text)), 1):
        found = _read_one(given, place, areas)
        if isinstance(found, list):
            wrongs += found
        elif any(entry.slug == found.slug for entry in entries):
            wrongs.append(Wrong(found.slug, "slug", "This slug stands in the file twice."))
        else:
            entries.append(found)
    if wrongs:
        raise CatalogueError(wrongs)
    return entries


def write(entries: Iterable[Entry]) -> str:
    """The file that `read` would read these from."""
    scripts = [{key: {"slug": entry.slug, **entry.wording.columns()}[key] for key in KEYS} for entry in entries]
    return yaml.safe_dump({"edition": EDITION, "scripts": scripts}, sort_keys=False, allow_unicode=True, width=100)
