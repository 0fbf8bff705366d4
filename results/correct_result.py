"""Correct a filed result: its tester may, until it is reviewed; every change is kept in a history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from .file_result import content_of, content_of_filing, count_run, put_content, write_problems
from .links import is_public_link
from .models import DIMENSION_KEYS, Change, ProblemOrder, Result
from .rules import Filing, Ratings


class ReviewedError(Exception):
    """The result has been reviewed and can't be corrected any more. Nothing was changed."""


class CorrectedElsewhereError(Exception):
    """The result has other content than the version this correction builds on. Nothing was changed."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"{result} is at version {result.version}")
        self.result = result


class NotALinkError(Exception):
    """What was given is no link that others can open. Nothing was changed."""


def correct_result(by: User, result: Result, filing: Filing, *, based_on: int) -> Change | None:
    """Change a result to say what the filing says; None when it says so already.

    The filing must have passed `rules.faults_of`. The script and its version stay as they were filed.
    """
    with transaction.atomic():
        current = Result.objects.select_for_update(of=("self",)).select_related("script", "build").get(pk=result.pk)
        if current.reviewed_at is not None:
            raise ReviewedError
        before, after = content_of(current), content_of_filing(filing)
        changed = {name: [_plain(before[name]), _plain(after[name])] for name in before if before[name] != after[name]}
        if not changed:
            return None
        if current.version != based_on:
            raise CorrectedElsewhereError(current)
        return _write(by, current, filing, changed)


def _write(by: User, result: Result, filing: Filing, changed: dict[str, list[object]]) -> Change:
    moves_count = not changed.keys().isdisjoint({"build_id", "never_started"})
    if moves_count:
        count_run(result, -1)
    put_content(result, filing)
    result.version += 1
    result.save()
    if not changed.keys().isdisjoint({"problems", "problem_order"}):
        result.problems.all().delete()
        write_problems(result, filing)
    if moves_count:
        count_run(result, 1)
    audit.record(by, "result corrected", f"result {result.pk}", is_safety=result.is_covered)
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


def add_recording_link(by: User, result: Result, link: str) -> Change | None:
    """Add the link that was missing when the result was filed. Anything else stays as it is."""
    if not is_public_link(link):
        raise NotALinkError
    return correct_result(by, result, replace(filing_of(result), recording_link=link), based_on=result.version)
