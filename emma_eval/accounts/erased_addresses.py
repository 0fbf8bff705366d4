"""Addresses in lines of the audit trail, as readers get them: an erased person's is not given back.

The trail is never changed, and its older lines name people by their address. So where lines are shown, an address that
no account has is left out, since everybody whom such a line is about had an account. Only a refused sign-on may be
about a stranger: there it stays, unless it is known, by its digest, that it was an erased person's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from .addresses import address_of
from .models import ADDRESS_DIGEST, AuditEntry, User

ERASED, REFUSED, SUBJECT = "erased a person", "refused a sign-on", "subject"
NOT_SHOWN = "(an address that is no longer shown)"
AN_ADDRESS = re.compile(r"(?<![\w.+'%-])[\w.+'%-]+@[\w-]+(?:\.[\w-]+)+")


@dataclass(frozen=True)
class Shown:
    """What readers get of one line."""

    target: str
    details: dict[str, Any]


def shown(entries: Collection[AuditEntry]) -> list[Shown]:
    """What readers get of these lines, in their order."""
    found = {address_of(each) for entry in entries for each in _addresses([entry.target, entry.details])}
    known = set(User.objects.filter(email__in=found).values_list("email", flat=True)) if found else set()
    erased = _digests_of_erased() if found - known else frozenset()
    strangers = {each for each in found - known if erased.isdisjoint(digests_of(each))}
    return [_shown(entry, known | strangers if entry.action == REFUSED else known) for entry in entries]


def digest_of_address(address: str) -> str:
    """What is kept of an erased person's address: who has the site's secret can test a guess by it, and no more."""
    return digests_of(address)[0]


def digests_of(address: str) -> list[str]:
    """With the secret of now, and those of before."""
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [
        salted_hmac("emma_eval.accounts.erased", address_of(address), secret=secret, algorithm="sha256").hexdigest()
        for secret in secrets
    ]


def _digests_of_erased() -> frozenset[str]:
    lines = AuditEntry.objects.filter(action=ERASED).values_list("details", flat=True)
    return frozenset(details[ADDRESS_DIGEST] for details in lines if ADDRESS_DIGEST in details)


def _shown(entry: AuditEntry, may_be_shown: set[str]) -> Shown:
    said = {name: _without(value, may_be_shown) for name, value in entry.details.items() if name != ADDRESS_DIGEST}
    target = _without(entry.target, may_be_shown)
    if entry.action == REFUSED and target != entry.target:
        said.pop(SUBJECT, None)  # the provider's name for the same person
    return Shown(target, said)


def _without(said: Any, may_be_shown: set[str]) -> Any:
    if isinstance(said, str):
        return AN_ADDRESS.sub(lambda found: found[0] if address_of(found[0]) in may_be_shown else NOT_SHOWN, said)
    if isinstance(said, list):
        return [_without(each, may_be_shown) for each in said]
    if isinstance(said, dict):
        return {name: _without(value, may_be_shown) for name, value in said.items()}
    return said


def _addresses(said: Any) -> Iterator[str]:
    if isinstance(said, str):
        yield from AN_ADDRESS.findall(said)
    elif isinstance(said, list | dict):
        for each in said.values() if isinstance(said, dict) else said:
            yield from _addresses(each)
