"""What a version of a script says, apart from who wrote it and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from . import taxonomy

LABELS = {
    "title": "Title",
    "area": "Area",
    "main_dimension": "Main dimension",
    "uses_camera": "Camera",
    "summary": "Summary",
    "what_to_do": "What to do",
    "steps": "Steps",
    "anchors": "What 5 and 1 look like",
}


@dataclass(frozen=True)
class Anchor:
    """What the highest and the lowest rating of a dimension look like in a script."""

    five: str
    one: str


@dataclass(frozen=True)
class ShownAnchor(Anchor):
    """An anchor as a page shows it; `is_general`: the script has none, so these are the guide's words."""

    is_general: bool
    is_main: bool


@dataclass(frozen=True)
class Wording:
    """Two versions with equal wording are the same version: saving one over the other makes none."""

    title: str
    area: str
    main_dimension: str
    uses_camera: bool
    summary: str
    what_to_do: str
    steps: tuple[str, ...]
    anchors: Mapping[str, Anchor]

    def columns(self) -> dict[str, Any]:
        """The same as the columns of a version; anchors in the order of the dimensions."""
        anchors = {key: asdict(self.anchors[key]) for key in taxonomy.DIMENSION_BY_KEY if key in self.anchors}
        return {**asdict(self), "steps": list(self.steps), "anchors": anchors}

    def changed_from(self, other: Wording) -> list[str]:
        """The names of the columns that differ."""
        ours, theirs = self.columns(), other.columns()
        return [name for name in ours if ours[name] != theirs[name]]
