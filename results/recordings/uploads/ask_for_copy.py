"""Ask that the recording behind a pasted link is copied into our store, where its host is one that we copy from."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from django.conf import settings

from emma_eval.outbox.enqueue import enqueue

from ...models import Origin, Recording, Result
from .file_name import base_name

COPY_LINK = "results.copy_recording_link"


def ask_for_copy(result: Result) -> Recording | None:
    """In the transaction that wrote the link; None where nothing is to be copied.

    Once for a call and a link, whatever became of that copy. Links of sheets stay links: a sheet may bring thousands,
    of calls of years ago.
    """
    link = result.recording_link
    if not link or result.sheet_digest or not is_copied_from(link):
        return None
    of_the_call = Recording.objects.filter(tester=result.tester_id, call_uuid=result.call_uuid)
    if of_the_call.filter(link=link).exists():
        return None
    name = base_name(unquote(urlsplit(link).path))
    made = Recording.objects.create(
        tester=result.tester, call_uuid=result.call_uuid, origin=Origin.COPIED, link=link, name=name
    )
    enqueue(COPY_LINK, recording=str(made.pk))
    return made


def is_still_given(recording: Recording) -> bool:
    """Whether a result of its call has its link: one that was corrected is nobody's any more."""
    of_the_call = Result.objects.filter(tester=recording.tester_id, call_uuid=recording.call_uuid)
    return of_the_call.filter(recording_link=recording.link).exists()


def is_copied_from(link: str) -> bool:
    """Whether the link's host is on the list of those that recordings are copied from."""
    try:
        host = urlsplit(link).hostname or ""
    except ValueError:
        return False
    return bool(settings.RECORDING_HOSTS.name(host))
