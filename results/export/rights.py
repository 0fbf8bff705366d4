"""Who may take results out of the site: asked anew for as long as an export goes on."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role

EXPORTERS = (Role.EVAL_TEAM, Role.MANAGER)


class LostRightError(PermissionDenied):
    """Somebody may no longer have what they asked for: the account, the role or the training is gone meanwhile."""


def check_rights(user: User) -> None:
    """Hold a person as they were when they asked against what they are now: one query. Raises LostRightError.

    Training that was gained meanwhile changes nothing: the export goes on as the one that was asked for.
    """
    now = User.objects.with_rights(user.pk)
    if now is None or not now.is_active or not now.has_role(*EXPORTERS) or (user.is_trained and not now.is_trained):
        raise LostRightError(f"{user.pk} may no longer export this")
