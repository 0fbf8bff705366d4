"""Begin a call for a script, or put another script on a call: once, however often it is asked for."""

from __future__ import annotations

import contextlib
import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from emma_eval.accounts import throttle
from emma_eval.accounts.models import User
from scripts_catalog.models import Build, Script

from ..filing.file_result import take_turn
from ..filing.follow_call import forget_on_open_results
from ..models import Call, CallQuerySet, Result, Run

_AGAIN = "again"
MOST_RUNS = 20
MOST_WAITING_CALLS = 200
NEVER_BEGUN_AFTER = timedelta(days=2)  # a page may be offline for a day, and tell then when its call began
CALLS = throttle.Limit("call", 60, timedelta(hours=1))


class TooManyRunsError(Exception):
    """The call has as many scripts as one call may have. Nothing was added."""


class TooManyCallsError(Exception):
    """The tester has as many calls without a result as anybody may have. No call was begun."""


def begin_call(tester: User, asked: uuid.UUID, script: Script, build: Build | None = None) -> Call:
    """The tester's call of this UUID, which the page with the button made; a new one the first time, on this build.

    A call that is over, or that the tester may not know of any more, is left as it is: the same page then begins
    another one, whose UUID follows from the first, so that a second press of the button still finds that one.
    Raises TooManyCallsError, or throttle.TooManyError, where a new one would be one too many.
    """
    with transaction.atomic():
        take_turn(tester)
        while (there := Call.objects.filter(tester=tester, uuid=asked).first()) is not None and _is_over(tester, there):
            asked = uuid.uuid5(asked, _AGAIN)
        call = there or _new_call(tester, asked, build or Build.objects.current_build())
        with contextlib.suppress(TooManyRunsError):  # no button does that: each is for the one script of its page
            _run(call, script)
        return call


def add_script(call: Call, script: Script) -> Run:
    """Run another script on the call; a script that is on it already stays as it is."""
    with transaction.atomic():
        take_turn(call.tester)
        return _run(call, script)


def take_off_script(call: Call, run: int) -> bool:
    """Take a script off the call that was put on it by mistake; False where it stays.

    It stays once anything of it was done or filed, and if it is the call's only one: a call without a script would
    be found nowhere. Safety stays too, so that nothing of a call is opened to all by a press.
    """
    with transaction.atomic():
        take_turn(call.tester)
        Call.objects.select_for_update(no_key=True).get(pk=call.pk)
        runs = list(call.runs.select_related("script"))
        found = next((each for each in runs if each.pk == run), None)
        if found is None or not may_be_taken_off(found, len(runs)):
            return False
        if Result.objects.filter(tester=call.tester_id, call_uuid=call.uuid, script=found.script).exists():
            return False
        found.delete()
        _revise(call)
        return True


def may_be_taken_off(run: Run, runs: int) -> bool:
    """As far as the run itself says, one of so many on its call."""
    return runs > 1 and run.is_untouched and not (run.is_safety or run.script.is_safety)


def _is_over(tester: User, call: Call) -> bool:
    return call.ended_at_ms is not None or not Call.objects.visible_to(tester).filter(pk=call.pk).exists()


def _new_call(tester: User, asked: uuid.UUID, build: Build | None) -> Call:
    """What counts is what the tester can do something about; beside it, how many are begun in an hour."""
    if _waiting(tester)[:MOST_WAITING_CALLS].count() >= MOST_WAITING_CALLS:
        raise TooManyCallsError
    throttle.spend(CALLS, str(tester.pk))
    return Call.objects.create(tester=tester, uuid=asked, build=build)


def _waiting(tester: User) -> CallQuerySet:
    """The tester's calls of which nothing is filed and something not set aside; not those that were never begun."""
    filed = Result.objects.filter(tester=tester, call_uuid=OuterRef("uuid"))
    expected = Run.objects.filter(call=OuterRef("pk"), set_aside_at=None)
    may_be_held = Q(started_at__isnull=False) | Q(created_at__gt=timezone.now() - NEVER_BEGUN_AFTER)
    return Call.objects.visible_to(tester).filter(may_be_held, ~Exists(filed), Exists(expected), tester=tester)


def _run(call: Call, script: Script) -> Run:
    there = call.runs.filter(script=script).first()
    if there is not None:
        return there
    if call.runs.count() >= MOST_RUNS:
        raise TooManyRunsError
    version = script.latest
    assert version is not None  # noqa: S101  (scripts without a version are on no page)
    is_safety = script.is_safety or version.is_safety
    run = call.runs.create(script=script, script_version=version, is_safety=is_safety)
    _revise(call)
    if is_safety:
        forget_on_open_results(call.tester_id, call.uuid)
    return run


def _revise(call: Call) -> None:
    """Pages that were told of the call before are told of something older than this."""
    Call.objects.filter(pk=call.pk).update(revision=F("revision") + 1)
