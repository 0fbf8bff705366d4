"""How far testers agree, as it was last worked out in a task."""

from __future__ import annotations

from django.db.models import DateTimeField, Exists, ExpressionWrapper, OuterRef, QuerySet

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Script, sort_key_of

from ..models import Agreement
from .changes import SLACK, moved_since


def read_agreement(user: User, script: str = "", build: str = "") -> dict[str, Agreement]:
    """By dimension, of all scripts and builds, of one script (its slug) or of one build (its name or sort key).

    Empty where it was not worked out yet. To the untrained it is what it would be without Safety; nothing, from the
    moment a script of theirs moves there until it is worked out anew.
    """
    found = readable(with_safety=user.is_trained).filter(script=script, build=sort_key_of(build))
    return {row.dimension: row for row in found}


def read_every_agreement(user: User) -> list[Agreement]:
    """All that was worked out, over everything, by script and by build; to the untrained as in `read_agreement`."""
    return list(readable(with_safety=user.is_trained))


def readable(*, with_safety: bool) -> QuerySet[Agreement]:
    """What the trained may read as it stands, or without Safety the untrained."""
    kept = Agreement.objects.filter(with_safety=with_safety)
    if with_safety:
        return kept
    covered = Script.objects.filter(area=taxonomy.SAFETY)
    looked = ExpressionWrapper(OuterRef("worked_out_at") - SLACK, output_field=DateTimeField())
    moved = moved_since(looked).filter(area=taxonomy.SAFETY, script__area=taxonomy.SAFETY)
    return kept.exclude(script__in=covered.values("slug")).filter(~Exists(moved))
