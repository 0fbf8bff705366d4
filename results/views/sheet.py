"""The import of the old sheet: upload, look, then all good rows or nothing."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import Role, UserRequest, for_roles

from ..models import SheetState, SheetUpload
from ..old_sheet.import_sheet import OtherThanShownError
from ..old_sheet.keep_upload import NoMoreThanASheet, Report, as_known_to, drop_upload, import_upload, keep_upload
from ..old_sheet.large_sheets import TooLargeToWaitForError, look_at_once, order_import, order_look
from ..old_sheet.read_row import RowFault
from ..old_sheet.read_sheet import SheetError, read_sheet
from ..old_sheet.upload_form import AgreeForm, SheetForm
from .addresses import is_for_a_part

BAD_ROWS_ON_A_PAGE = 50
EARLIER_SHOWN = 20


@csrf_exempt  # reading the token reads the whole upload: first comes what stops one that is too large
def import_sheet(request: HttpRequest) -> HttpResponseBase:
    """Where a sheet is uploaded."""
    brake = NoMoreThanASheet(request)
    request.upload_handlers = [brake, *request.upload_handlers]
    return _import_sheet(request, brake)


@for_roles(Role.EVAL_TEAM)
@csrf_protect
def _import_sheet(request: UserRequest, brake: NoMoreThanASheet) -> HttpResponse:
    form = SheetForm()
    if request.method == "POST":
        form = SheetForm(request.POST, request.FILES, is_too_large=brake.is_too_large)
        if form.is_valid():
            upload = _readable_upload(request, form)
            if upload:
                return redirect(upload)
    own = SheetUpload.objects.visible_to(request.user).select_related("work")
    context = {
        "form": form,
        "waiting": own.filter(imported_at=None),
        "imported": own.exclude(imported_at=None)[:EARLIER_SHOWN],
    }
    return render(request, "results/import.html", context, status=422 if form.errors else 200)


def _readable_upload(request: UserRequest, form: SheetForm) -> SheetUpload | None:
    """The upload, kept; or none, when it turns out anywhere in it that it is no sheet.

    What is too large to wait for is read to its end by a worker.
    """
    upload = keep_upload(form.cleaned_data["file"], request.user)
    try:
        read_sheet(upload.path)
        look_at_once(upload)
    except TooLargeToWaitForError:
        order_look(upload)
    except SheetError as cause:
        drop_upload(upload)
        form.add_error("file", str(cause))
        return None
    return upload


@for_roles(Role.EVAL_TEAM)
@vary_on_headers("HX-Request")
def import_preview(request: UserRequest, uuid: uuid.UUID) -> HttpResponse:
    """What an import would do; once it was done, what it did. Meanwhile, for a large sheet, how far the worker is."""
    upload = get_object_or_404(SheetUpload.objects.visible_to(request.user).select_related("work"), pk=uuid)
    if is_for_a_part(request):
        return _progress(request, upload)
    if upload.imported_at:
        report = Report.read(upload.report)
        page = _page_of(request, as_known_to(request.user, report.faults))
        return render(request, "results/import_report.html", {"upload": upload, "found": report, "faults": page})
    if upload.state in {None, SheetState.LOOKED}:
        return _preview(request, upload, has_changed=upload.has_changed)
    return render(request, "results/import_progress.html", {"upload": upload})


def _progress(request: UserRequest, upload: SheetUpload) -> HttpResponse:
    """The part that htmx asks for each second; when there is more to see than how far it is, the whole page."""
    response = render(request, "results/import_progress.html#progress", {"upload": upload})
    if upload.state in {None, SheetState.LOOKED}:
        response["HX-Refresh"] = "true"
    return response


def _preview(
    request: UserRequest, upload: SheetUpload, *, has_changed: bool = False, status: int = 200
) -> HttpResponse:
    try:
        report, faults = _would_do(request, upload)
    except TooLargeToWaitForError:
        order_look(upload)
        return redirect(upload)
    except (FileNotFoundError, SheetError):
        return _gone(request, upload)
    context = {"upload": upload, "found": report, "faults": _page_of(request, faults), "has_changed": has_changed}
    return render(request, "results/import_preview.html", context, status=status)


def _would_do(request: UserRequest, upload: SheetUpload) -> tuple[Report, list[RowFault]]:
    """What an import would do now or, of a large sheet, what a worker found that it would do."""
    if upload.looked is not None:
        report = Report.read(upload.looked)
        return report, as_known_to(request.user, report.faults)
    found = look_at_once(upload)
    return Report.of(found), [fault for row in found.bad for fault in row.faults]


def _page_of(request: UserRequest, faults: list[RowFault]) -> Page[RowFault]:
    return Paginator(faults, BAD_ROWS_ON_A_PAGE).get_page(request.GET.get("page"))


def _gone(request: UserRequest, upload: SheetUpload) -> HttpResponse:
    drop_upload(upload)
    messages.warning(request, "That sheet is no longer kept. Upload it again: rows that are here already add nothing.")
    return redirect("import_sheet")


@require_POST
@for_roles(Role.EVAL_TEAM)
def import_apply(request: UserRequest, uuid: uuid.UUID) -> HttpResponse:
    """Import the good rows, if they are still those that the page showed."""
    upload = get_object_or_404(SheetUpload.objects.visible_to(request.user).select_related("work"), pk=uuid)
    if upload.imported_at:
        return redirect(upload)
    form = AgreeForm(request.POST)
    if upload.is_large:
        return _apply_large(request, upload, form)
    if not form.is_valid():
        return _preview(request, upload, has_changed=True, status=409)
    try:
        import_upload(upload, form.cleaned_data["agreed"])
    except OtherThanShownError:
        return _preview(request, upload, has_changed=True, status=409)
    except (SheetUpload.DoesNotExist, FileNotFoundError, SheetError):
        return _gone(request, upload)
    return redirect(upload)


def _apply_large(request: UserRequest, upload: SheetUpload, form: AgreeForm) -> HttpResponse:
    """Leave it to a worker; its page tells how far it is, after a second click too."""
    is_ordered = form.is_valid() and order_import(upload, form.cleaned_data["agreed"])
    if not is_ordered and upload.state == SheetState.LOOKED:
        return _preview(request, upload, has_changed=True, status=409)
    return redirect(upload)


@require_POST
@for_roles(Role.EVAL_TEAM)
def import_discard(request: UserRequest, uuid: uuid.UUID) -> HttpResponse:
    waiting = SheetUpload.objects.visible_to(request.user).filter(imported_at=None).select_related("work")
    upload = get_object_or_404(waiting, pk=uuid)
    if upload.state == SheetState.IMPORTING:
        return redirect(upload)
    drop_upload(upload)
    messages.success(request, f"{upload.name} was thrown away. Nothing was imported.")
    return redirect("import_sheet")
