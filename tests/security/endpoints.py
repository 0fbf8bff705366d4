"""Whose programs may ask for what. A new endpoint stands here, or test_access.py fails by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from emma_eval.accounts.roles import Role

from .access import EVAL_TEAM, MANAGER_EVAL_AND_LEAD, MEMBERS, TESTER, Args
from .world import World


@dataclass(frozen=True)
class Endpoint:
    """`reads`, `writes`: the roles whose programs may GET and PUT. `args` make its address, `hidden` that of a thing
    of Safety behind it. `absent`: it may rightly answer 404. `others`: what a PUT to a thing of a colleague answers.
    `verb`: what writes, where it isn't a PUT.
    """

    reads: frozenset[str]
    writes: frozenset[str] = frozenset()
    args: Args = lambda world: {}
    hidden: Args | None = None
    absent: bool = False
    others: int | None = None
    verb: str = "put"

    @property
    def methods(self) -> frozenset[str]:
        return frozenset({*({"get", "head"} if self.reads else ()), *({self.verb} if self.writes else ())})

    def who_may(self, method: str) -> frozenset[str]:
        return self.writes if method == self.verb else self.reads


def _script(world: World) -> dict[str, Any]:
    return {"slug": world.script.slug}


def _hidden_script(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"slug": world.hidden.script.slug}


def _result(world: World) -> dict[str, Any]:
    return {"key": str(world.result.pk)}


def _hidden_result(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"key": str(world.hidden.own_result.pk)}


def _hidden_round(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"key": str(world.hidden.round.pk)}


def _comment(world: World) -> dict[str, Any]:
    return {"key": str(world.comment.pk)}


def _hidden_comment(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"key": str(world.hidden.comment.pk)}


def _ticket(world: World) -> dict[str, Any]:
    return {"key": str(world.ticket.pk)}


def _hidden_ticket(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"key": str(world.hidden.ticket.pk)}


REVIEWERS = EVAL_TEAM | {Role.EVAL_LEAD.value}
LEADING = MANAGER_EVAL_AND_LEAD

ENDPOINTS = {
    "api_token": Endpoint(MEMBERS),
    "api_taxonomy": Endpoint(MEMBERS),
    "api_scripts": Endpoint(MEMBERS),
    "api_script": Endpoint(MEMBERS, args=_script, hidden=_hidden_script),
    "api_versions": Endpoint(MEMBERS, args=_script, hidden=_hidden_script),
    "api_version": Endpoint(
        MEMBERS,
        args=lambda world: {**_script(world), "number": 1},
        hidden=lambda world: {**_hidden_script(world), "number": 1},
    ),
    "api_builds": Endpoint(MEMBERS),
    "api_build": Endpoint(MEMBERS, EVAL_TEAM, lambda world: {"name": world.build.name}),
    "api_current_build": Endpoint(MEMBERS, EVAL_TEAM),
    "api_results": Endpoint(MEMBERS),
    "api_result": Endpoint(MEMBERS, TESTER, _result, hidden=_hidden_result, others=403),
    "api_result_link": Endpoint(frozenset(), TESTER, _result, hidden=_hidden_result, others=403),
    "api_result_call": Endpoint(MEMBERS, args=_result, hidden=_hidden_result, absent=True),
    "api_reviews": Endpoint(LEADING),
    "api_review_next": Endpoint(frozenset(), REVIEWERS, verb="post"),
    "api_result_review": Endpoint(LEADING, REVIEWERS, _result, hidden=_hidden_result),
    "api_figures": Endpoint(LEADING),
    "api_comparison": Endpoint(LEADING),
    "api_agreement": Endpoint(LEADING),
    "api_coverage": Endpoint(LEADING),
    "api_rounds": Endpoint(LEADING),
    "api_round": Endpoint(LEADING, LEADING, lambda world: {"key": str(world.round.pk)}, hidden=_hidden_round),
    "api_round_state": Endpoint(frozenset(), LEADING, lambda world: {"key": str(world.round.pk)}, hidden=_hidden_round),
    "api_comments": Endpoint(MEMBERS, MEMBERS, _result, hidden=_hidden_result, verb="post"),
    "api_comment": Endpoint(frozenset(), MEMBERS, _comment, hidden=_hidden_comment, absent=True, verb="delete"),
    "api_tickets": Endpoint(LEADING, LEADING, verb="post"),
    "api_ticket": Endpoint(LEADING, args=_ticket, hidden=_hidden_ticket),
    "api_ticket_state": Endpoint(frozenset(), LEADING, _ticket, hidden=_hidden_ticket),
    "api_result_tickets": Endpoint(MEMBERS, LEADING, _result, hidden=_hidden_result, verb="post"),
}
