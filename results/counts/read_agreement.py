"""How far testers agree, as it was last worked out beside the pages."""

from __future__ import annotations

from django.db.models import Max

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Script, sort_key_of

from ..models import Agreement
from .changes import SLACK


def read_agreement(user: User, script: str = "", build: str = "") -> dict[str, Agreement]:
    """By dimension, of all scripts and builds, of one script (its slug) or of one build (its name or sort key).

    Empty where it was not worked out yet. To the untrained it is what it would be without Safety; nothing, from the
    moment a script of theirs moves there until it is worked out anew.
    """
    found = Agreement.objects.filter(script=script, build=sort_key_of(build), with_safety=user.is_trained)
    if not user.is_trained and _may_tell_of_safety(script):
        return {}
    return {row.dimension: row for row in found}


def read_every_agreement(user: User) -> list[Agreement]:
    """All that was worked out, over everything, by script and by build; to the untrained as in `read_agreement`."""
    if not user.is_trained and _may_tell_of_safety(""):
        return []
    found = Agreement.objects.filter(with_safety=user.is_trained)
    if not user.is_trained:
        found = found.exclude(script__in=Script.objects.filter(area=taxonomy.SAFETY).values("slug"))
    return list(found)


def _may_tell_of_safety(script: str) -> bool:
    covered = Script.objects.filter(area=taxonomy.SAFETY)
    if script and covered.filter(slug=script).exists():
        return True
    last = Agreement.objects.aggregate(at=Max("worked_out_at"))["at"]
    return last is not None and covered.filter(latest__created_at__gte=last - SLACK).exists()
