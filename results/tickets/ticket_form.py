"""The form that links a result or a problem to a ticket elsewhere. The link is judged as text, never opened."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.forms import OneLine
from scripts_catalog.models import Build, Script

from ..models import Result
from .link_ticket import About

MOST_LINK_CHARACTERS = 2_000
NOT_A_LINK = "Paste the ticket's whole address. It begins with https:// and holds no password and no spaces."


def is_ticket_link(link: str) -> bool:
    """An https address of any host, also one inside the organisation: the site never opens it, people do."""
    if not link.isprintable() or " " in link or "\\" in link:
        return False
    try:
        parts = urlsplit(link)
        has_valid_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and has_valid_port


class LinkField(forms.CharField):
    """One address; what surrounds it is cut off."""

    def to_python(self, value: object) -> str:
        return str(value or "").strip()

    def validate(self, value: str) -> None:
        super().validate(value)
        if not is_ticket_link(value):
            raise forms.ValidationError(NOT_A_LINK)


class TicketForm(forms.Form):
    """A ticket of one result (`result`), whose script and build it has, or of a problem that is picked."""

    link = LinkField(
        label="Address of the ticket",
        max_length=MOST_LINK_CHARACTERS,
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
        error_messages={"required": NOT_A_LINK, "max_length": "The address is longer than 2,000 characters."},
    )
    title = OneLine(
        max_length=200,
        help_text="As it is called there. Whoever may see what the ticket is about reads it.",
        error_messages={"required": "Give the ticket a title."},
    )
    tag = forms.ChoiceField(
        label="Problem",
        error_messages=dict.fromkeys(("required", "invalid_choice"), "Pick the problem that it is about."),
    )
    script = forms.ChoiceField(
        required=False,
        help_text="Left open, later runs of every script are looked at.",
        error_messages={"invalid_choice": "There is no such script."},
    )
    build = forms.ChoiceField(
        label="Seen on build",
        help_text="Builds after this one show whether it came back.",
        error_messages=dict.fromkeys(("required", "invalid_choice"), "Pick the build that it was seen on."),
    )

    def __init__(self, *args: Any, user: User, result: Result | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.result = result
        if result is None:
            self._ask_for(user)
        else:
            self._take_from(result)

    def _ask_for(self, user: User) -> None:
        groups = [(group.name, [(tag.key, tag.label) for tag in group.tags]) for group in taxonomy.TAG_GROUPS]
        self._choices("tag", [("", "Pick a problem"), *groups])
        scripts = Script.objects.visible_to(user).filter(latest__isnull=False)
        titles = scripts.values_list("slug", "latest__title")
        self._choices("script", [("", "Any script"), *sorted(titles, key=lambda row: row[1].lower())])
        self._choices("build", [("", "Pick a build"), *Build.objects.values_list("sort_key", "name")])

    def _take_from(self, result: Result) -> None:
        """Script and build are the result's own; of its problems one is picked, the biggest first."""
        del self.fields["script"], self.fields["build"]
        tags = [(problem.tag, problem.label) for problem in result.problems.all()]
        if tags:
            self._choices("tag", tags)
        else:
            del self.fields["tag"]

    def about(self) -> About:
        """What the ticket is about, once the form is valid."""
        said = self.cleaned_data
        if self.result is not None:
            return About.result_of(self.result, said.get("tag", ""))
        script = Script.objects.get(slug=said["script"]) if said["script"] else None
        return About(Build.objects.get(sort_key=said["build"]), said["tag"], script)

    def _choices(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101  (for the type checker)
        field.choices = choices
