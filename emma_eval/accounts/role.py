"""The roles. Settings name them too, so nothing else is imported here."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Each is a group of the same name; a person may hold several. Training is a dated grant beside them."""

    TESTER = "tester"
    EVAL_TEAM = "eval team"
    EVAL_LEAD = "eval lead"
    MANAGER = "manager"
    ADMINISTRATOR = "administrator"
