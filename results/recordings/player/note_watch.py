"""Note that somebody was given a recording to watch."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from emma_eval.accounts.models import User

from ...models import Recording, Watch
from ..trail import WATCHED, record_act

A_SITTING = timedelta(minutes=30)  # without a link in that time, what follows is another one


@transaction.atomic
def note_watch(recording: Recording, user: User, now: datetime) -> Watch:
    """Whenever links are given: one row and one line of the trail for a sitting, however often they are renewed.

    Under a lock of the recording, so that two requests of one page are one sitting.
    """
    Recording.objects.select_for_update(no_key=True, of=("self",)).get(pk=recording.pk)
    going_on = Watch.objects.filter(recording=recording, by=user, last_at__gt=now - A_SITTING)
    watch = going_on.order_by("-last_at").first()
    if watch is None:
        record_act(user, WATCHED, recording)
        return Watch.objects.create(recording=recording, by=user, last_at=now)
    if now > watch.last_at:
        watch.last_at = now
        watch.save(update_fields=["last_at"])
    return watch
