"""Begin to upload a file, or go on with one that broke off: the same file of the same call is one upload."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from emma_eval.accounts import throttle
from emma_eval.accounts.models import User
from emma_eval.adapters.recordings import NotKeptError

from ...filing.file_result import take_turn
from ...models import MOST_RECORDING_BYTES, Origin, Part, Recording, RecordingState, Sides, Upload
from ...told import is_sha256
from ..store import recordings_store
from .file_name import base_name, ending_of
from .keep_parts import arrived_parts
from .telling import Announced

PART_BYTES = 8 * 1024**2  # S3 takes no smaller ones than 5 MiB
LARGE_BYTES = 128 * 1024**2
LARGE_PART_BYTES = 2 * PART_BYTES  # each part costs the site a request: 4 GB come in 256 of them
MOST_OPEN = 5
BEGINNING = throttle.Limit("beginning an upload", 30, timedelta(minutes=10))
# What may be sent, by the end of its name; what is really in it is looked at once it is here.
TYPES = {
    "mp4": "video/mp4",
    "webm": "video/webm",
    "mov": "video/quicktime",
    "mkv": "video/x-matroska",
    "m4a": "audio/mp4",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "ogg": "audio/ogg",
}
TOLD_SIDES = {
    Sides.UNKNOWN: "I don’t know",
    Sides.TWO: "Me on the left, Emma on the right",
    Sides.TWO_SWAPPED: "Emma on the left, me on the right",
    Sides.MIXED: "Both mixed together",
}
AS_TOLD = "As its tester said when uploading it."


class Refusal(StrEnum):
    """Why a file is not taken, in words for whoever chose it."""

    NO_NAME = "This file has no name that the site can keep. Rename it, then choose it again."
    WRONG_TYPE = f"This is no kind of recording that the site plays. It takes {', '.join(TYPES)} files."
    EMPTY = "This file is empty: it has 0 bytes. Was the recording saved before its program was closed?"
    TOO_LARGE = "This file is larger than 4 GB, which is the most. Cut it, or save it with a lower quality."
    NO_CONSENT = "Confirm that everybody in the recording agreed to being recorded."
    ODD = "The site did not understand what the page sent. Reload the page and choose the file again."
    TOO_MANY = f"{MOST_OPEN} of your uploads are not finished. Go on with one of them or remove it first."


class NotTakenError(Exception):
    """The file is not taken. Nothing was begun."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


@dataclass(frozen=True)
class Begun:
    """An upload, with the parts that the store has of it already."""

    upload: Upload
    is_new: bool
    arrived: tuple[Part, ...] = ()


def refusal_of(said: Announced) -> Refusal | None:
    """What speaks against a file, the first that its sender can mend."""
    name = base_name(said.name)
    for is_wrong, refusal in (
        (not name.partition(".")[0].strip(), Refusal.NO_NAME),
        (not _is_of_a_type(name, said.media_type), Refusal.WRONG_TYPE),
        (said.size <= 0, Refusal.EMPTY),
        (said.size > MOST_RECORDING_BYTES, Refusal.TOO_LARGE),
        (not said.has_consent, Refusal.NO_CONSENT),
        (said.sides not in TOLD_SIDES or not is_sha256(said.fingerprint), Refusal.ODD),
    ):
        if is_wrong:
            return refusal
    return None


def _is_of_a_type(name: str, media_type: str) -> bool:
    """By its name, unless the browser says of it that it is something else altogether: a page, say, or a document."""
    kind = media_type.partition("/")[0].strip().lower()
    return ending_of(name) in TYPES and (kind in {"", "video", "audio"} or media_type in _NOT_TOLD)


_NOT_TOLD = frozenset({"application/octet-stream", "application/ogg", "application/x-matroska", "application/mp4"})


def begin_upload(tester: User, call: uuid.UUID, said: Announced) -> Begun:
    """Begin, or go on. The call must be known as this tester's own.

    Raises NotTakenError, TooManyError of the throttle, and StoreError where the store does not answer.
    """
    refusal = refusal_of(said)
    if refusal is not None:
        raise NotTakenError(refusal)
    there = _there(tester, call, said)
    found = _go_on(there, said) if there is not None else None
    if found is not None:
        return found
    if open_uploads(tester).count() >= MOST_OPEN:
        raise NotTakenError(Refusal.TOO_MANY)
    throttle.spend(BEGINNING, str(tester.pk))
    return _begin(tester, call, said)


def open_uploads(tester: User) -> QuerySet[Upload]:
    """What this tester began to upload and did not finish."""
    return Upload.objects.filter(recording__tester=tester, recording__state=RecordingState.RECEIVING)


def _there(tester: User, call: uuid.UUID, said: Announced) -> Upload | None:
    same = open_uploads(tester).filter(recording__call_uuid=call, fingerprint=said.fingerprint, size=said.size)
    return same.select_related("recording").first()


def _go_on(upload: Upload, said: Announced) -> Begun | None:
    """With what its sender says of it now; None where the store has forgotten it, so that it begins anew."""
    recording = upload.recording
    try:
        arrived = arrived_parts(upload)
    except NotKeptError:
        Recording.objects.filter(pk=recording.pk, state=RecordingState.RECEIVING).delete()
        return None
    _tell_sides(recording, said)
    told = {"sides": recording.sides, "sides_because": recording.sides_because, "heard_at": timezone.now()}
    if not Recording.objects.filter(pk=recording.pk, state=RecordingState.RECEIVING).update(**told):
        return None
    return Begun(upload, is_new=False, arrived=tuple(arrived))


def _begin(tester: User, call: uuid.UUID, said: Announced) -> Begun:
    """The store is asked first, outside of the transaction: it may be slow. Of two tabs that ask at once, one wins."""
    now, name = timezone.now(), base_name(said.name)
    recording = Recording(tester=tester, call_uuid=call, origin=Origin.UPLOADED, name=name, consented_at=now)
    _tell_sides(recording, said)
    upload = Upload(recording=recording, key=f"{recording.folder}sent", size=said.size, part_size=part_bytes(said.size))
    upload.fingerprint = said.fingerprint
    store = recordings_store()
    upload.upload_id = store.begin_parts(upload.key, media_type=TYPES[ending_of(name)])
    with transaction.atomic():
        take_turn(tester)
        there = _there(tester, call, said)
        if there is None and open_uploads(tester).count() < MOST_OPEN:
            recording.save(force_insert=True)
            upload.save(force_insert=True)
            return Begun(upload, is_new=True)
    store.drop_parts(upload.key, upload.upload_id)
    if there is None:
        raise NotTakenError(Refusal.TOO_MANY)
    return Begun(there, is_new=False)


def part_bytes(size: int) -> int:
    return LARGE_PART_BYTES if size > LARGE_BYTES else PART_BYTES


def _tell_sides(recording: Recording, said: Announced) -> None:
    recording.sides = Sides(said.sides)
    recording.sides_because = "" if recording.sides == Sides.UNKNOWN else AS_TOLD
