"""Tags as reviewed: those of the one review of a result that stands, for whatever counts or lists them."""

from __future__ import annotations

from django.db.models import QuerySet

from ..models import Result, ResultQuerySet, Review, ReviewedProblem


def standing_review_of(result: Result) -> Review | None:
    """The review whose tags count; None while there is none."""
    return result.reviews.filter(stands=True).select_related("reviewer").first()


def standing_problems(rows: ResultQuerySet) -> QuerySet[ReviewedProblem]:
    """The problems of these results as reviewed. A result without a review that stands has none here, not its own."""
    return ReviewedProblem.objects.filter(review__stands=True, review__result__in=rows)


def reviewed_results(rows: ResultQuerySet) -> ResultQuerySet:
    """Those of these results that count as reviewed, each once: a review without a problem counts, too."""
    return rows.filter(reviews__stands=True)
