"""The form that a member makes a token with."""

from __future__ import annotations

from typing import Any

from django import forms

from ..models import ApiToken, User
from .scopes import WORDS_OF, Scope, scopes_for
from .tokens import LONGEST_DAYS, LOOKS_LIKE_ONE, MOST_TOKENS, USUAL_DAYS

LIVES = [
    (7, "a week"),
    (30, "30 days"),
    (USUAL_DAYS, f"{USUAL_DAYS} days"),
    (180, "180 days"),
    (LONGEST_DAYS, "a year"),
]


class TokenForm(forms.Form):
    """Its name, what it may do and for how long; no more than its owner may do."""

    name = forms.CharField(
        max_length=80,
        label="Name",
        help_text="What it is for, such as “Nightly run on the build server”. Administrators read it too.",
        error_messages={"required": "Say what the token is for."},
    )
    scopes = forms.MultipleChoiceField(
        label="What it may do",
        error_messages={
            "required": "Pick at least one thing that it may do.",
            "invalid_choice": "Pick from the list: %(value)s is not on it.",
        },
    )
    days = forms.TypedChoiceField(
        choices=LIVES,
        coerce=int,
        initial=USUAL_DAYS,
        label="For how long",
        error_messages={"required": "Say for how long.", "invalid_choice": "Pick one of the times from the list."},
    )

    def __init__(self, data: Any = None, *, owner: User) -> None:
        super().__init__(data)
        self.owner = owner
        self.fields["scopes"] = forms.MultipleChoiceField(
            label="What it may do",
            choices=[(scope.value, WORDS_OF[scope]) for scope in scopes_for(owner.roles)],
            error_messages=self.base_fields["scopes"].error_messages,
        )

    def clean_name(self) -> str:
        name = " ".join(str(self.cleaned_data["name"]).split())
        if LOOKS_LIKE_ONE.search(name):
            raise forms.ValidationError("This holds a token. A name is for everybody to read: choose another.")
        if not name.isprintable():
            raise forms.ValidationError("Leave out what can't be seen.")
        if ApiToken.objects.in_force().filter(owner=self.owner, name=name).exists():
            raise forms.ValidationError("You have a token of this name. Choose another, or revoke that one first.")
        return name

    def clean(self) -> dict[str, Any]:
        if ApiToken.objects.in_force().filter(owner=self.owner).count() >= MOST_TOKENS:
            raise forms.ValidationError(f"You have {MOST_TOKENS} tokens. Revoke one that you don't need any more.")
        return dict(self.cleaned_data)

    def picked(self) -> list[Scope]:
        return [Scope(scope) for scope in self.cleaned_data["scopes"]]

    @property
    def rows(self) -> list[tuple[str, str, bool]]:
        """Each scope with its words, and whether it is picked."""
        picked = self["scopes"].value() or []
        return [(scope.value, WORDS_OF[scope], scope.value in picked) for scope in scopes_for(self.owner.roles)]
