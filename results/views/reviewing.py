"""Reviewing: the queue, the page of one review, its autosave, and the pick between several."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from emma_eval.accounts import resume
from emma_eval.accounts.by_the_minute import at_most
from emma_eval.accounts.roles import OPENED_OR_SENT, Role, UserRequest, for_roles

from ..comments.show_thread import show_thread
from ..filing.typed import number_in
from ..models import Hold, Result, Review
from ..recordings.player.show_recording import recordings_beside
from ..review.blind import REVIEWERS
from ..review.file_review import CorrectedMeanwhileError, file_review, tags_of
from ..review.hold_result import begin_review, let_go
from ..review.keep_draft import (
    ChangedElsewhereError,
    Kept,
    NotBegunError,
    ReviewDraft,
    fields_in,
    keep_draft,
)
from ..review.open_to import AllInError, FiledError, HeldError, OwnResultError, check_open, hold_of_another
from ..review.pick_form import PickForm
from ..review.pick_review import NothingToPickError, pick_review, reviews_to_pick
from ..review.review_form import ReviewForm
from ..review.show_queue import show_queue
from ..review.show_reviews import show_review
from ..review.take_next import take_next
from ..show_result import Shown, show_result
from .by_script import object_with_fields, refuse
from .playing import begins_at
from .see_other import SeeOther

MOST_BYTES_OF_A_DRAFT = 50_000
CLOSED = (OwnResultError, FiledError, AllInError, HeldError)


# --- the queue -----------------------------------------------------------------------------------


@never_cache
@for_roles(*REVIEWERS)
@require_safe
def review_queue(request: UserRequest) -> HttpResponse:
    """What waits, what one has begun, what one reviewed; for leads, what waits for a pick."""
    return render(request, "results/review_queue.html", {"queue": show_queue(request.user, timezone.now())})


@for_roles(*REVIEWERS)
@require_http_methods(OPENED_OR_SENT)
def review_next(request: UserRequest) -> HttpResponse:
    """Take the next one, and go there."""
    return _to_next(request) if request.method == "POST" else redirect("review_queue")


def _to_next(request: UserRequest) -> HttpResponse:
    result = take_next(request.user, timezone.now())
    if result is None:
        messages.info(request, "Nothing waits for you in the queue at present.")
        return SeeOther(reverse("review_queue"))
    return SeeOther(reverse("review", args=[result.pk]))


# --- one review ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReviewPage:
    """The tester's row and the form beside it. `why_closed`: what stands against filing, in words; empty: nothing.

    `corrected_to`: the tester has corrected the result meanwhile; its version now.
    """

    shown: Shown
    form: ReviewForm
    draft: ReviewDraft
    hold: Hold | None
    why_closed: str = ""
    is_corrected: bool = False

    @property
    def result(self) -> Result:
        return self.shown.result

    @property
    def filed_tags(self) -> str:
        return ",".join(self.form.before)

    @property
    def errors(self) -> list[tuple[str, str]]:
        """(anchor, words) of everything that is wrong, in the order of the page."""
        anchors = {"__all__": "review-form", "judged": "judged-right", "problems": "problems"}
        anchors |= {"no_problem": "id_no_problem", "reason": "id_reason"}
        found = self.form.errors
        return [(anchor, str(words)) for name, anchor in anchors.items() for words in found.get(name, [])]


@never_cache
@resume.keeps_what_was_typed()
@for_roles(*REVIEWERS)
@require_http_methods(["GET", "HEAD", "POST"])
def review(request: UserRequest, pk: int) -> HttpResponseBase:
    """The page on which one result is reviewed by whoever began to; for others, how to begin."""
    result = _seen(request, pk)
    begun = result.reviews.filter(reviewer=request.user).first()
    if request.method == "POST":
        return _file(request, result)
    if begun is not None and begun.filed_at is not None:
        return redirect(result)
    if begun is None:
        return _show_before(request, result)
    return _show_begun(request, result, begun)


def _seen(request: UserRequest, pk: int) -> Result:
    found = Result.objects.visible_to(request.user)
    return get_object_or_404(found.select_related("script", "script_version", "build", "tester"), pk=pk)


def _show_before(request: UserRequest, result: Result) -> HttpResponse:
    context = {
        "shown": show_result(request.user, result),
        "why_closed": _why_closed(request, result) or _held_by_another(request, result),
    }
    return render(request, "results/review_begin.html", context)


def _held_by_another(request: UserRequest, result: Result) -> str:
    hold = hold_of_another(request.user, result, timezone.now())
    return _in_words(HeldError(hold)) if hold else ""


def _show_begun(request: UserRequest, result: Result, begun: Review) -> HttpResponse:
    draft = ReviewDraft.of(begun)
    kept = resume.take(request)
    if kept is not None:
        draft = ReviewDraft(fields_in(kept.dict()), draft.result_version, draft.edition, draft.saved_at)
    form = ReviewForm(filed=tags_of(result), reviewer=request.user.pk, draft=draft.fields)
    is_corrected = bool(draft.fields) and draft.result_version != result.version
    return _show(request, result, form, draft, is_corrected=is_corrected)


def _show(
    request: UserRequest, result: Result, form: ReviewForm, draft: ReviewDraft, status: int = 200, **more: Any
) -> HttpResponse:
    page = ReviewPage(
        shown=show_result(request.user, result),
        form=form,
        draft=draft,
        hold=Hold.objects.in_force(timezone.now()).filter(result=result, reviewer=request.user).first(),
        **{"why_closed": _why_closed(request, result), **more},
    )
    context = {
        "page": page,
        "form": form,
        "result": result,
        "thread": show_thread(request.user, result),
        "recordings": recordings_beside(request.user, result),
        "begins_at": begins_at(request),
    }
    return render(request, "results/review.html", context, status=status)


def _why_closed(request: UserRequest, result: Result) -> str:
    try:
        check_open(request.user, result, timezone.now())
    except CLOSED as closed:
        return _in_words(closed)
    return ""


def _in_words(closed: Exception) -> str:
    if isinstance(closed, OwnResultError):
        return "You filed this result yourself, so somebody else reviews it."
    if isinstance(closed, HeldError):
        until = timezone.localtime(closed.hold.until)
        return f"{closed.hold.reviewer} has this result in hand until {until:%H:%M}, or until they leave it."
    if isinstance(closed, FiledError):
        return "You have reviewed this result."
    return "All the reviews that this result needs have been filed meanwhile."


def _file(request: UserRequest, result: Result) -> HttpResponse:
    form = ReviewForm(request.POST, filed=tags_of(result), reviewer=request.user.pk)
    based_on, now = number_in(request.POST.get("version")), timezone.now()
    draft = ReviewDraft(fields_in(request.POST.dict()), based_on, number_in(request.POST.get("edition")))
    if based_on != result.version:
        return _corrected_meanwhile(request, result, form, draft)
    if not form.is_valid():
        return _show(request, result, form, draft, 422)
    try:
        filed = file_review(request.user, result.pk, form.says, based_on=based_on, now=now)
    except CorrectedMeanwhileError:
        return _corrected_meanwhile(request, _seen(request, result.pk), form, draft)
    except FiledError:
        messages.info(request, "You had filed this review already.")
        return SeeOther(result.get_absolute_url())
    except CLOSED as closed:
        _keep_quietly(request, result, draft, now)
        return _show(request, result, form, draft, 409, why_closed=_in_words(closed))
    messages.success(request, _said(filed))
    return SeeOther(reverse("review_queue")) if "stop" in request.POST else _to_next(request)


def _corrected_meanwhile(request: UserRequest, result: Result, form: ReviewForm, draft: ReviewDraft) -> HttpResponse:
    """The tester's row has changed under the reviewer's hands: both are shown, and what was typed stays."""
    typed = ReviewForm(filed=tags_of(result), reviewer=request.user.pk, draft=draft.fields)
    return _show(request, result, typed, draft, 409, is_corrected=True)


def _keep_quietly(request: UserRequest, result: Result, draft: ReviewDraft, now: datetime) -> None:
    """What was to be filed and can't be stays readable, whatever another tab had saved."""
    there = result.reviews.filter(reviewer=request.user).first()
    based_on = ReviewDraft.of(there).edition if there else 0
    try:
        keep_draft(
            *(request.user, result.pk, draft.fields),
            result_version=draft.result_version,
            based_on=based_on,
            now=now,
        )
    except (NotBegunError, FiledError):
        return


def _said(filed: Review) -> str:
    title = filed.result.script_version.title
    return f"Reviewed “{title}”: {'the tags are right' if filed.confirms else 'your tags stand beside the tester’s'}."


@for_roles(*REVIEWERS)
@require_http_methods(OPENED_OR_SENT)
def review_begin(request: UserRequest, pk: int) -> HttpResponse:
    """Take this one result in hand, whether or not it waits in the queue; or go on with it, at the place asked for."""
    result = _seen(request, pk)
    if request.method != "POST":
        return redirect("review", result.pk)
    try:
        begin_review(request.user, result, timezone.now())
    except FiledError:
        return SeeOther(result.get_absolute_url())
    except CLOSED:
        pass  # the page says why
    at = request.GET.get("t", "")
    return SeeOther(reverse("review", args=[result.pk], query={"t": at} if at else None))


@for_roles(*REVIEWERS)
@require_http_methods(OPENED_OR_SENT)
def review_leave(request: UserRequest, pk: int) -> HttpResponse:
    """Put a result back for now: what was typed is kept, and others may take it."""
    result = _seen(request, pk)
    if request.method != "POST":
        return redirect("review", result.pk)
    fields = fields_in(request.POST.dict())
    if fields:
        version = number_in(request.POST.get("version")) or result.version
        _keep_quietly(request, result, ReviewDraft(fields, version), timezone.now())
    let_go(request.user, result)
    messages.info(request, f"“{result.script_version.title}” is put back. What you typed is kept under what you began.")
    return SeeOther(reverse("review_queue"))


# --- saving as one goes --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Save:
    """What an autosave asks for: these words, about this version of the result, on top of this edition."""

    edition: int
    result_version: int
    typed_by: str
    fields: dict[str, str]


@for_roles(*REVIEWERS)
@require_http_methods(["PUT"])
@at_most("autosave of a review", "AUTOSAVES_A_MINUTE")
def review_save(request: UserRequest, pk: int) -> HttpResponseBase:
    """Keep what is typed, and the result in hand. Every answer is JSON that the page can act on."""
    result = _seen(request, pk)
    if number_in(request.headers.get("Content-Length")) > MOST_BYTES_OF_A_DRAFT:
        return refuse(413, "too_large", "This is too long to be saved. Shorten the reason.")
    asked = _read_save(request.body)
    if asked is None:
        return refuse(400, "malformed", "The site did not understand this review.")
    if asked.typed_by not in {"", str(request.user.pk)}:
        return refuse(401, "someone_else", "Somebody else is signed in now.")
    return _answer_save(request, result, asked)


def _read_save(body: bytes) -> Save | None:
    asked = object_with_fields(body)
    if asked is None:
        return None
    edition, version = number_in(str(asked.get("edition"))), number_in(str(asked.get("result_version")))
    return Save(min(edition, 2**31), min(version, 2**31), str(asked.get("typed_by", "")), fields_in(asked["fields"]))


def _answer_save(request: UserRequest, result: Result, asked: Save) -> HttpResponse:
    try:
        kept = keep_draft(
            *(request.user, result.pk, asked.fields),
            result_version=asked.result_version,
            based_on=asked.edition,
            now=timezone.now(),
        )
    except FiledError:
        return JsonResponse({"error": "filed", "filed": result.get_absolute_url()}, status=409)
    except NotBegunError:
        return refuse(409, "not_begun", "You have not begun this review.")
    except ChangedElsewhereError:
        return refuse(409, "changed", "Another tab has changed this review. Open it anew to go on from there.")
    return JsonResponse(_answer(result, kept))


def _answer(result: Result, kept: Kept) -> dict[str, object]:
    """`until`: when the hold would lapse; `message`: what stands against filing; `version`: of the result by now."""
    return {
        "edition": kept.draft.edition,
        "saved_at": kept.draft.saved_at,
        "until": f"{timezone.localtime(kept.hold.until):%H:%M}" if kept.hold else "",
        "message": _in_words(kept.error) if kept.error else "",
        "version": result.version,
    }


# --- the pick between several ----------------------------------------------------------------------------


@never_cache
@resume.keeps_what_was_typed()
@for_roles(Role.EVAL_LEAD)
@require_http_methods(["GET", "HEAD", "POST"])
def review_pick(request: UserRequest, pk: int) -> HttpResponse:
    """All reviews of a result side by side, to pick the one whose tags count."""
    result = _seen(request, pk)
    form = PickForm(request.POST or None, reviews=reviews_to_pick(result))
    if not form.is_bound or not form.is_valid():
        return _show_pick(request, result, form, 422 if form.is_bound else 200)
    try:
        picked = pick_review(request.user, result.pk, form.picked, form.word_given)
    except NothingToPickError:
        raise Http404 from None
    messages.success(request, f"The review of {picked.reviewer} counts from now on.")
    return SeeOther(reverse("review_queue"))


def _show_pick(request: UserRequest, result: Result, form: PickForm, status: int) -> HttpResponse:
    filed = tags_of(result)
    context = {
        "result": result,
        "form": form,
        "shown": show_result(request.user, result),
        "reviews": [show_review(review, filed, request.user) for review in form.reviews],
    }
    return render(request, "results/review_pick.html", context, status=status)
