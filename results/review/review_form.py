"""The form of a review: are the tester's tags right, and if not, which are, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from scripts_catalog import taxonomy

from ..filing.forms import TextField, sentence
from ..filing.places import read_places
from ..filing.rules import Code, Fault, has_words
from ..models import MOST_REASON_CHARACTERS
from .compare_tags import Comparison, compare_tags, label_of
from .file_review import Judged
from .keep_draft import Fields
from .reasons import OTHER_TAGS
from .tags_form import TagsForm, fields_of

RIGHT, CHANGED = "right", "changed"
JUDGED = ((RIGHT, "The tags are right"), (CHANGED, "I change them"))
UNSAID = "Say whether the tags are right."


class ReviewForm(TagsForm):
    """A review of tags that were filed as `filed`. Its places begin as the tester's, so that only changes are work."""

    typed_by = forms.CharField(required=False, widget=forms.HiddenInput)
    judged = forms.ChoiceField(
        choices=JUDGED, error_messages={"required": UNSAID, "invalid_choice": UNSAID}, widget=forms.RadioSelect
    )
    reason = TextField(required=False)

    says: Judged

    def __init__(self, data: Any = None, *, filed: Sequence[str], reviewer: int, draft: Fields | None = None) -> None:
        super().__init__(data, before=filed, initial=draft or fields_of(filed))
        self.reviewer = reviewer

    def clean(self) -> dict[str, Any]:
        self._check_whose_it_is()
        places = read_places(self.data)
        for fault in (*places.faults, *self._faults_of(places.tags)):
            self.add_error("problems", fault)
        self.says = Judged(places.tags, (self.cleaned_data.get("reason") or "").strip())
        self._check_what_is_said(compare_tags(self.before, places.tags))
        if "problems" not in self.errors:
            self.check_none_is_meant(places.tags)
        return self.cleaned_data

    def _check_whose_it_is(self) -> None:
        typed_by = self.cleaned_data.get("typed_by")
        if typed_by and typed_by != str(self.reviewer):
            self.add_error(None, "This was typed by somebody else, who was signed in when the page was opened.")

    def _faults_of(self, tags: Sequence[str]) -> list[str]:
        unknown = [Fault("problems", Code.UNKNOWN_TAG, tag) for tag in tags if tag not in taxonomy.TAG_BY_KEY]
        known = [tag for tag in tags if tag in taxonomy.TAG_BY_KEY and tag not in self.pickable]
        return [sentence(fault) for fault in (*unknown, *(Fault("problems", Code.RETIRED_TAG, tag) for tag in known))]

    def _check_what_is_said(self, found: Comparison) -> None:
        judged = self.cleaned_data.get("judged")
        if judged == RIGHT and not found.is_same:
            self.add_error("judged", f"You say that the tags are right, but your list differs: {found.in_words}.")
        if judged == CHANGED and found.is_same and "problems" not in self.errors:
            self.add_error(
                "judged", "Your list is the same as the tester’s: change it, or say that the tags are right."
            )
        if not found.is_same and not has_words(self.says.reason):
            self.add_error("reason", _asks_for_words(found))
        over = len(self.says.reason) - MOST_REASON_CHARACTERS
        if over > 0:
            self.add_error("reason", f"At most {MOST_REASON_CHARACTERS:,} characters can be kept: take out {over:,}.")


def _asks_for_words(found: Comparison) -> str:
    other = next((tag for tag in found.added if tag in OTHER_TAGS), None)
    if other is not None:
        return f"You added “{label_of(other)}”: say in a few words what it is."
    return "Say in a few words why your tags differ from the tester’s."
