"""The import of the old sheet: upload, look, then all good rows or nothing."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from emma_eval.accounts.roles import Role, UserRequest, for_roles

from ..models import SheetUpload
from ..old_sheet.import_sheet import OtherThanShownError, look_through
from ..old_sheet.keep_upload import NoMoreThanASheet, Report, as_known_to, drop_upload, import_upload, keep_upload
from ..old_sheet.read_sheet import SheetError
from ..old_sheet.upload_form import AgreeForm, SheetForm

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
    own = SheetUpload.objects.visible_to(request.user)
    context = {
        "form": form,
        "waiting": own.filter(imported_at=None),
        "imported": own.exclude(imported_at=None)[:EARLIER_SHOWN],
    }
    return render(request, "results/import.html", context, status=422 if form.errors else 200)


def _readable_upload(request: UserRequest, form: SheetForm) -> SheetUpload | None:
    """The upload, kept; or none, when it turns out anywhere in it that it is no sheet."""
    upload = keep_upload(form.cleaned_data["file"], request.user)
    try:
        look_through(upload.path, request.user)
    except SheetError as cause:
        drop_upload(upload)
        form.add_error("file", str(cause))
        return None
    return upload


@for_roles(Role.EVAL_TEAM)
def import_preview(request: UserRequest, uuid: uuid.UUID) -> HttpResponse:
    """What an import would do; once it was done, what it did."""
    upload = get_object_or_404(SheetUpload.objects.visible_to(request.user), pk=uuid)
    if upload.imported_at:
        report = Report.kept_with(upload)
        known = as_known_to(request.user, report.faults)
        page = Paginator(known, BAD_ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
        return render(request, "results/import_report.html", {"upload": upload, "found": report, "faults": page})
    return _preview(request, upload)


def _preview(request: UserRequest, upload: SheetUpload, *, has_changed: bool = False) -> HttpResponse:
    try:
        found = look_through(upload.path, request.user)
    except (FileNotFoundError, SheetError):
        return _gone(request, upload)
    faults = [fault for row in found.bad for fault in row.faults]
    context = {
        "upload": upload,
        "found": found,
        "faults": Paginator(faults, BAD_ROWS_ON_A_PAGE).get_page(request.GET.get("page")),
        "has_changed": has_changed,
    }
    return render(request, "results/import_preview.html", context, status=409 if has_changed else 200)


def _gone(request: UserRequest, upload: SheetUpload) -> HttpResponse:
    drop_upload(upload)
    messages.warning(request, "That sheet is no longer kept. Upload it again: rows that are here already add nothing.")
    return redirect("import_sheet")


@require_POST
@for_roles(Role.EVAL_TEAM)
def import_apply(request: UserRequest, uuid: uuid.UUID) -> HttpResponse:
    """Import the good rows, if they are still those that the page showed."""
    upload = get_object_or_404(SheetUpload.objects.visible_to(request.user), pk=uuid)
    if upload.imported_at:
        return redirect(upload)
    form = AgreeForm(request.POST)
    if not form.is_valid():
        return _preview(request, upload, has_changed=True)
    try:
        import_upload(upload, form.cleaned_data["agreed"])
    except OtherThanShownError:
        return _preview(request, upload, has_changed=True)
    except (SheetUpload.DoesNotExist, FileNotFoundError, SheetError):
        return _gone(request, upload)
    return redirect(upload)


@require_POST
@for_roles(Role.EVAL_TEAM)
def import_discard(request: UserRequest, uuid: uuid.UUID) -> HttpResponse:
    upload = get_object_or_404(SheetUpload.objects.visible_to(request.user).filter(imported_at=None), pk=uuid)
    drop_upload(upload)
    messages.success(request, f"{upload.name} was thrown away. Nothing was imported.")
    return redirect("import_sheet")
