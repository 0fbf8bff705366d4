"""The form that removes a recording: why, for everybody who may see that there was one."""

from __future__ import annotations

from django import forms

from scripts_catalog.forms import OneLine

from .removal_reasons import MOST_WORDS, SAID_BY_PEOPLE, Reason


class RemovalForm(forms.Form):
    reason = forms.ChoiceField(
        label="Why",
        choices=[(reason.value, reason.label) for reason in SAID_BY_PEOPLE],
        widget=forms.RadioSelect,
        error_messages={"required": "Say why the recording is removed.", "invalid_choice": "Pick one of the reasons."},
    )
    words = OneLine(
        label="In your own words",
        required=False,
        max_length=MOST_WORDS,
        help_text="Stays here in place of the recording. Don’t repeat what should not be kept.",
        error_messages={"max_length": f"That is longer than {MOST_WORDS} characters."},
    )

    def clean_reason(self) -> Reason:
        return Reason(self.cleaned_data["reason"])
