"""Do our testers agree? Alpha per dimension, by build and by script, and where their ratings lie furthest apart.

Alpha is worked out in a task and read here with its time; the spread of ratings is counted when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count
from django.utils.safestring import SafeString

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import FEWEST
from scripts_catalog import taxonomy
from scripts_catalog.models import Build

from ..charts.bars import Bar, stacked_bars
from ..charts.matrix import RELIABLE, TENTATIVE, Matrix, MatrixRow, Square, matrix_figure
from ..charts.svg import TOO_SMALL
from ..counts.read_agreement import read_every_agreement
from ..counts.read_counts import read_rows
from ..counts.when_agreement import NOT_YET as NOT_WORKED_OUT
from ..figures import say_number
from ..listing.filters import Filters
from ..models import DIMENSION_KEYS, Agreement, Result

MOST_BUILDS = 6
MOST_WIDEST = 10
NOT_YET = "not worked out yet"


@dataclass(frozen=True)
class Agreed:
    """One dimension over all scripts and builds; `kept` is None where it was never worked out.

    Of under `FEWEST` units it has no figure and no verdict.
    """

    dimension: taxonomy.Dimension
    kept: Agreement | None

    @property
    def alpha(self) -> float | None:
        return self.kept.alpha if self.kept and not self.is_too_small else None

    @property
    def is_too_small(self) -> bool:
        return self.kept is not None and self.kept.is_too_small

    @property
    def reads_as(self) -> str:
        """What this alpha is customarily taken for."""
        if self.is_too_small:
            return TOO_SMALL
        if self.kept is None or self.alpha is None:
            return f"can’t be told: {_inside(self.kept.why) if self.kept and self.kept.why else NOT_YET}"
        if self.alpha >= RELIABLE:
            return "can be relied on"
        return "for tentative conclusions alone" if self.alpha >= TENTATIVE else "not to be relied on"


@dataclass(frozen=True)
class Apart:
    """Ratings of one dimension in one script on one build, by several testers, and how far they lie apart."""

    slug: str
    title: str
    dimension: taxonomy.Dimension
    counts: tuple[int, ...]
    testers: int
    query: str

    @property
    def n(self) -> int:
        return sum(self.counts)

    @property
    def lowest(self) -> int:
        return next(rating for rating, count in enumerate(self.counts, 1) if count)

    @property
    def highest(self) -> int:
        return next(rating for rating, count in reversed(list(enumerate(self.counts, 1))) if count)

    @property
    def variance(self) -> float:
        mean = sum(rating * count for rating, count in enumerate(self.counts, 1)) / self.n
        return sum(count * (rating - mean) ** 2 for rating, count in enumerate(self.counts, 1)) / self.n


@dataclass(frozen=True)
class Agreements:
    """Everything that the page says. `build`: of which the widest disagreements are. `worked_out_at`: None where this
    person has nothing to read yet."""

    overall: tuple[Agreed, ...]
    by_build: Matrix | None
    by_script: Matrix | None
    worked_out_at: datetime | None
    build: Build | None
    widest: tuple[Apart, ...]

    @property
    def answer(self) -> str:
        """In one sentence for each kind, the good news first."""
        if not self.worked_out_at:
            return NOT_WORKED_OUT
        told = [each for each in self.overall if each.alpha is not None]
        if not told:
            return self._why_not
        kinds = (
            ("They agree well enough to rely on {}.", RELIABLE, float("inf")),
            ("Conclusions from {} are tentative.", TENTATIVE, RELIABLE),
            ("They do not agree enough on {}.", float("-inf"), TENTATIVE),
        )
        found = [
            (words, [each for each in told if each.alpha is not None and low <= each.alpha < high])
            for words, low, high in kinds
        ]
        said = [words.format(_listed(those)) for words, those in found if those]
        return " ".join([*said, *self._not_told])

    @property
    def _why_not(self) -> str:
        """Why no dimension can be told, if all have the same reason."""
        if any(each.is_too_small for each in self.overall):
            takes = f"that takes {FEWEST} scripts on a build that several testers rated"
            return " ".join([f"That can’t be told yet: {takes}.", *self._not_told])
        reasons = {each.kept.why for each in self.overall if each.kept and each.kept.why}
        return f"That can’t be told yet: {_inside(reasons.pop())}." if len(reasons) == 1 else "That can’t be told yet."

    @property
    def _not_told(self) -> Iterator[str]:
        small = [each for each in self.overall if each.is_too_small]
        if small:
            yield f"n is too small in {_names(small)}."
        untold = [each for each in self.overall if each.alpha is None and not each.is_too_small]
        if untold:
            yield f"{_names(untold)} can’t be told."

    @property
    def by_build_figure(self) -> SafeString:
        return matrix_figure(self.by_build) if self.by_build else SafeString()

    @property
    def by_script_figure(self) -> SafeString:
        return matrix_figure(self.by_script) if self.by_script else SafeString()

    @property
    def widest_chart(self) -> SafeString:
        bars = [
            Bar(
                f"{place}. {each.dimension.name}",
                each.counts,
                f"n {each.n} · testers {each.testers}",
                under=f"in “{each.title}”",
            )
            for place, each in enumerate(self.widest, 1)
        ]
        return stacked_bars("widest", "How the ratings lie apart", bars)


def tell_agreement(user: User, titles: Mapping[str, str], build: Build | None) -> Agreements:
    """What was worked out of what this person may know of. `titles`: of the scripts that the viewer may know."""
    kept = _Kept({(row.script, row.build, row.dimension): row for row in read_every_agreement(user)})
    overall = tuple(Agreed(dimension, kept.rows.get(("", "", dimension.key))) for dimension in taxonomy.DIMENSIONS)
    worked_out_at = max((row.worked_out_at for row in kept.rows.values()), default=None)
    return Agreements(
        overall,
        _by_build(kept),
        _by_script(kept, titles),
        worked_out_at,
        build,
        _widest(user, titles, build) if build else (),
    )


@dataclass(frozen=True)
class _Kept:
    """What was worked out, by script, build and dimension; an empty script or build stands for all."""

    rows: Mapping[tuple[str, str, str], Agreement]

    def square(self, script: str, build: str, dimension: str, query: str) -> Square:
        row = self.rows.get((script, build, dimension))
        if row is None:
            return Square(None, 0, why=NOT_YET)
        rows = f"/results/?{query}" if row.units else ""
        if row.is_too_small:
            return Square(None, row.units, href=rows, is_too_small=True)
        return Square(row.alpha, row.units, row.low, row.high, _inside(row.why), rows)


def _by_build(kept: _Kept) -> Matrix | None:
    """The newest builds that anything was worked out of; dimensions down the side."""
    keys = {build for script, build, _ in kept.rows if build and not script}
    builds = list(Build.objects.filter(sort_key__in=keys)[:MOST_BUILDS])[::-1]
    if not builds:
        return None
    rows = tuple(
        MatrixRow(
            dimension.name,
            tuple(
                kept.square("", build.sort_key, dimension.key, _rated(Filters(build=build.name), dimension.key))
                for build in builds
            ),
        )
        for dimension in taxonomy.DIMENSIONS
    )
    title = "How far testers agree, by dimension and build"
    return Matrix("by-build", title, "Dimension", tuple(build.name for build in builds), rows)


def _by_script(kept: _Kept, titles: Mapping[str, str]) -> Matrix | None:
    """Every script that anything was worked out of; dimensions across."""
    slugs = [slug for slug in titles if any((slug, "", key) in kept.rows for key in DIMENSION_KEYS)]
    if not slugs:
        return None
    rows = tuple(
        MatrixRow(
            titles[slug], tuple(kept.square(slug, "", key, _rated(Filters(script=slug), key)) for key in DIMENSION_KEYS)
        )
        for slug in slugs
    )
    title = "How far testers agree, by script and dimension"
    return Matrix("by-script", title, "Script", tuple(dimension.name for dimension in taxonomy.DIMENSIONS), rows)


def _inside(sentence: str) -> str:
    """A sentence as part of another."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def _rated(filters: Filters, dimension: str) -> str:
    return filters.but(dimension=dimension, low=1, high=5).query()


def _widest(user: User, titles: Mapping[str, str], build: Build) -> tuple[Apart, ...]:
    """Scripts that several testers ran on this build, where their ratings lie the furthest apart: two queries."""
    rows = Result.objects.visible_to(user).filter(build=build, never_started=False)
    testers = rows.order_by().values_list("script_id").annotate(testers=Count("tester", distinct=True))
    several = {slug: count for slug, count in testers if count > 1 and slug in titles}
    counted = read_rows(rows, by=("script",))
    found = [
        Apart(
            *(slug, titles[slug], dimension, counted[slug,].counts[dimension.key], count),
            query=_rated(Filters(script=slug, build=build.name), dimension.key),
        )
        for slug, count in several.items()
        for dimension in taxonomy.DIMENSIONS
    ]
    apart = [each for each in found if each.n and each.variance]
    return tuple(sorted(apart, key=lambda each: (-each.variance, each.title))[:MOST_WIDEST])


def _listed(those: list[Agreed]) -> str:
    return _joined([f"{each.dimension.name} ({say_number(each.alpha or 0)})" for each in those])


def _names(those: list[Agreed]) -> str:
    return _joined([each.dimension.name for each in those])


def _joined(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
