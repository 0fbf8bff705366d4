"""What stands on the navigation, by role."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest

from .roles import Role


@dataclass(frozen=True)
class Entry:
    label: str
    url_name: str
    path: str
    roles: frozenset[Role]


EVERYONE = frozenset(Role)
ENTRIES = (
    Entry("Scripts", "scripts", "/scripts/", EVERYONE),
    Entry("Results", "results", "/results/", EVERYONE),
    Entry("Dashboard", "dashboard", "/dashboard/", frozenset({Role.MANAGER, Role.EVAL_TEAM})),
    Entry("Builds", "builds", "/builds/", frozenset({Role.EVAL_TEAM})),
    Entry("Import", "import_sheet", "/import/", frozenset({Role.EVAL_TEAM})),
    Entry("People", "people", "/people/", frozenset({Role.MANAGER, Role.ADMINISTRATOR})),
    Entry("Guide", "guide", "/guide/", EVERYONE),
)


def navigation(request: HttpRequest) -> dict[str, object]:
    """The entries this person may use; the one of the present page is marked by its path."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"navigation": ()}
    entries = [entry for entry in ENTRIES if user.has_role(*entry.roles)]
    present = next((entry for entry in entries if request.path.startswith(entry.path)), None)
    return {"navigation": entries, "present": present}
