"""Correct a filed result: its tester may, until it is reviewed; every change is kept in a history."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from ..announce import announce_corrected
from ..counts.keep_counts import Tally
from ..models import DIMENSION_KEYS, Change, ProblemOrder, Result
from ..recordings.uploads.ask_for_copy import ask_for_copy
from ..review.reasons import reason_after
from .file_result import Filed, content_of, content_of_filing, put_content, take_turn, write_problems
from .follow_call import follow_build
from .rules import Code, Fault, Filing, Ratings, fault_of_link
from .tell_history import label_of

# What holds for a whole call, whichever of its scripts it was filed with: the field of a filing, by its column.
FACTS_OF_THE_CALL = {
    "build_id": "build",
    "called_at": "called_at",
    "recording_link": "recording_link",
    "met_emma_before": "met_emma_before",
}


class ReviewedError(Exception):
    """The result has been reviewed and can't be corrected any more. Nothing was changed."""


class CorrectedElsewhereError(Exception):
    """The result has other content than the version this correction builds on. Nothing was changed."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"{result} is at version {result.version}")
        self.result = result


class NotALinkError(Exception):
    """What was given is no link that others can open. Nothing was changed."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.code)
        self.fault = fault


@dataclass(frozen=True)
class Corrected:
    """What a correction did: its change, the other results of the call that now say the same about the call,
    and those that were reviewed, so that they still say something else."""

    change: Change
    shared: tuple[Result, ...] = ()
    reviewed: tuple[Result, ...] = ()


Changed = dict[str, list[object]]


def correct_result(by: User, result: Result, filing: Filing, *, based_on: int) -> Corrected | None:
    """Change a result to say what the filing says; None when it says so already.

    What it says anew about the call is changed on the tester's other results of that call too. The filing must
    have passed `rules.faults_of`. The script and its version stay as they were filed.
    """
    with transaction.atomic():
        take_turn(
            result.tester
        )  # filing and calls take it too: they reach the call and its results the other way round
        of_the_call = _lock_call(result)
        current = of_the_call.pop(result.pk)
        if current.reviewed_at is not None:
            raise ReviewedError
        changed = _differences(current, filing)
        if not changed:
            return None
        if current.version != based_on:
            raise CorrectedElsewhereError(current)
        tally = Tally()
        change = _write(by, current, filing, changed, tally)
        facts = {field for column, field in FACTS_OF_THE_CALL.items() if column in changed}
        corrected = _share(by, change, {field: getattr(filing, field) for field in facts}, of_the_call, tally)
        tally.write()
        return corrected


def _lock_call(result: Result) -> dict[int, Result]:
    """The result and its tester's others of the call, by key; locked in one order, so that nobody waits in a ring."""
    of_the_call = Q(pk=result.pk) | Q(call_uuid=result.call_uuid, tester=result.tester_id)
    found = Result.objects.filter(of_the_call).select_for_update(no_key=True, of=("self",)).order_by("pk")
    return {each.pk: each for each in found.select_related("script", "build", "script_version__script")}


def _share(by: User, change: Change, facts: dict[str, object], others: dict[int, Result], tally: Tally) -> Corrected:
    """Say the facts of the call on its other results that this person may see."""
    seen = Result.objects.visible_to(by).filter(pk__in=others).order_by("pk").values_list("pk", flat=True)
    shared, reviewed = [], []
    for other in (others[pk] for pk in (seen if facts else ())):
        filing = replace(filing_of(other), **facts)  # type: ignore[arg-type]
        changed = _differences(other, filing)
        if changed and other.reviewed_at is not None:
            reviewed.append(other)
        elif changed:
            _write(by, other, filing, changed, tally)
            shared.append(other)
    return Corrected(change, tuple(shared), tuple(reviewed))


def _differences(result: Result, filing: Filing) -> Changed:
    before, after = content_of(result), content_of_filing(filing)
    return {name: [_plain(before[name]), _plain(after[name])] for name in before if before[name] != after[name]}


def _write(by: User, result: Result, filing: Filing, changed: Changed, tally: Tally) -> Change:
    tally.count(result, result.problems.all(), -1)
    put_content(result, filing)
    result.queued_for = reason_after(result, filing.problems, changed)
    result.version += 1
    result.save()
    if not changed.keys().isdisjoint({"problems", "problem_order"}):
        result.problems.all().delete()
        write_problems(result, filing)
    tally.count(result, result.problems.all())
    if "build_id" in changed:
        follow_build(result)
    if "recording_link" in changed:
        ask_for_copy(result)
    labels = [label_of(name) for name in changed]
    audit.record(
        by, "corrected a result", str(result.pk), is_safety=result.is_covered, script=result.script.slug, changed=labels
    )
    announce_corrected(result)
    return Change.objects.create(result=result, by=by, version=result.version, fields=changed)


def _plain(value: object) -> object:
    """A value as JSON keeps it."""
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


def filing_of(result: Result) -> Filing:
    """What a result says now, as a filing."""
    return Filing(
        script_version=result.script_version,
        build=result.build,
        called_at=result.called_at,
        ratings=Ratings(**{key: getattr(result, key) for key in DIMENSION_KEYS}),
        camera_used=result.camera_used,
        camera_note=result.camera_note,
        never_started=result.never_started,
        problems=tuple(result.problems.values_list("tag", flat=True)),
        problem_order=ProblemOrder(result.problem_order),
        comment=result.comment,
        met_emma_before=result.met_emma_before,
        recording_link=result.recording_link,
    )


def add_recording_link(by: User, result: Result, link: str) -> Corrected | None:
    """Add the link that was missing when the call was filed. Anything else stays as it is."""
    fault = fault_of_link(link) if link else Fault("recording_link", Code.MISSING)
    if fault is not None:
        raise NotALinkError(fault)
    return correct_result(by, result, replace(filing_of(result), recording_link=link), based_on=result.version)


def give_link_to_mates(by: User, filed: Filed) -> tuple[Result, ...]:
    """The link that came with a result is that of the whole call: the others of it that waited for one, and have it."""
    link = filed.result.recording_link
    waiting = next((mate for mate in filed.mates if not mate.recording_link and mate.reviewed_at is None), None)
    if waiting is None or not link:
        return ()
    with contextlib.suppress(ReviewedError, CorrectedElsewhereError):  # then it waits on the to-do page, as before
        corrected = add_recording_link(by, waiting, link)
        return (waiting, *(corrected.shared if corrected else ()))
    return ()
