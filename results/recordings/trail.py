"""The lines of the audit trail about recordings. A call may become Safety's own later, so they may have to hide."""

from __future__ import annotations

from typing import Any

from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import Cast, Replace

from emma_eval.accounts import audit
from emma_eval.accounts.hidden import tells_hidden_lines
from emma_eval.accounts.models import User

from ..models import Recording

WATCHED, REMOVED, EMPTIED = "watched a recording", "removed a recording", "emptied the store of a recording"
ALIGNED, CAPTIONED = "aligned a recording", "kept a transcript of a recording"
TOLD_SIDES = "told who is heard where on a recording"
NOTED, WITHDREW_NOTE = "noted on a recording", "withdrew a note on a recording"
UPLOADED, COPIED = "uploaded a recording", "copied a recording"
OF_RECORDINGS = (UPLOADED, COPIED, WATCHED, REMOVED, EMPTIED, ALIGNED, CAPTIONED, TOLD_SIDES, NOTED, WITHDREW_NOTE)


def record_act(by: User | None, action: str, recording: Recording, **details: Any) -> None:
    """Keep who did what to a recording, naming it, its call and by their key whose it is; never words of anybody."""
    audit.record(
        by,
        action,
        name_in_the_trail(recording),
        about=recording.tester,
        is_safety=recording.is_covered,
        call=str(recording.call_uuid),
        **details,
    )


def name_in_the_trail(recording: Recording) -> str:
    """Its key without dashes, as both databases can write it."""
    return recording.pk.hex


@tells_hidden_lines
def lines_of_hidden_recordings(user: User) -> Q:
    return Q(action__in=OF_RECORDINGS, target__in=names_of_hidden_recordings(user))


def names_of_hidden_recordings(user: User) -> QuerySet[Any, Any]:
    """Of calls of which anything is for the trained alone by now."""
    as_text: CharField[str, str] = CharField(max_length=200)
    name = Replace(Cast("pk", as_text), Value("-"), Value(""), output_field=as_text)
    hidden = Recording.objects.none() if user.is_trained else Recording.objects.covered()
    return hidden.order_by().annotate(target=name).values("target")
