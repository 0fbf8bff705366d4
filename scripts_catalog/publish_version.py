"""Publish what a script says: its first version, or the next one. The only place where versions are written."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from emma_eval.accounts import audit
from emma_eval.accounts.keys import new_scattered_key
from emma_eval.accounts.models import User

from . import taxonomy
from .models import Script, ScriptVersion
from .wording import LABELS, Wording


class SlugTakenError(Exception):
    """A script of this slug exists. Whoever asks may not be allowed to know which."""


class StaleError(Exception):
    """Somebody published another version since the editor began."""

    def __init__(self, latest: ScriptVersion) -> None:
        super().__init__("the script has a newer version")
        self.latest = latest


def publish_script(slug: str, wording: Wording, *, by: User | None, is_shipped: bool = False) -> ScriptVersion:
    """A new script with its first version; SlugTakenError when there is one of that slug, whoever may see it."""
    with transaction.atomic():
        try:
            with transaction.atomic():
                script = Script.objects.create(slug=slug, area=wording.area)
        except IntegrityError as cause:
            raise SlugTakenError from cause
        version = _write(script, 1, wording, by=by, is_shipped=is_shipped)
        audit.record(by, "published a script", slug, is_safety=version.is_safety, script=slug)
    return version


def publish_version(
    script: Script, wording: Wording, *, by: User | None, started_from: int, note: str = "", is_shipped: bool = False
) -> ScriptVersion | None:
    """The next version, or None when nothing would change. `started_from`: the key of the version the editor read.

    Saving the same words twice (a double click, two tabs) changes nothing the second time; other words
    over a version that the editor never saw are a StaleError. A script that became Safety meanwhile
    does not exist for an editor who isn't trained: Script.DoesNotExist.
    """
    with transaction.atomic():
        known = Script.objects.visible_to(by) if by else Script.objects.all()
        script = known.select_for_update(no_key=True).get(pk=script.pk)
        latest = ScriptVersion.objects.filter(script=script).latest("number")
        changed = wording.changed_from(latest.wording)
        if not changed:
            return None
        if latest.pk != started_from:
            raise StaleError(latest)
        version = _write(script, latest.number + 1, wording, by=by, note=note, is_shipped=is_shipped)
        is_safety = taxonomy.SAFETY in {latest.area, version.area}
        labels = [LABELS[name] for name in changed]
        audit.record(by, "published a version", script.slug, is_safety=is_safety, script=script.slug, changed=labels)
    return version


def _write(
    script: Script, number: int, wording: Wording, *, by: User | None, note: str = "", is_shipped: bool
) -> ScriptVersion:
    """Write the version and keep the script's area in step with it."""
    version = ScriptVersion.objects.create(
        id=new_scattered_key(),  # a file brings many at once, some of them hidden
        script=script,
        number=number,
        edited_by=by,
        change_note=note,
        is_shipped=is_shipped,
        **wording.columns(),
    )
    script.latest, script.area = version, version.area
    script.save(update_fields=["latest", "area"])
    return version
