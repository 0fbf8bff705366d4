"""What is said of an endpoint."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from emma_eval.adapters.addresses import check
from emma_eval.adapters.errors import RefusedError

from .change_endpoint import MOST_ENDPOINTS, Particulars
from .kinds import Kind, kinds_to_choose
from .models import Endpoint

LONGEST_NAME, LONGEST_ADDRESS = 80, 2000


class EndpointForm(forms.Form):
    """`owner_has` is how many endpoints its owner has besides; kinds that are unknown by now are let go of."""

    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        help_text="To tell it from others, such as “Team dashboard”. Administrators read it too.",
        error_messages={"required": "Enter a name."},
    )
    url = forms.CharField(
        label="Address",
        max_length=LONGEST_ADDRESS,
        help_text="Where your program listens: an https address that the site can reach.",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": "Enter the address where your program listens."},
    )
    kinds = forms.MultipleChoiceField(
        label="Events",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one kind of event."},
    )

    def __init__(self, *args: Any, owner_has: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner_has = owner_has
        self.fields["kinds"].choices = [(kind.name, kind.label) for kind in kinds_to_choose()]  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        """On one line, of what can be seen: a name stands in lists, letters and logs."""
        name = " ".join(str(self.cleaned_data["name"]).split())
        if not name.isprintable():
            raise ValidationError("Leave out what can't be seen.")
        return name

    def clean_url(self) -> str:
        """Written as it should be, and not plainly inside. Where its name leads is looked at when it is opened."""
        url: str = self.cleaned_data["url"]
        try:
            check(url, settings.OUTGOING_ALLOW)
        except RefusedError as cause:
            raise ValidationError(f"This address can't be used: {cause}.") from cause
        return url

    def clean(self) -> dict[str, Any]:
        if self.owner_has >= MOST_ENDPOINTS:
            raise ValidationError(f"You have {MOST_ENDPOINTS} endpoints, which is the most. Remove one first.")
        return self.cleaned_data

    def boxes(self) -> list[tuple[Any, Kind]]:
        """Each box of the kinds, with its kind."""
        return list(zip(self["kinds"], kinds_to_choose(), strict=True))

    def particulars(self) -> Particulars:
        said = self.cleaned_data
        return Particulars(said["name"], said["url"], said["kinds"])


def said_of(endpoint: Endpoint) -> dict[str, object]:
    """What the form begins with."""
    return {"name": endpoint.name, "url": endpoint.url, "kinds": endpoint.kinds}
