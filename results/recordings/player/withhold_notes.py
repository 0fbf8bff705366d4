"""Which notes on a recording somebody may read: what blindness keeps of comments, it keeps of notes."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from emma_eval.accounts.models import User

from ...models import Recording, RecordingNote, Result
from ...review.blind import REVIEWERS, authors_kept_from


def notes_shown_to(user: User, recording: Recording) -> QuerySet[RecordingNote]:
    """Without those of whoever reviews a result of the call while its reviews are not all in, and without whatever
    anybody else noted since the first of these began: it may well be an answer to them."""
    standing = RecordingNote.objects.filter(recording=recording, withdrawn_at=None).select_related("by")
    if not user.has_role(*REVIEWERS):
        return standing
    for result in Result.objects.filter(tester=recording.tester_id, call_uuid=recording.call_uuid):
        authors = authors_kept_from(user, result)
        if authors:
            standing = standing.exclude(_kept(authors, result) & ~Q(by=user))
    return standing


def _kept(authors: frozenset[int], result: Result) -> Q:
    first = result.reviews.filter(reviewer__in=authors).order_by("begun_at").values_list("begun_at", flat=True)[:1]
    return Q(by__in=authors) | Q(created_at__gte=first)
