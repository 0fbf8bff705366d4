"""Sheets that are too large to be gone through while somebody waits for a page: a worker does it.

It looks through the sheet first and leaves what it found with the upload; it imports when the owner agreed to that.
"""

from __future__ import annotations

import time
from dataclasses import asdict

from django.db import transaction

from emma_eval.accounts.roles import Role
from emma_eval.outbox.deliver import hold_on
from emma_eval.outbox.enqueue import enqueue
from emma_eval.outbox.models import Row
from results.models import SheetUpload

from .import_sheet import Findings, OtherThanShownError, look_through
from .keep_upload import Report, import_upload
from .read_sheet import SheetError

LOOK, IMPORT = "results.look_at_sheet", "results.import_large_sheet"
BYTES_AT_ONCE = 5_000_000
ROWS_AT_ONCE = 20_000
TELL_EVERY_S = 1.0
NO_LONGER_ALLOWED = "You may no longer import sheets."
NO_LONGER_KEPT = "The file is no longer kept. Upload it again: rows that are here already add nothing."


class TooLargeToWaitForError(Exception):
    """The sheet is larger than what is gone through while somebody waits."""


def look_at_once(upload: SheetUpload) -> Findings:
    """Look through a sheet of the size that somebody can wait for. Raises TooLargeToWaitForError, and SheetError."""
    if upload.path.stat().st_size > BYTES_AT_ONCE:
        raise TooLargeToWaitForError
    return look_through(upload.path, upload.owner, _no_further)


def _no_further(rows: int) -> None:
    if rows > ROWS_AT_ONCE:
        raise TooLargeToWaitForError


@transaction.atomic
def order_look(upload: SheetUpload, *, has_changed: bool = False) -> None:
    """Have a worker look through the sheet, anew if it did so before."""
    upload.is_large, upload.has_changed = True, has_changed
    upload.looked = upload.agreed = None
    upload.rows_read = 0
    upload.work = enqueue(LOOK, upload=str(upload.pk))
    upload.save()


@transaction.atomic
def order_import(upload: SheetUpload, agreed: int) -> bool:
    """Have a worker import the sheet, once. False for a second click, and for another number than was found."""
    is_as_found = upload.looked is not None and agreed == upload.looked["new"]
    waiting = SheetUpload.objects.filter(pk=upload.pk, imported_at=None, agreed=None, failed_because="")
    if not is_as_found or not waiting.update(agreed=agreed, has_changed=False):
        return False
    work = enqueue(IMPORT, upload=str(upload.pk))
    SheetUpload.objects.filter(pk=upload.pk).update(work=work)
    return True


def look_at_sheet(uuid: str) -> None:
    """The work of a look. Run twice, it finds the same."""
    upload = _in_work(uuid)
    if upload is None or upload.looked is not None:
        return
    try:
        found = look_through(upload.path, upload.owner, _Telling(upload))
    except (FileNotFoundError, SheetError) as cause:
        _fail(upload, cause)
        return
    upload.looked = asdict(Report.of(found))
    upload.tells_of_safety = found.tells_of_safety
    upload.rows_read = found.rows
    upload.save(update_fields=["looked", "tells_of_safety", "rows_read"])


def import_large_sheet(uuid: str) -> None:
    """The work of an import. Run twice, it imports once; it looks again, where it would add another number by now."""
    upload = _in_work(uuid)
    if upload is None or upload.agreed is None or upload.work_id is None:
        return
    try:
        with transaction.atomic():
            # However long it takes: no other worker can take the row of the outbox before this transaction ends.
            Row.objects.select_for_update(no_key=True).get(pk=upload.work_id)
            import_upload(upload, upload.agreed)
    except OtherThanShownError:
        order_look(upload, has_changed=True)
    except (FileNotFoundError, SheetError) as cause:
        _fail(upload, cause)


def _in_work(uuid: str) -> SheetUpload | None:
    """The upload, if there is still something to do with it and its owner may have it done."""
    upload = SheetUpload.objects.filter(pk=uuid, imported_at=None, failed_because="").select_related("owner").first()
    if upload is not None and not (upload.owner.is_active and upload.owner.has_role(Role.EVAL_TEAM)):
        _fail(upload, NO_LONGER_ALLOWED)
        return None
    return upload


def _fail(upload: SheetUpload, cause: Exception | str) -> None:
    reason = NO_LONGER_KEPT if isinstance(cause, FileNotFoundError) else str(cause)
    SheetUpload.objects.filter(pk=upload.pk).update(failed_because=reason[:300])


class _Telling:
    """Tells now and then how far the look is, and holds on to the work."""

    def __init__(self, upload: SheetUpload) -> None:
        self.upload = upload
        self.told_at = time.monotonic()

    def __call__(self, rows: int) -> None:
        if time.monotonic() - self.told_at >= TELL_EVERY_S:
            self.told_at = time.monotonic()
            hold_on()
            SheetUpload.objects.filter(pk=self.upload.pk).update(rows_read=rows)
