"""Walk the chain from its beginning, and say what doesn't fit: the first entry, and what happened to it.

Whoever can write to the database can also work out a whole chain anew. That shows against a digest that was noted
somewhere else: give it as `expected`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Exists, OuterRef

from .. import keys
from ..models import AuditEntry, AuditLink
from .digest import FIRST, canonical, digest_after

AT_ONCE = 2_000
# Entries are committed seconds after they are made, minutes at most. One that says it is a day older than what was
# linked before it was not made when it says.
LATE = timedelta(days=1)


class Fault(StrEnum):
    """What happened to an entry, in words that go on from its name."""

    CHANGED = "was changed, or an entry right before it was removed"
    REMOVED = "was removed"
    UNLINKED = "was taken out of the chain"
    INSERTED = "was inserted"
    MOVED = "was put in another place"
    CUT = "is missing: the end was removed, or the chain was made anew"


@dataclass(frozen=True)
class Found:
    """What a walk found. `first` names the first entry that doesn't fit; `head` is the digest of the last link."""

    entries: int
    head: str
    unlinked: int
    fault: Fault | None = None
    first: str = ""

    def in_words(self) -> str:
        waiting = f" {self.unlinked:,} newer entries are not linked yet." if self.unlinked else ""
        if self.fault is None:
            return f"{self.entries:,} entries, each as it was linked. Head: {self.head}.{waiting}"
        return f"{self.first} {self.fault}. {self.entries:,} entries before it are as they were linked."


class ChainError(Exception):
    def __init__(self, fault: Fault, first: str) -> None:
        super().__init__(f"{first} {fault}")
        self.fault, self.first = fault, first


@dataclass(frozen=True)
class Linked:
    """A link, and what its entry says by now; None where the entry is gone."""

    place: int
    entry: int
    digest: str
    words: bytes | None
    at: datetime | None

    @property
    def name(self) -> str:
        return f"Entry {self.entry} in place {self.place:,}"


@dataclass
class Walk:
    """How far it is: the last link that fits, and the digest before that."""

    entries: int = 0
    head: str = FIRST
    before: str = ""
    last: str = ""
    newest: int = 0


def verify_chain(expected: str = "") -> Found:
    """Read every entry and every link once. `expected`: a head that was noted earlier, which must be on the chain."""
    walk, wanted = Walk(), expected.strip().lower()
    is_there = wanted in ("", FIRST)
    try:
        for linked in _links():
            _step(walk, linked)
            is_there = is_there or walk.head == wanted
    except ChainError as error:
        return Found(walk.entries, walk.head, 0, error.fault, error.first)
    if not is_there:
        return Found(walk.entries, walk.head, 0, Fault.CUT, f"The noted head {wanted}")
    return Found(walk.entries, walk.head, _how_many_wait())


def head_of_chain() -> str:
    """The digest of the newest link; of an empty chain, zeros."""
    last = AuditLink.objects.order_by("-place").first()
    return last.digest if last else FIRST


def _step(walk: Walk, linked: Linked) -> None:
    """Take one link further. Raises ChainError where it doesn't fit."""
    if linked.place != walk.entries + 1:
        raise ChainError(Fault.UNLINKED, f"The entry in place {walk.entries + 1:,}")
    if linked.words is None or linked.at is None:
        raise ChainError(Fault.REMOVED, linked.name)
    if not _fits(walk.head, linked):
        raise _what_happened(walk, linked)
    if _is_backdated(walk, linked.entry, linked.at):
        raise ChainError(Fault.INSERTED, linked.name)
    walk.entries, walk.last, walk.before, walk.head = linked.place, linked.name, walk.head, linked.digest
    walk.newest = max(walk.newest, linked.entry)


def _fits(before: str, linked: Linked) -> bool:
    return linked.words is not None and bool(before) and digest_after(before, linked.words) == linked.digest


def _is_backdated(walk: Walk, entry: int, at: datetime) -> bool:
    made = min(entry, keys.least_key_at(at))
    return walk.newest - made > LATE.total_seconds() * 1000 * keys.KEYS_A_MS


def _what_happened(walk: Walk, wrong: Linked) -> ChainError:
    """Look for the place where this entry fits. Only where something is wrong: it reads the chain once more."""
    after = next(_links(after=wrong.place), None)
    if after is not None and _fits(walk.head, after):
        return ChainError(Fault.MOVED if _fits(after.digest, wrong) else Fault.INSERTED, wrong.name)
    if _fits(walk.before, wrong):
        return ChainError(Fault.INSERTED, walk.last)
    others = (other for other in _links() if other.place != wrong.place)
    if any(_belongs_elsewhere(walk, wrong, other) for other in others):
        return ChainError(Fault.MOVED, wrong.name)
    return ChainError(Fault.CHANGED, wrong.name)


def _belongs_elsewhere(walk: Walk, wrong: Linked, other: Linked) -> bool:
    """Whether that other entry is what was linked here, or this one was linked behind that other."""
    return _fits(walk.head, replace(wrong, words=other.words)) or _fits(other.digest, wrong)


def _links(after: int = 0) -> Iterator[Linked]:
    """In the order of the chain, some thousand at a time."""
    while links := list(AuditLink.objects.filter(place__gt=after).order_by("place")[:AT_ONCE]):
        entries = AuditEntry.objects.in_bulk([link.entry for link in links])
        for link in links:
            entry = entries.get(link.entry)
            words, at = (canonical(entry), entry.at) if entry else (None, None)
            yield Linked(link.place, link.entry, link.digest, words, at)
        after = links[-1].place


def _how_many_wait() -> int:
    return AuditEntry.objects.filter(~Exists(AuditLink.objects.filter(entry=OuterRef("pk")))).count()
