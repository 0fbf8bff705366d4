"""What the People page says of each person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from .models import Invitation, Training, User
from .roles import Role

A_PAGE = 100
MOST_WORDS = 10  # each is a condition of the query, and a database takes only so many
LONGEST_SEARCH = 300


@dataclass(frozen=True)
class Row:
    user: User
    roles: list[str]
    training: str
    state: str


@dataclass(frozen=True)
class Page:
    rows: list[Row]
    next_after: str


def page(viewer: User, *, words: str = "", role: Role | None = None, after: str = "") -> Page:
    """People in the order of their addresses, by keyset; `after` is the last address of the page before."""
    found = _matching(User.objects.shown_to(viewer), words, role).filter(email__gt=after).order_by("email")
    people = list(found.prefetch_related("groups", *_what_is_said())[: A_PAGE + 1])
    more = people[A_PAGE - 1].email if len(people) > A_PAGE else ""
    return Page([row_of(person) for person in people[:A_PAGE]], more)


def row_of(user: User) -> Row:
    names = {group.name for group in user.groups.all()}
    roles = [role.value for role in Role if role.value in names]
    return Row(user, roles, training_in_words(user.trainings.all(), timezone.localdate()), _state(user))


def training_in_words(grants: Iterable[Training], today: date) -> str:
    """Until when somebody is trained, or from when they will be; empty for neither."""
    granted = [grant for grant in grants if grant.revoked_at is None]
    last_days = [grant.ends_on for grant in granted if grant.starts_on <= today <= (grant.ends_on or date.max)]
    if last_days:
        last = max((day for day in last_days if day), default=None)
        return "trained" if None in last_days or last is None else f"trained until {last:%-d %b %Y}"
    coming = [grant.starts_on for grant in granted if grant.starts_on > today]
    return f"trained from {min(coming):%-d %b %Y}" if coming else ""


def _state(user: User) -> str:
    if user.erased_at is not None:
        return "erased"
    if not user.is_active:
        return "deactivated"
    if user.has_joined:
        return "active"
    invitations = list(user.invitations.all())
    if any(invitation.is_open for invitation in invitations):
        return "invited"
    return "invitation ran out" if invitations else "not invited yet"


def _matching(people: QuerySet[User], words: str, role: Role | None) -> QuerySet[User]:
    if role is not None:
        people = people.filter(pk__in=User.objects.filter(groups__name=role.value).values("pk"))
    for word in words[:LONGEST_SEARCH].split()[:MOST_WORDS]:
        people = people.filter(Q(name__icontains=word) | Q(email__icontains=word))
    return people


def _what_is_said() -> tuple[Prefetch[str], Prefetch[str]]:
    return (
        Prefetch("trainings", Training.objects.filter(revoked_at=None)),
        Prefetch("invitations", Invitation.objects.filter(accepted_at=None)),
    )
