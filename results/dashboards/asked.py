"""What a dashboard is asked for: read from its address, and written into the links that change one thing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from scripts_catalog import names

from ..listing.filters import Filters
from ..models import DIMENSION_KEYS, Source

ANY_BUILD = names.ANY_BUILD
SORTS = ("script", "runs", *DIMENSION_KEYS)


class Over(StrEnum):
    """What a trend goes over."""

    BUILD = "build"
    WEEK = "week"


@dataclass(frozen=True)
class LineSort:
    """What the scripts are sorted by: their titles, their runs, or the mean of a dimension."""

    key: str = "script"
    is_descending: bool = False

    def by(self, key: str) -> LineSort:
        """The sort that pressing a column's head asks for: most runs and lowest means first, then the other way."""
        return LineSort(key, not self.is_descending if key == self.key else key == "runs")

    def params(self) -> dict[str, str]:
        """As they stand in an address; nothing for titles from A."""
        if self == LineSort():
            return {}
        return {"sort": self.key, "direction": "desc" if self.is_descending else "asc"}


@dataclass(frozen=True)
class Asked:
    """What is counted, what the trend goes over, and how the scripts are sorted. `filters.script`: this page's own."""

    filters: Filters
    over: Over = Over.BUILD
    sort: LineSort = LineSort()

    @property
    def source(self) -> Source:
        """Whose tags are counted."""
        return Source.REVIEWED if self.filters.is_as_reviewed else Source.FILED

    def but(self, **changes: Any) -> Asked:
        return replace(self, **changes)

    def narrowed(self, **filters: Any) -> Asked:
        return self.but(filters=self.filters.but(**filters))

    def params(self) -> dict[str, str]:
        """As they stand in an address. The build is named in any case: without one the page shows the current one."""
        said = {**self.filters.but(script="").params(), "build": self.filters.build or ANY_BUILD}
        return {**said, **({"over": self.over.value} if self.over != Over.BUILD else {}), **self.sort.params()}

    def query(self) -> str:
        return urlencode(self.params())


def read_asked(filters: Filters, params: Mapping[str, str]) -> Asked:
    """What can't be read falls back to builds, and to titles, which the heads of the table show."""
    key = params.get("sort", "")
    sort = LineSort(key, params.get("direction") == "desc") if key in SORTS else LineSort()
    return Asked(filters, Over.WEEK if params.get("over") == Over.WEEK else Over.BUILD, sort)


@dataclass(frozen=True)
class Rows:
    """Addresses of the results behind figures: of all that a page counts, and of parts of them."""

    base: str

    @classmethod
    def of(cls, filters: Filters, source: Source = Source.FILED) -> Rows:
        """As reviewed, it is the reviewed results; ratings are of all of them in any case."""
        asked = filters if filters.tags == source else filters.but(tags=source.value)
        return cls(f"{reverse('results')}?{asked.query()}")

    def href(self, *parts: str) -> str:
        """`parts`: more of the address, such as `script=small-talk`. What is given must be quoted already."""
        given = "&".join(parts)
        return f"{self.base}{'' if not given or self.base.endswith('?') else '&'}{given}"

    def within(self, *parts: str) -> Rows:
        return Rows(self.href(*parts))


@dataclass(frozen=True)
class Figure:
    """A count, and the address of the rows that it counts."""

    count: int
    href: str
