"""Compare two versions of a script: field by field, word by word, steps matched as a list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from . import taxonomy
from .wording import LABELS, Wording

# Below this likeness two texts share only small words: one whole text after the other reads better.
LIKE_ENOUGH = 0.4
TEXTS = ("title", "area", "main_dimension", "uses_camera", "summary", "what_to_do")


@dataclass(frozen=True)
class Piece:
    """A run of words that is "kept", "added" or "removed"."""

    kind: str
    text: str


@dataclass(frozen=True)
class Line:
    """A text of one field, or one step."""

    pieces: tuple[Piece, ...]

    @property
    def kind(self) -> str:
        """Whether all of it was "added" or "removed"; anything else counts as "kept"."""
        kinds = {piece.kind for piece in self.pieces}
        return kinds.pop() if len(kinds) == 1 else "kept"


@dataclass(frozen=True)
class Change:
    """One field that differs, line by line. Lists (the steps) show kept lines too."""

    label: str
    lines: tuple[Line, ...]
    is_list: bool = False


def compare_versions(old: Wording, new: Wording) -> list[Change]:
    """What changed from one wording to the other, in the order of the script page."""
    changes = [
        Change(LABELS[name], (Line(compare_words(_shown(old, name), _shown(new, name))),))
        for name in TEXTS
        if getattr(old, name) != getattr(new, name)
    ]
    if old.steps != new.steps:
        changes.append(Change(LABELS["steps"], tuple(_compare_steps(old.steps, new.steps)), is_list=True))
    return [*changes, *_compare_anchors(old, new)]


def _shown(wording: Wording, name: str) -> str:
    """A field in the words of the pages."""
    if name == "area":
        return taxonomy.AREA_NAMES.get(wording.area, wording.area)
    if name == "main_dimension":
        return taxonomy.DIMENSION_BY_KEY[wording.main_dimension].name
    if name == "uses_camera":
        return "on" if wording.uses_camera else "off"
    return str(getattr(wording, name))


def _compare_anchors(old: Wording, new: Wording) -> Iterator[Change]:
    for dimension in taxonomy.DIMENSIONS:
        before, after = old.anchors.get(dimension.key), new.anchors.get(dimension.key)
        for end, figure in (("five", "5"), ("one", "1")):
            words = [getattr(anchor, end) if anchor else taxonomy.GENERAL_QUALITY for anchor in (before, after)]
            if words[0] != words[1]:
                yield Change(f"{dimension.name}: {figure}", (Line(compare_words(*words)),))


def compare_words(old: str, new: str) -> tuple[Piece, ...]:
    """The words of both texts in one reading order. Words are compared, each piece keeps its spaces."""
    before, after = re.findall(r"\S+\s*", old), re.findall(r"\S+\s*", new)
    match = SequenceMatcher(None, [w.rstrip() for w in before], [w.rstrip() for w in after], autojunk=False)
    if match.ratio() < LIKE_ENOUGH:
        return _apart([Piece("removed", old), Piece("added", new)])
    pieces = []
    for kind, a, b, c, d in match.get_opcodes():
        if kind == "equal":
            pieces.append(Piece("kept", "".join(after[c:d])))
        else:
            pieces += [Piece("removed", "".join(before[a:b])), Piece("added", "".join(after[c:d]))]
    return _apart(pieces)


def _apart(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces that say something, with a space where the last word of one would touch the next."""
    said = [piece for piece in pieces if piece.text]
    return tuple(
        piece if piece.text[-1].isspace() or piece is said[-1] else replace(piece, text=f"{piece.text} ")
        for piece in said
    )


def _compare_steps(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    """Steps that stay are matched first; between them, steps at the same place are compared if they are alike."""
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (Line((Piece("kept", step),)) for step in old[a:b])
        else:
            yield from _compare_block(old[a:b], new[c:d])


def _compare_block(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    for place in range(max(len(old), len(new))):
        before, after = old[place : place + 1], new[place : place + 1]
        pieces = compare_words(before[0], after[0]) if before and after else ()
        if any(piece.kind == "kept" for piece in pieces):
            yield Line(pieces)
        else:
            yield from (Line((Piece("removed", step),)) for step in before)
            yield from (Line((Piece("added", step),)) for step in after)
