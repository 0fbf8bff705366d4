"""Results as events: what happens to one is announced to the endpoints that are told of it, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from emma_eval.accounts.models import User
from emma_eval.webhooks.announce import announce
from emma_eval.webhooks.kinds import Said, tells

from .models import DIMENSION_KEYS, Problem, Result, Review, ReviewedProblem

FILED, CORRECTED, REVIEWED = "result.filed", "result.corrected", "result.reviewed"


def announce_filed(result: Result) -> None:
    _announce(FILED, result)


def announce_corrected(result: Result) -> None:
    _announce(CORRECTED, result)


def announce_reviewed(result: Result) -> None:
    """Say that a result has a review that stands. The tags of other reviews are told to nobody."""
    _announce(REVIEWED, result)


def _announce(kind: str, result: Result) -> None:
    announce(kind, result.pk, is_safety=result.is_covered, script=result.script_id)


@tells(FILED, "A result was filed", "Not those of an imported sheet.")
@tells(CORRECTED, "A result was corrected", "With what it says now.")
def tell_result(owner: User, subject: str) -> Said | None:
    """What a result says now, as filed: ratings and problems, and never what somebody wrote in their own words."""
    result = _seen(owner, subject)
    return None if result is None else _said_of(result)


@tells(REVIEWED, "A result was reviewed", "With the problems as filed, and as reviewed.")
def tell_review(owner: User, subject: str) -> Said | None:
    """The same, with the problems of the one review that stands, where one does."""
    result = _seen(owner, subject)
    if result is None:
        return None
    stands = Review.objects.filter(result=result, stands=True).first()
    reviewed = None if stands is None else _problems_of(stands.problems.order_by("position"))
    return {**_said_of(result), "problems_as_reviewed": reviewed}


def _seen(owner: User, subject: str) -> Result | None:
    found = Result.objects.visible_to(owner).filter(pk=int(subject))
    return found.select_related("tester", "build").first()


def _said_of(result: Result) -> Said:
    return {
        "id": str(result.pk),
        "url": settings.ORIGIN + result.get_absolute_url(),
        "version": result.version,
        "script": result.script_id,
        "build": result.build.name,
        "tester": str(result.tester),
        "called_at": result.called_at.isoformat(),
        "filed_at": result.filed_at.isoformat(),
        "never_started": result.never_started,
        "camera_used": result.camera_used,
        "ratings": {key: getattr(result, key) for key in DIMENSION_KEYS},
        "problem_order": result.problem_order,
        "problems": _problems_of(result.problems.order_by("position")),
    }


def _problems_of(problems: Iterable[Problem | ReviewedProblem]) -> list[Said]:
    """In their order; `place` is null where the overall order is not known."""
    return [{"tag": problem.tag, "label": problem.label, "place": problem.rank} for problem in problems]
