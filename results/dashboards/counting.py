"""How a dashboard counts: from the kept months where they are fine enough, otherwise from the results themselves.

Both ways give the same counts (a test compares them); the months give them at any number of results.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from operator import add
from typing import Any

from django.db.models import Sum

from emma_eval.accounts.models import User
from scripts_catalog.models import sort_key_of

from ..counts.read_counts import (
    Key,
    Months,
    RatingCounts,
    TagCount,
    TagCounts,
    read_months,
    read_rows,
    read_tags,
)
from ..listing.filters import Filters
from ..listing.periods import month_of
from ..models import (
    DIMENSION_KEYS,
    RATING_COUNTS,
    RATINGS,
    MonthCount,
    MonthTag,
    Result,
    ResultQuerySet,
    Source,
)

MET_BEFORE = "met_emma_before"
COLUMN_OF = {"build": "build_id", MET_BEFORE: MET_BEFORE}
KEPT = ("runs", "never_started", "without_camera", "reviewed", *RATING_COUNTS)


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

    @property
    def of_every_build(self) -> Counting:
        return Counting(self.user, self.filters.but(build=""))

    def ratings(self, *by: str) -> dict[Key, RatingCounts]:
        """The counts of ratings by key, in one query. `by`: any of `read_counts.BY_MONTH`."""
        if not self.is_by_months:
            return read_rows(self.rows, by)
        if self.filters.script:
            return self._add_up(by)
        names = by if MET_BEFORE in by else (*by, MET_BEFORE)
        found: dict[Key, RatingCounts] = {}
        for key, counts in read_months(self.user, months=self.months, by=names, **self._place()).items():
            if self._is_wanted(key[names.index(MET_BEFORE)]):
                short = key[: len(by)]
                found[short] = found[short] + counts if short in found else counts
        return found

    def _add_up(self, by: tuple[str, ...]) -> dict[Key, RatingCounts]:
        """Of one script there are few months: they are added up here, in half the time of asking for 34 sums."""
        sums: dict[Key, list[int]] = {}
        for row in _kept_months(by).visible_to(self.user).filter(**self._lookups()):
            key, counts = row[: len(by)], row[len(by) :]
            sums[key] = list(map(add, sums[key], counts)) if key in sums else list(counts)
        return {key: _rating_counts(found) for key, found in sums.items() if found[0] or found[1]}

    def tags(self, source: Source, of: RatingCounts) -> TagCounts:
        """How often each problem was tagged; `of`: the counts of the same results, so that n isn't counted again."""
        if not self.is_by_months:
            return read_tags(self.rows, source).get((), TagCounts(source))
        counted = _kept_tags().visible_to(self.user).filter(source=source, **self._lookups())
        tags = {tag: TagCount(tagged, biggest) for tag, tagged, biggest in counted if tagged}
        return TagCounts(source, of.results if source == Source.FILED else of.reviewed, tags)

    def _lookups(self) -> dict[str, Any]:
        """What narrows the kept months."""
        lookups = {
            "build_id": sort_key_of(self.filters.build) or None,
            "script_id": self.filters.script or None,
            "script__area": self.filters.area or None,
            "met_emma_before": self.filters.met_emma_before,
            "month__range": self.months,
        }
        return {name: value for name, value in lookups.items() if value is not None}

    def _place(self) -> dict[str, str]:
        return {"build": self.filters.build, "area": self.filters.area, "script": self.filters.script}

    def _is_wanted(self, met_before: bool) -> bool:
        return self.filters.met_emma_before in (None, met_before)


# What every page asks for alike is put together once: naming 36 columns takes longer than reading their rows.


@cache
def _kept_months(by: tuple[str, ...]) -> Any:
    return MonthCount.objects.order_by().values_list(*(COLUMN_OF[name] for name in by), *KEPT)


@cache
def _kept_tags() -> Any:
    return MonthTag.objects.order_by().values_list("tag").annotate(tagged_=Sum("tagged"), biggest_=Sum("biggest"))


def _rating_counts(sums: list[int]) -> RatingCounts:
    """`sums` in the order of `KEPT`."""
    runs, never_started, without_camera, reviewed, *rated = sums
    places = range(0, len(rated), len(RATINGS))
    counts = {key: tuple(rated[at : at + len(RATINGS)]) for key, at in zip(DIMENSION_KEYS, places, strict=True)}
    return RatingCounts(runs, never_started, without_camera, reviewed, counts)
