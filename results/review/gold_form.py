"""The form of a known answer: the tags in order, and why they are right."""

from __future__ import annotations

from typing import Any

from django import forms

from ..filing.forms import TextField
from ..filing.places import read_places
from ..filing.rules import has_words
from ..models import MOST_REASON_CHARACTERS
from .tags_form import TagsForm, fields_of


class GoldForm(TagsForm):
    """Begins with `tags` and `why`: the answer that is there, or the tags as they were filed."""

    why = TextField(
        label="Why this is the answer",
        help_text="Reviewers read it beside their own answer, after they have given it.",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        error_messages={"required": "Say in a few words why this is the answer."},
    )

    tags: tuple[str, ...]

    def __init__(self, data: Any = None, *, tags: list[str], why: str = "") -> None:
        super().__init__(data, before=tags, initial={**fields_of(tags), "why": why})

    def clean_why(self) -> str:
        why = str(self.cleaned_data["why"] or "").strip()
        if not has_words(why):
            raise forms.ValidationError("Say in a few words why this is the answer.")
        if len(why) > MOST_REASON_CHARACTERS:
            raise forms.ValidationError(f"At most {MOST_REASON_CHARACTERS:,} characters can be kept.")
        return why

    def clean(self) -> dict[str, Any]:
        places = read_places(self.data)
        faults = [*places.faults]
        if any(tag not in self.pickable for tag in places.tags):
            faults.append("One of these is not on the list of problems any more: take it out.")
        for fault in faults:
            self.add_error("problems", fault)
        if not faults:
            self.check_none_is_meant(places.tags)
        self.tags = places.tags
        return self.cleaned_data
