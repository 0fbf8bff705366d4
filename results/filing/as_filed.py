"""What a correction may keep of a result as it was filed, though it could not be filed so anew."""

from __future__ import annotations

from datetime import datetime

from scripts_catalog import taxonomy

from ..models import ProblemOrder, Result
from .rules import Code, Fault, Filing, faults_of


def faults_beside(as_filed: Result | None, filing: Filing, now: datetime) -> list[Fault]:
    """Every broken rule of a filing; of a correction (`as_filed`), those that are new in it."""
    faults = faults_of(filing, now, kept_tags=kept_tags_of(as_filed))
    return [fault for fault in faults if not _was_filed_so(as_filed, filing, fault)]


def _was_filed_so(as_filed: Result | None, filing: Filing, fault: Fault) -> bool:
    """A script may be retired with a date before calls that are filed: their time is not to be mended."""
    is_as_filed = as_filed is not None and filing.called_at == as_filed.called_at
    return fault.code == Code.RETIRED_SCRIPT and is_as_filed


def kept_tags_of(as_filed: Result | None) -> frozenset[str]:
    """Retired tags that the result already has; they may stay on it."""
    if as_filed is None:
        return frozenset()
    had = as_filed.problems.values_list("tag", flat=True)
    return frozenset(tag for tag in had if tag in taxonomy.TAG_BY_KEY and is_retired(tag))


def is_retired(tag: str) -> bool:
    return taxonomy.TAG_BY_KEY[tag].retired_in is not None


def order_of(as_filed: Result | None, problems: tuple[str, ...]) -> ProblemOrder:
    """An order that a sheet left unknown stays so until the tester changes the problems."""
    if as_filed is not None and tuple(as_filed.problems.values_list("tag", flat=True)) == problems:
        return ProblemOrder(as_filed.problem_order)
    return ProblemOrder.OVERALL


def needs_camera_note(as_filed: Result | None) -> bool:
    """A row of a sheet has no place for the word why."""
    return as_filed is None or not as_filed.sheet_digest
