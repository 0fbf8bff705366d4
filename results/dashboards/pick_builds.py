"""Which two builds are compared: those that were asked for, or the current one and the one before it."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.db.models import Exists, OuterRef

from emma_eval.accounts.models import User
from scripts_catalog.models import Build

from ..listing.choices import Choices
from ..listing.filter_form import PICK_ONE, FilterForm, PickField
from ..models import Result
from .compared import Two

FILTERS = ("area", "returning", "tags")
NO_SUCH = f"There is no such build. {PICK_ONE}"
SAME_BUILD = "Pick two different builds."


class BuildForm(FilterForm):
    """One build, the current one where none is asked for."""

    def __init__(self, data: Mapping[str, str], choices: Choices) -> None:
        super().__init__(data, choices, only=())
        self.fields = {"build": _build_field("Build", choices, "The current build", "build")}


class ComparisonForm(FilterForm):
    """The builds, and what narrows both of them alike."""

    def __init__(self, data: Mapping[str, str], choices: Choices) -> None:
        super().__init__(data, choices, only=FILTERS)
        builds = {
            "build": _build_field("Build", choices, "The current build", "build"),
            "with": _build_field("Compared with", choices, "The build before it", "with"),
        }
        changed = forms.BooleanField(label="Leave out scripts whose version changed", required=False)
        self.fields = {**builds, **self.fields, "unchanged": changed}

    def clean(self) -> dict[str, object]:
        found: dict[str, object] = super().clean()
        if found.get("build") and found.get("build") == found.get("with"):
            self.add_error("with", SAME_BUILD)
        return found

    @property
    def is_unchanged_only(self) -> bool:
        return bool(self.cleaned_data.get("unchanged"))

    def two(self, user: User) -> Two | None:
        """The builds; None where there are no two to compare."""
        builds = {build.name: build for build in Build.objects.all()}
        asked, other = (builds.get(self.cleaned_data.get(name) or "") for name in ("build", "with"))
        build = asked or next((each for each in builds.values() if each.is_current), None)
        build = build or next(iter(builds.values()), None)
        if build is None:
            return None
        other = other or _before(user, build)
        return Two(build, other) if other else None


def _build_field(label: str, choices: Choices, any_word: str, name: str) -> PickField:
    field = PickField(label, [(build, build) for build in choices.builds], any_word=any_word, unknown=NO_SUCH)
    field.widget.attrs["aria-describedby"] = f"filter-{name}-error"
    return field


def _before(user: User, build: Build) -> Build | None:
    """The newest build before this one that has results; for the oldest, the one after it."""
    filed = Result.objects.visible_to(user).filter(build=OuterRef("sort_key"))
    others = Build.objects.filter(Exists(filed)).exclude(pk=build.pk)
    before = others.filter(sort_key__lt=build.sort_key).first()
    return before or others.order_by("sort_key").first()
