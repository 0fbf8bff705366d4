"""Tell the corrections of a result in words: each field, what it said before and after, by whom and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format

from scripts_catalog import taxonomy
from scripts_catalog.models import Build

from ..models import Change, ProblemOrder


@dataclass(frozen=True)
class FieldChange:
    """One field of a correction. Empty before: it was added; empty after: it was taken away."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class Correction:
    """What one person changed at once."""

    version: int
    by: str
    at: datetime
    fields: tuple[FieldChange, ...]


def tell_history(changes: Iterable[Change]) -> list[Correction]:
    """The corrections as given. Builds are named in one query, and only where one was changed."""
    changes = list(changes)
    keys = {key for change in changes for key in change.fields.get("build_id", ())}
    names = dict(Build.objects.filter(sort_key__in=keys).values_list("sort_key", "name")) if keys else {}
    return [
        Correction(change.version, str(change.by), change.at, tuple(_tell(change.fields, names))) for change in changes
    ]


def label_of(field: str) -> str:
    """How the pages call a field of a correction."""
    return "Build" if field == "build_id" else WORDS.get(field, (field, str))[0]


def _tell(said: dict[str, list[Any]], build_names: dict[str, str]) -> Iterable[FieldChange]:
    for field, (before, after) in said.items():
        if field == "build_id":
            yield FieldChange(label_of(field), build_names.get(before, before), build_names.get(after, after))
        else:
            _, words = WORDS.get(field, (field, str))
            yield FieldChange(label_of(field), words(before), words(after))


def _yes_no(value: Any) -> str:
    return "yes" if value else "no"


def _text(value: Any) -> str:
    return str(value) if value else ""


def _rating(value: Any) -> str:
    return "not rated" if value is None else str(value)


def _vision(value: Any) -> str:
    return "N/A" if value is None else str(value)


def _moment(value: Any) -> str:
    return date_format(timezone.localtime(datetime.fromisoformat(value)), "j M Y, H:i")


def _tags(value: Any) -> str:
    labels = [taxonomy.TAG_BY_KEY[tag].label if tag in taxonomy.TAG_BY_KEY else tag for tag in value]
    return "\n".join(f"{place}. {label}" for place, label in enumerate(labels, 1))


def _order(value: Any) -> str:
    return str(dict(ProblemOrder.choices).get(value, value))


WORDS: dict[str, tuple[str, Callable[[Any], str]]] = {
    **{dimension.key: (dimension.name, _rating) for dimension in taxonomy.DIMENSIONS},
    "vision": (taxonomy.DIMENSION_BY_KEY["vision"].name, _vision),
    "called_at": ("When the call took place", _moment),
    "recording_link": ("Recording link", _text),
    "camera_used": ("Camera used", _yes_no),
    "camera_note": ("Why without camera", _text),
    "never_started": ("The call never started", _yes_no),
    "problem_order": ("What is known of the order", _order),
    "problems": ("Problems", _tags),
    "comment": ("Comment", _text),
    "met_emma_before": ("Returning user", _yes_no),
}
