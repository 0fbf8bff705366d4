"""What a program files, read into a Filing and judged by the rules that the form is judged by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.body import Body, Faults, Text, Truth, not_right, pointer
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script, ScriptVersion

from ..filing.as_filed import faults_beside, needs_camera_note, order_of
from ..filing.forms import sentence
from ..filing.rules import Code, Fault, Filing, Ratings, as_kept, read_rating, text_as_kept
from ..models import DIMENSION_KEYS, MOST_COMMENT_CHARACTERS, MOST_NOTE_CHARACTERS, Result
from .rows import TAGS

TIME_IS = "Write the time of the call with its offset, such as 2026-03-02T14:36:00+08:00."
RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})", re.IGNORECASE
)
PLACE_OF = {key: pointer("ratings", key) for key in DIMENSION_KEYS}
BIGGEST_VERSION = 2**31 - 1


class Rating(serializers.Field[Any, Any, Any, Any]):
    """A number, left as it was sent: the rules say which are ratings."""

    default_error_messages = {"invalid": "Send a whole number from 1 to 5, or null."}

    def to_internal_value(self, data: Any) -> int | float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return data  # type: ignore[no-any-return]


class Instant(serializers.Field[datetime, str, str, Any]):
    """A moment in time, told with the offset of its zone."""

    default_error_messages = {"required": "Say when the call took place.", "invalid": TIME_IS, "null": TIME_IS}

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str) or not RFC_3339.fullmatch(data):
            self.fail("invalid")
        try:
            return datetime.fromisoformat(data.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail("invalid")


class Key(serializers.Field[UUID, str, str, Any]):
    """A UUID, written as UUIDs are."""

    default_error_messages = {"invalid": "Send a UUID, such as 0190b5a0-0000-4000-8000-000000000001."}

    def to_internal_value(self, data: Any) -> UUID:
        found = uuid_in(data) if isinstance(data, str) else None
        if found is None:
            self.fail("invalid")
        return found


def uuid_in(text: str) -> UUID | None:
    """The UUID that a text is, in the one way of writing it; Python reads some more."""
    try:
        found = UUID(text)
    except ValueError:
        return None
    return found if str(found) == text.lower() else None


class Number(serializers.Field[int, int, int, Any]):
    """A whole number of at least 1."""

    default_error_messages = {"invalid": "Send a whole number, 1 or more."}

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int) or not 1 <= data <= BIGGEST_VERSION:
            self.fail("invalid")
        return int(data)


class Tags(serializers.Field[tuple[str, ...], list[str], list[str], Any]):
    """Keys of problems, the biggest first; which there are, the rules say."""

    default_error_messages = {
        "invalid": "Send a list of the keys of problems, the biggest first.",
        "too_many": f"There are {len(taxonomy.TAG_BY_KEY)} problems, and each stands in the list at most once.",
    }

    def to_internal_value(self, data: Any) -> tuple[str, ...]:
        if not isinstance(data, list):
            self.fail("invalid")
        if len(data) > len(taxonomy.TAG_BY_KEY):
            self.fail("too_many")
        if not all(isinstance(tag, str) for tag in data):
            self.fail("invalid")
        return tuple(data)


_SCALE = {"type": ["integer", "null"], "minimum": 1, "maximum": 5}
_PROBLEMS = {"type": "array", "items": {"type": "string", "enum": TAGS}, "uniqueItems": True, "maxItems": len(TAGS)}
extend_schema_field(_SCALE)(Rating)
extend_schema_field(OpenApiTypes.DATETIME)(Instant)
extend_schema_field(OpenApiTypes.UUID)(Key)
extend_schema_field({"type": "integer", "minimum": 1, "maximum": BIGGEST_VERSION})(Number)
extend_schema_field(_PROBLEMS)(Tags)


class RatingsBody(Body):
    """Six ratings of 1-5; one that is left out, or null, is not given. `vision`: N/A without the camera."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            dimension.key: Rating(required=False, allow_null=True, help_text=f"{dimension.name}. {dimension.meaning}")
            for dimension in taxonomy.DIMENSIONS
        }


class FilingBody(Body):
    """One script run on one call."""

    script = Text(
        help_text="The slug of the script.", error_messages={"required": "Name the script.", "null": "Name the script."}
    )
    script_version = Number(
        required=False, allow_null=True, help_text="The version that was run; left out, the latest one."
    )
    build = Text(
        help_text="The name of the build that was called.",
        error_messages=dict.fromkeys(("required", "null"), "Choose the build of Emma that you called."),
    )
    call = Key(
        required=False,
        allow_null=True,
        help_text="What several scripts of one call share, a UUID of yours; left out, it was a call of its own.",
    )
    called_at = Instant(help_text="When the call took place, with an offset.")
    never_started = Truth(required=False, help_text="Then nothing is rated, and `stuck_start` is put first.")
    camera_used = Truth(required=False, help_text="Whether the tester's camera was on; Vision is rated exactly then.")
    camera_note = Text(
        required=False,
        help_text=f"Why a script with the camera was run without it, at most {MOST_NOTE_CHARACTERS} characters.",
    )
    ratings = RatingsBody(required=False)
    problems = Tags(required=False, help_text="Keys of the taxonomy, the biggest first.")
    comment = Text(
        required=False,
        help_text=f"At most {MOST_COMMENT_CHARACTERS:,} characters; an “Other” problem needs some words.",
    )
    met_emma_before = Truth(
        help_text="Whether the tester had talked to Emma before this call.",
        error_messages={"required": "Say whether you had talked to Emma before this call."},
    )
    recording_link = Text(required=False, help_text="An https link to the recording; it may come later.")


@dataclass(frozen=True)
class Sent:
    """What was sent, right by every rule. `call` is None where it is a call of its own."""

    filing: Filing
    call: UUID | None


def read_filing(user: User, data: Any, as_filed: Result | None = None) -> Sent:
    """Read and judge what was sent, as a filing or as a correction of a result. Refused with every fault at once."""
    said, faults = FilingBody().read(data)
    if "" in faults:
        raise not_right(faults)
    version = _version(user, said, faults, as_filed)
    ratings = _ratings(said.get("ratings") or {}, faults)
    typed = _filing(said, ratings, version or ScriptVersion(), _build(said, faults), as_filed)
    kept = as_kept(typed)
    filing = replace(kept, problem_order=order_of(as_filed, kept.problems))
    for fault in faults_beside(as_filed, filing, timezone.now()):
        place = PLACE_OF.get(fault.field, pointer(fault.field))
        faults.setdefault(place, [sentence(fault)])
    if faults:
        raise not_right(faults)
    return Sent(filing, said.get("call"))


def _filing(
    said: Mapping[str, Any], ratings: Ratings, version: ScriptVersion, build: Build, as_filed: Result | None
) -> Filing:
    return Filing(
        script_version=version,
        build=build,
        called_at=said.get("called_at") or timezone.now(),
        ratings=ratings,
        camera_used=said.get("camera_used", False),
        camera_note=text_as_kept(said.get("camera_note", "")),
        never_started=said.get("never_started", False),
        problems=said.get("problems", ()),
        comment=text_as_kept(said.get("comment", "")),
        met_emma_before=said.get("met_emma_before", False),
        recording_link=text_as_kept(said.get("recording_link", "")),
        needs_camera_note=needs_camera_note(as_filed),
    )


def _ratings(said: Mapping[str, Any], faults: Faults) -> Ratings:
    found: dict[str, int | None] = {}
    for key in DIMENSION_KEYS:
        rating = None if said.get(key) is None else read_rating(str(said[key]))
        if isinstance(rating, Code):
            faults.setdefault(PLACE_OF[key], [sentence(Fault(key, rating, str(said[key])))])
            rating = None
        found[key] = rating
    return Ratings(**found)


def _build(said: Mapping[str, Any], faults: Faults) -> Build:
    if "build" not in said:
        return Build()
    found = Build.objects.filter(name=storable(said["build"])).first()
    if found is None:
        faults["/build"] = ["There is no build of this name. Register it, or choose another."]
    return found or Build()


def _version(user: User, said: Mapping[str, Any], faults: Faults, as_filed: Result | None) -> ScriptVersion | None:
    """The version that was run. A correction keeps the one that was filed, and may name it."""
    if as_filed is not None:
        return _version_as_filed(user, said, faults, as_filed)
    if "script" not in said:
        return None
    scripts = Script.objects.visible_to(user).exclude(latest=None).select_related("latest")
    script = scripts.filter(slug=storable(said["script"])).first()
    if script is None or script.latest is None:
        faults["/script"] = ["There is no such script."]
        return None
    number = said.get("script_version")
    found = ScriptVersion.objects.known_as(number, user).filter(script=script).first() if number else script.latest
    if found is None:
        faults["/script_version"] = ["This script has no such version."]
        return None
    found.script = script
    return found


def _version_as_filed(user: User, said: Mapping[str, Any], faults: Faults, as_filed: Result) -> ScriptVersion:
    version = as_filed.script_version
    if said.get("script", as_filed.script_id) != as_filed.script_id:
        faults["/script"] = ["A result stays with the script that it was filed of."]
    if said.get("script_version") not in {None, version.number_for(user)}:
        faults["/script_version"] = ["A result stays with the version that it was filed of."]
    if said.get("call") not in {None, as_filed.call_uuid}:
        faults["/call"] = ["A result stays with the call that it was filed of."]
    return version


def build_called(name: str) -> Build | None:
    """The build of this name, however its numbers are written; None for no name."""
    return Build.objects.named(storable(name))


def storable(text: str) -> str:
    """PostgreSQL searches for no text with a null character; nothing has a name with one."""
    return text.replace("\x00", "\ufffd")
