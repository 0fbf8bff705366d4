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
    REVIEWS_READ = "reviews:read"
    REVIEWS_WRITE = "reviews:write"
    FIGURES_READ = "figures:read"
    ROUNDS_READ = "rounds:read"
    ROUNDS_WRITE = "rounds:write"
    COMMENTS_READ = "comments:read"
    COMMENTS_WRITE = "comments:write"
    TICKETS_READ = "tickets:read"
    TICKETS_WRITE = "tickets:write"


EVERYBODY = frozenset(Role)
REVIEWERS = frozenset({Role.EVAL_TEAM, Role.EVAL_LEAD})
WHO_READ_FIGURES = REVIEWERS | {Role.MANAGER}
ROLES_OF = {
    Scope.SCRIPTS_READ: EVERYBODY,
    Scope.BUILDS_READ: EVERYBODY,
    Scope.BUILDS_WRITE: frozenset({Role.EVAL_TEAM}),
    Scope.RESULTS_READ: EVERYBODY,
    Scope.RESULTS_WRITE: frozenset({Role.TESTER}),
    Scope.REVIEWS_READ: WHO_READ_FIGURES,
    Scope.REVIEWS_WRITE: REVIEWERS,
    Scope.FIGURES_READ: WHO_READ_FIGURES,
    Scope.ROUNDS_READ: WHO_READ_FIGURES,
    Scope.ROUNDS_WRITE: WHO_READ_FIGURES,
    Scope.COMMENTS_READ: EVERYBODY,
    Scope.COMMENTS_WRITE: EVERYBODY,
    Scope.TICKETS_READ: WHO_READ_FIGURES,
    Scope.TICKETS_WRITE: WHO_READ_FIGURES,
}
WORDS_OF = {
    Scope.SCRIPTS_READ: "read scripts and their versions",
    Scope.BUILDS_READ: "read the builds of Emma",
    Scope.BUILDS_WRITE: "register builds, change what is said of them, make one current",
    Scope.RESULTS_READ: "read results, what was kept of their calls, and their tickets",
    Scope.RESULTS_WRITE: "file results in your name, and correct your own",
    Scope.REVIEWS_READ: "read the reviews that you may read on the pages",
    Scope.REVIEWS_WRITE: "take results from the review queue, and file reviews in your name",
    Scope.FIGURES_READ: "read the figures of dashboards, comparisons, agreement and coverage",
    Scope.ROUNDS_READ: "read rounds, with what is wanted and what was run",
    Scope.ROUNDS_WRITE: "plan rounds in your name, close them and open them again",
    Scope.COMMENTS_READ: "read the comments on results",
    Scope.COMMENTS_WRITE: "comment on results in your name, and withdraw your own comments",
    Scope.TICKETS_READ: "read tickets, and whether later builds still show what they are about",
    Scope.TICKETS_WRITE: "link tickets in your name, close them and open them again",
}


def scopes_for(roles: Iterable[Role]) -> list[Scope]:
    """The scopes that somebody of these roles may give to a program."""
    held = frozenset(roles)
    return [scope for scope in Scope if held & ROLES_OF[scope]]
