"""What the page of the results form shows, ready for its template: dimensions, problems, errors, versions."""

from __future__ import annotations

import uuid as uuids
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from django.conf import settings

from scripts_catalog import taxonomy
from scripts_catalog.models import Build, ScriptVersion
from scripts_catalog.wording import ShownAnchor

from ..filing.forms import ResultForm
from ..filing.places import GroupRow, groups_of, strangers_in
from ..filing.tell_call import titles_of
from ..filing.tell_drafts import DraftLine
from ..live_call.fold_moments import Folded, fold_moments
from ..models import DIMENSION_KEYS, MOST_COMMENT_CHARACTERS, Call, Recording, Result

# Where the link of an error leads; a field that is not listed stands under its own name.
_ANCHORS = {
    "__all__": "result-form",
    "script_version": "script_version-run",
    "camera_used": "camera_used-yes",
    "met_emma_before": "met_emma_before-yes",
    "problems": "problems",
    **{key: f"{key}-1" for key in DIMENSION_KEYS},
}
_IN_ORDER = (
    *("__all__", "script_version", "build", "called_at", "recording_link", "never_started", "camera_used"),
    *("camera_note", *DIMENSION_KEYS, "problems", "comment", "met_emma_before"),
)


@dataclass(frozen=True)
class Target:
    """One of the five things to press, with the guide's words under 1, 3 and 5."""

    value: int
    words: str
    meaning: str
    is_chosen: bool


@dataclass(frozen=True)
class DimensionRow:
    """One dimension: what it means, its targets, and what 5 and 1 look like in this script."""

    dimension: taxonomy.Dimension
    targets: list[Target]
    five: str
    one: str
    is_general: bool
    is_main: bool
    is_not_applicable: bool
    errors: list[str]
    pointer: taxonomy.Pointer | None
    pointer_tags: list[taxonomy.Tag]


@dataclass(frozen=True)
class FormPage:
    """The form with all that stands around it.

    `mates` are the tester's other results of the same call; `at_odds` is the one that this form can't stand beside.
    `held` is the call with its moments, where it was held beside the live-call page.
    """

    form: ResultForm
    uuid: str = ""
    draft_version: int = 0
    saved_at: datetime | None = None
    is_new: bool = False
    is_unsaved: bool = False
    is_merged: bool = False
    result_version: int = 0
    mates: list[Result] = field(default_factory=list)
    at_odds: Result | None = None
    other_drafts: list[DraftLine] = field(default_factory=list)
    held: Call | None = None

    @cached_property
    def recording(self) -> Recording | None:
        """Of the call, the one that can be played or is on its way; the latest of several."""
        if self.call is None:
            return None
        known = Recording.objects.visible_to(self.form.tester).filter(tester=self.form.tester, call_uuid=self.call)
        return known.expected().order_by("-created_at").first()

    @property
    def takes_a_file(self) -> bool:
        """Whether the site knows the call already, so that a recording can be uploaded to it."""
        return self.held is not None or bool(self.result_version) or bool(self.mates)

    @property
    def call(self) -> uuids.UUID | None:
        """The call that the form names, as far as it is one."""
        try:
            return uuids.UUID(str(self.form["call"].value() or ""))
        except ValueError:
            return None

    @property
    def moments(self) -> Folded:
        """Those of the call that were not withdrawn, from what was read with it."""
        moments = self.held.moments.all() if self.held else ()
        return fold_moments(moment for moment in moments if not moment.is_withdrawn)

    @property
    def open_mates(self) -> list[Result]:
        """Those that a correction of the call's facts changes too."""
        return [mate for mate in self.mates if mate.reviewed_at is None]

    @property
    def open_titles(self) -> str:
        return titles_of(self.open_mates)

    @property
    def reviewed_titles(self) -> str:
        return titles_of(mate for mate in self.mates if mate.reviewed_at is not None)

    @property
    def scripts_of_the_call(self) -> int:
        """How many results share what is said about the call, this one included."""
        return len(self.open_mates) + 1

    @property
    def returning_hint(self) -> str:
        hint = "Returning user: repetition only shows across calls."
        holds_for_more = self.result_version and self.open_mates
        return f"{hint} Holds for all {self.scripts_of_the_call} scripts of this call." if holds_for_more else hint

    @property
    def version(self) -> ScriptVersion:
        return self.form.version_run

    @cached_property
    def latest(self) -> ScriptVersion | None:
        """The version that the script is at now, where it may be the one that was run and is not the one shown.

        A call that was held beside its page knows its version: nobody is asked for it.
        """
        script = self.version.script
        is_latest = script.latest_id in {None, self.version.pk}
        return None if is_latest or self.is_known_to_be_run else script.latest

    @cached_property
    def is_known_to_be_run(self) -> bool:
        """Whether the call says that it was this version: then an edit of the script in between is no news."""
        return self.held is not None and self.held.runs.filter(script_version=self.version).exists()

    @property
    def version_number(self) -> int:
        """As this tester knows it: the bare number may tell of versions that are kept from them."""
        return self.version.number_for(self.form.tester)

    @property
    def latest_number(self) -> int | None:
        return self.latest.number_for(self.form.tester) if self.latest else None

    @property
    def builds(self) -> list[tuple[Build, bool]]:
        chosen = str(self.form["build"].value() or "")
        return [(build, str(build.pk) == chosen) for build in Build.objects.all()]

    @property
    def errors(self) -> list[tuple[str, str]]:
        """(anchor, words) of everything that is wrong, in the order of the page."""
        found = self.form.errors
        return [(_ANCHORS.get(name, f"id_{name}"), str(words)) for name in _IN_ORDER for words in found.get(name, [])]

    @property
    def dimensions(self) -> list[DimensionRow]:
        return [self._dimension(dimension, anchor) for dimension, anchor in self.version.anchors_by_dimension()]

    def _dimension(self, dimension: taxonomy.Dimension, anchor: ShownAnchor) -> DimensionRow:
        value = str(self.form[dimension.key].value() or "")
        words = {1: dimension.one, 3: dimension.three, 5: dimension.five}
        pointer = next((pointer for pointer in taxonomy.POINTERS if pointer.dimension == dimension.key), None)
        return DimensionRow(
            dimension=dimension,
            targets=[Target(n, words.get(n, ""), meaning, value == str(n)) for n, meaning in taxonomy.SCALE],
            five=anchor.five,
            one=anchor.one,
            is_general=anchor.is_general,
            is_main=anchor.is_main,
            is_not_applicable=dimension.key == "vision" and self._is_camera_off(value),
            errors=[str(words) for words in self.form.errors.get(dimension.key, [])],
            pointer=pointer,
            pointer_tags=[taxonomy.TAG_BY_KEY[tag] for tag in pointer.tags] if pointer else [],
        )

    def _is_camera_off(self, vision: str) -> bool:
        return vision == "na" or (not vision and self.form["camera_used"].value() == "no")

    @property
    def groups(self) -> list[GroupRow]:
        return groups_of(self.form.tags, self.form.place_of)

    @property
    def strangers(self) -> list[tuple[str, str]]:
        return strangers_in(self.form.data, self.form.tags) if self.form.is_bound else []

    def context(self) -> dict[str, object]:
        """What the template needs."""
        return {
            "page": self,
            "form": self.form,
            "scale": taxonomy.SCALE,
            "most_comment": MOST_COMMENT_CHARACTERS,
            "zone": settings.TIME_ZONE,
            "zone_name": settings.TIME_ZONE.rpartition("/")[2].replace("_", " "),
        }
