"""What stands on the navigation, by role."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest

from .models import User
from .roles import Role


@dataclass(frozen=True)
class Entry:
    """A room by its address: the rooms stand on higher floors, which this one does not know."""

    label: str
    path: str
    roles: frozenset[Role]


EVERYONE = frozenset(Role)
ENTRIES = (
    Entry("Scripts", "/scripts/", EVERYONE),
    Entry("Results", "/results/", EVERYONE),
    Entry("To do", "/todo/", frozenset({Role.TESTER})),
    Entry("Review", "/review/", frozenset({Role.EVAL_TEAM, Role.EVAL_LEAD})),
    Entry("Dashboard", "/dashboard/", frozenset({Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD})),
    Entry("Rounds", "/rounds/", frozenset({Role.EVAL_TEAM, Role.EVAL_LEAD, Role.MANAGER})),
    Entry("Tickets", "/tickets/", frozenset({Role.EVAL_TEAM, Role.EVAL_LEAD, Role.MANAGER})),
    Entry("Comments", "/comments/", frozenset({Role.EVAL_TEAM, Role.EVAL_LEAD, Role.MANAGER})),
    Entry("Builds", "/builds/", frozenset({Role.EVAL_TEAM})),
    Entry("Import", "/import/", frozenset({Role.EVAL_TEAM})),
    Entry("People", "/people/", frozenset({Role.MANAGER, Role.ADMINISTRATOR})),
    Entry("Guide", "/guide/", EVERYONE),
)
# What is set up once and then left alone: under the person's own name.
MENU = (Entry("Webhooks", "/webhooks/", frozenset({Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD, Role.ADMINISTRATOR})),)


def has_room_of(user: User, path: str) -> bool:
    """Whether the room that an address stands in is this person's; addresses of no room here are nobody's."""
    return any(path.startswith(entry.path) and user.has_role(*entry.roles) for entry in ENTRIES)


def navigation(request: HttpRequest) -> dict[str, object]:
    """The entries this person may use; the one of the present page is marked by its path."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"navigation": ()}
    entries = [entry for entry in ENTRIES if user.has_role(*entry.roles)]
    present = next((entry for entry in entries if request.path.startswith(entry.path)), None)
    menu = [entry for entry in MENU if user.has_role(*entry.roles)]
    return {"navigation": entries, "present": present, "menu": menu}
