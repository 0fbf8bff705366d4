"""Why a recording is removed: what people may say, and what the site says where it removes one by itself."""

from __future__ import annotations

from django.db import models

MOST_WORDS = 120  # beside the reason, in the 200 characters of a recording


class Reason(models.TextChoices):
    """Kept by its label beside the recording, by its key in the audit trail."""

    ASKED = "asked", "Its tester does not want it kept"
    PRIVATE = "private", "It shows or says something that should not be kept"
    WRONG = "wrong", "It is not of this call"
    DOUBLE = "double", "There is a better one of this call"
    OTHER = "other", "Another reason"
    KEPT_LONG_ENOUGH = "kept_long_enough", "It was kept as long as this site keeps recordings"
    UNFINISHED = "unfinished", "It was begun and never finished"
    ERASED = "erased", "Its tester was erased"


SAID_BY_PEOPLE = (Reason.ASKED, Reason.PRIVATE, Reason.WRONG, Reason.DOUBLE, Reason.OTHER)


def in_words(reason: Reason, words: str) -> str:
    """As it stands beside the recording."""
    return f"{reason.label}: {words[:MOST_WORDS]}" if words else reason.label


def without_words(because: str) -> str:
    """The reason alone; no label holds a colon."""
    return because.partition(":")[0]
