"""What a file is called, as it may be kept and shown."""

from __future__ import annotations

import re

MOST_NAME_CHARACTERS = 200


def base_name(said: str) -> str:
    """What a file is called, without a path, control characters and marks that turn text round."""
    name = "".join(sign for sign in re.split(r"[/\\]", said)[-1] if sign.isprintable()).strip()
    stem, dot, end = name.rpartition(".")
    return f"{stem[: MOST_NAME_CHARACTERS - len(end) - 1]}{dot}{end}" if len(end) < 10 else name[:MOST_NAME_CHARACTERS]


def ending_of(name: str) -> str:
    """By which its type is told, in small letters."""
    return name.rpartition(".")[2].lower()
