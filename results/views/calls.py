"""The live-call page: begin a call, show it, and be told what happens on it, by scripts or by plain forms."""

from __future__ import annotations

import json
import uuid as uuids
from datetime import datetime

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from emma_eval.accounts import throttle
from emma_eval.accounts.by_the_minute import at_most
from emma_eval.accounts.middleware import TO_RECORD
from emma_eval.accounts.roles import Role, UserRequest, for_roles
from scripts_catalog.models import Build, Script, ScriptQuerySet, Site

from ..filing.typed import number_in
from ..live_call.begin_call import (
    MOST_WAITING_CALLS,
    TooManyCallsError,
    TooManyRunsError,
    add_script,
    begin_call,
    take_off_script,
)
from ..live_call.keep_telling import Kept, keep_telling
from ..live_call.show_call import show_call
from ..live_call.telling import (
    Telling,
    ToldBeginning,
    ToldEnd,
    ToldMoment,
    ToldStretch,
    ToldTick,
    read_telling,
    tidy,
)
from ..live_call.wait_for_results import set_aside
from ..models import Call, Run
from ..recordings.recorder.show_recordings import show_recordings
from ..told import MalformedError
from .by_script import refuse
from .see_other import SeeOther

MOST_BYTES_OF_A_BATCH = 500_000


@never_cache
@for_roles(Role.TESTER)
@require_POST
def call_new(request: UserRequest) -> HttpResponseBase:
    """Begin a call for a script, or put the script on the call that is named; the same button twice is one call."""
    script = get_object_or_404(_scripts(request), slug=request.POST.get("script", ""))
    if script.retired_at is not None:
        messages.warning(request, "This script was retired meanwhile, so no call is begun for it.")
        return redirect(script)
    named = _uuid_in(request, "call")
    if named is None:
        return _begin(request, script)
    found = own_call(request, named)
    _add(request, found, script)
    return SeeOther(found.get_absolute_url())


def _begin(request: UserRequest, script: Script) -> HttpResponseBase:
    try:
        build = Build.objects.filter(pk=number_in(request.POST.get("build"))).first()
        begun = begin_call(request.user, _uuid_in(request, "uuid") or uuids.uuid4(), script, build)
    except TooManyCallsError:
        messages.warning(
            request,
            f"{MOST_WAITING_CALLS} of your calls wait for their results, and no more are begun beside them. "
            "File what you can, or set aside the calls that no result will come of.",
        )
        return SeeOther(reverse("todo"))
    except throttle.TooManyError as cause:
        free_at = timezone.localtime(cause.retry_at)
        messages.warning(request, f"You began many calls just now. The next can begin at {free_at:%H:%M:%S}.")
        return SeeOther(script.get_absolute_url())
    return SeeOther(begun.get_absolute_url())


@never_cache
@for_roles(Role.TESTER)
@require_safe
def call(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """The page beside the call, with everything that the site knows of it."""
    now = timezone.now()
    shown = show_call(request.user, own_call(request, uuid), now)
    told = json.dumps(_told(Kept(shown.call), now), cls=DjangoJSONEncoder)
    recordings = show_recordings(shown.call, now)
    context = {"shown": shown, "call": shown.call, "told": told, "recordings": recordings}
    answer = render(request, "results/call.html", context)
    answer.headers["Permissions-Policy"] = TO_RECORD
    return answer


@never_cache
@for_roles(Role.TESTER)
@require_POST
def call_tell(request: UserRequest, uuid: uuids.UUID) -> HttpResponseBase:
    """Keep what the page tells: JSON from its script, or one act of a plain form by the site's own clock."""
    found = own_call(request, uuid)
    if request.content_type == "application/json":
        return _answer_script(request, found)
    return _answer_form(request, found)


def own_call(request: UserRequest, uuid: uuids.UUID) -> Call:
    """The call, if it is this tester's and nothing of it is kept from them at present."""
    return get_object_or_404(
        Call.objects.visible_to(request.user).select_related("build"), tester=request.user, uuid=uuid
    )


def _scripts(request: UserRequest) -> ScriptQuerySet:
    return Script.objects.visible_to(request.user).exclude(latest=None).select_related("latest")


def _uuid_in(request: UserRequest, name: str) -> uuids.UUID | None:
    try:
        return uuids.UUID(request.POST.get(name, ""))
    except ValueError:
        return None


# --- told by a script --------------------------------------------------------------------------


@at_most("telling of a call", "TELLINGS_A_MINUTE")
def _answer_script(request: UserRequest, call: Call) -> JsonResponse:
    if number_in(request.headers.get("Content-Length")) > MOST_BYTES_OF_A_BATCH:
        return refuse(413, "too_large", "This is more than the page may tell at once.")
    now = timezone.now()
    try:
        telling = read_telling(json.loads(request.body))
    except MalformedError as fault:
        return refuse(422, "malformed", str(fault))
    except (ValueError, RecursionError):
        return refuse(422, "malformed", "The site did not understand this.")
    return JsonResponse(_told(keep_telling(call, telling, now, request.headers.get("User-Agent", "")), now))


def _told(kept: Kept, now: datetime) -> dict[str, object]:
    """Everything the site knows of the call, so that each tab can show the same."""
    call = kept.call
    return {
        "revision": call.revision,
        "elapsed_ms": call.elapsed_ms(now),
        "start_is_uncertain": call.start_is_uncertain,
        "kept": kept.moments,
        "refused": [{"uuid": refused.uuid, "why": refused.why} for refused in kept.refused],
        "moments": list(
            call.moments.values("uuid", "at_ms", "words", "number", "edition", withdrawn=F("is_withdrawn"))
        ),
        "runs": [_run(run) for run in call.runs.select_related("script_version")],
        "ended_at_ms": call.ended_at_ms,
        "build": str(call.build.pk) if call.build else "",
        "call_link": Site.objects.call_link_for(call.build),
    }


def _run(run: Run) -> dict[str, object]:
    return {
        "id": run.pk,
        "script": run.script_id,
        "title": run.script_version.title,
        "steps_count": len(run.script_version.steps),
        "ticks": run.ticks,
        "off_script_from_ms": run.off_script_from_ms,
        "is_set_aside": run.set_aside_at is not None,
    }


# --- told by a form ----------------------------------------------------------------------------


def _answer_form(request: UserRequest, call: Call) -> HttpResponseBase:
    act = request.POST.get("act", "")
    if act == "set_aside":
        return _set_aside(request, call)
    if act == "take_off_script":
        return _take_off(request, call)
    if act == "script":
        _add(request, call, get_object_or_404(_scripts(request).in_use(), slug=request.POST.get("script", "")))
        return SeeOther(call.get_absolute_url())
    now = timezone.now()
    telling = _telling_of(request, act, call.elapsed_ms(now) or 0)
    if telling is None:
        return refuse(422, "malformed", "The site did not understand this.")
    kept = keep_telling(call, telling, now, request.headers.get("User-Agent", ""))
    for refused in kept.refused:
        messages.warning(request, refused.why)
    return SeeOther(call.get_absolute_url())


def _telling_of(request: UserRequest, act: str, at_ms: int) -> Telling | None:
    """What an act of a form tells, at this time of the call clock; None for no act of the page."""
    run, step = number_in(request.POST.get("run")), number_in(request.POST.get("step"))
    words, named = tidy(request.POST.get("words", "")), _uuid_in(request, "uuid") or uuids.uuid4()
    tellings = {
        "begin": Telling(begun=ToldBeginning(0)),
        "moment": Telling(moments=(ToldMoment(named, at_ms, words),)),
        "withdraw": Telling(moments=(ToldMoment(named, -1, is_withdrawn=True),)),
        "put_back": Telling(moments=(ToldMoment(named, -1, is_withdrawn=False),)),
        "words": Telling(moments=(ToldMoment(named, -1, words),)),
        "tick": Telling(ticks=(ToldTick(run, step, at_ms),)),
        "untick": Telling(ticks=(ToldTick(run, step, None),)),
        "steps_done": Telling(off_script=(ToldStretch(run, at_ms),)),
        "steps_open": Telling(off_script=(ToldStretch(run, None),)),
        "end": Telling(ended=ToldEnd(at_ms)),
        "reopen": Telling(ended=ToldEnd(None)),
        "build": Telling(build=number_in(request.POST.get("build"))),
    }
    return tellings.get(act)


def _add(request: UserRequest, call: Call, script: Script) -> None:
    try:
        add_script(call, script)
    except TooManyRunsError:
        messages.warning(request, "This call has as many scripts as one call may have. Begin another call.")


def _set_aside(request: UserRequest, call: Call) -> HttpResponseBase:
    """No result will come of these runs; from the to-do page or from the call's own."""
    count = set_aside(call, [number_in(run) for run in request.POST.getlist("run")])
    if count:
        messages.success(request, "Set aside: no result is waited for. What was kept of the call stays.")
    return SeeOther(reverse("todo") if request.POST.get("back") == "todo" else call.get_absolute_url())


def _take_off(request: UserRequest, call: Call) -> HttpResponseBase:
    """A script that was put on the call by mistake comes off it."""
    if not take_off_script(call, number_in(request.POST.get("run"))):
        messages.warning(
            request, "This script stays on the call: something of it was done already, or it is the only one."
        )
    return SeeOther(call.get_absolute_url())
