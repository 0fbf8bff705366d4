"""The form of a saved view: its name, whether the team sees it, and whether it comes by mail each week."""

from __future__ import annotations

from typing import Any

from django import forms

from scripts_catalog.forms import Name

from ..models import SavedView
from .addresses import Address
from .save_view import MOST_VIEWS, Said


class ViewForm(forms.Form):
    """What somebody says of a view. `is_mailed` is asked only of pages that have a digest."""

    name = Name(
        max_length=80,
        error_messages={"required": "Give the view a name."},
        help_text="As you want to find it again, such as “Low content this month”.",
    )
    is_shared = forms.BooleanField(required=False, label="Share it with the team")
    is_mailed = forms.BooleanField(required=False, label="Mail it to me on Mondays")

    def __init__(self, address: Address, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not address.page.can_be_mailed:
            del self.fields["is_mailed"]

    def said(self) -> Said:
        """What was typed, once it is right."""
        words = self.cleaned_data
        return Said(words["name"], words["is_shared"], words.get("is_mailed", False))

    @staticmethod
    def typed_of(view: SavedView) -> dict[str, Any]:
        return {"name": view.name, "is_shared": view.is_shared, "is_mailed": view.is_mailed}

    def refuse_name(self) -> None:
        self.add_error("name", "You have a view of this name. Choose another name.")

    def refuse_mail(self) -> None:
        self.add_error("is_mailed", "This view is about Safety, and letters never are. It can't be mailed.")

    def refuse_another(self) -> None:
        self.add_error(None, f"You have {MOST_VIEWS} views, the most there may be. Remove one that you don't need.")
