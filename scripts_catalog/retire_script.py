"""Take a script out of the lists, or bring it back. Its results and its pages stay."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from .models import Script


def retire_script(script: Script, by: User) -> bool:
    """Whether it was in use until now."""
    with transaction.atomic():
        changed = Script.objects.in_use().filter(pk=script.pk).update(retired_at=timezone.now())
        if changed:
            audit.record(by, "retired a script", script.slug, is_safety=script.is_safety, script=script.slug)
    return bool(changed)


def bring_back_script(script: Script, by: User) -> bool:
    """Whether it was retired until now."""
    with transaction.atomic():
        changed = Script.objects.retired().filter(pk=script.pk).update(retired_at=None)
        if changed:
            audit.record(by, "brought back a script", script.slug, is_safety=script.is_safety, script=script.slug)
    return bool(changed)
