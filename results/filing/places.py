"""The order of problems as a browser sends it: a field for each tag with its place in it, empty for the others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from scripts_catalog import taxonomy

from .typed import PLACE, place_name

_PLACE_NUMBER = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True)
class Places:
    """Tags by their places, gaps closed; and in words what can't be read of them."""

    tags: tuple[str, ...]
    faults: tuple[str, ...]


def read_places(data: Mapping[str, Any]) -> Places:
    """Two tags of one place, or a place that is no number, are faults; which tags there may be is judged elsewhere."""
    places: dict[str, int] = {}
    faults = []
    for name in data:
        if not name.startswith(PLACE):
            continue
        text = unicodedata.normalize("NFKC", str(data.get(name) or "")).strip()
        fault = _fault_of(name, text) if text else ""
        if fault:
            faults.append(fault)
        elif text:
            places[name.removeprefix(PLACE)] = int(text)
    return Places(tuple(sorted(places, key=places.__getitem__)), (*faults, *_faults_of_doubled(places)))


def _fault_of(name: str, text: str) -> str:
    tag = taxonomy.TAG_BY_KEY.get(name.removeprefix(PLACE))
    label = f"“{tag.label}”" if tag else "a problem"
    if not _PLACE_NUMBER.fullmatch(text):
        return f"The place of {label} must be a whole number: 1 for the biggest."
    return f"Places start at 1, the biggest: {label} has 0." if int(text) == 0 else ""


def _faults_of_doubled(places: dict[str, int]) -> list[str]:
    found = []
    for number in sorted(set(places.values())):
        tags = [tag for tag in places if places[tag] == number and tag in taxonomy.TAG_BY_KEY]
        if len(tags) > 1:
            labels = " and ".join(f"“{taxonomy.TAG_BY_KEY[tag].label}”" for tag in tags)
            found.append(f"{labels} both have place {number}: give each its own.")
    return found


# --- the list they are picked from -----------------------------------------------------------------


@dataclass(frozen=True)
class TagRow:
    """A problem that can be picked, with its place as typed."""

    key: str
    label: str
    place: str
    is_retired: bool

    @property
    def name(self) -> str:
        return place_name(self.key)


@dataclass(frozen=True)
class GroupRow:
    """The problems of one area."""

    key: str
    name: str
    tags: list[TagRow]


def groups_of(pickable: Collection[str], place_of: Callable[[str], str]) -> list[GroupRow]:
    """The tags that can be picked, under their areas."""
    return [
        GroupRow(group.key, group.name, [_row(tag, place_of) for tag in group.tags if tag.key in pickable])
        for group in taxonomy.TAG_GROUPS
    ]


def _row(tag: taxonomy.Tag, place_of: Callable[[str], str]) -> TagRow:
    return TagRow(tag.key, tag.label, place_of(tag.key), tag.retired_in is not None)


def strangers_in(data: Mapping[str, Any], pickable: Collection[str]) -> list[tuple[str, str]]:
    """Places of unknown or retired tags that were sent: shown, so that they can be taken out."""
    known = {place_name(tag) for tag in pickable}
    return [(name, str(data[name])) for name in data if name.startswith(PLACE) and name not in known and data[name]]
