"""What a live-call page tells of its call, read from JSON. Any field may be missing; odd ones are refused in words."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..filing.rules import without_control_characters
from ..models import MOST_MOMENT_CHARACTERS
from ..told import MOST_NUMBER, MalformedError, as_list, as_object

MOST_THINGS = 1_000
MOST_KEY = 2**63 - 1
MOST_HINT_CHARACTERS = 100
_Told = TypeVar("_Told")


@dataclass(frozen=True)
class ToldMoment:
    """A moment. `edition` counts its changes; None where the page does not count.

    What is None of `words` and `is_withdrawn` was not said and stays as it is.
    """

    uuid: uuid.UUID
    at_ms: int
    words: str | None = None
    edition: int | None = None
    is_withdrawn: bool | None = None


@dataclass(frozen=True)
class ToldBeginning:
    """How long ago the call began; `is_uncertain`: at least so long, the press itself is not known any more."""

    age_ms: int
    is_uncertain: bool = False


@dataclass(frozen=True)
class ToldTick:
    """A step of a run that was ticked off; `at_ms` None: the tick was taken back."""

    run: int
    step: int
    at_ms: int | None


@dataclass(frozen=True)
class ToldStretch:
    """Where the stretch without a script began; `at_ms` None: taken back."""

    run: int
    at_ms: int | None


@dataclass(frozen=True)
class ToldEnd:
    """When the call ended; `at_ms` None: taken back."""

    at_ms: int | None


@dataclass(frozen=True)
class ToldMachine:
    """What the browser says of its device beyond its name."""

    platform: str = ""
    mobile: bool = False
    touch_points: int = 0
    connection_type: str = ""
    effective_type: str = ""
    round_trip_ms: int | None = None

    @property
    def describes(self) -> bool:
        """Whether anything is said of the device, and not only how quick it was just now."""
        return bool(self.platform or self.mobile or self.touch_points or self.connection_type or self.effective_type)


@dataclass(frozen=True)
class Telling:
    """One batch of what a page has to tell."""

    begun: ToldBeginning | None = None
    moments: tuple[ToldMoment, ...] = ()
    ticks: tuple[ToldTick, ...] = ()
    off_script: tuple[ToldStretch, ...] = ()
    ended: ToldEnd | None = None
    build: int | None = None
    machine: ToldMachine = field(default_factory=ToldMachine)


def read_telling(said: object) -> Telling:
    """The batch in a body of JSON; MalformedError with words where it has another shape."""
    batch = as_object(said, "The batch")
    begun, ended, machine = (batch.get(name) for name in ("begun", "ended", "machine"))
    return Telling(
        begun=None if begun is None else _beginning(as_object(begun, "begun")),
        moments=_list(batch.get("moments"), "moments", _moment),
        ticks=_list(batch.get("ticks"), "ticks", _tick),
        off_script=_list(batch.get("off_script"), "off_script", _stretch),
        ended=None if ended is None else ToldEnd(_whole_or_none(as_object(ended, "ended").get("at_ms"), "ended.at_ms")),
        build=_key_or_none(batch.get("build"), "build"),
        machine=ToldMachine() if machine is None else _machine(as_object(machine, "machine")),
    )


def tidy(words: str) -> str:
    """Words as they are kept: one line, without control characters, no longer than there is room for."""
    return " ".join(without_control_characters(words).split())[:MOST_MOMENT_CHARACTERS].strip()


def _beginning(said: dict[str, Any]) -> ToldBeginning:
    is_uncertain = _yes_or_none(said.get("is_uncertain"), "begun.is_uncertain")
    return ToldBeginning(_whole(said.get("age_ms"), "begun.age_ms"), bool(is_uncertain))


def _moment(said: dict[str, Any]) -> ToldMoment:
    edition, words = said.get("edition"), said.get("words")
    return ToldMoment(
        uuid=_uuid(said.get("uuid"), "moments.uuid"),
        at_ms=_whole(said.get("at_ms"), "moments.at_ms"),
        words=None if words is None else tidy(_text(words, "moments.words")),
        edition=None if edition is None else min(_natural(edition, "moments.edition"), 1_000_000),
        is_withdrawn=_yes_or_none(said.get("withdrawn"), "moments.withdrawn"),
    )


def _tick(said: dict[str, Any]) -> ToldTick:
    run, step = _natural(said.get("run"), "ticks.run"), _natural(said.get("step"), "ticks.step")
    return ToldTick(run, step, _whole_or_none(said.get("at_ms"), "ticks.at_ms"))


def _stretch(said: dict[str, Any]) -> ToldStretch:
    return ToldStretch(
        _natural(said.get("run"), "off_script.run"), _whole_or_none(said.get("at_ms"), "off_script.at_ms")
    )


def _machine(said: dict[str, Any]) -> ToldMachine:
    hints = {
        name: without_control_characters(_text(said.get(name), f"machine.{name}"))[:MOST_HINT_CHARACTERS]
        for name in ("platform", "connection_type", "effective_type")
    }
    touch_points, round_trip = said.get("touch_points"), said.get("round_trip_ms")
    return ToldMachine(
        **hints,
        mobile=bool(_yes_or_none(said.get("mobile"), "machine.mobile")),
        touch_points=0 if touch_points is None else _natural(touch_points, "machine.touch_points"),
        round_trip_ms=None if round_trip is None else _natural(round_trip, "machine.round_trip_ms"),
    )


def _list(said: object, name: str, read: Callable[[dict[str, Any]], _Told]) -> tuple[_Told, ...]:
    if said is None:
        return ()
    return tuple(read(as_object(each, f"Each of {name}")) for each in as_list(said, name, MOST_THINGS))


def _whole(said: object, name: str) -> int:
    """A number of milliseconds, rounded: browsers count fractions. Whether it is possible is judged elsewhere."""
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    if not is_number or not abs(said) <= MOST_NUMBER:  # type: ignore[arg-type]  # nor NaN, which is never less
        raise MalformedError(f"{name} must be a number.")
    return round(said)  # type: ignore[call-overload, no-any-return]


def _whole_or_none(said: object, name: str) -> int | None:
    return None if said is None else _whole(said, name)


def _yes_or_none(said: object, name: str) -> bool | None:
    if said is None or isinstance(said, bool):
        return said
    raise MalformedError(f"{name} must be true or false.")


def _natural(said: object, name: str) -> int:
    number = said if type(said) is int else _whole(said, name)
    if not 0 <= number <= MOST_KEY:
        raise MalformedError(f"{name} must be a whole number, 0 or more.")
    return number


def _key_or_none(said: object, name: str) -> int | None:
    """A key, which the page has as text; none where it is empty."""
    if said in (None, ""):
        return None
    if isinstance(said, str) and said.isascii() and said.isdecimal() and len(said) < 19:
        return int(said)
    raise MalformedError(f"{name} must be a key, as text.")


def _text(said: object, name: str) -> str:
    if said is None:
        return ""
    if not isinstance(said, str):
        raise MalformedError(f"{name} must be text.")
    return said


def _uuid(said: object, name: str) -> uuid.UUID:
    try:
        return uuid.UUID(_text(said, name))
    except ValueError as cause:
        raise MalformedError(f"{name} must be a UUID.") from cause
