"""Tell drafts apart: a tester may have several of one script, so each says its call and its first words."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.dateparse import parse_datetime

from emma_eval.accounts.models import User
from scripts_catalog.models import Build, Script

from ..models import Draft
from .typed import number_in

MOST_WORDS_CHARACTERS = 80


@dataclass(frozen=True)
class DraftLine:
    """One draft in a list; what was not typed yet, or can't be read, is empty."""

    uuid: uuid.UUID
    title: str
    saved_at: datetime
    called_at: datetime | None
    build: str
    words: str


def tell_drafts(drafts: Iterable[Draft]) -> list[DraftLine]:
    """The drafts as given, their scripts fetched with the latest version. Builds are named in one query."""
    drafts = list(drafts)
    keys = {number_in(draft.fields.get("build")) for draft in drafts}
    names = dict(Build.objects.filter(pk__in=keys).values_list("pk", "name")) if drafts else {}
    return [
        DraftLine(
            uuid=draft.uuid,
            title=draft.script.latest.title if draft.script and draft.script.latest else "",
            saved_at=draft.saved_at,
            called_at=_time(draft.fields.get("called_at", "")),
            build=names.get(number_in(draft.fields.get("build")), ""),
            words=_first_words(draft.fields.get("comment", "")),
        )
        for draft in drafts
    ]


def other_drafts(user: User, script: Script, besides: uuid.UUID) -> list[DraftLine]:
    """This tester's drafts of the script, without the one in hand, the newest first."""
    others = Draft.objects.visible_to(user).filter(script=script).exclude(uuid=besides)
    return tell_drafts(others.select_related("script__latest").order_by("-saved_at")[:3])


def _time(text: str) -> datetime | None:
    try:
        return parse_datetime(text)
    except ValueError:
        return None


def _first_words(text: str) -> str:
    """The beginning of a text in one line, cut between words where there is a space late enough."""
    line = " ".join(text.split())
    if len(line) <= MOST_WORDS_CHARACTERS:
        return line
    begun = line[:MOST_WORDS_CHARACTERS]
    space = begun.rfind(" ", MOST_WORDS_CHARACTERS // 2)
    return f"{begun[:space] if space > 0 else begun}…"
