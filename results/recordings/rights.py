"""Who may do what with a recording that they see; who sees it is said by `Recording.objects.visible_to` alone."""

from __future__ import annotations

from emma_eval.accounts.models import User
from emma_eval.accounts.role import Role

from ..models import Recording
from ..review.blind import REVIEWERS

LOOKING_AFTER = (Role.EVAL_LEAD, Role.ADMINISTRATOR)


def may_change(user: User, recording: Recording) -> bool:
    """Move its moments, say who is heard where, put a transcript there, have it made ready once more: all that its
    tester and those who review may do, and that leaves what was recorded as it is."""
    return recording.tester_id == user.pk or user.has_role(*REVIEWERS)


def may_remove(user: User, recording: Recording) -> bool:
    return recording.tester_id == user.pk or user.has_role(*LOOKING_AFTER)


def may_read_watches(user: User) -> bool:
    """Of any recording that they see: who was given it is no business of its tester."""
    return user.has_role(*LOOKING_AFTER)
