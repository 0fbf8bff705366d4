"""What is done beside the pages: making large files, forgetting uploads and files that nobody came back to."""

from __future__ import annotations

import logging

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from emma_eval.outbox.registry import handles

from .counts import rebuild_counts as rebuild
from .digest import mail_digest as digests
from .digest.send_digests import MAIL, send_digests
from .export import forget_files as old_exports
from .export.make_file import make_file
from .export.order_file import MAKE_FILE
from .filing import forget_old as forgetting
from .old_sheet import keep_upload, large_sheets
from .recordings.hand_over import LISTEN_AGAIN, MAKE_READY
from .recordings.recorder.finish_recording import finish_abandoned
from .recordings.removal import forget_recordings as old_recordings
from .recordings.removal.empty_folder import empty_folder
from .recordings.removal.remove_recording import EMPTY
from .recordings.removal.sweep_strays import sweep_strays
from .recordings.store import recordings_store
from .recordings.uploads.ask_for_copy import COPY_LINK
from .review import look_for_reviews as queue

log = logging.getLogger(__name__)

SEED = 0  # so that the same ratings always have the same interval


@shared_task(name="results.forget_uploads")
def forget_uploads() -> None:
    """Remove sheets that waited for a day. May run at any time and twice."""
    keep_upload.forget_uploads()


@shared_task(name="results.forget_exports")
def forget_exports() -> None:
    """Remove files that were made a week ago. May run at any time and twice."""
    old_exports.forget_files()


@shared_task(name="results.forget_old")
def forget_old() -> None:
    """Remove drafts and calls that nobody came back to, where the site is told to. May run at any time and twice."""
    now = timezone.now()
    drafts = forgetting.forget_drafts(now, settings.DRAFTS_ARE_KEPT_DAYS)
    calls = forgetting.forget_calls(now, settings.CALLS_ARE_KEPT_DAYS)
    if drafts or calls:
        log.info("forgot %s drafts and %s calls without results", drafts, calls)


@shared_task(name="results.look_for_reviews")
def look_for_reviews() -> None:
    """Bring the review queue up to date. May run at any time and twice."""
    queue.look_for_reviews(timezone.now())


@shared_task(name="results.rebuild_counts")
def rebuild_counts() -> None:
    """Count anew what is kept by month, and put right what differs. May run at any time and twice."""
    rebuild.rebuild_counts()


@shared_task(name="results.work_out_agreement")
def work_out_agreement() -> None:
    """Work out how far testers agree, if it is due. May run at any time and twice.

    What it needs is loaded here: a process that serves pages imports this module, and must stay small.
    """
    import numpy as np

    from .counts import work_out_agreement as agreement

    agreement.work_out_agreement(timezone.now(), np.random.default_rng(SEED))


@shared_task(name="results.finish_abandoned_recordings")
def finish_abandoned_recordings() -> None:
    """Have recordings made ready whose page never came back. May run at any time and twice."""
    finish_abandoned(recordings_store(), timezone.now())


@handles(COPY_LINK, waits_for_others=True)
def copy_recording_link(recording: str) -> None:
    """Copy the recording behind a link. Run twice, it is copied once."""
    from .recordings.uploads.copy_link import copy_link  # with all that speaks to other hosts: no page needs it

    copy_link(recording)


@handles(MAKE_READY, waits_for_others=True)
def make_recording_ready(recording: str) -> None:
    """Make a recording ready to be played. Run twice, it is made once."""
    from .recordings.making.make_ready import make_ready  # with all that reads media: no page needs it

    make_ready(recording, recordings_store())


@handles(LISTEN_AGAIN, waits_for_others=True)
def listen_to_recording_again(recording: str) -> None:
    """Listen once more to a recording that other ears heard. Run twice, it is heard once."""
    from .recordings.making.listen_again import listen_again

    listen_again(recording, recordings_store())


@shared_task(name="results.look_after_recordings")
def look_after_recordings() -> None:
    """Clear away what recordings were made of, and find those nobody works on. May run at any time and twice."""
    from .recordings.making import clear_sent, give_up_stuck

    cleared = clear_sent.clear_what_was_left(recordings_store(), timezone.now())
    stuck = give_up_stuck.give_up_stuck()
    if cleared or stuck:
        log.info("cleared up after %s recordings; %s could not be made ready", cleared, stuck)


@handles(MAKE_FILE)
def make_export(export: str) -> None:
    """Make the file of an export. Run twice, it makes one."""
    make_file(export)


@handles(large_sheets.LOOK)
def look_at_sheet(upload: str) -> None:
    """Look through a large sheet. Run twice, it finds the same."""
    large_sheets.look_at_sheet(upload)


@handles(large_sheets.IMPORT)
def import_large_sheet(upload: str) -> None:
    """Import a large sheet. Run twice, it imports once."""
    large_sheets.import_large_sheet(upload)


@shared_task(name="results.send_digests")
def send_weekly_digests() -> None:
    """Put the digests that are due on their way. May run at any time and twice: each goes once a week."""
    send_digests(timezone.now())


@handles(MAIL)
def mail_digest(digest: int) -> None:
    """Mail a digest. Run twice, it sends the same message."""
    digests.mail_digest(digest)


@handles(EMPTY, waits_for_others=True)
def empty_recording(recording: str, uploads: list[list[str]]) -> None:
    """Empty the store of a recording that was removed. Run twice, it finds nothing more."""
    empty_folder(recordings_store(), recording, uploads, timezone.now())


@shared_task(name="results.forget_recordings")
def forget_recordings() -> None:
    """Remove recordings that were kept as long as the site is told to. May run at any time and twice."""
    removed = old_recordings.forget_recordings(timezone.now(), settings.RECORDINGS_KEPT_DAYS)
    if removed:
        log.info("removed %s recordings that were kept for %s days", removed, settings.RECORDINGS_KEPT_DAYS)


@shared_task(name="results.sweep_recordings")
def sweep_recordings() -> None:
    """Clear away uploads that nobody finished, and files that no recording has. May run at any time and twice."""
    now = timezone.now()
    removed = old_recordings.forget_unfinished(now)
    swept = sweep_strays(recordings_store(), now)
    if removed or swept.noted or swept.emptied:
        told = (removed, swept.noted, swept.emptied)
        log.info("removed %s unfinished recordings; folders without a recording: %s seen, %s emptied", *told)
