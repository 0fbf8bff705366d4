"""Make the file of an export, in a worker. A worker that is killed leaves it to the next, which begins anew.

Each try writes a file of its own; which of them becomes the export's is decided by one compare-and-set, so two
workers at once cost time and nothing else.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.files import File
from django.core.files.storage import storages
from django.http import QueryDict
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox.deliver import LeaseLostError, hold_on
from results.listing.choices import choices_for
from results.listing.filter_form import FilterForm
from results.listing.list_results import Asked, read_asked
from results.models import Export
from scripts_catalog.models import Script

from .columns import columns_of
from .read_rows import Line, read_rows
from .rights import EXPORTERS, LostRightError
from .write_workbook import MOST_ROWS, Workbook

STORAGE = "exports"
TELL_EVERY_S = 1.0
CALLS_AT_ONCE = 5_000
MAKING = "making-"
NO_LONGER_ALLOWED = "You may no longer export results."
FILTERS_ARE_GONE = "A filter names something that is no longer there."
TOO_LARGE = "More rows were filed meanwhile than a workbook holds. Choose CSV."


class NotToBeMadeError(Exception):
    """The file can't be made, however often it is tried. The message is a sentence for its owner."""


@dataclass
class Content:
    """What is in a file that may become Safety later: the scripts of its rows, the calls of its moments."""

    scripts: set[str] = field(default_factory=set)
    calls: set[int] = field(default_factory=set)

    def add(self, lines: list[Line]) -> None:
        self.scripts.update(row.script_id for row, _ in lines)
        self.calls.update(moment.call for _, beside in lines for moment in beside.moments)


def make_file(uuid: str) -> None:
    """Make the file, unless it is made or given up already. Run twice, it makes one."""
    export = Export.objects.waiting().filter(pk=uuid).first()
    if export is None:
        return
    try:
        with folder_of_our_own() as folder:
            path = folder / "results.xlsx"
            _keep(export, path, _write(export, path))
    except LostRightError:
        _give_up(uuid, NO_LONGER_ALLOWED)
    except NotToBeMadeError as reason:
        _give_up(uuid, str(reason))


def _give_up(uuid: str, because: str) -> None:
    Export.objects.waiting().filter(pk=uuid).update(failed_because=because)


@contextmanager
def folder_of_our_own() -> Iterator[Path]:
    """A folder on the disk of the files, since /tmp may be memory. Gone at the end, or swept up after a crash."""
    Path(settings.EXPORTS_DIR).mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=MAKING, dir=settings.EXPORTS_DIR) as folder:
        yield Path(folder)


def _asked_of(user: User, query: str) -> Asked:
    """What an address of the list asks for, as this person may ask it now. A filter that is gone must widen nothing."""
    params = QueryDict(query)
    form = FilterForm(params, choices_for(user))
    asked = read_asked(form.filters(), params.dict())
    if form.errors:
        raise NotToBeMadeError(FILTERS_ARE_GONE)
    return asked


def _owner_of(export: Export) -> User:
    """The owner as they are now. What they may see by now they may see here, so the export is marked by it."""
    owner = User.objects.get(pk=export.owner_id)
    may_export = owner.is_active and owner.has_role(*EXPORTERS)
    if not may_export or (export.tells_of_safety and not owner.is_trained):
        raise NotToBeMadeError(NO_LONGER_ALLOWED)
    if owner.is_trained and not export.tells_of_safety:
        export.tells_of_safety = True
        export.save(update_fields=["tells_of_safety"])
    return owner


def _write(export: Export, path: Path) -> Content:
    """Write all rows, telling how far it is; what they are of comes back."""
    owner = _owner_of(export)
    columns, told_at = columns_of(export.columns), 0.0
    content = Content()
    with Workbook(path, columns) as book:
        for lines in read_rows(owner, _asked_of(owner, export.query), columns):
            if book.rows + len(lines) > MOST_ROWS:
                raise NotToBeMadeError(TOO_LARGE)
            book.add(lines)
            content.add(lines)
            if time.monotonic() - told_at >= TELL_EVERY_S:
                told_at = time.monotonic()
                _tell(export, book.rows)
        _tell(export, book.rows)
    return content


def _tell(export: Export, rows: int) -> None:
    """Say how far it is and keep the lease; end here if another worker was quicker."""
    hold_on()
    export.rows = rows
    if not Export.objects.waiting().filter(pk=export.pk).update(rows=rows):
        raise NotToBeMadeError("made already")


def _keep(export: Export, path: Path, content: Content) -> None:
    """Hand the file over, if its owner still may have it and no other worker was quicker.

    Packing a large workbook may have taken longer than a lease lasts. It is whole all the same: whoever took the
    work over finds it done.
    """
    _owner_of(export)
    with suppress(LeaseLostError):
        hold_on()
    storage = storages[STORAGE]
    with path.open("rb") as file:
        name = storage.save(f"{export.pk.hex}-{secrets.token_hex(8)}.xlsx", File(file))
    _note(export, content)
    made = {"file": name, "rows": export.rows, "made_at": timezone.now()}
    if not Export.objects.waiting().filter(pk=export.pk).update(**made):
        storage.delete(name)


def _note(export: Export, content: Content) -> None:
    """Before the file is anybody's: by this it is taken away again. What an earlier try noted too does no harm."""
    export.scripts.add(*Script.objects.filter(slug__in=content.scripts))
    if export.tells_of_safety:
        return
    calls, link = iter(content.calls), Export.calls.through
    while part := list(islice(calls, CALLS_AT_ONCE)):
        with suppress(LeaseLostError):
            hold_on()
        link.objects.bulk_create((link(export_id=export.pk, call_id=call) for call in part), ignore_conflicts=True)
