"""What is filed of a call already. A call may carry several scripts, and some facts are those of the call."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from django.utils import timezone
from django.utils.formats import date_format

from emma_eval.accounts.models import User

from ..models import Call, Result
from .rules import Filing

_WHAT_TO_DO = "Say the same here, correct what is filed, or file this as another call."


@dataclass(frozen=True)
class WaitingCall:
    """A call with neither a recording nor a link of one, with the results that wait for it."""

    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """The result in whose name the link is asked for."""
        return self.results[0]


def results_of_call(user: User, call: uuid.UUID | None, *, besides: uuid.UUID | None = None) -> list[Result]:
    """This tester's own results of the call, as filed, without the one of the draft in hand."""
    if call is None:
        return []
    own = Result.objects.visible_to(user).filter(tester=user, call_uuid=call)
    others = own.exclude(draft_uuid=besides) if besides else own
    return list(others.select_related("script_version", "build").order_by("pk"))


def call_held(user: User, call: uuid.UUID | None) -> Call | None:
    """The call, if this tester held it beside the live-call page and may know all of it."""
    if call is None:
        return None
    own = Call.objects.visible_to(user).filter(tester=user, uuid=call)
    return own.select_related("build").prefetch_related("moments").first()


def waiting_calls(user: User, most: int) -> list[WaitingCall]:
    """The calls that wait for a recording, the newest first: one is asked for once."""
    waiting = Result.objects.visible_to(user).waiting_for_link_of(user).select_related("script_version", "build")
    newest = sorted(waiting.order_by("-called_at", "-pk")[:most], key=lambda result: result.call_uuid)
    calls = [WaitingCall(tuple(results)) for _, results in groupby(newest, key=lambda result: result.call_uuid)]
    return sorted(calls, key=lambda call: call.first.called_at, reverse=True)


def odds_with(filing: Filing, filed: Result) -> list[tuple[str, str]]:
    """The facts of the call that a filing and a filed result of it tell differently: each field, with what to do.

    A link may come later than the first result; a time is compared as people can type it.
    """
    found = []
    if filing.build.pk != filed.build.pk:
        found.append(("build", f"This call is filed with build {filed.build}. {_WHAT_TO_DO}"))
    if filing.called_at.replace(microsecond=0) != filed.called_at.replace(microsecond=0):
        time = date_format(timezone.localtime(filed.called_at), "j M Y, H:i:s")
        found.append(("called_at", f"This call is filed with the time {time.removesuffix(':00')}. {_WHAT_TO_DO}"))
    if filed.recording_link and filing.recording_link != filed.recording_link:
        found.append(("recording_link", f"This call is filed with the link {filed.recording_link}. {_WHAT_TO_DO}"))
    if filing.met_emma_before != filed.met_emma_before:
        said = "yes" if filed.met_emma_before else "no"
        found.append(("met_emma_before", f"This call is filed with “{said}”. {_WHAT_TO_DO}"))
    return found


def titles_of(results: Iterable[Result]) -> str:
    """“Bad news day” and “Noisy room”."""
    titles = [f"“{result.script_version.title}”" for result in results]
    return " and ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)
