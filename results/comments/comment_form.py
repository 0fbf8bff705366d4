"""The form under a thread."""

from __future__ import annotations

from django import forms

from ..filing.rules import has_words, without_control_characters

MOST_CHARACTERS = 5_000
TOO_LONG = "A comment has at most 5,000 characters; this one has %(show_value)s."


class SaidField(forms.CharField):
    """Text with line ends; control characters are removed, not refused."""

    def to_python(self, value: object) -> str:
        return without_control_characters(str(value or "")).strip()


class CommentForm(forms.Form):
    """One comment."""

    text = SaidField(
        label="Your comment",
        max_length=MOST_CHARACTERS,
        help_text="Everybody who may see this result reads it. Web addresses become links.",
        error_messages={"required": "Write something first.", "max_length": TOO_LONG},
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if not has_words(text):
            raise forms.ValidationError("Write something first.")
        return text
