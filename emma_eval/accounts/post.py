"""Whether mail leaves this site at all: without a mail server, each mail is a file in a folder of its own."""

from __future__ import annotations

from django.conf import settings


def sends_mail() -> bool:
    """Whether a mail that is written reaches anybody; pages that promise one say otherwise where it doesn't."""
    return not settings.EMAIL_BACKEND.endswith("filebased.EmailBackend")
