"""Listen once more to recordings that other ears heard, after a change of what hears the voices.

What is played stays as it is. Until it was listened to, the figures are those of the older edition.
"""

from __future__ import annotations

from django.db import transaction

from emma_eval.adapters.media import BadMediaError, look_into
from emma_eval.adapters.recordings import NotKeptError, Store, StoreError
from emma_eval.outbox.hold_while import hold_while
from emma_eval.outbox.registry import GiveUpError, TryLaterError

from ...models import Recording
from ..work_folder import work_folder
from .hear import hear
from .measure_call import is_heard_by_others, keep_voices


def listen_again(key: str, store: Store) -> None:
    """Listen to it, and make its figures. Run twice, it is heard once.

    Raises TryLaterError where the store is down, and GiveUpError where the file can't be heard any more: then its
    figures stay those of the older edition.
    """
    recording = Recording.objects.playable().select_related("figures").filter(pk=key).first()
    if recording is None or not is_heard_by_others(recording.figures.heard):
        return
    try:
        with work_folder() as folder:
            path = folder / "media"
            hold_while(lambda: store.fetch(recording.key, path))
            voices = hear(path, look_into(path))[1]
    except (BadMediaError, NotKeptError) as fault:
        raise GiveUpError(str(fault)) from fault
    except StoreError as fault:
        raise TryLaterError(str(fault), counts=False) from fault
    if voices is None:
        raise GiveUpError("nothing could be heard")
    with transaction.atomic():
        locked = Recording.objects.select_for_update(no_key=True, of=("self",)).get(pk=key)
        if locked.is_playable:
            keep_voices(locked, voices)
