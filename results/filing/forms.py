"""The results form: reads what was typed into a Filing, and says in words what is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.functional import cached_property

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, ScriptVersion

from ..models import DIMENSION_KEYS, MOST_COMMENT_CHARACTERS, MOST_NOTE_CHARACTERS, Result
from . import links
from .as_filed import faults_beside, is_retired, kept_tags_of, needs_camera_note, order_of
from .places import read_places
from .rules import Code, Fault, Filing, Ratings, as_kept, read_rating, text_as_kept
from .typed import Typed, place_name

YES, NO, NOT_APPLICABLE = "yes", "no", "na"
YES_OR_NO = ((YES, "Yes"), (NO, "No"))
TIME_FORMATS = ("%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")


class TextField(forms.CharField):
    """Text whose control characters are dropped before anything else looks at it."""

    def to_python(self, value: Any) -> str | None:
        return super().to_python(text_as_kept(value) if isinstance(value, str) else value)


class ResultForm(forms.Form):
    """One script on one call.

    `as_filed` is the result that is being corrected: its retired tags, and the seconds of its time, may stay.
    `newest` is the latest version of the script that the page knew when it was shown.
    """

    typed_by = forms.CharField(required=False, widget=forms.HiddenInput)
    script_version = forms.CharField(required=False, widget=forms.HiddenInput)
    newest = forms.CharField(required=False, widget=forms.HiddenInput)
    call = forms.UUIDField(
        required=False, widget=forms.HiddenInput, error_messages={"invalid": "This form was opened in a broken way."}
    )
    build = forms.ModelChoiceField(
        Build.objects.all(),
        empty_label="Choose a build",
        error_messages={
            "required": "Choose the build of Emma that you called.",
            "invalid_choice": "Choose a build from the list.",
        },
    )
    called_at = forms.DateTimeField(
        input_formats=TIME_FORMATS,
        error_messages={
            "required": "Say when the call took place.",
            "invalid": "Write the day and time of the call like 2026-03-02 14:36.",
        },
    )
    recording_link = TextField(required=False)
    never_started = forms.BooleanField(required=False)
    camera_used = forms.ChoiceField(choices=YES_OR_NO, required=False)
    camera_note = TextField(required=False)
    comment = TextField(required=False)
    problems = forms.Field(required=False)
    met_emma_before = forms.ChoiceField(
        choices=YES_OR_NO,
        error_messages={
            "required": "Say whether you had talked to Emma before this call.",
            "invalid_choice": "Say yes or no: had you talked to Emma before this call?",
        },
    )

    filing: Filing

    def __init__(
        self,
        data: Any = None,
        *,
        version_run: ScriptVersion,
        tester: User,
        initial: Typed | None = None,
        as_filed: Result | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        self.version_run = version_run
        self.tester = tester
        self.as_filed = as_filed
        self.was_stuck_start_added = False
        for key in DIMENSION_KEYS:
            self.fields[key] = TextField(required=False)

    @cached_property
    def kept_tags(self) -> frozenset[str]:
        """Retired tags that the result already has; they may stay on it."""
        return kept_tags_of(self.as_filed)

    @property
    def tags(self) -> list[str]:
        """Tags that can be picked here."""
        return [tag for tag in taxonomy.TAG_BY_KEY if not is_retired(tag) or tag in self.kept_tags]

    def place_of(self, tag: str) -> str:
        """The place of a tag as typed. Places are no fields of their own: there are dozens, and mostly empty."""
        typed = self.data if self.is_bound else self.initial
        return str(typed.get(place_name(tag)) or "")

    def clean_called_at(self) -> datetime:
        """A result that is corrected keeps its seconds, which the field may not show."""
        typed: datetime = self.cleaned_data["called_at"]
        if self.as_filed is None:
            return typed
        kept = self.as_filed.called_at
        return kept if typed in {kept.replace(microsecond=0), kept.replace(second=0, microsecond=0)} else typed

    def clean(self) -> dict[str, Any]:
        self._check_whose_it_is()
        self._check_the_script()
        typed = self._filing(self._read_ratings(), self._read_problems())
        self.filing = as_kept(typed)
        self.filing = replace(self.filing, problem_order=order_of(self.as_filed, self.filing.problems))
        self.was_stuck_start_added = self.filing.problems != typed.problems
        self.cleaned_data["problems"] = self.filing.problems
        for fault in faults_beside(self.as_filed, self.filing, timezone.now()):
            if fault.field not in self.errors:
                self.add_error(fault.field, sentence(fault))
        return self.cleaned_data

    def _check_whose_it_is(self) -> None:
        """A sign-in as somebody else, in another tab, must not file one person's words under another's name."""
        typed_by = self.cleaned_data.get("typed_by")
        if typed_by and typed_by != str(self.tester.pk):
            self.add_error(
                None,
                "This was typed by somebody else, who was signed in when the page was opened. "
                "Sign in again as that person, or open the form anew.",
            )

    def _check_the_script(self) -> None:
        script = self.version_run.script
        if self.as_filed is not None:
            return
        newest = self.cleaned_data.get("newest")
        if newest and newest != str(script.latest_id):
            number = self.version_run.number_for(self.tester)
            self.add_error(
                "script_version",
                f"The script was changed while you had this form open. Version {number}, the one "
                "shown here, is chosen: file again if you ran that one, or choose the newer one.",
            )

    def _read_ratings(self) -> Ratings:
        found: dict[str, int | None] = {}
        for key in DIMENSION_KEYS:
            text = self.cleaned_data.get(key) or ""
            rating = self._read_vision(text) if key == "vision" else read_rating(text)
            if isinstance(rating, Code):
                self.add_error(key, sentence(Fault(key, rating, text)))
                rating = None
            found[key] = rating
        return Ratings(**found)

    def _read_vision(self, text: str) -> int | Code | None:
        if text != NOT_APPLICABLE:
            return read_rating(text)
        if self._is_camera_used():
            self.add_error("vision", "Vision is N/A only when the camera was not used: rate it, or say so above.")
        return None

    def _is_camera_used(self) -> bool:
        """Nothing could be shown on a call that never started, whatever the camera's default says."""
        return self.cleaned_data.get("camera_used") == YES and not self.cleaned_data.get("never_started")

    def _read_problems(self) -> tuple[str, ...]:
        places = read_places(self.data)
        for fault in places.faults:
            self.add_error("problems", fault)
        return places.tags

    def _filing(self, ratings: Ratings, problems: tuple[str, ...]) -> Filing:
        said = self.cleaned_data
        return Filing(
            script_version=self.version_run,
            build=said.get("build") or Build(),
            called_at=said.get("called_at") or timezone.now(),
            ratings=ratings,
            camera_used=said.get("camera_used") == YES,
            camera_note=said.get("camera_note") or "",
            never_started=bool(said.get("never_started")),
            problems=problems,
            comment=said.get("comment") or "",
            met_emma_before=said.get("met_emma_before") == YES,
            recording_link=said.get("recording_link") or "",
            needs_camera_note=needs_camera_note(self.as_filed),
        )


def sentence(fault: Fault) -> str:
    """What is wrong, in words that say what to do."""
    dimension = taxonomy.DIMENSION_BY_KEY.get(fault.field)
    if dimension is not None:
        return _about_a_rating(fault, dimension.name)
    if fault.code in {Code.TOO_LONG, Code.LINK_TOO_LONG}:
        return _about_a_length(fault.field, int(fault.about))
    return _SENTENCES[fault.code].format(tag=_label(fault.about))


def _about_a_rating(fault: Fault, name: str) -> str:
    if fault.field == "vision" and fault.code == Code.MISSING:
        return "Rate Vision from 1 to 5, or say that the camera was not used."
    return {
        Code.MISSING: f"Rate {name} from 1 to 5.",
        Code.NOT_WHOLE: f"{name} must be a whole number from 1 to 5, not “{fault.about[:40]}”.",
        Code.OUT_OF_RANGE: f"{name} must be from 1 to 5, not {fault.about[:40]}.",
        Code.RATED_WITHOUT_CALL: f"{name} is rated, but the call never started: take one of the two back.",
        Code.RATED_WITHOUT_CAMERA: "Vision is rated, but you say the camera was not used: take one of the two back.",
    }[fault.code]


MOST_CHARACTERS = {
    "comment": MOST_COMMENT_CHARACTERS,
    "camera_note": MOST_NOTE_CHARACTERS,
    "recording_link": links.MOST_CHARACTERS,
}


def _about_a_length(field: str, length: int) -> str:
    most = MOST_CHARACTERS[field]
    if field == "recording_link":
        return f"This link has {length:,} characters, and at most {most:,} can be kept: paste a shorter one."
    return f"{length:,} characters are too many: at most {most:,} can be kept, so take out {length - most:,}."


def _label(key: str) -> str:
    tag = taxonomy.TAG_BY_KEY.get(key)
    return tag.label if tag else key[:40]


_SENTENCES = {
    Code.MISSING: "“{tag}” is missing among the problems.",
    Code.CAMERA_WITHOUT_CALL: "The camera can't have been used on a call that never started.",
    Code.NEEDS_CAMERA_NOTE: "This script uses the camera. Say in a few words why it was not used.",
    Code.UNKNOWN_TAG: "“{tag}” is not on the list of problems.",
    Code.DOUBLED_TAG: "“{tag}” is picked twice.",
    Code.RETIRED_TAG: "“{tag}” was retired and can't be picked any more.",
    Code.NEEDS_A_NOTE: "You picked “{tag}”: write a few words about it in the comment.",
    Code.NOT_A_LINK: "This is not a link that others can open. It must start with https:// and lead to a public "
    "address, without a user name or password in it.",
    Code.IN_THE_FUTURE: "The call can't be in the future.",
    Code.LONG_AGO: "Check the year: nobody called Emma before 2000.",
    Code.RETIRED_SCRIPT: "This script was retired before this time: only calls made before that can be filed.",
}
