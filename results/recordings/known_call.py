"""Whose call it is that a recording is to belong to, and whether this person may know all of it."""

from __future__ import annotations

import uuid

from emma_eval.accounts.models import User

from ..models import Call, Result


def is_known_call(user: User, call: uuid.UUID) -> bool:
    """Whether there is anything of it that this tester may see: what a page about it may say at all.

    Where a script of Safety was run on it too, its page is as if none had been: only what is sent is refused.
    """
    results = Result.objects.visible_to(user).filter(tester=user, call_uuid=call)
    return results.exists() or Call.objects.visible_to(user).filter(tester=user, uuid=call).exists()


def is_own_call(user: User, call: uuid.UUID) -> bool:
    """Whether this tester held the call or filed a result of it, and nothing of it is kept from them at present.

    All of a call is heard in its recording, so one script of Safety covers the whole of it.
    """
    results = Result.objects.filter(tester=user, call_uuid=call)
    calls = Call.objects.filter(tester=user, uuid=call)
    if not user.is_trained and (results.covered().exists() or calls.covered().exists()):
        return False
    return results.exists() or calls.exists()
