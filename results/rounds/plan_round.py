"""Plan a round, change it, close it and open it again. Each leaves its lines in the audit trail.

A round's own line names no script and quotes neither its name nor its note: whoever may read it need not know of what
those tell, now or later. What is wanted of a script has a line of its own, which those see who may know of that script.
Who may not know of a round by now sees none of its lines (`hidden_lines.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.models import User
from scripts_catalog.models import Build, Script

from ..models import Round, Wanted


@dataclass(frozen=True)
class Plan:
    """What a round asks for. `wanted`: by the script's slug, how many runs; only scripts that the planner may know."""

    name: str
    build: Build
    due_on: date | None
    note: str
    wanted: Mapping[str, int]


@transaction.atomic
def plan_round(by: User, plan: Plan) -> Round:
    made = Round.objects.create(name=plan.name, build=plan.build, due_on=plan.due_on, note=plan.note, begun_by=by)
    _want(by, made, plan.wanted)
    is_safety = _is_covered(made)
    _record(by, "planned a round", made, is_safety=is_safety, build=plan.build.name, due_on=_in_words(plan.due_on))
    return made


class ChangedMeanwhileError(Exception):
    """Somebody changed the round since it was opened to be changed."""


def as_seen(by: User, round_: Round) -> str:
    """What this person may know of a round, in a few letters: other ones where anything of it is other."""
    wanted = sorted(Wanted.objects.visible_to(by).filter(round=round_).values_list("script_id", "runs"))
    said = [round_.name, round_.build_id, _in_words(round_.due_on), round_.note, wanted]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


@transaction.atomic
def change_round(by: User, found: Round, plan: Plan, *, opened_as: str = "") -> bool:
    """Make the round what the plan says; False where it says so already. What `by` may not know of stays wanted.

    `opened_as`: what `as_seen` said when the round was opened to be changed. Raises ChangedMeanwhileError where it
    says otherwise by now; then nothing is changed.
    """
    round_ = Round.objects.select_for_update(no_key=True).get(pk=found.pk)
    if opened_as and opened_as != as_seen(by, round_):
        raise ChangedMeanwhileError
    before, was_covered = _facts(round_), _is_covered(round_)
    has_other_words = (round_.name, round_.note) != (plan.name, plan.note)
    round_.name, round_.build, round_.due_on, round_.note = plan.name, plan.build, plan.due_on, plan.note
    round_.save()
    wants_other = _want(by, round_, plan.wanted)
    after = _facts(round_)
    changed = {
        field: {"before": before[field], "after": said} for field, said in after.items() if before[field] != said
    }
    if changed or has_other_words:
        words = {"words": "changed"} if has_other_words else {}
        _record(by, "changed a round", round_, is_safety=was_covered or _is_covered(round_), **changed, **words)
    return bool(changed) or has_other_words or wants_other


def close_round(by: User, found: Round) -> bool:
    """Testers are no longer asked for its runs; False where it was closed already."""
    return _set_closed(by, found, is_closed=True)


def reopen_round(by: User, found: Round) -> bool:
    return _set_closed(by, found, is_closed=False)


@transaction.atomic
def _set_closed(by: User, found: Round, *, is_closed: bool) -> bool:
    others = Round.objects.filter(pk=found.pk, closed_at__isnull=is_closed)
    if not others.update(closed_at=timezone.now() if is_closed else None):
        return False
    said = "closed a round" if is_closed else "opened a round again"
    _record(by, said, found, is_safety=_is_covered(found))
    return True


def _want(by: User, round_: Round, wanted: Mapping[str, int]) -> bool:
    """Whether anything is wanted otherwise than before."""
    before = dict(Wanted.objects.visible_to(by).filter(round=round_).values_list("script__slug", "runs"))
    changed = sorted(slug for slug in {*before, *wanted} if before.get(slug) != wanted.get(slug))
    round_.wanted.filter(script__in=[slug for slug in changed if slug not in wanted]).delete()
    Wanted.objects.bulk_create(
        [Wanted(round=round_, script_id=slug, runs=wanted[slug]) for slug in changed if slug in wanted],
        update_conflicts=True,
        unique_fields=["round", "script"],
        update_fields=["runs"],
    )
    safety = {script.slug for script in Script.objects.filter(slug__in=changed) if script.is_safety}
    for slug in changed:
        runs = {"before": before.get(slug, 0), "after": wanted.get(slug, 0)}
        said = "wanted runs of a script"
        audit.record(by, said, str(round_.pk), is_safety=slug in safety, script=slug, runs=runs)
    return bool(changed)


def _record(by: User, action: str, round_: Round, *, is_safety: bool, **details: Any) -> None:
    audit.record(by, action, str(round_.pk), is_safety=is_safety, **details)


def _is_covered(round_: Round) -> bool:
    """Whether only the trained may know of the round. What it says at such a time stays hidden."""
    return Round.objects.covered().filter(pk=round_.pk).exists()


def _facts(round_: Round) -> dict[str, str]:
    return {"build": round_.build.name, "due_on": _in_words(round_.due_on)}


def _in_words(day: date | None) -> str:
    return "" if day is None else day.isoformat()
