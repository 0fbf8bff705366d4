"""Results as events: what is said of one to the owner of an endpoint, by the same rules as on pages."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from emma_eval.accounts.models import User
from emma_eval.webhooks.kinds import Said, tells

from .announce import CORRECTED, FILED, RECORDING_REMOVED, REVIEWED
from .models import DIMENSION_KEYS, Problem, Recording, Result, ReviewedProblem
from .recordings.removal.removal_reasons import without_words
from .recordings.trail import names_of_hidden_recordings
from .review.blind import is_shown_as_reviewed, reviews_shown_to


@tells(FILED, "A result was filed", "Not those of an imported sheet.")
@tells(CORRECTED, "A result was corrected", "With what it says now.")
def tell_result(owner: User, subject: str) -> Said | None:
    """What a result says now, as filed: ratings and problems, and never what somebody wrote in their own words."""
    result = _seen(owner, subject)
    return None if result is None else _said_of(result)


@tells(REVIEWED, "A result was reviewed", "With the problems as filed, and as reviewed.")
def tell_review(owner: User, subject: str) -> Said | None:
    """The same, with the problems of the review that stands, as far as the owner may read it: null where they don't.

    None for who may not know that it was reviewed, since they are still to review it themselves.
    """
    result = _seen(owner, subject)
    if result is None or not is_shown_as_reviewed(owner, result):
        return None
    stands = next((review for review in reviews_shown_to(owner, result) if review.stands), None)
    reviewed = None if stands is None else _problems_of(stands.problems.all())
    return {**_said_of(result), "problems_as_reviewed": reviewed}


@tells(
    RECORDING_REMOVED,
    "A recording was removed",
    "So that copies of it, and what was made from it, can go too.",
    hidden=names_of_hidden_recordings,
)
def tell_removed(owner: User, subject: str) -> Said | None:
    """Which recording of which call, and the results that were filed of it; why, only in one of the fixed reasons."""
    recording = Recording.objects.visible_to(owner).filter(pk=subject).select_related("tester").first()
    if recording is None or recording.removed_at is None:
        return None
    results = Result.objects.visible_to(owner).filter(tester=recording.tester, call_uuid=recording.call_uuid)
    return {
        "id": str(recording.pk),
        "url": settings.ORIGIN + recording.get_absolute_url(),
        "call": str(recording.call_uuid),
        "tester": str(recording.tester),
        "results": [str(pk) for pk in results.order_by("pk").values_list("pk", flat=True)],
        "removed_at": recording.removed_at.isoformat(),
        "because": without_words(recording.removed_because),
    }


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
        "problems": _problems_of(result.problems.all()),
    }


def _problems_of(problems: Iterable[Problem | ReviewedProblem]) -> list[Said]:
    """In their order; `place` is null where the overall order is not known."""
    return [{"tag": problem.tag, "label": problem.label, "place": problem.rank} for problem in problems]
