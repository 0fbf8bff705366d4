"""File a result: one transaction, once for each draft, however often it is asked for."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists

from emma_eval.accounts import audit
from emma_eval.accounts.models import User
from scripts_catalog.models import Script

from ..announce import announce_filed
from ..counts.keep_counts import count_result
from ..models import DIMENSION_KEYS, Call, Draft, Problem, ProblemOrder, Result
from ..recordings.uploads.ask_for_copy import ask_for_copy
from ..review.reasons import reason_for
from .follow_call import note_call
from .rules import Filing
from .tell_call import odds_with, results_of_call

TURNS = 1  # what PostgreSQL knows these locks by, beside the tester


class FiledOtherwiseError(Exception):
    """This draft was filed before, with other content. Nothing was changed."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"filed before as result {result.pk}")
        self.result = result


class ScriptFiledForCallError(Exception):
    """Another draft of this script was filed for the same call. Nothing was changed."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"the script is filed for this call as result {result.pk}")
        self.result = result


class CallToldOtherwiseError(Exception):
    """Another result of the call says otherwise about it. Nothing was changed. `faults`: fields, with what to do."""

    def __init__(self, result: Result, faults: list[tuple[str, str]]) -> None:
        super().__init__(f"at odds with result {result.pk}")
        self.result = result
        self.faults = faults


@dataclass(frozen=True)
class SheetRow:
    """What an imported row brings along: the digest of what it said, the old columns as text, and the machine."""

    digest: str
    worst_moment: str = ""
    minute_in_call: str = ""
    browser: str = ""
    device: str = ""
    connection: str = ""


@dataclass(frozen=True)
class Filed:
    """The result of a draft, and the others of its call. `is_new` is False when it had been filed before."""

    result: Result
    is_new: bool
    mates: tuple[Result, ...] = ()


def file_result(tester: User, draft_uuid: uuid.UUID, filing: Filing, *, call_uuid: uuid.UUID | None = None) -> Filed:
    """File a draft. The same draft again gives the same result; with other content, FiledOtherwiseError.
    What is at odds with other results of the call is refused: CallToldOtherwiseError; and a second draft of one
    script for the same call: ScriptFiledForCallError.

    The filing must have passed `rules.faults_of`. The database's unique (tester, draft) decides between
    racing requests: the one that loses reads what the other wrote.
    """
    mates: tuple[Result, ...] = ()
    call_uuid = call_uuid or uuid.uuid4()
    try:
        with transaction.atomic():
            take_turn(tester)
            has_results, was_held = _read_again(tester, filing.script_version.script, call_uuid)
            of_the_call = results_of_call(tester, call_uuid) if has_results else []
            found = next((result for result in of_the_call if result.draft_uuid == draft_uuid), None)
            mates = tuple(result for result in of_the_call if result is not found)
            if found is None:
                _check_against(mates, filing)
                result = unsaved_result(tester, draft_uuid, call_uuid, filing)
                if was_held:
                    note_call(result, call_uuid)
                _write(result, filing)
                return Filed(result, is_new=True, mates=mates)
    except IntegrityError:
        found = Result.objects.filter(tester=tester, draft_uuid=draft_uuid).first()
        if found is None:
            raise
    is_same_version = found.script_version_id == filing.script_version.pk
    if not is_same_version or content_of(found) != content_of_filing(filing):
        raise FiledOtherwiseError(found)
    return Filed(found, is_new=False, mates=mates)


def take_turn(tester: User) -> None:
    """Wait until no other transaction writes results or drafts of this tester. SQLite has one writer anyway.

    Saving a draft takes the same turn as filing it, so that no late save leaves a draft behind of what is filed.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [TURNS, tester.pk % 2**31])


def _read_again(tester: User, script: Script, call_uuid: uuid.UUID) -> tuple[bool, bool]:
    """Whether there are results of the call, and whether it was held beside the live-call page. The script gets its
    area of now: it may have moved into Safety, or out of it, since the form was read.

    One query: three cost more than writing the result, and mostly there is nothing of the call to read.
    """
    results = Result.objects.filter(tester=tester, call_uuid=call_uuid)
    calls = Call.objects.filter(tester=tester, uuid=call_uuid)
    now = Script.objects.filter(pk=script.pk).values_list("area", Exists(results), Exists(calls)).get()
    script.area, has_results, was_held = now
    return has_results, was_held


def _check_against(mates: tuple[Result, ...], filing: Filing) -> None:
    """One call has one account of itself, and each script once. Nothing else would keep one run from counting twice:
    rows of sheets may share a call, so no constraint can.
    """
    faults = odds_with(filing, mates[0]) if mates else []
    if faults:
        raise CallToldOtherwiseError(mates[0], faults)
    twin = next((result for result in mates if result.script_id == filing.script_version.script.slug), None)
    if twin is not None:
        raise ScriptFiledForCallError(twin)


def _write(result: Result, filing: Filing) -> None:
    result.save(force_insert=True)
    problems = write_problems(result, filing)
    Draft.objects.filter(tester=result.tester_id, uuid=result.draft_uuid).delete()
    slug, is_safety = result.script.slug, result.is_covered
    audit.record(result.tester, "filed a result", str(result.pk), is_safety=is_safety, script=slug)
    announce_filed(result)
    count_result(result, problems)
    ask_for_copy(result)


def unsaved_result(
    tester: User, draft_uuid: uuid.UUID, call_uuid: uuid.UUID, filing: Filing, row: SheetRow | None = None
) -> Result:
    """The row that a filing becomes, for one draft and for a whole sheet. Nothing is saved."""
    script = filing.script_version.script
    result = Result(
        tester=tester,
        draft_uuid=draft_uuid,
        call_uuid=call_uuid,
        script=script,
        filed_as_safety=script.is_safety or filing.script_version.is_safety,
    )
    if row is not None:
        result.sheet_digest = row.digest
        result.sheet_worst_moment = row.worst_moment
        result.sheet_minute_in_call = row.minute_in_call
        result.browser, result.device, result.connection = row.browser, row.device, row.connection
    put_content(result, filing)
    result.queued_for = reason_for(result, filing.problems)
    return result


def put_content(result: Result, filing: Filing) -> None:
    """Set every column that a filing decides. Nothing is saved."""
    result.script_version = filing.script_version
    result.build = filing.build
    result.called_at = filing.called_at
    result.recording_link = filing.recording_link
    result.camera_used = filing.camera_used
    result.camera_note = filing.camera_note
    result.never_started = filing.never_started
    result.problem_order = filing.problem_order
    result.comment = filing.comment
    result.met_emma_before = filing.met_emma_before
    for key in DIMENSION_KEYS:
        setattr(result, key, filing.ratings[key])


def write_problems(result: Result, filing: Filing) -> list[Problem]:
    return Problem.objects.bulk_create(problems_of(result, filing))


def problems_of(result: Result, filing: Filing) -> list[Problem]:
    """The problems in their order; a rank only where the overall order is known. Nothing is saved."""
    return [
        Problem(result=result, tag=tag, position=place, rank=rank_of(place, filing.problem_order))
        for place, tag in enumerate(filing.problems, 1)
    ]


def rank_of(place: int, order: ProblemOrder) -> int | None:
    """The place in the overall order, as far as it is known."""
    if order == ProblemOrder.OVERALL or (order == ProblemOrder.BIGGEST and place == 1):
        return place
    return None


COMPARED = (
    "script_id",
    "build_id",
    "called_at",
    "recording_link",
    *DIMENSION_KEYS,
    "camera_used",
    "camera_note",
    "never_started",
    "problem_order",
    "comment",
    "met_emma_before",
)


def content_of(result: Result) -> dict[str, object]:
    """What a result says, by column, with its problems: for comparing, and for the history of changes."""
    said: dict[str, object] = {name: getattr(result, name) for name in COMPARED}
    said["problems"] = tuple(result.problems.values_list("tag", flat=True))
    return said


def content_of_filing(filing: Filing) -> dict[str, object]:
    """The same for a filing that is not written yet."""
    unsaved = Result(script=filing.script_version.script)
    put_content(unsaved, filing)
    said: dict[str, object] = {name: getattr(unsaved, name) for name in COMPARED}
    said["problems"] = filing.problems
    return said
