"""The form in which a lead picks one of several reviews, with a word why."""

from __future__ import annotations

from typing import Any

from django import forms

from ..filing.forms import TextField
from ..filing.rules import has_words
from ..models import Review

MOST_WORD = 500


class PickForm(forms.Form):
    """`reviews`: what there is to pick from."""

    picked_review = forms.CharField(error_messages={"required": "Pick one of the reviews."})
    word = TextField(required=False)

    def __init__(self, data: Any = None, *, reviews: list[Review]) -> None:
        super().__init__(data)
        self.reviews = reviews

    @property
    def picked(self) -> int:
        return int(self.cleaned_data["picked_review"])

    @property
    def word_given(self) -> str:
        return str(self.cleaned_data["word"])

    def clean_picked_review(self) -> str:
        """One of those that are shown; what else a browser may send is none of them."""
        said = str(self.cleaned_data["picked_review"])
        if said not in {str(review.pk) for review in self.reviews}:
            raise forms.ValidationError("Pick one of the reviews.")
        return said

    def clean_word(self) -> str:
        word = (self.cleaned_data["word"] or "").strip()
        if not has_words(word):
            raise forms.ValidationError("Say in a few words why you pick it.")
        if len(word) > MOST_WORD:
            raise forms.ValidationError(
                f"At most {MOST_WORD} characters can be kept: take out {len(word) - MOST_WORD}."
            )
        return word
