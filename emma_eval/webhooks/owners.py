"""Who may have endpoints, and what is told to them: asked anew at each try."""

from __future__ import annotations

from emma_eval.accounts.models import User
from emma_eval.accounts.role import Role

OWNERS = (Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD, Role.ADMINISTRATOR)


def owner_who_may(pk: int) -> User | None:
    """The owner with the rights of this moment; None for one who is gone, or has none of the roles any more."""
    owner = User.objects.with_rights(pk)
    return owner if owner is not None and owner.is_active and owner.has_role(*OWNERS) else None
