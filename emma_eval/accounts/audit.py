"""Write one line of the audit trail."""

from __future__ import annotations

from typing import Any

from .models import ABOUT, AuditEntry, User


def record(
    actor: User | None,
    action: str,
    target: str = "",
    *,
    about: User | None = None,
    is_safety: bool = False,
    script: str = "",
    **details: Any,
) -> None:
    """Keep who did what, in the transaction that does it. `details` must be plain JSON values.

    `action` begins with a verb in the past and names the kind of thing ("retired a script"); `target` is that one
    thing's own name, without its kind: its key where people name it as they like. Words that somebody typed freely
    stand in a line only where whoever may read the line may read them anyway, then and later. A person is named by
    `about`, which keeps the key of the account alone: the trail is never changed, and somebody may be erased. `script`
    is the slug of the script that it is about, also by way of a result: who may not know of that script, now or later,
    doesn't see the line. `is_safety` hides it whatever becomes of it.
    """
    if about is not None:
        details[ABOUT] = about.pk
    AuditEntry.objects.create(
        actor=actor, action=action, target=target[:200], details=details, is_safety=is_safety, script=script
    )
