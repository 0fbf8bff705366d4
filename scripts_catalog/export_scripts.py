"""Export scripts as a catalogue file."""

from __future__ import annotations

from emma_eval.accounts.models import User

from . import catalogue_file
from .catalogue_file import Entry
from .models import Script


def export_scripts(user: User) -> str:
    """All scripts in use that this person may see, by slug, as they read now."""
    scripts = Script.objects.visible_to(user).in_use().exclude(latest=None).select_related("latest").order_by("slug")
    return catalogue_file.write(Entry(script.slug, script.latest.wording) for script in scripts if script.latest)
