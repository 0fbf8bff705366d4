"""Import scripts from a catalogue file: first say what would change, then change exactly that."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from .catalogue_file import CatalogueError, Entry, Wrong
from .compare_versions import Change, compare_versions
from .forms import RESERVED_SLUGS, SLUG_CANNOT_BE_USED
from .models import Script, ScriptVersion
from .publish_version import SlugTakenError, StaleError, publish_script, publish_version
from .taxonomy import AREA_NAMES

NOTE = "Imported from a file."


class PlanChangedError(Exception):
    """A script changed since the plan was shown."""


@dataclass(frozen=True)
class Planned:
    """What an import would do with one entry: a new script, a new version of `script`, or nothing."""

    entry: Entry
    script: Script | None
    changed: tuple[str, ...]

    @property
    def latest(self) -> ScriptVersion | None:
        return self.script.latest if self.script else None

    @property
    def area(self) -> str:
        return AREA_NAMES[self.entry.wording.area]

    @property
    def changes(self) -> list[Change]:
        """The old words and the new ones, as the script's page will tell the change afterwards."""
        return compare_versions(self.latest.wording, self.entry.wording) if self.latest else []

    @property
    def does_something(self) -> bool:
        return self.latest is None or bool(self.changed)


@dataclass(frozen=True)
class Plan:
    """What an import would do. Two plans of equal digest do the same to the same versions."""

    items: tuple[Planned, ...]

    @property
    def to_do(self) -> list[Planned]:
        return [item for item in self.items if item.does_something]

    @property
    def unchanged(self) -> list[Planned]:
        return [item for item in self.items if not item.does_something]

    @property
    def digest(self) -> str:
        said = "\n".join(f"{item.entry.slug} {item.latest.pk if item.latest else 'new'}" for item in self.items)
        return hashlib.sha256(said.encode()).hexdigest()


def plan_import(entries: Sequence[Entry], user: User) -> Plan:
    """What importing these would do; CatalogueError for the first slug that this person can't use.

    Of the first alone, and with a line in the audit trail: or else a list of guesses would find hidden scripts.
    """
    slugs = [entry.slug for entry in entries]
    known = Script.objects.visible_to(user).select_related("latest").in_bulk(slugs, field_name="slug")
    all_there_are = set(Script.objects.filter(slug__in=slugs).values_list("slug", flat=True))
    refused = RESERVED_SLUGS | (all_there_are - set(known))
    taken = [slug for slug in slugs if slug in refused]
    if taken:
        audit.record(user, "tried slugs that are not free", taken[0], is_safety=True, slugs=len(taken))
        raise CatalogueError([Wrong(taken[0], "slug", SLUG_CANNOT_BE_USED)])
    return Plan(tuple(_planned(entry, known.get(entry.slug)) for entry in entries))


def _planned(entry: Entry, script: Script | None) -> Planned:
    latest = script.latest if script else None
    return Planned(entry, script, tuple(entry.wording.changed_from(latest.wording)) if latest else ())


def import_scripts(entries: Sequence[Entry], digest: str, *, by: User) -> Plan:
    """Publish all of it in one transaction; PlanChangedError when it would do other than what was shown."""
    with transaction.atomic():
        plan = plan_import(entries, by)
        if plan.digest != digest:
            raise PlanChangedError
        try:
            # In one order, whatever that of the file: two files at once must not wait for each other in a ring.
            for item in sorted(plan.to_do, key=lambda item: item.entry.slug):
                _publish(item, by)
        except (SlugTakenError, StaleError, Script.DoesNotExist) as cause:
            raise PlanChangedError from cause
    return plan


def _publish(item: Planned, by: User) -> None:
    if item.script is None or item.latest is None:
        publish_script(item.entry.slug, item.entry.wording, by=by)
    else:
        publish_version(item.script, item.entry.wording, by=by, started_from=item.latest.pk, note=NOTE)
