"""Tell the floors below which scripts a person may not know of."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from emma_eval.accounts.hidden import tells_hidden_scripts
from emma_eval.accounts.models import User

from .models import Script


@tells_hidden_scripts
def hidden_slugs(user: User) -> QuerySet[Any, Any]:
    return Script.objects.exclude(pk__in=Script.objects.visible_to(user).values("pk")).values("slug")
