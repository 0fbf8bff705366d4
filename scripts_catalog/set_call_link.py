"""Set the link that opens Emma where a build has none of its own."""

from __future__ import annotations

from django.db import transaction

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from .models import Site


def set_call_link(link: str, by: User) -> bool:
    """Whether it changed. An empty link takes it away."""
    with transaction.atomic():
        site, _ = Site.objects.select_for_update(no_key=True).get_or_create(pk=1)
        if site.call_link == link:
            return False
        Site.objects.filter(pk=1).update(call_link=link)
        audit.record(by, "set the call link of the site", link)
    return True
