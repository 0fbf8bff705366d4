"""Saving a draft as it is typed: a PUT of JSON, whose every answer is JSON that the page can act on."""

from __future__ import annotations

import uuid as uuids
from dataclasses import dataclass

from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404

from emma_eval.accounts.by_the_minute import at_most
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import UserRequest
from scripts_catalog.models import Script

from ..filing.rules import without_control_characters
from ..filing.save_draft import ChangedElsewhereError, FiledAlreadyError, TooManyDraftsError, save_draft
from ..filing.typed import Typed, number_in, typed_in
from ..models import Draft, Result
from .by_script import object_with_fields, refuse

MOST_BYTES_OF_A_DRAFT = 200_000
MOST_SAVES = 2**31 - 2


@dataclass(frozen=True)
class Save:
    """What an autosave asks for: these words, of this script, on top of this version."""

    version: int
    script: str
    typed_by: str
    typed: Typed


@at_most("autosave of a draft", "AUTOSAVES_A_MINUTE")
def save(request: UserRequest, uuid: uuids.UUID) -> HttpResponseBase:
    """Save, or say why not."""
    if number_in(request.headers.get("Content-Length")) > MOST_BYTES_OF_A_DRAFT:
        return refuse(413, "too_large", "This is too long to be saved. Shorten the comment.")
    asked = _read(request.body)
    if asked is None:
        return refuse(400, "malformed", "The site did not understand this draft.")
    if asked.typed_by not in {"", str(request.user.pk)}:
        return refuse(401, "someone_else", "Somebody else is signed in now.")
    script = get_object_or_404(Script.objects.visible_to(request.user), slug=asked.script)
    if Draft.objects.hidden_from(request.user).filter(uuid=uuid).exists():
        raise Http404
    return _answer_save(request.user, uuid, script, asked)


def _read(body: bytes) -> Save | None:
    """What the body asks for, or None if it is anything else than {version, script, typed_by, fields}."""
    asked = object_with_fields(body)
    if asked is None:
        return None
    version, script = asked.get("version"), asked.get("script")
    if type(version) is not int or not 0 <= version < MOST_SAVES:
        return None
    if not isinstance(script, str) or script != without_control_characters(script):
        return None
    return Save(version, script, str(asked.get("typed_by", "")), typed_in(asked["fields"]))


def _answer_save(user: User, uuid: uuids.UUID, script: Script, asked: Save) -> HttpResponse:
    try:
        saved = save_draft(user, uuid, script, asked.typed, based_on=asked.version)
    except FiledAlreadyError as filed:
        if not Result.objects.visible_to(user).filter(pk=filed.result.pk).exists():
            raise Http404 from filed
        return JsonResponse({"error": "filed", "filed": filed.result.get_absolute_url()}, status=409)
    except ChangedElsewhereError as changed:
        there = changed.draft
        answer = {"error": "changed", "version": there.version, "saved_at": there.saved_at, "fields": there.fields}
        return JsonResponse(answer, status=409)
    except TooManyDraftsError:
        return refuse(409, "too_many", "You have 200 drafts. Discard some on your to-do page.")
    return JsonResponse({"version": saved.version, "saved_at": saved.saved_at})
