"""Two tabs typed different things into one draft: what differs, and what comes of the tester's choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, ScriptVersion

from .typed import PAGE, PLACE, Typed, number_in, picked

PROBLEMS = "problems"
MINE, THEIRS = "mine", "theirs"
_LABELS = {
    "script_version": "Version of the script",
    "build": "Build of Emma",
    "called_at": "Time of the call",
    "recording_link": "Recording link",
    "never_started": "The call never started",
    "camera_used": "Camera used",
    "camera_note": "Why the camera was not used",
    **{dimension.key: dimension.name for dimension in taxonomy.DIMENSIONS},
    PROBLEMS: "Problems, the biggest first",
    "comment": "Comment",
    "met_emma_before": "Talked to Emma before",
}


@dataclass(frozen=True)
class Difference:
    """One field that says different things; `chosen` is mine, theirs or empty."""

    field: str
    label: str
    mine: list[str]
    theirs: list[str]
    chosen: str = ""

    @property
    def name(self) -> str:
        """The name of the choice in the form of the merge."""
        return f"keep-{self.field}"


def differences(user: User, mine: Typed, theirs: Typed, choices: Mapping[str, str] | None = None) -> list[Difference]:
    """Every field in which two drafts of this user differ, in the order of the form. The problems count as one."""
    found = []
    for field, label in _LABELS.items():
        if _value(mine, field) != _value(theirs, field):
            chosen = (choices or {}).get(f"keep-{field}", "")
            chosen = chosen if chosen in {MINE, THEIRS} else ""
            found.append(Difference(field, label, shown(user, mine, field), shown(user, theirs, field), chosen))
    return found


def merged(mine: Typed, theirs: Typed, chosen: list[Difference]) -> Typed:
    """Mine, with theirs wherever that was chosen."""
    result = dict(mine)
    for difference in chosen:
        if difference.chosen == THEIRS:
            for name in _names(difference.field, mine, theirs):
                result.pop(name, None)
                if name in theirs:
                    result[name] = theirs[name]
    if "call" in theirs:  # not seen on the page: whoever saved first keeps it
        result["call"] = theirs["call"]
    result.pop(PAGE, None)
    return result


def _names(field: str, *drafts: Typed) -> list[str]:
    if field != PROBLEMS:
        return [field]
    return [name for typed in drafts for name in typed if name.startswith(PLACE)]


def _value(typed: Typed, field: str) -> object:
    return picked(typed) if field == PROBLEMS else typed.get(field, "")


def shown(user: User, typed: Typed, field: str) -> list[str]:
    """What a field says, in words for people, one line each; no line for an empty field."""
    if field == PROBLEMS:
        return [taxonomy.TAG_BY_KEY[tag].label for tag in picked(typed)]
    text = typed.get(field, "")
    if text and field == "script_version":
        return [_version(user, text)]
    return [_WORDS.get(field, str)(text)] if text else []


def _build(text: str) -> str:
    build = Build.objects.filter(pk=number_in(text)).first()
    return str(build or text)


def _version(user: User, text: str) -> str:
    """By the number that this person knows it by; one that is kept from them reads as one that is not there."""
    version = ScriptVersion.objects.visible_to(user).filter(pk=number_in(text)).first()
    return f"version {version.number_for(user)}" if version else text


def _time(text: str) -> str:
    try:
        time = parse_datetime(text)
    except ValueError:
        return text
    return date_format(time, "j M Y, H:i") if time else text


_WORDS: dict[str, Callable[[str], str]] = {
    "build": _build,
    "called_at": _time,
    "never_started": lambda text: "yes",
    "vision": lambda text: "N/A" if text == "na" else text,
}
