"""The rules of what a script, a build and a link may say. Site, YAML import and shipped file share them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from django import forms

from . import taxonomy
from .models import DIMENSION_CHOICES
from .wording import Anchor, Wording

MOST_STEPS = 30
LONGEST_STEP = 500
LONGEST_ANCHOR = 500
LONGEST_WHAT_TO_DO = 4000
KEPT_CONTROLS = {"\n"}


def without_controls(text: str) -> str:
    """Line ends as one character, tabs as spaces, everything else that can't be seen or stored left out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(sign for sign in text if sign in KEPT_CONTROLS or unicodedata.category(sign) not in {"Cc", "Cs"})


class PlainText(forms.CharField):
    """Text of any script; control characters are removed, not refused."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(without_controls(str(value or ""))))


class OneLine(PlainText):
    """Text without line ends."""

    def to_python(self, value: Any) -> str:
        return " ".join(super().to_python(value).split())


class Lines(PlainText):
    """One item a line; empty lines say nothing."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        """The items as a tuple."""
        lines = (" ".join(line.split()) for line in str(super().clean(value)).split("\n"))
        return tuple(line for line in lines if line)


class ScriptForm(forms.Form):
    """What a script says."""

    title = OneLine(max_length=120, help_text="As people will call it, such as “Bad news day”.")
    area = forms.ChoiceField(choices=taxonomy.AREAS)
    main_dimension = forms.ChoiceField(
        choices=DIMENSION_CHOICES, help_text="The one this script was written to find out about."
    )
    uses_camera = forms.BooleanField(required=False, label="The tester's camera is on during the call")
    summary = OneLine(max_length=300, help_text="One sentence for the Scripts tab.")
    what_to_do = PlainText(
        max_length=LONGEST_WHAT_TO_DO,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="How to set up before calling Emma. An empty line starts a new paragraph.",
    )
    steps = Lines(
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="One step a line, in the order of the call. The numbers are added for you.",
    )

    def __init__(self, *args: Any, areas: Sequence[tuple[str, str]] = taxonomy.AREAS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["area"] = forms.ChoiceField(choices=[("", "Choose an area"), *areas])
        self.fields["main_dimension"].choices = [("", "Choose a dimension"), *DIMENSION_CHOICES]  # type: ignore[attr-defined]
        for dimension in taxonomy.DIMENSIONS:
            for end in ("five", "one"):
                self.fields[f"{dimension.key}_{end}"] = OneLine(
                    required=False,
                    max_length=LONGEST_ANCHOR,
                    widget=forms.Textarea(attrs={"rows": 2}),
                    label=f"{dimension.name}: what {'5' if end == 'five' else '1'} looks like",
                )

    def clean_steps(self) -> tuple[str, ...]:
        steps: tuple[str, ...] = self.cleaned_data["steps"]
        if len(steps) > MOST_STEPS:
            raise forms.ValidationError(f"Write at most {MOST_STEPS} steps; these are {len(steps)}.")
        for number, step in enumerate(steps, 1):
            if len(step) > LONGEST_STEP:
                raise forms.ValidationError(f"Step {number} has {len(step)} characters; {LONGEST_STEP} is the most.")
        return steps

    def clean(self) -> None:
        uses_camera = self.cleaned_data.get("uses_camera")
        if self.cleaned_data.get("main_dimension") == "vision" and not uses_camera:
            self.add_error("main_dimension", "Vision can only be the main dimension of a script that uses the camera.")
        for key in taxonomy.DIMENSION_BY_KEY:
            five, one = (self.cleaned_data.get(f"{key}_{end}") for end in ("five", "one"))
            if key == "vision" and not uses_camera and (five or one):
                self.add_error(f"{key}_five", "Only a script that uses the camera says what Vision looks like.")
            elif bool(five) != bool(one):
                missing = "one" if five else "five"
                self.add_error(f"{key}_{missing}", "Say what both 5 and 1 look like, or leave both empty.")

    def wording(self) -> Wording:
        """What was typed, once it is right."""
        words = self.cleaned_data
        anchors = {
            key: Anchor(five=words[f"{key}_five"], one=words[f"{key}_one"])
            for key in taxonomy.DIMENSION_BY_KEY
            if words[f"{key}_five"]
        }
        return Wording(
            anchors=anchors, **{name: words[name] for name in Wording.__dataclass_fields__ if name != "anchors"}
        )
