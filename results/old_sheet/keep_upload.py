"""Keep an uploaded sheet between the look at it and its import; forget it when it is imported or a day old."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.db import transaction
from django.utils import timezone

from emma_eval.accounts.models import User
from results.models import Result, SheetUpload

from .import_sheet import Findings, import_sheet
from .read_row import RowFault
from .read_sheet import MOST_BYTES

KEPT_FOR_S = 24 * 3600
KEPT_FOR_ONE = 5
FAULTS_IN_A_REPORT = 1000
NAMES_ON_A_PAGE = 20


class NoMoreThanASheet(FileUploadHandler):
    """Lets go of an upload that is larger than any sheet may be, instead of writing it to the disk."""

    is_too_large = False

    def handle_raw_input(self, input_data: Any, meta: Any, content_length: int, *rest: Any) -> None:
        self.is_too_large = content_length > MOST_BYTES + 100_000

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self.is_too_large:
            raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


@dataclass(frozen=True)
class Report:
    """What an import did, or would do, as it stays with the upload.

    `faults` are those of the first bad rows; the testers and builds that are new are named as far as a page does.
    """

    rows: int
    new: int
    here: int
    faulty: int
    conflicts: int
    new_testers: int
    new_builds: int
    faults: list[RowFault]
    notices: list[str] = field(default_factory=list)
    some_testers: list[str] = field(default_factory=list)
    some_builds: list[str] = field(default_factory=list)

    @property
    def bad(self) -> int:
        return self.faulty + self.conflicts

    @property
    def are_more_bad(self) -> bool:
        """Whether rows are bad that no fault of which is kept."""
        return self.bad > len({fault.line for fault in self.faults})

    @classmethod
    def of(cls, found: Findings) -> Report:
        faults = [fault for row in found.bad[:FAULTS_IN_A_REPORT] for fault in row.faults]
        return cls(
            rows=found.rows,
            new=found.new,
            here=found.here,
            faulty=found.faulty,
            conflicts=found.conflicts,
            new_testers=len(found.new_testers),
            new_builds=len(found.new_builds),
            faults=faults[:FAULTS_IN_A_REPORT],
            notices=found.notices,
            some_testers=found.new_testers[:NAMES_ON_A_PAGE],
            some_builds=found.new_builds[:NAMES_ON_A_PAGE],
        )

    @classmethod
    def read(cls, kept: dict[str, Any]) -> Report:
        return cls(**{**kept, "faults": [RowFault(**fault) for fault in kept["faults"]]})


def as_known_to(user: User, faults: list[RowFault]) -> list[RowFault]:
    """The faults of a report without the words of results that became Safety since, for those who aren't trained."""
    named = {fault.result_pk for fault in faults if fault.result_pk}
    hidden = named - set(Result.objects.visible_to(user).filter(pk__in=named).values_list("pk", flat=True))
    return [
        replace(fault, result_pk=None, before="", before_is_in="") if fault.result_pk in hidden else fault
        for fault in faults
    ]


def keep_upload(file: UploadedFile, owner: User) -> SheetUpload:
    """Write the file where only we can read it, under a name that says nothing."""
    forget_uploads()
    for oldest in SheetUpload.objects.filter(owner=owner, imported_at=None, agreed=None)[KEPT_FOR_ONE - 1 :]:
        drop_upload(oldest)
    upload = SheetUpload(owner=owner, name=Path(file.name or "sheet").name[:200])
    Path(settings.IMPORTS_DIR).mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(upload.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as kept:
        for chunk in file.chunks():
            kept.write(chunk)
    upload.save(force_insert=True)
    return upload


def drop_upload(upload: SheetUpload) -> None:
    upload.path.unlink(missing_ok=True)
    upload.delete()


def forget_uploads() -> None:
    """Remove what waited for a day: files of imports that never came, and files nobody knows of any more."""
    too_old = time.time() - KEPT_FOR_S
    folder = Path(settings.IMPORTS_DIR)
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.stat().st_mtime < too_old:
            path.unlink(missing_ok=True)
    before = timezone.now() - timedelta(seconds=KEPT_FOR_S)
    SheetUpload.objects.filter(imported_at=None, uploaded_at__lt=before).delete()


def import_upload(upload: SheetUpload, agreed: int) -> SheetUpload:
    """Import the good rows of a kept sheet, once: a second click finds it done.

    The sheet is gone through again; OtherThanShownError when it would not add the number that was `agreed`.
    """
    with transaction.atomic():
        upload = SheetUpload.objects.select_for_update(no_key=True).get(pk=upload.pk)
        if upload.imported_at is None:
            found = import_sheet(upload.path, upload.owner, upload.name, only_good=True, agreed=agreed)
            upload.report = asdict(Report.of(found))
            upload.tells_of_safety = found.tells_of_safety
            upload.imported_at = timezone.now()
            upload.save()
            transaction.on_commit(lambda: upload.path.unlink(missing_ok=True))
    return upload
