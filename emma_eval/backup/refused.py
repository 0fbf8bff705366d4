"""The one way to say no here."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818  (a sentence, and no fault of ours)
    """A sentence for people that says what is wrong and what to do. Nothing was changed."""
