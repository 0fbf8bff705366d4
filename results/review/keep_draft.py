"""Keep a review that is under way, as often as it is asked for; the result stays in hand as long as work goes on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from emma_eval.accounts.models import User

from ..filing.typed import PLACE
from ..models import Hold, Result, Review
from .hold_result import hold, lock
from .open_to import AllInError, FiledError, HeldError, check_open

FIELDS = ("judged", "no_problem", "reason")

Fields = dict[str, str]


class NotBegunError(Exception):
    """This person has not begun a review of the result. Nothing was saved."""


class ChangedElsewhereError(Exception):
    """Another tab has saved other words since the edition that this save builds on. Nothing was saved."""

    def __init__(self, draft: ReviewDraft) -> None:
        super().__init__(f"at edition {draft.edition}")
        self.draft = draft


@dataclass(frozen=True)
class ReviewDraft:
    """A review as typed so far. `result_version`: the one shown; `edition` grows with each save."""

    fields: Fields = field(default_factory=dict)
    result_version: int = 1
    edition: int = 0
    saved_at: str = ""

    @classmethod
    def of(cls, review: Review) -> ReviewDraft:
        kept: dict[str, Any] = review.draft
        return cls(**kept) if kept else cls(result_version=review.result_version)


@dataclass(frozen=True)
class Kept:
    """What a save did. `hold`: the result in hand for longer; None, with the reason in `error`, where it is not."""

    draft: ReviewDraft
    hold: Hold | None
    error: AllInError | HeldError | None = None


def keep_draft(
    reviewer: User, result_pk: int, fields: Fields, *, result_version: int, based_on: int, now: datetime
) -> Kept:
    """Keep what is typed. It is kept even where the review can't be filed any more: nobody's work is thrown away.

    The same words again change nothing but the time for which the result is in hand, if it is the one that was worked
    on last. Raises FiledError, NotBegunError, ChangedElsewhereError.
    """
    with transaction.atomic():
        result = lock(result_pk)
        review = result.reviews.filter(reviewer=reviewer).first()
        if review is None:
            raise NotBegunError
        if review.filed_at is not None:
            raise FiledError(review)
        before = ReviewDraft.of(review)
        draft = _keep(review, ReviewDraft(fields, result_version, based_on + 1, now.isoformat()), based_on)
        try:
            check_open(reviewer, result, now)
        except (AllInError, HeldError) as error:
            return Kept(draft, None, error)
        return Kept(draft, _hold_on(reviewer, result, now, is_work=draft != before))


def _keep(review: Review, asked: ReviewDraft, based_on: int) -> ReviewDraft:
    there = ReviewDraft.of(review)
    if there.fields == asked.fields and there.result_version == asked.result_version:
        return there
    if there.edition != based_on:
        raise ChangedElsewhereError(there)
    review.draft = asdict(asked)
    review.save(update_fields=["draft"])
    return asked


def _hold_on(reviewer: User, result: Result, now: datetime, *, is_work: bool) -> Hold | None:
    """Hold it for longer, or again where the hold had lapsed. A page that is open, while its reviewer works on another
    one, prolongs nothing.
    """
    mine = Hold.objects.in_force(now).filter(reviewer=reviewer)
    last = mine.order_by("-taken_at").first()
    if is_work or last is None or last.result_id == result.pk:
        return hold(reviewer, result, now)
    return mine.filter(result=result).first()


def fields_in(sent: dict[str, Any]) -> Fields:
    """What a browser sent of a review: known names, text alone, empty ones left out."""
    known = {name: sent[name] for name in sent if name in FIELDS or name.startswith(PLACE)}
    return {name[:60]: text[:20_000] for name, text in known.items() if isinstance(text, str) and text}
