"""The form of a known answer: the tags in order, and why they are right."""

from __future__ import annotations

from typing import Any

from django import forms

from scripts_catalog import taxonomy

from ..filing.forms import TextField
from ..filing.places import GroupRow, groups_of, read_places, strangers_in
from ..filing.rules import has_words
from ..filing.typed import place_name
from ..models import MOST_REASON_CHARACTERS
from .review_form import check_none_is_meant, fields_of


class GoldForm(forms.Form):
    """Begins with `tags` and `why`: the answer that is there, or the tags as they were filed."""

    problems = forms.Field(required=False)
    no_problem = forms.BooleanField(required=False)
    why = TextField(
        label="Why this is the answer",
        help_text="Reviewers read it beside their own answer, after they have given it.",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        error_messages={"required": "Say in a few words why this is the answer."},
    )

    tags: tuple[str, ...]

    def __init__(self, data: Any = None, *, tags: list[str], why: str = "") -> None:
        super().__init__(data, initial={**fields_of(tags), "why": why})
        self.before = tags

    @property
    def typed(self) -> Any:
        return self.data if self.is_bound else self.initial

    @property
    def pickable(self) -> list[str]:
        """Tags of now, and retired ones that the answer has already."""
        return [key for key, tag in taxonomy.TAG_BY_KEY.items() if tag.retired_in is None or key in self.before]

    @property
    def groups(self) -> list[GroupRow]:
        return groups_of(self.pickable, lambda tag: str(self.typed.get(place_name(tag)) or ""))

    @property
    def strangers(self) -> list[tuple[str, str]]:
        return strangers_in(self.typed, self.pickable)

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
            check_none_is_meant(self, places.tags, self.before)
        self.tags = places.tags
        return self.cleaned_data
