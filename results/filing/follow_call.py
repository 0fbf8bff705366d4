"""What a call that was held beside the live-call page and the results of it take over from each other."""

from __future__ import annotations

import uuid

from ..models import Call, Result
from ..models.call import family_of

NOTED = ("browser", "device", "connection", "system")


def note_call(result: Result, call_uuid: uuid.UUID) -> None:
    """Put what the call noted of its device on a result that is not saved yet; the call takes over its build."""
    call = Call.objects.filter(tester=result.tester_id, uuid=call_uuid).first()
    if call is None:
        return
    if result.is_covered:
        forget_on_open_results(result.tester_id, call_uuid)
    if result.is_covered or Call.objects.open_to_all().filter(pk=call.pk).exists():
        result.browser = family_of(call.browser)
        result.device, result.connection, result.system = call.device, call.connection, call.system
    if call.build_id != result.build_id:
        follow_build(result)


def follow_build(result: Result) -> None:
    """The build of the call is the one that its results say."""
    Call.objects.filter(tester=result.tester_id, uuid=result.call_uuid).update(build=result.build_id)


def forget_on_open_results(tester: int, call_uuid: uuid.UUID) -> None:
    """Of a call that is kept from some, its results that everybody may see must not tell that there was a page."""
    results = Result.objects.filter(tester=tester, call_uuid=call_uuid, filed_as_safety=False)
    # In the order in which a correction locks the results of a call: so that no two wait for each other in a ring.
    locked = results.select_for_update(no_key=True, of=("self",)).order_by("pk")
    keys = list(locked.values_list("pk", flat=True))
    Result.objects.filter(pk__in=keys).update(**dict.fromkeys(NOTED, ""))
