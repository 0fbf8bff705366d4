"""Recordings that can really be played: media of known content, made ready as the site does, in the test's store."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from emma_eval.accounts.models import User
from emma_eval.adapters.media import Media, draw_thumbnail, look_into, sound_of, take_in
from results.models import Recording
from results.recordings.making.derive import listen
from results.recordings.store import recordings_store
from tests import make
from tests.media import folder_of_media, media

TRANSCRIPT = """WEBVTT

00:00:01.000 --> 00:00:02.500
<v Tess>I lost my job today.

00:00:03.000 --> 00:00:06.000
<v Emma>I am so sorry. Do you want to tell me what happened?

00:00:07.000 --> 00:00:09.000
<v Tess>Not now.
"""


@dataclass(frozen=True)
class Made:
    """What is made of a file once in a session."""

    path: Path
    media: Media
    peaks: Path | None
    thumbnail: Path | None


@cache
def made_of(kind: str, seconds: float = 12.0) -> Made:
    folder = Path(mkdtemp(dir=folder_of_media()))
    path = take_in(media(kind, seconds), folder)
    about = look_into(path)
    heard = listen(sound_of(path), about.duration_ms) if about.has_sound else None
    peaks = folder / "peaks.json"
    if heard is not None:
        heard.write(peaks)
    return Made(path, about, peaks if heard else None, draw_thumbnail(path, folder, about.duration_ms))


def playable(tester: User, call_uuid: uuid.UUID, kind: str = "webm", seconds: float = 12.0, **fields: Any) -> Recording:
    """A recording of a call, ready, with its files in the store."""
    made, store, key = made_of(kind, seconds), recordings_store(), uuid.uuid4()
    files = {
        "key": (f"{key}/media{made.path.suffix}", made.path, made.media.media_type),
        "peaks_key": (f"{key}/peaks.json", made.peaks, "application/json"),
        "thumbnail_key": (f"{key}/thumbnail.jpg", made.thumbnail, "image/jpeg"),
    }
    kept = {name: name_in_store for name, (name_in_store, path, _) in files.items() if path is not None}
    for name_in_store, path, media_type in files.values():
        if path is not None:
            store.keep(name_in_store, path, media_type=media_type)
    about = {
        "media_type": made.media.media_type,
        "duration_ms": made.media.duration_ms,
        "size": made.path.stat().st_size,
        "has_video": made.media.has_video,
        "width": made.media.width,
        "height": made.media.height,
    }
    return make.recording(tester, call_uuid, uuid=key, **{**about, **kept, **fields})
