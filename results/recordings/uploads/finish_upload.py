"""Finish an upload: what the store holds is compared with what was announced, joined, and handed to the workers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.db import transaction

from emma_eval.accounts.models import User
from emma_eval.adapters.recordings import Kept, MismatchError, NotKeptError, SentPart

from ...models import Part, Recording, RecordingState, Upload
from ..hand_over import hand_over
from ..store import recordings_store
from ..trail import UPLOADED, record_act
from .keep_parts import is_as_announced


class PartsMissingError(Exception):
    """Not all is there as it was announced. `numbers` are the parts to be sent, once more or for the first time."""

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__(f"{len(numbers)} parts are missing")
        self.numbers = tuple(numbers)


class AnotherFileError(Exception):
    """The parts that arrived are not those of the file that the page holds: another was sent under its name."""


class OverError(Exception):
    """The store no longer knows of the upload, and has no file of it: it has to begin anew."""


def digest_of(digests: Iterable[str]) -> str:
    """By which a whole file is known: SHA-256 over the SHA-256 of its parts, and their count."""
    parts = [bytes.fromhex(each) for each in digests]
    return f"{hashlib.sha256(b''.join(parts)).hexdigest()}-{len(parts)}"


def finish_upload(recording: Recording, said_digest: str) -> None:
    """Finish it. Asked again, by the same page or another, it changes nothing more.

    `said_digest` is the digest of the digests of all parts, as the page has made them from the file. Raises
    PartsMissingError, AnotherFileError, OverError, and StoreError where later may help.
    """
    upload = Upload.objects.filter(recording=recording).first()
    if upload is None:
        if recording.sent_digest != said_digest:
            raise OverError
        return
    parts = list(upload.parts.all())
    try:
        sent = _what_is_there(upload, parts)
        if digest_of(part.sha256 for part in parts) != said_digest:
            raise AnotherFileError
        kept = _join(upload, parts, sent)
    except NotKeptError:
        kept = _joined_before(upload, parts, said_digest)
    hand_over_sent(recording, recording.tester, UPLOADED, digest=said_digest, size=kept.size)


def _what_is_there(upload: Upload, parts: Sequence[Part]) -> list[SentPart]:
    """All parts as the store has them, with what they were announced by: it compares that once more when it joins."""
    there = {part.number: part for part in recordings_store().parts(upload.key, upload.upload_id)}
    wanted = {part.number: part for part in parts}
    missing = [
        number
        for number in range(1, upload.part_count + 1)
        if number not in wanted or number not in there or not is_as_announced(wanted[number], there[number])
    ]
    if missing:
        Part.objects.filter(upload=upload, number__in=missing).update(etag="")
        raise PartsMissingError(missing)
    return [replace(there[part.number], sha256=part.sha256) for part in parts]


def _join(upload: Upload, parts: Sequence[Part], sent: Sequence[SentPart]) -> Kept:
    try:
        kept = recordings_store().finish_parts(upload.key, upload.upload_id, sent)
    except MismatchError as cause:  # one was sent anew in the meantime, by another tab
        raise PartsMissingError([part.number for part in parts]) from cause
    if kept.size != upload.size:
        raise MismatchError("What arrived is not as long as what was announced.")
    return kept


def _joined_before(upload: Upload, parts: Sequence[Part], said_digest: str) -> Kept:
    """The store joined them, and we did not live to write it down; or it has nothing, and all begins anew."""
    kept = recordings_store().look(upload.key)
    is_it = kept is not None and kept.size == upload.size and digest_of(p.sha256 for p in parts) == said_digest
    if kept is None or not is_it:
        raise OverError
    return kept


def hand_over_sent(recording: Recording, by: User | None, act: str, *, digest: str, size: int) -> None:
    """What was sent is whole in the store: have it made ready, and write that down; once, whoever comes first.

    Was the recording given up or removed at the same moment, then what was sent goes, too.
    """
    with transaction.atomic():
        receiving = Recording.objects.filter(pk=recording.pk, state=RecordingState.RECEIVING)
        is_ours = receiving.update(sent_digest=digest, fault="")
        if is_ours:
            Upload.objects.filter(recording=recording).delete()
            record_act(by, act, recording, bytes=size)
            hand_over(recording)
    if not is_ours and not Recording.objects.standing().filter(pk=recording.pk).exists():
        recordings_store().remove([f"{recording.folder}sent"])
