"""A page with a long form, as small as can be: what `resume` does for such a page is tried on it."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.urls import path

from emma_eval.accounts import resume
from emma_eval.accounts.roles import UserRequest, for_members
from emma_eval.urls import handler403, handler404, handler500, urlpatterns  # noqa: F401

SENT: list[dict[str, str]] = []


@resume.keeps_what_was_typed()
@for_members
def form(request: UserRequest) -> HttpResponse:
    if request.method == "POST":
        SENT.append(request.POST.dict())
        return HttpResponse("sent")
    typed = resume.take(request)
    return JsonResponse({name: typed.getlist(name) for name in typed} if typed else {})


@for_members
@resume.keeps_what_was_typed(back_to="form_of_a_draft")
def send_draft(request: UserRequest, number: int) -> HttpResponse:
    SENT.append(request.POST.dict())
    return HttpResponse("sent")


@for_members
def form_of_a_draft(request: UserRequest, number: int) -> HttpResponse:
    typed = resume.take(request)
    return JsonResponse(typed.dict() if typed else {})


urlpatterns = [
    *urlpatterns,
    path("form/", form, name="form"),
    path("drafts-of-a-test/<int:number>/send/", send_draft, name="send_draft"),
    path("drafts-of-a-test/<int:number>/", form_of_a_draft, name="form_of_a_draft"),
]
