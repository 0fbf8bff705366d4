"""Write one line of the audit trail."""

from __future__ import annotations

from typing import Any

from .models import AuditEntry, User


def record(actor: User | None, action: str, target: str = "", *, is_safety: bool = False, **details: Any) -> None:
    """Keep who did what, in the transaction that does it. `details` must be plain JSON values.

    `action` begins with a verb in the past and names the kind of thing ("retired a script"); `target` is that one
    thing's own name, without its kind.
    """
    AuditEntry.objects.create(actor=actor, action=action, target=target[:200], details=details, is_safety=is_safety)
