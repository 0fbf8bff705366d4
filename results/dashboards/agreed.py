"""How far testers agree, as a dashboard says it: what was worked out in a task, of this script or of this build.

Alpha is worked out over whole builds and whole scripts, whatever else a dashboard is narrowed to; `of` says of which.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy

from ..counts.read_agreement import read_agreement
from ..counts.when_agreement import NOT_YET
from ..listing.filters import Filters
from .agreement import Agreed


@dataclass(frozen=True)
class Agreeing:
    """The six dimensions, of what they were worked out, and when."""

    dimensions: tuple[Agreed, ...]
    of: str
    worked_out_at: datetime | None
    not_yet: str = NOT_YET


def read_agreeing(user: User, filters: Filters) -> Agreeing:
    """Of the script on all builds, or of all scripts on the build; what this person may know of."""
    found = read_agreement(user, filters.script, "" if filters.script else filters.build)
    return Agreeing(
        tuple(Agreed(dimension, found.get(dimension.key)) for dimension in taxonomy.DIMENSIONS),
        _of(filters),
        max((row.worked_out_at for row in found.values()), default=None),
    )


def _of(filters: Filters) -> str:
    if filters.script:
        return "this script, on every build"
    return f"all scripts on build {filters.build}" if filters.build else "all scripts on every build"
