"""Load the shipped scripts: new ones are added, changed ones get a version, edits made here are left alone."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from django.db import transaction

from .catalogue_file import Entry
from .models import Script, ScriptVersion
from .publish_version import publish_script, publish_version


class Outcome(StrEnum):
    """What became of one script of the file."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    EDITED_HERE = "edited here, left as it is"


def load_catalogue(entries: Iterable[Entry]) -> dict[str, Outcome]:
    """What became of each slug, in one transaction. Running it again changes nothing.

    In one order, as an import of scripts: so that no two wait for each other in a ring.
    """
    with transaction.atomic():
        return {entry.slug: _load(entry) for entry in sorted(entries, key=lambda entry: entry.slug)}


def _load(entry: Entry) -> Outcome:
    script = Script.objects.select_related("latest").filter(slug=entry.slug).first()
    if script is None or script.latest is None:
        publish_script(entry.slug, entry.wording, by=None, is_shipped=True)
        return Outcome.NEW
    shipped = ScriptVersion.objects.filter(script=script, is_shipped=True).order_by("-number").first()
    if entry.wording == script.latest.wording or (shipped and entry.wording == shipped.wording):
        return Outcome.UNCHANGED
    if not script.latest.is_shipped:
        return Outcome.EDITED_HERE
    publish_version(
        script,
        entry.wording,
        by=None,
        started_from=script.latest.pk,
        note="Updated with the shipped catalogue.",
        is_shipped=True,
    )
    return Outcome.CHANGED
