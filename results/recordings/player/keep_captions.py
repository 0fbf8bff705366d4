"""Keep the transcript of a recording beside it in the store, and read it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from django.db import transaction

from emma_eval.accounts.models import User

from ...models import Recording, RecordingState
from ..store import recordings_store
from ..trail import CAPTIONED, record_act
from .captions import Cue, read_captions
from .give_links import CAPTIONS_TYPE


def keep_captions(by: User, recording: Recording, content: bytes) -> bool:
    """Keep it in place of what there was; False where the recording is gone meanwhile. Raises StoreError.

    The store has it before the row names it; of a recording that was removed in between nothing stays.
    """
    key = f"{recording.folder}captions.vtt"
    with tempfile.NamedTemporaryFile(suffix=".vtt") as file:
        file.write(content)
        file.flush()
        recordings_store().keep(key, Path(file.name), media_type=CAPTIONS_TYPE)
    with transaction.atomic():
        is_kept = bool(Recording.objects.filter(pk=recording.pk, state=RecordingState.READY).update(captions_key=key))
        if is_kept:
            record_act(by, CAPTIONED, recording)
    if not is_kept:
        recordings_store().remove([key])
    return is_kept


def transcript_of(recording: Recording) -> list[Cue]:
    """Every cue of its transcript; none where there is none. Raises StoreError."""
    if not recording.captions_key:
        return []
    with recordings_store().open(recording.captions_key) as file:
        return read_captions(file.read())
