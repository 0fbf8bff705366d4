"""Give somebody the links by which a recording is played, and note that they were given."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from emma_eval.accounts.models import User

from ...models import Recording
from ..store import recordings_store
from .note_watch import note_watch

PEAKS_TYPE, THUMBNAIL_TYPE, CAPTIONS_TYPE = "application/json", "image/jpeg", "text/vtt"


@dataclass(frozen=True)
class Links:
    """Each opens one object for so many seconds; empty where there is no such object."""

    media: str
    peaks: str
    thumbnail: str
    captions: str
    expires_in_s: int


def give_links(recording: Recording, user: User) -> Links:
    """Links to a recording that `user` may see and that can be played."""
    note_watch(recording, user, timezone.now())
    return Links(
        media=_link(recording.key, recording.media_type),
        peaks=_link(recording.peaks_key, PEAKS_TYPE),
        thumbnail=_link(recording.thumbnail_key, THUMBNAIL_TYPE),
        captions=_link(recording.captions_key, CAPTIONS_TYPE),
        expires_in_s=settings.LINKS_HOLD_S,
    )


def _link(key: str, media_type: str) -> str:
    if not key:
        return ""
    return recordings_store().get_link(key, media_type=media_type, holds_s=settings.LINKS_HOLD_S)
