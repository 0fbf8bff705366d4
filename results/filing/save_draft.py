"""Save what is typed so far, as often as it is asked for; never over what somebody typed in another tab."""

from __future__ import annotations

import uuid

from django.db import transaction

from emma_eval.accounts.models import User
from scripts_catalog.models import Script

from ..models import Draft, Result
from .file_result import take_turn
from .typed import PAGE, Typed, said

MOST_DRAFTS = 200


class FiledAlreadyError(Exception):
    """There is a result of this draft. Nothing was saved."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"filed as result {result.pk}")
        self.result = result


class ChangedElsewhereError(Exception):
    """The draft has moved on since the version that this save builds on. Nothing was saved."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(f"{draft} is at version {draft.version}")
        self.draft = draft


class TooManyDraftsError(Exception):
    """The tester has as many drafts as anybody may keep. Nothing was saved."""


def save_draft(tester: User, draft_uuid: uuid.UUID, script: Script, typed: Typed, *, based_on: int) -> Draft:
    """Save a draft that builds on version `based_on` (0: on none) and return it with its version.

    The same content again changes nothing and gives the same answer. Other content on an older version
    raises ChangedElsewhereError. The unique (tester, uuid) stands behind the turn that is taken here.
    """
    with transaction.atomic():
        take_turn(tester)
        filed = Result.objects.filter(tester=tester, draft_uuid=draft_uuid).first()
        if filed is not None:
            raise FiledAlreadyError(filed)
        draft = Draft.objects.filter(tester=tester, uuid=draft_uuid).first()
        if draft is None:
            return _first(tester, draft_uuid, script, typed, version=based_on + 1)
        if said(draft.fields) == said(typed) and draft.script_id == script.slug:
            return draft
        if draft.version != based_on:
            raise ChangedElsewhereError(draft)
        draft.script, draft.fields, draft.version = script, typed, draft.version + 1
        draft.save()
        return draft


def _first(tester: User, draft_uuid: uuid.UUID, script: Script, typed: Typed, *, version: int) -> Draft:
    """A draft that was discarded in another tab goes on from the version this one knows."""
    if Draft.objects.filter(tester=tester).count() >= MOST_DRAFTS:
        raise TooManyDraftsError
    return Draft.objects.create(tester=tester, uuid=draft_uuid, script=script, fields=typed, version=version)


def changed_elsewhere(draft: Draft, typed: Typed, *, based_on: int) -> bool:
    """Whether filing these words would drop what another page has saved since.

    A save of the same page that overtook its own answer is no other tab.
    """
    is_own_save = bool(typed.get(PAGE)) and draft.fields.get(PAGE) == typed.get(PAGE)
    return draft.version != based_on and not is_own_save and said(draft.fields) != said(typed)


def discard_draft(tester: User, draft_uuid: uuid.UUID) -> None:
    """Throw a draft away; one that is not there is thrown away already."""
    Draft.objects.visible_to(tester).filter(uuid=draft_uuid).delete()
