"""The form of a round: its build, name, due date and note, and beside each script how many runs are wanted.

A script is wanted by its number: a field that is left empty (or says 0) asks for nothing. So the form has one field
for each script, and a press fills those of a whole area, or of an earlier round, without anything being saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django import forms
from django.db.models import Q
from django.utils import timezone

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.forms import Name, PlainText
from scripts_catalog.models import Build, Script

from ..models import Round, Wanted
from .plan_round import Plan

MOST_RUNS = 1000
RUNS_AT_FIRST = 2
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2100, 12, 31)
ALL_AREAS = "all"
NOTHING = "nothing"


def field_of(slug: str) -> str:
    return f"runs-{slug}"


class RunsField(forms.IntegerField):
    """How many runs are wanted; nothing and 0 are the same."""

    def __init__(self, label: str) -> None:
        said = f"Ask for 1 to {MOST_RUNS} runs, as a whole number."
        super().__init__(
            label=label,
            required=False,
            min_value=0,
            max_value=MOST_RUNS,
            error_messages={"invalid": said, "min_value": said, "max_value": said},
            widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
        )


class RoundForm(forms.Form):
    """What a round asks for, of the scripts that its planner may know of."""

    name = Name(
        max_length=80,
        help_text="Such as “Before the release”. Testers read it.",
        error_messages={"required": "Give the round a name."},
    )
    build = forms.ModelChoiceField(
        Build.objects.all(),
        empty_label="Choose a build",
        help_text="All runs on it count, whenever they took place.",
        error_messages={"required": "Choose the build to be run.", "invalid_choice": "Choose a build from the list."},
    )
    due_on = forms.DateField(
        required=False,
        label="Due on",
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        error_messages={"invalid": "Give the day as 2026-03-31."},
        help_text="Left empty, it is open until you close it.",
    )
    note = PlainText(
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What testers should know or look out for. Every tester reads it, so name no Safety script.",
    )

    def __init__(self, user: User, *args: Any, round_: Round | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.due_before = round_.due_on if round_ else None
        self.shelves = _shelves(user, round_)
        for script in self.scripts():
            self.fields[field_of(script.slug)] = RunsField(_title(script))

    def scripts(self) -> Iterable[Script]:
        return (script for shelf in self.shelves for script in shelf.scripts)

    def clean_due_on(self) -> date | None:
        day: date | None = self.cleaned_data["due_on"]
        if day is not None and not FIRST_DAY <= day <= LAST_DAY:
            raise forms.ValidationError(f"Give a day between {FIRST_DAY.year} and {LAST_DAY.year}.")
        if day is not None and day < timezone.localdate() and day != self.due_before:
            raise forms.ValidationError("That day is past. Give today or a later day.")
        return day

    def clean(self) -> None:
        wrong = any(name.startswith("runs-") for name in self.errors)
        if not wrong and not self._wanted():
            raise forms.ValidationError("Ask for at least one run of one script.")

    def refuse_change(self) -> None:
        self.add_error(
            None,
            "Somebody else changed this round while you did, so nothing of yours is saved yet. Look at the round as it "
            "is now; save again, and yours takes its place.",
        )

    def plan(self) -> Plan:
        """What was typed, once it is right."""
        said = self.cleaned_data
        return Plan(said["name"], said["build"], said["due_on"], said["note"], self._wanted())

    def _wanted(self) -> dict[str, int]:
        asked = {script.slug: self.cleaned_data.get(field_of(script.slug)) for script in self.scripts()}
        return {slug: runs for slug, runs in asked.items() if runs}

    def groups(self) -> list[Group]:
        """For the page: each area with the fields of its scripts."""
        return [
            Group(shelf.key, shelf.name, [self[field_of(script.slug)] for script in shelf.scripts])
            for shelf in self.shelves
        ]

    @staticmethod
    def typed_of(user: User, round_: Round) -> dict[str, Any]:
        """What the form would hold to plan this round again, as far as this person may know of it."""
        typed: dict[str, Any] = {
            "name": round_.name,
            "build": round_.build.pk,
            "due_on": round_.due_on,
            "note": round_.note,
        }
        return typed | wanted_of(user, round_)


@dataclass(frozen=True)
class Shelf:
    """The scripts of one area."""

    key: str
    name: str
    scripts: tuple[Script, ...]


@dataclass(frozen=True)
class Group:
    """An area on the page, with the field of each of its scripts."""

    key: str
    name: str
    fields: list[forms.BoundField]

    @property
    def count(self) -> int:
        return len(self.fields)


def wanted_of(user: User, round_: Round) -> dict[str, int]:
    """By the name of its field, how many runs of each script a round wants."""
    rows = Wanted.objects.visible_to(user).filter(round=round_)
    return {field_of(slug): runs for slug, runs in rows.values_list("script__slug", "runs")}


def filled(user: User, typed: Mapping[str, Any], area: str, runs: int) -> dict[str, Any]:
    """What was typed, with this many runs of each script of an area that has no number yet.

    `area` may be `ALL_AREAS`; `NOTHING` empties every field instead.
    """
    changed = dict(typed)
    for script in _known(user).filter(retired_at=None):
        name = field_of(script.slug)
        if area == NOTHING:
            changed[name] = ""
        elif area in {ALL_AREAS, script.area} and str(typed.get(name) or "").strip() in {"", "0"}:
            changed[name] = str(runs)
    return changed


def copied(user: User, typed: Mapping[str, Any], earlier: Round) -> dict[str, Any]:
    """What was typed, with the numbers of an earlier round instead of those that stood there."""
    kept = {name: said for name, said in typed.items() if not name.startswith("runs-")}
    return kept | {name: str(runs) for name, runs in wanted_of(user, earlier).items()}


def _known(user: User) -> Any:
    return Script.objects.visible_to(user).exclude(latest=None).select_related("latest").order_by("latest__title")


def _shelves(user: User, round_: Round | None) -> list[Shelf]:
    """Those in use, and what of the retired the round wants already."""
    may_be_wanted = Q(retired_at=None)
    if round_ is not None:
        may_be_wanted |= Q(slug__in=Wanted.objects.filter(round=round_).values("script"))
    scripts = list(_known(user).filter(may_be_wanted))
    shelves = [
        Shelf(key, name, tuple(script for script in scripts if script.area == key)) for key, name in taxonomy.AREAS
    ]
    return [shelf for shelf in shelves if shelf.scripts]


def _title(script: Script) -> str:
    title = script.latest.title if script.latest else script.slug
    return f"{title} (retired)" if script.retired_at else title
