"""Link a ticket to what it is about; close it; open it again."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.models import User
from scripts_catalog.models import Build, Script

from ..models import Result, Ticket


@dataclass(frozen=True)
class About:
    """What a ticket is about: a problem (by its tag; empty = all of the result's), on a script and a build."""

    build: Build
    tag: str = ""
    script: Script | None = None
    result: Result | None = None

    @classmethod
    def result_of(cls, result: Result, tag: str) -> About:
        return cls(result.build, tag, result.script, result)


def link_ticket(by: User, link: str, title: str, about: About) -> Ticket:
    """A new ticket. One that is open and says exactly the same is not linked twice."""
    return link_once(by, link, title, about)[0]


def link_once(by: User, link: str, title: str, about: About) -> tuple[Ticket, bool]:
    """The same, with whether it is new."""
    said = {
        "link": link,
        "title": title,
        "tag": about.tag,
        "script": about.script,
        "result": about.result,
        "build": about.build,
    }
    with transaction.atomic():
        # Those who send the same at once take turns.
        Build.objects.select_for_update(no_key=True).get(pk=about.build.pk)
        there = Ticket.objects.filter(closed_at=None, **said).first()
        if there is not None:
            return there, False
        ticket = Ticket.objects.create(added_by=by, **said)
        _record(by, "linked a ticket", ticket)
    return ticket, True


def close_ticket(by: User, ticket: Ticket) -> bool:
    """Whether it was open until now."""
    with transaction.atomic():
        is_closed = bool(Ticket.objects.filter(pk=ticket.pk, closed_at=None).update(closed_at=timezone.now()))
        if is_closed:
            _record(by, "closed a ticket", ticket)
    return is_closed


def reopen_ticket(by: User, ticket: Ticket) -> bool:
    """Whether it was closed until now."""
    with transaction.atomic():
        is_opened = bool(Ticket.objects.filter(pk=ticket.pk).exclude(closed_at=None).update(closed_at=None))
        if is_opened:
            _record(by, "reopened a ticket", ticket)
    return is_opened


def _record(by: User, action: str, ticket: Ticket) -> None:
    result = ticket.result
    script = ticket.script_id or (result.script_id if result else "")
    is_safety = result is not None and result.is_covered
    # By its key: its title and its address are for those alone who may see the ticket.
    audit.record(by, action, str(ticket.pk), is_safety=is_safety, script=script, problem=ticket.tag)
