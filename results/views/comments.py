"""The thread of a result: read it, add to it, take one's own words back, and all threads that one follows."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from emma_eval.accounts import resume, throttle
from emma_eval.accounts.roles import OPENED_OR_SENT, UserRequest, for_members

from ..comments.comment_form import CommentForm
from ..comments.comment_on import SAID_BY_ONE, comment_on, read_comments, withdraw_comment
from ..comments.show_thread import show_thread
from ..comments.tell_threads import tell_threads
from ..filing.typed import number_in
from ..models import Comment, Result
from .addresses import is_for_a_part

TOO_MANY = "That was a lot within a few minutes. Your words are still here: add them a little later."
ADDED = "Your comment is added."
WITHDRAWN = "Your comment is withdrawn."


@never_cache
@resume.keeps_what_was_typed()
@for_members
def comments(request: UserRequest, pk: int) -> HttpResponse:
    """What was said about a result, the latest first to be shown; by POST one comment more."""
    result = _seen(request, pk)
    kept = resume.take(request)
    form = CommentForm(request.POST or None, initial=kept.dict() if kept else {})
    if request.method == "POST" and form.is_valid():
        try:
            throttle.spend(SAID_BY_ONE, str(request.user.pk))
        except throttle.TooManyError:
            form.add_error("text", TOO_MANY)
            return _show(request, result, form=form, status=429)
        comment_on(request.user, result, form.cleaned_data["text"])
        return _changed(request, result, ADDED)
    return _show(request, result, form=form, status=422 if form.errors else 200)


@for_members
@require_http_methods(OPENED_OR_SENT)
def comment_withdraw(request: UserRequest, pk: int) -> HttpResponse:
    """Take one's own comment back; another's is as if it were not there."""
    seen = Comment.objects.filter(by=request.user, result__in=Result.objects.visible_to(request.user))
    said = get_object_or_404(seen.select_related("result__script"), pk=pk)
    if request.method != "POST":
        return redirect(_place(said.result))
    withdraw_comment(request.user, said)
    return _changed(request, said.result, WITHDRAWN)


@for_members
@require_http_methods(OPENED_OR_SENT)
def comments_read(request: UserRequest, pk: int) -> HttpResponse:
    """Note that the thread is read; asked for by a button, or by the page when the new comments come into view."""
    result = _seen(request, pk)
    if request.method != "POST":
        return redirect(_place(result))
    read_comments(request.user, result, number_in(request.POST.get("up_to")))
    if is_for_a_part(request):
        return HttpResponse(status=204)
    back = request.POST.get("back")
    return redirect(back if back in {"threads", "todo"} else _place(result))


@never_cache
@require_safe
@for_members
def threads(request: UserRequest) -> HttpResponse:
    """All threads that this person follows, the latest first."""
    return render(request, "results/threads.html", {"threads": tell_threads(request.user)})


def _seen(request: UserRequest, pk: int) -> Result:
    seen = Result.objects.visible_to(request.user).select_related("script", "script_version")
    return get_object_or_404(seen, pk=pk)


def _place(result: Result) -> str:
    return f"{result.get_absolute_url()}#comments"


def _changed(request: UserRequest, result: Result, words: str) -> HttpResponse:
    """The thread as it is now: for htmx in place, else the page of the result."""
    if is_for_a_part(request):
        return _show(request, result, words=words)
    messages.success(request, words)
    return redirect(_place(result))


def _show(
    request: UserRequest, result: Result, *, form: CommentForm | None = None, status: int = 200, words: str = ""
) -> HttpResponse:
    thread = show_thread(request.user, result, form, number_in(request.GET.get("before")))
    page = "results/comments.html#thread" if is_for_a_part(request) else "results/comments.html"
    return render(request, page, {"thread": thread, "result": result, "words": words}, status=status)
