"""What a provider says of a person, read strictly: a claim gives what it says in so many words, or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from emma_eval.accounts.addresses import address_of, is_address

from .configured import SignOn

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
PAIR = frozenset({"email", "email_verified"})
LONGEST_SUBJECT, LONGEST_ADDRESS, LONGEST_NAME = 191, 254, 150


class UnreadableError(Exception):
    """The provider does not say who this is."""


@dataclass(frozen=True)
class Trained:
    """From one day to another, both included; `starts_on` is None where the claim names only the last day."""

    starts_on: date | None
    ends_on: date


@dataclass(frozen=True)
class Claims:
    """`email` is empty unless the provider says that it verified the address."""

    subject: str
    email: str
    name: str
    groups: frozenset[str]
    trained: Trained | None


def joined(token: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The claims of two answers; the token's count first.

    An address and the word that it is verified belong together, so both are taken from one answer: from the first
    that has both. What one verified says nothing of an address that stands in the other.
    """
    rest = {name: claim for name, claim in {**more, **token}.items() if name not in PAIR}
    pair = next((said for said in (token, more) if said.keys() >= PAIR), None)
    return rest if pair is None else {**rest, **{name: pair[name] for name in PAIR}}


def read_claims(said: Mapping[str, Any], sign_on: SignOn) -> Claims:
    """Raises UnreadableError for claims without a subject, which is the one thing that tells people apart."""
    subject, name = said.get("sub"), said.get("name")
    if not isinstance(subject, str) or not subject or len(subject) > LONGEST_SUBJECT or "\x00" in subject:
        raise UnreadableError("no subject")
    return Claims(
        subject=subject,
        email=_email(said),
        name=" ".join(name.replace("\x00", "").split())[:LONGEST_NAME] if isinstance(name, str) else "",
        groups=_groups(said.get(sign_on.groups_claim)),
        trained=read_trained(said.get(sign_on.training_claim)) if sign_on.training_claim else None,
    )


def read_trained(said: object) -> Trained | None:
    """`2026-12-31`, `2026-01-01/2026-12-31` or `{"from": ..., "until": ...}`; the last day is always named.

    Anything else, a plain `true` too, is no training: Safety opens by dates alone.
    """
    if isinstance(said, Mapping):
        first, last = said.get("from"), said.get("until")
    elif isinstance(said, str):
        before, divides, after = said.strip().partition("/")
        first, last = (before, after) if divides else (None, before)
    else:
        return None
    starts_on, ends_on = _day(first), _day(last)
    if ends_on is None or (first is not None and starts_on is None):
        return None
    return Trained(starts_on, ends_on) if starts_on is None or starts_on <= ends_on else None


def _day(said: object) -> date | None:
    """A day as YYYY-MM-DD and nothing else: a time of day would leave open whether that day is included."""
    if not isinstance(said, str) or not DAY.fullmatch(said.strip()):
        return None
    try:
        return date.fromisoformat(said.strip())
    except ValueError:
        return None


def _groups(said: object) -> frozenset[str]:
    """A list of names, or one name."""
    names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    return frozenset(name for name in names if isinstance(name, str))


def _email(said: Mapping[str, Any]) -> str:
    address = said.get("email")
    if said.get("email_verified") is not True or not isinstance(address, str) or len(address) > LONGEST_ADDRESS:
        return ""
    return address_of(address) if is_address(address.strip()) else ""
