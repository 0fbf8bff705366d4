"""Exports of the filtered list: asked for on a page, answered as a download or made in the background."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts import throttle
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import UserRequest, for_roles

from ..export.columns import COLUMNS
from ..export.export_form import Chosen, ExportForm, imported
from ..export.make_file import STORAGE, folder_of_our_own
from ..export.order_file import EXPORTS, MOST_AT_ONCE, Format, Wanted, note_export, note_the_end, order_file
from ..export.read_rows import Line, count_rows, read_rows
from ..export.rights import EXPORTERS
from ..export.write_lines import as_csv, as_json_lines
from ..export.write_workbook import MOST_ROWS, Workbook
from ..listing.chips import Chip, chips_of
from ..listing.choices import Choices, choices_for
from ..listing.filter_form import FilterForm
from ..listing.list_results import MOST_COUNTED, Asked, Listing, read_asked
from ..models import Export
from ..serve_file import Served, serve_file
from .addresses import is_for_a_part

CONTENT_TYPES = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSON_LINES: "application/x-ndjson; charset=utf-8",
    Format.WORKBOOK: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
SHOWN = 10
_in_turn = threading.Lock()


@require_http_methods(["GET", "HEAD", "POST"])
@for_roles(*EXPORTERS)
@vary_on_headers("HX-Request")
def export_new(request: UserRequest) -> HttpResponseBase:
    """Where an export of the filtered list is chosen (GET) and asked for (POST, since it writes an audit line)."""
    choices = choices_for(request.user)
    filters, asked = _asked(request.GET, choices)
    if request.method != "POST":
        return _page(request, filters, asked, choices, Chosen.read(request.GET))
    form = ExportForm(request.POST)
    if not form.is_valid() or filters.errors:
        return _page(request, filters, asked, choices, Chosen.read(request.POST), form=form, status=422)
    wanted = _wanted(request.user, asked, choices, form)
    if wanted.format == Format.WORKBOOK and wanted.count > MOST_ROWS:
        form.refuse_size()
        return _page(request, filters, asked, choices, Chosen.read(request.POST), form=form, status=422)
    try:
        throttle.spend(EXPORTS, str(request.user.pk))
    except throttle.TooManyError as cause:
        chosen = Chosen.read(request.POST)
        return _page(request, filters, asked, choices, chosen, status=429, free_at=cause.retry_at)
    return _answer(request.user, wanted)


def _asked(params: QueryDict, choices: Choices) -> tuple[FilterForm, Asked]:
    filters = FilterForm(params, choices)
    return filters, read_asked(filters.filters(), {name: str(value) for name, value in params.items()})


def _wanted(user: User, asked: Asked, choices: Choices, form: ExportForm) -> Wanted:
    """What is asked for, with how many rows it is: of a stream no more is counted than the list itself tells."""
    said = form.cleaned_data
    most = MOST_ROWS if said["format"] == Format.WORKBOOK else MOST_COUNTED
    return Wanted(asked, choices, said["format"], said["column"], count_rows(user, asked, most), most)


def _page(
    request: UserRequest,
    filters: FilterForm,
    asked: Asked,
    choices: Choices,
    chosen: Chosen,
    *,
    status: int = 200,
    **more: object,
) -> HttpResponse:
    """The page, or for htmx what depends on the boxes that are ticked."""
    page = {"chosen": chosen, "here": chosen.query(asked), "of_all": len(COLUMNS), **_ways_to_choose(asked, chosen)}
    if is_for_a_part(request):
        response = render(request, "results/export_new.html#chosen", page)
        response["HX-Replace-Url"] = f"{reverse('export_new')}?{page['here']}".rstrip("?")
        return response
    found = Listing([], count_rows(request.user, asked, MOST_COUNTED), "", "")
    own = Export.objects.visible_to(request.user).select_related("work")[:SHOWN]
    made = [Made(each, _chips_of(each, choices)) for each in own]
    page |= {"filters": filters, "asked": asked, "chips": chips_of(asked, choices), "found": found, "made": made}
    return render(request, "results/export_new.html", {**page, **more}, status=status)


@dataclass(frozen=True)
class Made:
    """An export of the list of them, with what tells it from another."""

    export: Export
    chips: list[Chip]

    @property
    def has_all_columns(self) -> bool:
        return len(self.export.columns) == len(COLUMNS)


def _ways_to_choose(asked: Asked, chosen: Chosen) -> dict[str, str]:
    """Addresses of this page with other columns ticked."""
    return {
        "with_all": chosen.query(asked, COLUMNS),
        "as_the_sheet": chosen.query(asked, imported()),
        "with_none": chosen.query(asked, ()),
    }


def _answer(user: User, wanted: Wanted) -> HttpResponseBase:
    """The download, or the page that tells how far it is."""
    if wanted.format == Format.WORKBOOK and wanted.count > MOST_AT_ONCE:
        return redirect(order_file(user, wanted))
    note_export(user, wanted)
    response = _workbook(user, wanted) if wanted.format == Format.WORKBOOK else _stream(user, wanted)
    name = f"results-{timezone.localtime():%Y-%m-%d-%H%M}.{wanted.format}"
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["Content-Type"] = CONTENT_TYPES[wanted.format]
    response["Cache-Control"] = "private, no-store"
    return response


def _stream(user: User, wanted: Wanted) -> StreamingHttpResponse:
    write = as_csv if wanted.format == Format.CSV else as_json_lines
    slices = read_rows(user, wanted.asked, wanted.columns)
    if not wanted.is_counted:
        slices = note_the_end(user, wanted, slices)
    return StreamingHttpResponse(write(slices, wanted.columns))


def _workbook(user: User, wanted: Wanted) -> FileResponse:
    """Written to the disk first: a workbook is no stream, its table of contents stands at its end."""
    with folder_of_our_own() as folder:
        path = folder / "results.xlsx"
        slices = read_rows(user, wanted.asked, wanted.columns)
        with Workbook(path, wanted.columns) as book:
            while _add_next(book, slices):
                pass
        return FileResponse(path.open("rb"))  # an open file outlives its folder


def _add_next(book: Workbook, slices: Iterator[list[Line]]) -> bool:
    """The next slice of a workbook; False after the last. Of several workbooks only one is worked on at a time.

    All threads of a process share one processor: pages beside them wait for one workbook, however many are written.
    """
    with _in_turn:
        lines = next(slices, None)
        if lines is not None:
            book.add(lines)
    return lines is not None


@require_safe
@for_roles(*EXPORTERS)
@vary_on_headers("HX-Request")
def export(request: UserRequest, uuid: uuid.UUID) -> HttpResponse:
    """How far a file is; once it is made, its link. htmx asks each second for the part that changes."""
    found = get_object_or_404(Export.objects.visible_to(request.user).select_related("work"), pk=uuid)
    page = {"export": found, "kept_until": found.kept_until}
    if is_for_a_part(request):
        return render(request, "results/export.html#progress", page)
    return render(request, "results/export.html", {**page, "chips": _chips_of(found, choices_for(request.user))})


def _chips_of(export: Export, choices: Choices) -> list[Chip]:
    """The filters of an export in words, as far as the person of these choices may know them now."""
    return chips_of(_asked(QueryDict(export.query), choices)[1], choices)


@require_safe
@for_roles(*EXPORTERS)
def export_file(request: UserRequest, uuid: uuid.UUID) -> HttpResponseBase:
    """The file: out of our folder, or by a link into the bucket that is signed for this download and soon over."""
    found = get_object_or_404(Export.objects.visible_to(request.user).exclude(file=""), pk=uuid)
    storage: Any = storages[STORAGE]
    content_type = CONTENT_TYPES[Format.WORKBOOK]
    if not isinstance(storage, FileSystemStorage):
        saved_as = content_disposition_header(True, found.file_name)
        parameters = {"ResponseContentType": content_type, "ResponseContentDisposition": saved_as}
        return redirect(storage.url(found.file, parameters=parameters, expire=settings.LINKS_HOLD_S))
    try:
        file = storage.open(found.file)
    except FileNotFoundError as cause:
        raise Http404 from cause
    made_at = found.made_at or found.asked_at
    return serve_file(request, file, Served(file.size, content_type, found.file, made_at, found.file_name))
