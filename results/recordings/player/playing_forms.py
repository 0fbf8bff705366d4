"""The forms of the player: a note, where a moment is, and a transcript."""

from __future__ import annotations

from typing import Any

from django import forms

from ...filing.rules import has_words, without_control_characters
from ...models import MOST_NOTE_ON_RECORDING_CHARACTERS, Moment, Recording, Sides
from .align_recording import offset_for
from .captions import MOST_CAPTIONS_BYTES, Cue, UnreadableCaptionsError, read_captions
from .clocks import read_clock
from .correct_sides import CHOICES

NO_PLACE = "Say where, as 1:23 or in seconds."
BEYOND = "The recording ends before that."


class PlaceField(forms.CharField):
    """A place in a recording, typed as people read clocks; milliseconds."""

    def __init__(self, **more: Any) -> None:
        attrs = {"inputmode": "decimal", "autocomplete": "off"}
        super().__init__(max_length=20, error_messages={"required": NO_PLACE}, widget=forms.TextInput(attrs), **more)

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text and not self.required:
            return None
        at_ms = read_clock(text)
        if at_ms is None:
            raise forms.ValidationError(NO_PLACE)
        return at_ms


class OfRecording(forms.Form):
    """A form about one recording."""

    def __init__(self, data: Any, recording: Recording, **more: Any) -> None:
        super().__init__(data, **more)
        self.recording = recording

    def _within(self, at_ms: int) -> int:
        if self.recording.duration_ms is not None and at_ms > self.recording.duration_ms:
            raise forms.ValidationError(BEYOND)
        return at_ms


class NoteForm(OfRecording):
    """What somebody notes while listening."""

    at = PlaceField(label="At")
    words = forms.CharField(
        label="Note",
        max_length=MOST_NOTE_ON_RECORDING_CHARACTERS,
        error_messages={
            "required": "Write something first.",
            "max_length": "A note has at most 500 characters; this one has %(show_value)s.",
        },
        widget=forms.TextInput({"autocomplete": "off", "dir": "auto"}),
    )

    def clean_at(self) -> int:
        return self._within(self.cleaned_data["at"])

    def clean_words(self) -> str:
        words = " ".join(without_control_characters(self.cleaned_data["words"]).split())
        if not has_words(words):
            raise forms.ValidationError("Write something first.")
        return words


class AlignForm(OfRecording):
    """Where a moment is; or that all are so much earlier or later than they stand."""

    by_ms = forms.IntegerField(required=False, min_value=-60_000, max_value=60_000)
    anew = forms.BooleanField(required=False)
    moment = forms.IntegerField(required=False)
    at = PlaceField(label="is at", required=False)
    offset_ms: int

    def __init__(self, data: Any, recording: Recording, moments: list[Moment], **more: Any) -> None:
        super().__init__(data, recording, **more)
        self.moments = moments

    def clean_at(self) -> int | None:
        at_ms = self.cleaned_data["at"]
        return None if at_ms is None else self._within(at_ms)

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("anew"):
            self.offset_ms = 0
        elif said.get("by_ms") is not None:
            self.offset_ms = self.recording.offset_ms + said["by_ms"]
        else:
            self.offset_ms = self._offset_of_a_moment(said)
        return said

    def _offset_of_a_moment(self, said: dict[str, Any]) -> int:
        moment = next((each for each in self.moments if each.number == said.get("moment")), None)
        if moment is None:
            raise forms.ValidationError("Choose a moment.")
        if said.get("at") is None:
            raise forms.ValidationError(NO_PLACE)
        return offset_for(self.recording, moment.at_ms, said["at"])


class SidesForm(forms.Form):
    """Who is heard on which side."""

    sides = forms.TypedChoiceField(
        label="Who is heard where",
        choices=[(each.value, each.label) for each in CHOICES],
        coerce=Sides,
        error_messages={"required": "Choose one.", "invalid_choice": "Choose one."},
    )


class CaptionsForm(forms.Form):
    """A transcript with times, as WebVTT."""

    cues: list[Cue]
    file = forms.FileField(
        label="Transcript",
        help_text="A WebVTT file (.vtt) of at most 1 MB, with times of this recording.",
        error_messages={"required": "Choose a file.", "empty": "This file is empty."},
        widget=forms.FileInput({"accept": ".vtt,text/vtt"}),
    )

    def clean_file(self) -> bytes:
        sent = self.cleaned_data["file"]
        if sent.size > MOST_CAPTIONS_BYTES:
            raise forms.ValidationError("A transcript has at most 1 MB.")
        content: bytes = sent.read()
        try:
            self.cues = read_captions(content)
        except UnreadableCaptionsError as fault:
            raise forms.ValidationError(str(fault)) from fault
        return content
