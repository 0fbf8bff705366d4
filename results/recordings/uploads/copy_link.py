"""Copy the recording behind a link into our store: from known hosts alone, no more than it may be, and as a file."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from emma_eval.adapters.errors import NeighbourError, TooLargeError, UnwantedError
from emma_eval.adapters.outgoing import Answer, Limits, Outgoing, Wanted
from emma_eval.adapters.recordings import StoreError
from emma_eval.outbox.deliver import hold_on, is_last_try
from emma_eval.outbox.hold_while import hold_while
from emma_eval.outbox.registry import TryLaterError

from ...models import MOST_FAULT_CHARACTERS, MOST_RECORDING_BYTES, Origin, Recording, RecordingState
from ..store import recordings_store
from ..trail import COPIED
from ..work_folder import work_folder
from .ask_for_copy import is_still_given
from .begin_upload import part_bytes
from .finish_upload import digest_of, hand_over_sent

LIMITS = Limits(connect_s=10, read_s=20, whole_s=6 * 3600, most_bytes=MOST_RECORDING_BYTES)
TYPES = ("video/", "audio/", "application/octet-stream", "application/mp4", "application/ogg")
SLOWEST_A_S, OVER_S = 64 * 1024, 20  # bytes a second, over so many seconds
HOLD_EVERY_S = 20
WAITS = frozenset({408, 425, 429, 500, 502, 503, 504})
NEXT = timedelta(minutes=1)
STORE_IS_DOWN = timedelta(minutes=10)  # a store that is full is told only by what was fetched for it
GONE = frozenset({404, 410})
CLOSED = frozenset({401, 403, 407})
A_PAGE = frozenset({"text/html", "application/xhtml+xml"})

OPENS_A_PAGE = "This link opens a page, not a file. Give the link of the file itself, or upload the file."


class NotCopiedError(Exception):
    """Why not, in words. `may_retry`: whether later may help; `counts`: whether that is one of some tries."""

    def __init__(self, words: str, *, may_retry: bool, counts: bool = True) -> None:
        super().__init__(words)
        self.may_retry = may_retry
        self.counts = counts


def copy_link(key: str, *, way: Callable[[Limits], Outgoing] | None = None) -> None:
    """Copy it, and hand it over. Run twice, it is copied once. Raises TryLaterError while another try is to come.

    A copy whose link was corrected before it began is not made: nobody stands by that link any more.
    """
    recording = Recording.objects.filter(pk=key, origin=Origin.COPIED, state=RecordingState.RECEIVING).first()
    if recording is None:
        return
    if not is_still_given(recording):
        recording.delete()
        return
    try:
        _copy(recording, (way or _way_out)(LIMITS))
    except NotCopiedError as fault:
        _note(recording, fault)


def _way_out(limits: Limits) -> Outgoing:
    return Outgoing(settings.OUTGOING_ALLOW, limits)


def _copy(recording: Recording, way: Outgoing) -> None:
    """Our own store is asked before the host is: where it is down, nothing is fetched that could not be kept."""
    with _told(), work_folder() as folder, (folder / "copy").open("wb") as file:
        path, store = folder / "copy", recordings_store()
        store.look(f"{recording.folder}sent")
        answer = way.fetch(recording.link.partition("#")[0], file, _wanted(), heard=_holding())
        _check(answer)
        file.flush()
        if not path.stat().st_size:
            raise NotCopiedError("The file behind this link is empty.", may_retry=True)
        hold_on()
        if not _is_still_wanted(recording):
            return
        media_type = answer.header("content-type").partition(";")[0].strip().lower()
        hold_while(lambda: store.keep(f"{recording.folder}sent", path, media_type=media_type))
        digest = hold_while(lambda: _digest(path))
        hand_over_sent(recording, None, COPIED, digest=digest, size=path.stat().st_size)


def _wanted() -> Wanted:
    return Wanted(settings.RECORDING_HOSTS, TYPES, least_a_s=SLOWEST_A_S, over_s=OVER_S)


def _holding() -> Callable[[int], None]:
    """Keep the row of the outbox ours while bytes come."""
    held = time.monotonic()

    def hold(size: int) -> None:
        nonlocal held
        if time.monotonic() - held >= HOLD_EVERY_S:
            held = time.monotonic()
            hold_on()

    return hold


@contextmanager
def _told() -> Iterator[None]:
    """What goes wrong outside, in words for whoever pasted the link."""
    try:
        yield
    except UnwantedError as cause:
        other = f"What is behind this link is no recording: {cause}."
        raise NotCopiedError(OPENS_A_PAGE if cause.media_type in A_PAGE else other, may_retry=False) from cause
    except TooLargeError as cause:
        raise NotCopiedError(
            "The file behind this link is larger than 4 GB, which is the most.", may_retry=False
        ) from cause
    except StoreError as cause:
        raise NotCopiedError(f"Not copied yet: {cause}", may_retry=True, counts=not cause.may_retry) from cause
    except NeighbourError as cause:
        raise NotCopiedError(f"Not copied from this link: {cause}.", may_retry=cause.may_retry) from cause
    except OSError as cause:
        raise NotCopiedError(
            "Not copied from this link: there is no room for the file here.", may_retry=True
        ) from cause


def _check(answer: Answer) -> None:
    """Whether what was written is the file, by the status that it came with."""
    status = answer.status
    if status in GONE:
        raise NotCopiedError("There is no file behind this link, or no longer.", may_retry=False)
    if status in CLOSED:
        raise NotCopiedError("This link opens only for people who are signed in there.", may_retry=False)
    if status != 200:
        raise NotCopiedError(f"Not copied from this link: its host answered {status}.", may_retry=status in WAITS)


def _is_still_wanted(recording: Recording) -> bool:
    return Recording.objects.filter(pk=recording.pk, state=RecordingState.RECEIVING).exists()


def _digest(path: Path) -> str:
    """As if it had been uploaded: the same file has the same digest, whichever way it came."""
    size = part_bytes(path.stat().st_size)
    with path.open("rb") as file:
        return digest_of(hashlib.sha256(part).hexdigest() for part in iter(lambda: file.read(size), b""))


def _note(recording: Recording, fault: NotCopiedError) -> None:
    """It failed for good, or is tried again, for as long as it takes where our own store is down: its page says why."""
    words = str(fault)[:MOST_FAULT_CHARACTERS]
    receiving = Recording.objects.filter(pk=recording.pk, state=RecordingState.RECEIVING)
    if fault.may_retry and not (fault.counts and is_last_try()):
        receiving.update(fault=words, heard_at=timezone.now())
        raise TryLaterError(words, NEXT if fault.counts else STORE_IS_DOWN, counts=fault.counts)
    receiving.update(state=RecordingState.FAILED, fault=words, finished_at=timezone.now())
