"""The first thing every door does: read the settings, or stop with the sentence that says what to set."""

from __future__ import annotations

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


def read_settings() -> None:
    """Make `django.conf.settings` ready; a wrong value ends the process with one sentence and no traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "emma_eval.settings")
    try:
        settings.VAR_DIR  # noqa: B018  (reading one reads all)
    except ImproperlyConfigured as wrong:
        sys.exit(f"Emma Eval can't start. {wrong}")
