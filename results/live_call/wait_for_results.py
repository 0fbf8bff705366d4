"""The scripts that were run on a call and of which nothing is filed yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.fields.json import KT
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import User

from ..models import Call, Draft, Result, Run


@dataclass(frozen=True)
class WaitingRun:
    """A run without a result, with the draft that was begun of it; empty if none was."""

    run: Run
    draft: str

    @property
    def title(self) -> str:
        return self.run.script_version.title

    @property
    def form(self) -> str:
        """Where its result is filed: the draft, or a form that the call fills in."""
        if self.draft:
            return reverse("draft", args=[self.draft])
        return f"{reverse('result_new')}?{urlencode({'call': self.run.call.uuid, 'script': self.run.script_id})}"


@dataclass(frozen=True)
class WaitingCall:
    """A call with the runs of it that wait for their results."""

    call: Call
    runs: tuple[WaitingRun, ...]


def waiting_runs(user: User, call: Call) -> list[WaitingRun]:
    """What of this call its tester has not filed, nor set aside."""
    return _with_drafts(user, _unfiled().filter(call=call, set_aside_at=None))


def calls_that_wait(user: User, most: int) -> list[WaitingCall]:
    """The tester's calls that were begun and wait for results, the latest first."""
    calls = Call.objects.visible_to(user).filter(tester=user, started_at__isnull=False)
    runs = _unfiled().filter(call__in=calls, set_aside_at=None).order_by("-call__started_at", "-call_id", "pk")[:most]
    by_call = groupby(_with_drafts(user, runs), key=lambda waiting: waiting.run.call)
    return [WaitingCall(call, tuple(waiting)) for call, waiting in by_call]


def set_aside(call: Call, runs: Iterable[int]) -> int:
    """Expect no result of these runs; how many are set aside by this. A result can be filed of them all the same."""
    waiting = _unfiled().filter(call=call, set_aside_at=None, pk__in=runs)
    return Run.objects.filter(pk__in=list(waiting.values_list("pk", flat=True))).update(set_aside_at=timezone.now())


def filed_of(call: Call) -> dict[str, Result]:
    """By the script, what is filed of the call by its tester."""
    results = Result.objects.filter(tester=call.tester_id, call_uuid=call.uuid)
    return {result.script_id: result for result in results}


def _unfiled() -> QuerySet[Run]:
    filed = Result.objects.filter(
        tester=OuterRef("call__tester"), call_uuid=OuterRef("call__uuid"), script=OuterRef("script")
    )
    return Run.objects.exclude(Exists(filed)).select_related("call__build", "script_version")


def _with_drafts(user: User, runs: Iterable[Run]) -> list[WaitingRun]:
    runs = list(runs)
    if not runs:
        return []
    own = Draft.objects.visible_to(user).values_list("uuid", "script_id", KT("fields__call"))
    drafts: dict[tuple[object, object], str] = {(call, script): str(uuid) for uuid, script, call in own}
    return [WaitingRun(run, drafts.get((str(run.call.uuid), run.script_id), "")) for run in runs]
