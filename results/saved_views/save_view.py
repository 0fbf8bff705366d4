"""Keep a page under a name, change what is kept of it, and forget it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from ..digest.due import week_due
from ..models import Digest, SavedView
from .addresses import Address, read_address

MOST_VIEWS = 100
OF_VIEWS = ("shared a view", "stopped sharing a view", "asked for a weekly digest", "stopped a weekly digest")


@dataclass(frozen=True)
class Said:
    """What somebody says of a view: its name, whether the team sees it, whether it comes by mail each week."""

    name: str
    is_shared: bool = False
    is_mailed: bool = False


class NameTakenError(Exception):
    """This person has a view of this name."""


class TooManyViewsError(Exception):
    """This person has as many views as anybody may have."""


class CannotBeMailedError(Exception):
    """The page has no digest, or it is about something that a digest never tells of."""


def save_view(owner: User, address: Address, said: Said, now: datetime) -> SavedView:
    """Raises NameTakenError, TooManyViewsError or CannotBeMailedError; then nothing is kept."""
    _check_mail(address, said)
    if SavedView.objects.filter(owner=owner).count() >= MOST_VIEWS:
        raise TooManyViewsError
    view = SavedView(owner=owner, path=address.path, query=address.query)
    _write(view, said, now)
    return view


def change_view(view: SavedView, said: Said, now: datetime) -> bool:
    """False where it says so already. Raises NameTakenError or CannotBeMailedError; then nothing is changed."""
    if Said(view.name, view.is_shared, view.is_mailed) == said:
        return False
    _check_mail(read_address(view.path, view.query), said)
    _write(view, said, now)
    return True


def remove_view(view: SavedView) -> None:
    view.delete()


def _check_mail(address: Address | None, said: Said) -> None:
    if said.is_mailed and (address is None or not address.page.can_be_mailed or address.names_safety()):
        raise CannotBeMailedError


def _write(view: SavedView, said: Said, now: datetime) -> None:
    """A view that is mailed from now on is mailed from the next Monday on: the digest of this week is past."""
    was = SavedView.objects.filter(pk=view.pk).first()
    view.name, view.is_shared, view.is_mailed = said.name, said.is_shared, said.is_mailed
    try:
        with transaction.atomic():
            view.save()
            if said.is_mailed and not (was and was.is_mailed):
                Digest.objects.get_or_create(view=view, week=week_due(now))
            _record(view, was)
    except IntegrityError as cause:
        raise NameTakenError from cause


def _record(view: SavedView, was: SavedView | None) -> None:
    """That others see a view, or that a digest leaves the site, stands in the audit trail: by its key, since its name
    may tell of more than its reader may know."""
    address = read_address(view.path, view.query)
    script = dict(address.params).get("script", address.script) if address else ""
    is_safety = address is not None and address.names_safety()
    of_page: dict[str, Any] = {"page": address.page.label} if address else {}
    shared, unshared, asked, stopped = OF_VIEWS
    said = []
    if view.is_shared != (was is not None and was.is_shared):
        said.append(shared if view.is_shared else unshared)
    if view.is_mailed != (was is not None and was.is_mailed):
        said.append(asked if view.is_mailed else stopped)
    for action in said:
        audit.record(view.owner, action, str(view.pk), is_safety=is_safety, script=script[:60], **of_page)
