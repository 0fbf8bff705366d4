"""How a dashboard counts: from the kept months where they are fine enough, otherwise from the results themselves.

Both ways give the same counts (a test compares them); the months give them at any number of results.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from emma_eval.accounts.models import User

from ..counts.read_counts import (
    Key,
    Months,
    RatingCounts,
    TagCounts,
    read_month_tags,
    read_months,
    read_rows,
    read_tags,
)
from ..listing.filters import Filters
from ..models import Result, ResultQuerySet, Source
from .asked import month_of

MET_BEFORE = "met_emma_before"


@dataclass(frozen=True)
class Counting:
    """Counts what `user` may know of and what fits `filters`; whose tags are meant is said where tags are counted."""

    user: User
    filters: Filters

    @property
    def months(self) -> Months | None:
        """The months that the filters name by their first and last days; None where there are no dates."""
        first, last = self.filters.first_day, self.filters.last_day
        if first is None and last is None:
            return None
        return first or date.min, (last or date.max).replace(day=1)

    @property
    def is_by_months(self) -> bool:
        first, last = self.filters.first_day, self.filters.last_day
        return (first is None or first.day == 1) and (last is None or last == month_of(last)[1])

    @property
    def rows(self) -> ResultQuerySet:
        """The results themselves, whoever tagged them."""
        return self.filters.but(tags=Source.FILED.value).narrow(Result.objects.visible_to(self.user))

    def ratings(self, *by: str) -> dict[Key, RatingCounts]:
        """The counts of ratings by key, in one query. `by`: any of `read_counts.BY_MONTH`."""
        if not self.is_by_months:
            return read_rows(self.rows, by)
        names = by if MET_BEFORE in by else (*by, MET_BEFORE)
        found: dict[Key, RatingCounts] = {}
        for key, counts in read_months(self.user, months=self.months, by=names, **self._place()).items():
            if self._is_wanted(key[names.index(MET_BEFORE)]):
                short = key[: len(by)]
                found[short] = found[short] + counts if short in found else counts
        return found

    def tags(self, source: Source) -> TagCounts:
        """How often each problem was tagged, in two queries."""
        if not self.is_by_months:
            return read_tags(self.rows, source).get((), TagCounts(source))
        kept = read_month_tags(self.user, source, months=self.months, by=(MET_BEFORE,), **self._place())
        return _together(source, [counts for (met_before,), counts in kept.items() if self._is_wanted(met_before)])

    def _place(self) -> dict[str, str]:
        return {"build": self.filters.build, "area": self.filters.area, "script": self.filters.script}

    def _is_wanted(self, met_before: bool) -> bool:
        return self.filters.met_emma_before in (None, met_before)


def _together(source: Source, found: list[TagCounts]) -> TagCounts:
    tags = {tag: sum((each.of(tag) for each in found[1:]), found[0].of(tag)) for each in found for tag in each.tags}
    return TagCounts(source, sum(each.n for each in found), tags)
