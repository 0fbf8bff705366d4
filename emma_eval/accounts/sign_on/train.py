"""Keep the training that a claim gives beside those by hand: granted, renewed, and ended when the claim is gone."""

from __future__ import annotations

from django.utils import timezone

from emma_eval.accounts import change_access
from emma_eval.accounts.models import Training, User

from .claims import Trained


def train(user: User, said: Trained | None) -> None:
    """Make the one training from a claim say what the claim says now. Trainings by hand are left alone."""
    today = timezone.localdate()
    if said is not None and said.ends_on < today:
        said = None
    for held in user.trainings.filter(from_claim=True, revoked_at=None):
        if said is not None and _says(held, said):
            return
        if held.ends_on is None or held.ends_on >= today:
            change_access.revoke_training(held, None)
    if said is not None and not _was_revoked_by_hand(user, said):
        made = Training(user=user, starts_on=said.starts_on or today, ends_on=said.ends_on, from_claim=True)
        change_access.grant_training(made, None)


def _says(held: Training, said: Trained) -> bool:
    return held.ends_on == said.ends_on and said.starts_on in {None, held.starts_on}


def _was_revoked_by_hand(user: User, said: Trained) -> bool:
    """An administrator's word against exactly this grant stands until the claim names other days."""
    by_hand = user.trainings.filter(from_claim=True, ends_on=said.ends_on).exclude(revoked_by=None)
    return any(_says(revoked, said) for revoked in by_hand)
