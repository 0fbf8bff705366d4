"""What the scripts of pages tell, read from JSON field by field: what has another shape is refused in words."""

from __future__ import annotations

import re
from typing import Any, TypeGuard

MOST_NUMBER = 2**53  # up to which a script counts whole numbers
_SHA256 = re.compile(r"[0-9a-f]{64}")


class MalformedError(Exception):
    """The page told something that has another shape than agreed. The words say what."""


def as_object(said: object, name: str) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise MalformedError(f"{name} must be an object.")
    return said


def as_list(said: object, name: str, most: int) -> list[object]:
    if not isinstance(said, list) or len(said) > most:
        raise MalformedError(f"{name} must be a list of at most {most:,}.")
    return said


def whole(told: dict[str, Any], name: str, most: int = MOST_NUMBER, *, least: int = 0) -> int:
    return as_whole(told.get(name), name, most, least=least)


def as_whole(said: object, name: str, most: int = MOST_NUMBER, *, least: int = 0) -> int:
    if type(said) is not int or not least <= said <= most:
        raise MalformedError(f"{name} must be a whole number from {least} to {most}.")
    return said


def claim(told: dict[str, Any], name: str) -> bool:
    said = told.get(name)
    if not isinstance(said, bool):
        raise MalformedError(f"{name} must be true or false.")
    return said


def text(told: dict[str, Any], name: str, most: int) -> str:
    """Of at most so many characters; what no database keeps is no text."""
    said = told.get(name)
    if not isinstance(said, str) or "\x00" in said or len(said) > most:
        raise MalformedError(f"{name} must be text of at most {most:,} characters.")
    return said


def is_sha256(said: object) -> TypeGuard[str]:
    return isinstance(said, str) and _SHA256.fullmatch(said) is not None


def sha256(told: dict[str, Any], name: str = "sha256") -> str:
    said = told.get(name)
    if not is_sha256(said):
        raise MalformedError(f"{name} must be 64 hex digits.")
    return said
