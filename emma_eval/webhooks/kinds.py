"""Which kinds of events there are. This floor knows none of them but its own test: the rooms above register theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from emma_eval.accounts.models import User

TEST = "endpoint.test"

Said = dict[str, object]
Tell = Callable[[User, str], Said | None]
Subjects = Callable[[User], "QuerySet[Any, Any]"]


@dataclass(frozen=True)
class Kind:
    """A kind of event. `tell` gives what may be said of its subject to this person now, or None for nothing at all.

    `hint` is a sentence under its label. `hidden` gives the keys of subjects, without dashes, that this person may not
    know of now, as the values of one column: where more than the script of its line decides that.
    """

    name: str
    label: str
    hint: str
    tell: Tell
    hidden: Subjects | None = None


_kinds: dict[str, Kind] = {}


def tells(name: str, label: str, hint: str = "", *, hidden: Subjects | None = None) -> Callable[[Tell], Tell]:
    """Register what is told of events of this kind.

    The function is asked at each try with the endpoint's owner and the key of the subject, and gives plain JSON. It
    must go through `visible_to`: None where the owner may not know of the subject, or where it is gone.
    """

    def register(tell: Tell) -> Tell:
        _kinds[name] = Kind(name, label, hint, tell, hidden)
        return tell

    return register


def kind_named(name: str) -> Kind | None:
    return _kinds.get(name)


def kinds_to_choose() -> list[Kind]:
    """Those that an endpoint can be told of, by name; a test is sent to whoever asks for one."""
    return sorted((kind for kind in _kinds.values() if kind.name != TEST), key=lambda kind: kind.name)


def hidden_subjects(user: User) -> list[tuple[str, QuerySet[Any, Any]]]:
    """Of each kind that hides lines of the log by what became of their subjects: its name, and those subjects."""
    return [(kind.name, kind.hidden(user)) for kind in _kinds.values() if kind.hidden is not None]


@tells(TEST, "Test")
def _tell_test(owner: User, subject: str) -> Said:
    return {"message": "This is a test. Nothing happened."}
