"""Hand out links for the parts of an upload, and note which of them arrived. Their bytes go to the store alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from emma_eval.adapters.recordings import Link, NotKeptError, SentPart

from ...models import Part, Recording, RecordingState, Upload
from ...told import MalformedError
from ..store import recordings_store
from .telling import Arrived, Asked


@dataclass(frozen=True)
class PartLink:
    number: int
    link: Link


def keep_parts(upload: Upload, asked: Sequence[Asked], arrived: Sequence[Arrived]) -> list[PartLink]:
    """Note what arrived, and give a link for each part that is asked for. Raises MalformedError, and StoreError:
    NotKeptError where the upload is over, since it was finished or removed meanwhile.

    A part may be asked for again at any time, with the same digest or another: the one that was asked for last counts,
    and what came before is no longer what is waited for.
    """
    _check(upload, asked, arrived)
    with transaction.atomic():
        receiving = Recording.objects.filter(pk=upload.recording_id, state=RecordingState.RECEIVING)
        if not receiving.update(heard_at=timezone.now()):
            raise NotKeptError("The upload is over.")
        for each in arrived:
            there = Part.objects.filter(upload=upload, number=each.number, sha256=each.sha256)
            there.update(etag=each.etag.removeprefix("W/").strip('"'))
        for part in asked:
            _expect(upload, part)
    return [PartLink(part.number, _link(upload, part)) for part in asked]


def _check(upload: Upload, asked: Sequence[Asked], arrived: Sequence[Arrived]) -> None:
    numbers = [part.number for part in asked] + [part.number for part in arrived]
    if not all(1 <= number <= upload.part_count for number in numbers):
        raise MalformedError("The file has no such part.")


def _expect(upload: Upload, part: Asked) -> None:
    size = size_of(upload, part.number)
    said = {"size": size, "sha256": part.sha256}
    made, is_new = Part.objects.get_or_create(upload=upload, number=part.number, defaults=said)
    if not is_new and made.sha256 != part.sha256:
        Part.objects.filter(pk=made.pk).update(**said, etag="")


def size_of(upload: Upload, number: int) -> int:
    """All parts have one size, but the last."""
    return min(upload.part_size, upload.size - (number - 1) * upload.part_size)


def _link(upload: Upload, part: Asked) -> Link:
    return recordings_store().part_link(
        upload.key,
        upload.upload_id,
        part.number,
        size=size_of(upload, part.number),
        sha256=part.sha256,
        holds_s=settings.LINKS_HOLD_S,
    )


def arrived_parts(upload: Upload) -> list[Part]:
    """The parts that the store holds as they were announced. Raises StoreError: NotKeptError where it is over."""
    sent = {part.number: part for part in recordings_store().parts(upload.key, upload.upload_id)}
    return [part for part in upload.parts.all() if part.number in sent and is_as_announced(part, sent[part.number])]


def is_as_announced(part: Part, there: SentPart) -> bool:
    """By its SHA-256; where the store does not tell that, by the ETag that it answered when this very part was sent."""
    if there.size != part.size:
        return False
    return there.sha256 == part.sha256 if there.sha256 else part.etag == there.etag
