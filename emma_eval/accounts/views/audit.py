"""The audit trail, for administrators."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render

from emma_eval.accounts.addresses import address_of
from emma_eval.accounts.erased_addresses import SUBJECT, Shown, shown
from emma_eval.accounts.models import AuditEntry, AuditLink, User, details_in_words
from emma_eval.accounts.navigation import has_room_of
from emma_eval.accounts.roles import Role, UserRequest, for_roles

A_PAGE = 100
# Where the thing of an action stands: rooms of higher floors by their address, as on the navigation.
PLACES = {
    "filed a result": "/results/{}/",
    "corrected a result": "/results/{}/",
    "commented on a result": "/results/{}/#comments",
    "withdrew a comment": "/results/{}/#comments",
    "planned a round": "/rounds/{}/",
    "changed a round": "/rounds/{}/",
    "wanted runs of a script": "/rounds/{}/",
    "closed a round": "/rounds/{}/",
    "opened a round again": "/rounds/{}/",
    "linked a ticket": "/tickets/{}/",
    "closed a ticket": "/tickets/{}/",
    "reopened a ticket": "/tickets/{}/",
    "published a script": "/scripts/{}/",
    "published a version": "/scripts/{}/",
    "retired a script": "/scripts/{}/",
    "brought back a script": "/scripts/{}/",
}


@dataclass(frozen=True)
class Line:
    """One entry, with the address of its thing, if the reader may open it. A key is for addresses: it is not read."""

    entry: AuditEntry
    path: str
    target: str
    person: User | None
    details: list[tuple[str, str]]

    @classmethod
    def of(cls, reader: User, entry: AuditEntry, said: Shown, people: dict[int, User]) -> Line:
        place = PLACES.get(entry.action, "").format(entry.target) if entry.target else ""
        path = place if has_room_of(reader, place) else ""
        name = said.target
        if place and entry.target.isdecimal():
            name = "open it" if path else ""
        person, details = people.get(entry.about or 0), said.details
        if person is not None and person.erased_at is not None:
            details = {name: value for name, value in details.items() if name != SUBJECT}
        return cls(entry, path, name, person, details_in_words(details))


@for_roles(Role.ADMINISTRATOR)
def audit_trail(request: UserRequest) -> HttpResponse:
    """Newest first, by keyset; entries about Safety for the trained alone."""
    who, action, before = (request.GET.get(name, "").strip() for name in ("who", "action", "before"))
    visible = AuditEntry.objects.visible_to(request.user)
    found = visible.select_related("actor")
    if who:
        found = found.filter(actor__email=address_of(who))
    if action:
        found = found.filter(action=action)
    if before.isdecimal() and len(before) < 19:
        found = found.filter(pk__lt=int(before))
    entries = list(found.order_by("-pk")[: A_PAGE + 1])
    actions = visible.order_by("action").values_list("action", flat=True).distinct()
    context = {
        "lines": _lines(request.user, entries[:A_PAGE]),
        "next_before": entries[A_PAGE - 1].pk if len(entries) > A_PAGE else None,
        "actions": actions,
        "who": who,
        "action": action,
        # Who may not know of every line is not to see a head move where no line is shown, nor how many there are.
        "chain": AuditLink.objects.order_by("-place").first() if request.user.is_trained else None,
    }
    return render(request, "accounts/audit_trail.html", context)


def _lines(reader: User, entries: list[AuditEntry]) -> list[Line]:
    people = User.objects.in_bulk({entry.about for entry in entries if entry.about})
    return [Line.of(reader, entry, said, people) for entry, said in zip(entries, shown(entries), strict=True)]
