"""What the form of a review and that of a known answer share: an ordered list of tags that begins as another one."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

from django import forms

from scripts_catalog import taxonomy

from ..filing.places import GroupRow, groups_of, strangers_in
from ..filing.typed import place_name
from .keep_draft import Fields


class TagsForm(forms.Form):
    """`before`: the tags that the list stood at."""

    problems = forms.Field(required=False)
    no_problem = forms.BooleanField(required=False)

    def __init__(self, data: Any = None, *, before: Sequence[str], initial: MutableMapping[str, Any]) -> None:
        super().__init__(data, initial=initial)
        self.before = tuple(before)

    @property
    def typed(self) -> Any:
        return self.data if self.is_bound else self.initial

    @property
    def pickable(self) -> list[str]:
        """Tags of now, and retired ones that the list had already."""
        return [key for key, tag in taxonomy.TAG_BY_KEY.items() if tag.retired_in is None or key in self.before]

    @property
    def groups(self) -> list[GroupRow]:
        return groups_of(self.pickable, lambda tag: str(self.typed.get(place_name(tag)) or ""))

    @property
    def strangers(self) -> list[tuple[str, str]]:
        return strangers_in(self.typed, self.pickable)

    def check_none_is_meant(self, tags: Sequence[str]) -> None:
        """Whoever empties a list says that there was no problem: a tag that was taken out unawares says nothing."""
        is_said = self.cleaned_data.get("no_problem")
        if self.before and not tags and not is_said:
            self.add_error("no_problem", "Your list is empty: say that there was no problem, or pick those there were.")
        if tags and is_said:
            self.add_error("no_problem", "You say that there was no problem, and your list has some: it can’t be both.")


def fields_of(tags: Sequence[str]) -> Fields:
    """The places of tags, as the form has them."""
    return {place_name(tag): str(place) for place, tag in enumerate(tags, 1)}
