"""Everything that is kept about a person, as one JSON file that is written while it is sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from .. import audit
from ..erased_addresses import shown
from ..models import ApiToken, AuditEntry, Invitation, Training, User
from ..throttle import Limit
from .rooms import A_SLICE, Row, columns, in_slices, sections, tells

OWN_DATA = Limit("own data", 6, timedelta(hours=1))


def write_own_data(user: User, now: datetime) -> Iterator[str]:
    """The text of the file in pieces. The line of the audit trail is written before the first."""
    audit.record(user, "exported their own data")
    return _pieces(user, now)


def _pieces(user: User, now: datetime) -> Iterator[str]:
    yield f'{{"made_at": {_json(now)}'
    for section in sections:
        yield f',\n"{section.name}": ['
        for place, row in enumerate(section.tell(user)):
            yield (",\n" if place else "\n") + _json(row)
        yield "]"
    yield "}\n"


def _json(value: object) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


@tells("account")
def _account(user: User) -> list[Row]:
    return [columns(user, "password") | {"roles": sorted(user.roles), "is_trained": user.is_trained}]


@tells("trainings")
def _trainings(user: User) -> Iterator[Row]:
    return (columns(row, "user") for row in in_slices(Training.objects.filter(user=user)))


@tells("invitations")
def _invitations(user: User) -> Iterator[Row]:
    return (columns(row, "user", "nonce", "token_digest") for row in in_slices(Invitation.objects.filter(user=user)))


@tells("sessions")
def _sessions(user: User) -> Iterator[Row]:
    rows = user.sessions.order_by("began_at")
    return (columns(row, "user", "session_key", "session_data") for row in rows)


@tells("sign_on")
def _sign_on(user: User) -> Iterator[Row]:
    return ({"provider": row.provider, "uid": row.uid} for row in SocialAccount.objects.filter(user=user))


@tells("second_steps")
def _second_steps(user: User) -> Iterator[Row]:
    rows = Authenticator.objects.filter(user=user)
    return ({"type": row.type, "created_at": row.created_at, "last_used_at": row.last_used_at} for row in rows)


@tells("api_tokens")
def _api_tokens(user: User) -> Iterator[Row]:
    return (columns(row, "owner", "digest") for row in in_slices(ApiToken.objects.filter(owner=user)))


@tells("audit_trail")
def _audit_trail(user: User) -> Iterable[Row]:
    """As the page of the trail shows them: without the addresses of people who are erased."""
    lines = in_slices(AuditEntry.objects.visible_to(user).filter(actor=user, at__lte=timezone.now()))
    while some := list(islice(lines, A_SLICE)):
        for row, said in zip(some, shown(some), strict=True):
            yield columns(row, "actor") | {"target": said.target, "details": said.details}
