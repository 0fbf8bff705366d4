"""The thread of one result, as one person reads it."""

from __future__ import annotations

from dataclasses import dataclass

from emma_eval.accounts.models import User

from ..models import Comment, Follower, Result
from .comment_form import CommentForm
from .split_links import Part, split_links
from .withhold import is_told_so, shown_to

MOST_SHOWN, MOST_COUNTED = 50, 1_000


@dataclass(frozen=True)
class Said:
    """One comment. A withdrawn one has no parts."""

    comment: Comment
    parts: list[Part]
    is_own: bool
    is_of_tester: bool
    is_new: bool


@dataclass(frozen=True)
class Thread:
    """A page of what was said. `total` is counted no further than `MOST_COUNTED`.

    `earlier` is the key of the comment before which the earlier ones stand, 0 where there are none; `is_newest`: there
    are no later ones.
    `some_may_be_withheld`: this person is reviewing the result, so there may be more than is shown.
    """

    result: Result
    said: list[Said]
    total: int
    earlier: int
    is_newest: bool
    form: CommentForm
    some_may_be_withheld: bool

    @property
    def total_in_words(self) -> str:
        return f"{self.total:,}" if self.total <= MOST_COUNTED else f"more than {MOST_COUNTED:,}"

    @property
    def new(self) -> int:
        return sum(each.is_new for each in self.said)

    @property
    def last(self) -> int:
        """The key of the last comment; 0 where there is none."""
        return self.said[-1].comment.pk if self.said else 0


def show_thread(user: User, result: Result, form: CommentForm | None = None, before: int = 0) -> Thread:
    """The last comments on a result, which must be one that `user` may see, or the last before one of them."""
    comments = shown_to(user, result)
    page = comments.filter(pk__lt=before) if before else comments
    found = list(page.order_by("-pk")[: MOST_SHOWN + 1])
    read_up_to = _read_up_to(user, result) if found else None
    shown = found[:MOST_SHOWN][::-1]
    form = form if form is not None else CommentForm()
    # Swapped in place, a field keeps what was typed as long as it is the same one: after a comment it is another.
    form.auto_id = f"comment_{found[0].pk if found else 0}_%s"
    return Thread(
        result=result,
        said=[_said(comment, user, result, read_up_to) for comment in shown],
        total=comments.order_by()[: MOST_COUNTED + 1].count() if before or len(found) > MOST_SHOWN else len(found),
        earlier=shown[0].pk if len(found) > MOST_SHOWN else 0,
        is_newest=not before,
        form=form,
        some_may_be_withheld=is_told_so(user, result),
    )


def _read_up_to(user: User, result: Result) -> int | None:
    """None for those who do not follow: nothing is new to them."""
    return Follower.objects.filter(result=result, person=user).values_list("read_up_to", flat=True).first()


def _said(comment: Comment, user: User, result: Result, read_up_to: int | None) -> Said:
    is_standing, is_own = comment.withdrawn_at is None, comment.by_id == user.pk
    return Said(
        comment=comment,
        parts=split_links(comment.text) if is_standing else [],
        is_own=is_own,
        is_of_tester=comment.by_id == result.tester_id,
        is_new=is_standing and not is_own and read_up_to is not None and comment.pk > read_up_to,
    )
