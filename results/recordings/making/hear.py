"""Hear a playable file: its waveform, and who speaks when where there are two sides."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from emma_eval.adapters.media import BadMediaError, Media, sound_of
from emma_eval.outbox.deliver import hold_on

from .derive import Guarded, Heard, listen

if TYPE_CHECKING:
    from emma_eval.adapters.speech import Voices

log = logging.getLogger(__name__)


def hear(path: Path, media: Media) -> tuple[Heard | None, Voices | None]:
    """Its waveform and its voices; None for what there is none of. What that needs is loaded here, in a task.

    A file whose sound can't be read is played all the same: its picture may be. Raises BadMediaError where it has none.
    """
    if not media.has_sound:
        return None, None
    from emma_eval.adapters.speech import Listener

    ear = Guarded(Listener(2)) if media.channels == 2 else None
    try:
        heard = listen(sound_of(path), media.duration_ms, [ear] if ear else [], beat=hold_on)
        return heard, ear.last_word(Listener.voices) if ear else None
    except BadMediaError as fault:
        if not media.has_video:
            raise
        log.warning("the sound of a recording can't be read: %s", fault)
        return None, None
