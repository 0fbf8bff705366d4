"""For leads: gold results, whose answer is known. For reviewers: how far they agree with them."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role, UserRequest, for_roles
from emma_eval.scoring.intervals import FEWEST

from ..filing.typed import number_in
from ..models import GoldAnswer, Result
from ..review.agreement_of_reviewers import (
    Agreement,
    OfReviewer,
    Pair,
    agreement_of,
    agreement_of_all,
    may_see_agreement_of,
)
from ..review.compare_tags import label_of
from ..review.file_review import tags_of
from ..review.gold import (
    CannotBeGoldError,
    gold_shown_to,
    may_become_gold,
    name_in_the_trail,
    retire_gold,
    set_gold,
)
from ..review.gold_form import GoldForm
from ..show_result import show_result

REFUSED = (
    "This result can’t become gold: it doesn’t wait in the queue. Nothing of a result may change for others when it "
    "becomes gold, so pick one that waits."
)


@dataclass(frozen=True)
class GoldRow:
    """A gold result of the list. `name`: what the audit trail calls it."""

    result: Result
    answer: GoldAnswer
    answered: int

    @property
    def labels(self) -> list[str]:
        return [label_of(tag) for tag in self.answer.tags]

    @property
    def name(self) -> str:
        return name_in_the_trail(self.result)


@never_cache
@require_safe
@for_roles(Role.EVAL_LEAD)
def gold(request: UserRequest) -> HttpResponse:
    """All results whose answer is, or was, known."""
    found = gold_shown_to(request.user).select_related("gold__set_by", "script_version", "tester")
    found = found.prefetch_related("reviews").order_by("-gold__set_at")
    rows = [GoldRow(result, result.gold, _answered(result)) for result in found]
    context = {
        "in_force": [row for row in rows if row.answer.retired_at is None],
        "fewest": -(-100 // settings.GOLD_SHARE) if settings.GOLD_SHARE else 0,
        "retired": [row for row in rows if row.answer.retired_at is not None],
    }
    return render(request, "results/gold.html", context)


def _answered(result: Result) -> int:
    return sum(review.is_of_gold and review.filed_at is not None for review in result.reviews.all())


@never_cache
@for_roles(Role.EVAL_LEAD)
def gold_set(request: UserRequest, pk: int) -> HttpResponse:
    """The known answer of one result: set it, change it, retire it."""
    seen = Result.objects.visible_to(request.user).select_related("script", "script_version", "build", "tester")
    result = get_object_or_404(seen, pk=pk)
    answer = GoldAnswer.objects.filter(result=result).first()
    if request.method == "POST" and "retire" in request.POST:
        if retire_gold(request.user, result.pk):
            messages.success(request, "The answer is retired: no reviewer is given this result as gold any more.")
        return redirect("gold")
    tags, why = (answer.tags, answer.why) if answer else (list(tags_of(result)), "")
    form = GoldForm(request.POST or None, tags=tags, why=why)
    is_refused = (answer is None or answer.retired_at is not None) and not may_become_gold(result)
    if form.is_valid() and not is_refused:
        return _set(request, result, form)
    context = {
        "form": form,
        "result": result,
        "shown": show_result(request.user, result),
        "answer": answer,
        "refused": REFUSED if is_refused else "",
    }
    return render(request, "results/gold_set.html", context, status=422 if form.is_bound else 200)


def _set(request: UserRequest, result: Result, form: GoldForm) -> HttpResponse:
    try:
        set_gold(request.user, result.pk, form.tags, form.cleaned_data["why"])
    except CannotBeGoldError:
        messages.warning(request, REFUSED)
        return redirect("gold_set", result.pk)
    messages.success(request, "The answer is set. Reviewers meet this result among others, and are not told.")
    return redirect("gold")


# --- agreement ---------------------------------------------------------------------------------------

SHOWN = {"biggest": "with the same biggest problem", "order": "with exactly the same order"}


@dataclass(frozen=True)
class Compared:
    """One of the two comparisons, and its rows, all of them or those of one figure. `name` leads to them."""

    name: str
    agreement: Agreement
    shown: str
    query: str

    @property
    def rows(self) -> list[Pair]:
        if self.shown == "biggest":
            return [pair for pair in self.agreement.pairs if pair.same_biggest]
        if self.shown == "order":
            return [pair for pair in self.agreement.pairs if pair.same_order]
        return self.agreement.pairs

    @property
    def shown_in_words(self) -> str:
        return SHOWN.get(self.shown, "")

    def address(self, shown: str = "") -> str:
        params = {"reviewer": self.query, **({self.name: shown} if shown else {})}
        return f"?{urlencode({key: value for key, value in params.items() if value})}#{self.name}"

    @property
    def all_rows(self) -> str:
        return self.address()

    @property
    def biggest_rows(self) -> str:
        return self.address("biggest")

    @property
    def order_rows(self) -> str:
        return self.address("order")


@never_cache
@require_safe
@for_roles(Role.EVAL_TEAM, Role.EVAL_LEAD)
def agreement(request: UserRequest) -> HttpResponse:
    """One's own agreement; leads see everybody's, and pick whose rows to read."""
    is_lead = request.user.has_role(Role.EVAL_LEAD)
    reviewer = _reviewer(request)
    context = {
        "is_lead": is_lead,
        "everybody": agreement_of_all(request.user),
        "fewest": FEWEST,
        "reviewer": reviewer,
        "compared": _compared(request, agreement_of(request.user, reviewer)) if reviewer else [],
    }
    return render(request, "results/reviewers_agreement.html", context)


def _reviewer(request: UserRequest) -> User | None:
    """Whose rows are asked for: one's own, where nobody is named; a lead's page then has the table alone."""
    if "reviewer" not in request.GET:
        return None if request.user.has_role(Role.EVAL_LEAD) else request.user
    reviewer = User.objects.filter(pk=number_in(request.GET["reviewer"])).first()
    if reviewer is None or not may_see_agreement_of(request.user, reviewer):
        raise Http404
    return reviewer


def _compared(request: UserRequest, found: OfReviewer) -> list[Compared]:
    query = request.GET.get("reviewer", "")
    return [
        Compared(name, agreement, request.GET.get(name, ""), query)
        for name, agreement in (("gold", found.gold), ("standing", found.standing))
    ]
