"""The views that somebody may open: their own, and those that others share with the team."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from emma_eval.accounts.models import User
from scripts_catalog.names import ANY_BUILD

from ..listing.chips import chips_of
from ..listing.choices import Choices, choices_for
from ..listing.filter_form import FilterForm
from ..listing.list_results import Asked, read_asked
from ..models import SavedView
from .addresses import Address, Covered, may_open, read_address, read_covered


@dataclass(frozen=True)
class Shown:
    """A view with what it is narrowed to, in words that its reader may read."""

    view: SavedView
    address: Address
    words: str

    @property
    def page(self) -> str:
        return self.address.page.label


@dataclass(frozen=True)
class Views:
    own: list[Shown]
    shared: list[Shown]


def list_views(user: User) -> Views:
    """By name. What names anything that this person may not know of is not in it, nor pages they may not open."""
    choices, covered = choices_for(user), read_covered()
    own = SavedView.objects.filter(owner=user)
    shared = SavedView.objects.filter(is_shared=True, owner__is_active=True).exclude(owner=user).select_related("owner")
    return Views(_shown(user, own, choices, covered), _shown(user, shared, choices, covered))


def own_view(user: User, pk: int) -> tuple[SavedView, Address] | None:
    """This person's view of this key, if they may open it at present."""
    view = SavedView.objects.filter(owner=user, pk=pk).first()
    address = read_address(view.path, view.query) if view else None
    return (view, address) if view and address and may_open(user, address, read_covered()) else None


def in_words(address: Address, choices: Choices) -> str:
    """What the page is narrowed to; "everything" where it is not."""
    said = {**dict(address.params), **({"script": address.script} if address.script else {})}
    filters = FilterForm(said, choices, any_build=ANY_BUILD).filters()
    asked = Asked(filters, read_asked(filters, {}).sort)
    return " · ".join(chip.words for chip in chips_of(asked, choices)) or "everything"


def _shown(user: User, views: Iterable[SavedView], choices: Choices, covered: Covered) -> list[Shown]:
    found = []
    for view in views:
        address = read_address(view.path, view.query)
        if address is not None and may_open(user, address, covered):
            found.append(Shown(view, address, in_words(address, choices)))
    return found
