"""Tickets as pages show them: the list, one of them, those of a result, those beside a problem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from scripts_catalog import taxonomy

from ..models import Result, Ticket, TicketQuerySet
from .came_back import CameBack, came_back

A_PAGE = 50
FOLLOWERS = (Role.EVAL_TEAM, Role.EVAL_LEAD, Role.MANAGER)


@dataclass(frozen=True)
class ShownTicket:
    """A ticket, where it stands, and how the builds after its own went."""

    ticket: Ticket
    went: CameBack

    @property
    def host(self) -> str:
        return urlsplit(self.ticket.link).hostname or ""

    @property
    def problem(self) -> str:
        """The label of its problem; empty where it is about all of a result's."""
        tag = taxonomy.TAG_BY_KEY.get(self.ticket.tag)
        return tag.label if tag else self.ticket.tag


@dataclass(frozen=True)
class TicketPage:
    """Some tickets, the newest first; `next_before` is where the next page starts."""

    tickets: list[ShownTicket]
    next_before: int | None


def list_tickets(user: User, *, are_closed: bool, before: int = 0) -> TicketPage:
    """The tickets that this person may know of, by keyset."""
    found = _with_names(Ticket.objects.visible_to(user)).filter(closed_at__isnull=not are_closed)
    if before:
        found = found.filter(pk__lt=before)
    tickets = list(found.order_by("-pk")[: A_PAGE + 1])
    next_before = tickets[A_PAGE - 1].pk if len(tickets) > A_PAGE else None
    return TicketPage(show_tickets(user, tickets[:A_PAGE]), next_before)


def tickets_of(user: User, result: Result) -> list[ShownTicket]:
    """The tickets of one result, open ones first."""
    tickets = _with_names(Ticket.objects.visible_to(user)).filter(result=result)
    return show_tickets(user, sorted(tickets, key=lambda ticket: ticket.closed_at is not None))


def tickets_for(user: User, tag: str, script: str = "") -> list[Ticket]:
    """The open tickets about a problem, for its row on a dashboard; of one script (by slug), or of all of them.

    On a script's dashboard that is also what is about the problem wherever it shows.
    """
    return tickets_by_tag(user, script).get(tag, [])


def tickets_by_tag(user: User, script: str = "") -> dict[str, list[Ticket]]:
    """The same for all problems of a page, in one query."""
    seen = _open_of_problems().all().visible_to(user)  # .all(): asked anew, never what was found before
    found: dict[str, list[Ticket]] = {}
    for ticket in seen.on_script(script) if script else seen:
        found.setdefault(ticket.tag, []).append(ticket)
    return found


@cache
def _open_of_problems() -> TicketQuerySet:
    """What every dashboard asks for, put together once. A tag that is more than nothing is one."""
    return Ticket.objects.filter(closed_at=None, tag__gt="").order_by("-pk")


def show_tickets(user: User, tickets: Iterable[Ticket]) -> list[ShownTicket]:
    tickets = list(tickets)
    went = came_back(user, tickets) if tickets else {}
    return [ShownTicket(ticket, went[ticket.pk]) for ticket in tickets]


def seen_ticket(user: User) -> TicketQuerySet:
    """The tickets that one of them may be picked from, with all that is said about it."""
    return _with_names(Ticket.objects.visible_to(user))


def _with_names(tickets: TicketQuerySet) -> TicketQuerySet:
    named = tickets.select_related("build", "script__latest", "added_by", "result__script", "result__script_version")
    return named.prefetch_related("result__problems")
