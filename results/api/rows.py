"""A result as programs read it, in lists and alone: made of columns, so that a long list costs no object for a row."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from rest_framework import serializers

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy

from ..listing.reviewed import KEY_OF_REASON, REASON_OF
from ..models import (
    BEST_FIRST,
    DIMENSION_KEYS,
    MOST_COMMENT_CHARACTERS,
    MOST_NOTE_CHARACTERS,
    Browser,
    Connection,
    Device,
    Problem,
    ProblemOrder,
    RecordingState,
    ResultQuerySet,
)
from ..recordings.tell_of_rows import ToldRecording, recordings_of_rows
from ..review.as_reviewed import PlacedTag, reason_shown, tags_as_reviewed
from ..review.open_to import time_shown

COLUMNS = (
    *("id", "call_uuid", "script_id", "build_id", "called_at", "filed_at", "version", *DIMENSION_KEYS),
    *("reviewed_at", "queued_for"),
    *("camera_used", "camera_note", "never_started", "problem_order", "comment", "met_emma_before", "recording_link"),
    *("filed_as_safety", "taxonomy_edition", "sheet_digest", "browser", "device", "system", "connection"),
    *("script__area", "script_version__title", "script_version__number", "script_version__open_number"),
    *("build__name", "tester_id", "tester__name", "tester__email"),
)
TAGS = list(taxonomy.TAG_BY_KEY)
Row = dict[str, Any]


def columns_of(results: ResultQuerySet) -> Any:
    """The results as rows of the columns that are told."""
    return results.values_list(*COLUMNS, named=True)


def tell_rows(user: User, rows: list[Any]) -> list[Row]:
    """Each row as it is told to this person; one query for the problems of all of them, one for those as reviewed,
    one for their recordings."""
    problems, reviewed = _problems_of([row.id for row in rows]), tags_as_reviewed(user, rows)
    recorded = recordings_of_rows(user, rows)
    return [
        {
            **_tell(user, row, problems.get(row.id, []), reviewed.get(row.id)),
            "recording": _tell_recording(recorded.get((row.tester_id, row.call_uuid))),
        }
        for row in rows
    ]


def _tell_recording(recording: ToldRecording | None) -> Row | None:
    return None if recording is None else {"state": recording.state.value, "url": recording.page}


def _problems_of(ids: list[int]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    tags = Problem.objects.filter(result__in=ids).order_by("result_id", "position")
    for result_id, tag, rank in tags.values_list("result_id", "tag", "rank"):
        found.setdefault(result_id, []).append(_tell_problem(tag, rank))
    return found


def _tell_problem(tag: str, rank: int | None) -> Row:
    return {"tag": tag, "label": taxonomy.TAG_BY_KEY[tag].label, "place": rank}


def _tell(user: User, row: Any, problems: list[Row], reviewed: tuple[PlacedTag, ...] | None) -> Row:
    number = row.script_version__number if user.is_trained else row.script_version__open_number
    return {
        "id": str(row.id),
        "url": f"{settings.ORIGIN}/results/{row.id}/",
        "version": row.version,
        "script": row.script_id,
        "script_version": number or row.script_version__number,
        "title": row.script_version__title,
        "is_safety": row.filed_as_safety or row.script__area == taxonomy.SAFETY,
        "build": row.build__name,
        "tester": {"id": row.tester_id, "name": row.tester__name or row.tester__email},
        "call": str(row.call_uuid),
        "called_at": instant(row.called_at),
        "filed_at": instant(row.filed_at),
        "reviewed_at": (when := time_shown(row.reviewed_at, row.queued_for)) and instant(when),
        "waits_for": (reason := reason_shown(user, row.queued_for)) and KEY_OF_REASON[reason],
        "never_started": row.never_started,
        "camera_used": row.camera_used,
        "camera_note": row.camera_note,
        "met_emma_before": row.met_emma_before,
        "ratings": {key: getattr(row, key) for key in DIMENSION_KEYS},
        "problem_order": row.problem_order,
        "problems": problems,
        "problems_as_reviewed": None if reviewed is None else [_tell_problem(each.tag, each.rank) for each in reviewed],
        "comment": row.comment,
        "recording_link": row.recording_link,
        "machine": {
            "browser": row.browser,
            "device": row.device,
            "system": row.system,
            "connection": row.connection,
        },
        "is_imported": bool(row.sheet_digest),
        "taxonomy_edition": row.taxonomy_edition,
    }


def instant(at: datetime) -> str:
    """A time as programs read it: RFC 3339, in UTC."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"


# --- how it is described -----------------------------------------------------------------------------


class RatingsSerializer(serializers.Serializer[Any]):
    """Six ratings. null: not rated, since the call never started; for `vision` also N/A, the camera was not used."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            dimension.key: serializers.IntegerField(
                min_value=1, max_value=5, allow_null=True, help_text=f"{dimension.name}. {dimension.meaning}"
            )
            for dimension in taxonomy.DIMENSIONS
        }


class ProblemTagSerializer(serializers.Serializer[Any]):
    """A problem. `place`: in the order over all problems, 1 the biggest; null where that order is not known."""

    tag = serializers.ChoiceField(choices=TAGS)
    # A field of every serializer goes by this name, too.
    label = serializers.CharField()  # type: ignore[assignment]
    place = serializers.IntegerField(min_value=1, allow_null=True)


class PersonSerializer(serializers.Serializer[Any]):
    """Somebody of this site."""

    id = serializers.IntegerField()
    name = serializers.CharField()


class MachineSerializer(serializers.Serializer[Any]):
    """What was noted of the device; empty where nothing was."""

    browser = serializers.ChoiceField(choices=Browser.values, allow_blank=True)
    device = serializers.ChoiceField(choices=Device.values, allow_blank=True)
    system = serializers.CharField(allow_blank=True)
    connection = serializers.ChoiceField(choices=Connection.values, allow_blank=True)


class RecordingSerializer(serializers.Serializer[Any]):
    """The recording of a call. `ready`: it can be played; `failed`: it can't; otherwise it is on its way."""

    state = serializers.ChoiceField(choices=[state.value for state in BEST_FIRST if state != RecordingState.REMOVED])
    url = serializers.URLField(help_text="Its page, for people: no file is given to programs.")


class ResultSerializer(serializers.Serializer[Any]):
    """One script run on one call, as its tester filed it."""

    id = serializers.RegexField(r"^[0-9]{1,19}$")
    url = serializers.URLField(help_text="Its page, for people.")
    version = serializers.IntegerField(min_value=1, help_text="Grows with every correction.")
    script = serializers.SlugField()
    script_version = serializers.IntegerField(min_value=1, help_text="The version that was run.")
    title = serializers.CharField()
    is_safety = serializers.BooleanField(help_text="For people who are trained, and told to nobody else.")
    build = serializers.CharField()
    tester = PersonSerializer()
    call = serializers.UUIDField(help_text="Shared by the results of one call of one tester.")
    called_at = serializers.DateTimeField()
    filed_at = serializers.DateTimeField()
    reviewed_at = serializers.DateTimeField(
        allow_null=True, help_text="Null until all the reviews that are wanted are in."
    )
    waits_for = serializers.ChoiceField(
        choices=list(REASON_OF),
        allow_null=True,
        help_text="Why it is in the review queue, by the words of the filter `review`, for those who review and lead. "
        "null: it is not, or the token's owner is none of them.",
    )
    never_started = serializers.BooleanField()
    camera_used = serializers.BooleanField()
    camera_note = serializers.CharField(
        allow_blank=True, max_length=MOST_NOTE_CHARACTERS, help_text="Why a script with the camera was run without."
    )
    met_emma_before = serializers.BooleanField()
    ratings = RatingsSerializer()
    problem_order = serializers.ChoiceField(
        choices=ProblemOrder.values, help_text="How much is known of the order of the problems."
    )
    problems = ProblemTagSerializer(many=True, help_text="As filed: no review changes them.")
    problems_as_reviewed = ProblemTagSerializer(
        many=True,
        allow_null=True,
        help_text="Those of the review that stands. null: none stands, or the token's owner reads none of this result.",
    )
    comment = serializers.CharField(allow_blank=True, max_length=MOST_COMMENT_CHARACTERS)
    recording_link = serializers.CharField(allow_blank=True, max_length=2000)
    recording = RecordingSerializer(
        allow_null=True, help_text="What is kept here of the call's sound and picture; null: nothing that stands."
    )
    machine = MachineSerializer()
    is_imported = serializers.BooleanField(help_text="Whether it came with a sheet.")
    taxonomy_edition = serializers.IntegerField(min_value=1)


class ResultPageSerializer(serializers.Serializer[Any]):
    """A page of results."""

    items = ResultSerializer(many=True)
    next = serializers.URLField(allow_null=True, help_text="Where the list goes on.")
    previous = serializers.URLField(allow_null=True, help_text="Where it came from.")
