"""Say something about a result; withdraw it; have read what others said."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.models import User
from emma_eval.accounts.throttle import Limit

from ..models import Comment, Follower, Result

TWICE_WITHIN = timedelta(minutes=2)
SAID_BY_ONE = Limit("comments", 30, timedelta(minutes=10))


def comment_on(by: User, result: Result, text: str) -> Comment:
    """Add a comment, and tell those who follow. The same words again, sent twice in a hurry, are one comment."""
    return comment_once(by, result, text)[0]


def comment_once(by: User, result: Result, text: str) -> tuple[Comment, bool]:
    """The same, with whether it is new."""
    with transaction.atomic():
        # Turns are taken at the result, so that a form that is sent twice at once finds its own first comment.
        Result.objects.select_for_update(no_key=True, of=("self",)).get(pk=result.pk)
        last = Comment.objects.filter(result=result, by=by).order_by("-id").first()
        if last is not None and _is_again(last, text):
            return last, False
        said = Comment.objects.create(result=result, by=by, text=text)
        _follow(result, result.tester_id, 0)
        _follow(result, by.pk, said.pk)
        audit.record(
            *(by, "commented on a result", str(result.pk)), is_safety=result.is_covered, script=result.script_id
        )
    return said, True


def _is_again(last: Comment, text: str) -> bool:
    return last.text == text and last.withdrawn_at is None and timezone.now() - last.at < TWICE_WITHIN


def _follow(result: Result, person: int, read_up_to: int) -> None:
    Follower.objects.get_or_create(result=result, person_id=person)
    Follower.objects.filter(result=result, person=person, read_up_to__lt=read_up_to).update(read_up_to=read_up_to)


def withdraw_comment(by: User, said: Comment) -> bool:
    """Take back one's own comment: its words are gone, its place stays. Whether it was still there."""
    with transaction.atomic():
        mine = Comment.objects.filter(pk=said.pk, by=by, withdrawn_at=None)
        is_withdrawn = bool(mine.update(withdrawn_at=timezone.now(), text=""))
        if is_withdrawn:
            result = said.result
            audit.record(
                *(by, "withdrew a comment", str(result.pk)), is_safety=result.is_covered, script=result.script_id
            )
    return is_withdrawn


def read_comments(by: User, result: Result, up_to: int) -> None:
    """Note that somebody who follows has read up to this comment; never less than before."""
    Follower.objects.filter(result=result, person=by, read_up_to__lt=up_to).update(read_up_to=up_to)
