"""What a token may be made for, and which roles may have that done in their name.

A room that adds endpoints adds its scopes here. A scope never gives more than the roles of its owner do on the pages.
What is for administrators alone (people, roles, training, the audit trail) has no scope: no program does that.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from ..role import Role


class Scope(StrEnum):
    SCRIPTS_READ = "scripts:read"
    BUILDS_READ = "builds:read"
    BUILDS_WRITE = "builds:write"
    RESULTS_READ = "results:read"
    RESULTS_WRITE = "results:write"


EVERYBODY = frozenset(Role)
ROLES_OF = {
    Scope.SCRIPTS_READ: EVERYBODY,
    Scope.BUILDS_READ: EVERYBODY,
    Scope.BUILDS_WRITE: frozenset({Role.EVAL_TEAM}),
    Scope.RESULTS_READ: EVERYBODY,
    Scope.RESULTS_WRITE: frozenset({Role.TESTER}),
}
WORDS_OF = {
    Scope.SCRIPTS_READ: "read scripts and their versions",
    Scope.BUILDS_READ: "read the builds of Emma",
    Scope.BUILDS_WRITE: "register builds, change what is said of them, make one current",
    Scope.RESULTS_READ: "read results, and what was kept of their calls",
    Scope.RESULTS_WRITE: "file results in your name, and correct your own",
}


def scopes_for(roles: Iterable[Role]) -> list[Scope]:
    """The scopes that somebody of these roles may give to a program."""
    held = frozenset(roles)
    return [scope for scope in Scope if held & ROLES_OF[scope]]
