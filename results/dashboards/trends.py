"""The six dimensions over builds or over weeks, with a break wherever the method was another one.

A method is the edition of the problem tags and, for one script, the version that was run. Where those of a build or a
week are not the same as those of the one before it, the two do not compare, and the break says why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.db.models import IntegerField, OuterRef, Subquery
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.safestring import SafeString

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import FEWEST
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, ScriptVersion

from ..charts.trend import Point, Trend, trend_figure
from ..counts.read_counts import RatingCounts, read_rows
from ..listing.filters import Filters
from ..models import Result
from .asked import Over, Rows
from .counting import Counting
from .dimensions import RATED
from .known import Known
from .readings import mean_reading

MOST_BUILDS, MOST_WEEKS = 12, 26
WEEK = timedelta(days=7)
KEPT_CHARTS = 96
FIRST_EDITION = 1
_drawn = lru_cache(KEPT_CHARTS)(trend_figure)  # people come back to the same figures, with other filters beside
ByBuild = Mapping[str, RatingCounts]  # by their sort keys


@dataclass(frozen=True)
class Methods:
    """How results were made: the editions of the problem tags, and for one script its versions by their numbers."""

    editions: frozenset[int] = frozenset()
    versions: frozenset[int] = frozenset()

    def reasons_after(self, before: Methods) -> tuple[str, ...]:
        """Why results made so do not compare with those before; nothing where they do."""
        found = []
        if self.versions != before.versions:
            found.append(f"script {_named('version', self.versions)} after {_named('version', before.versions)}")
        if self.editions != before.editions:
            editions, earlier = (_named("edition", each.editions) for each in (self, before))
            found.append(f"{editions} of the problem tags after {earlier}")
        return tuple(found)


def _named(word: str, numbers: Iterable[int]) -> str:
    """ "version 3", or "versions 1 and 2"."""
    *others, last = [str(number) for number in sorted(numbers)] or ["unknown"]
    return f"{word}s {', '.join(others)} and {last}" if others else f"{word} {last}"


@dataclass(frozen=True)
class Stop:
    """A build or a week that has results."""

    label: str
    counts: RatingCounts
    rows: Rows
    methods: Methods


@dataclass(frozen=True)
class Trends:
    """`stops` from the oldest to the newest, with at most `most` of them; `unrated`: dimensions without any rating."""

    over: Over
    most: int
    stops: tuple[Stop, ...]
    charts: tuple[tuple[taxonomy.Dimension, SafeString], ...]
    unrated: tuple[taxonomy.Dimension, ...]

    @property
    def is_bare(self) -> bool:
        """n is too small everywhere, so that no chart has anything to draw."""
        return all(stop.counts.n(each.key) < FEWEST for stop in self.stops for each in taxonomy.DIMENSIONS)


def trends_of(counting: Counting, over: Over, known: Known, by_build: ByBuild | None = None) -> Trends:
    """Over builds whichever build is chosen, since a build alone has no trend; over weeks of what is counted.

    `by_build`: the counts of every build, where they are at hand.
    """
    if over == Over.BUILD:
        stops = _over_builds(counting, known, _count_builds(counting) if by_build is None else by_build)
    else:
        stops = _over_weeks(counting)
    rated = [each for each in taxonomy.DIMENSIONS if any(stop.counts.n(each.key) for stop in stops)]
    charts = tuple((dimension, _drawn(_trend(dimension, over, stops))) for dimension in rated)
    unrated = tuple(each for each in taxonomy.DIMENSIONS if each not in rated)
    return Trends(over, MOST_BUILDS if over == Over.BUILD else MOST_WEEKS, stops, charts, unrated)


def _trend(dimension: taxonomy.Dimension, over: Over, stops: Sequence[Stop]) -> Trend:
    points = []
    for before, stop in zip([None, *stops], stops, strict=False):
        reading = mean_reading(stop.counts.counts[dimension.key], stop.rows.href(RATED[dimension.key]))
        points.append(Point(stop.label, reading, stop.methods.reasons_after(before.methods) if before else ()))
    label = "Build" if over == Over.BUILD else "Week of"
    title = f"{dimension.name}, mean rating as filed, by {over.value}"
    return Trend(f"trend-{dimension.key}", title, label, tuple(points))


# --- over builds ---


def _count_builds(counting: Counting) -> ByBuild:
    return {key: counts for (key,), counts in counting.of_every_build.ratings("build").items()}


def _over_builds(counting: Counting, known: Known, found: ByBuild) -> tuple[Stop, ...]:
    keys = sorted(key for key, counts in found.items() if counts.runs)[-MOST_BUILDS:]
    names = known.names
    methods = _methods_by_build(counting.user, counting.filters.script, keys)
    rows = Rows.of(counting.filters.but(build=""))
    return tuple(
        Stop(
            names[key],
            found[key],
            rows.within(urlencode({"build": names[key]})),
            methods.get(key, Methods()),
        )
        for key in keys
    )


def _methods_by_build(user: User, script: str, builds: Sequence[str]) -> Mapping[str, Methods]:
    numbers = _numbers(user, script)
    if len(numbers) > 1:
        return _of_versions(user, script, builds, numbers)
    of_one = frozenset(numbers.values())
    return {key: Methods(found, of_one) for key, found in _editions_by_build(user, script, builds).items()}


def _of_versions(user: User, script: str, builds: Sequence[str], numbers: Mapping[int, int]) -> Mapping[str, Methods]:
    """Which versions of a script were run on each build: read off an index that holds nothing else."""
    rows = Result.objects.visible_to(user).filter(script_id=script, build_id__in=builds, never_started=False)
    found = rows.order_by().values_list("build_id", "taxonomy_edition", "script_version_id").distinct()
    return _methods(found, numbers)


def _numbers(user: User, script: str) -> Mapping[int, int]:
    """The numbers by which this person knows the versions of a script; of no script, none."""
    if not script:
        return {}
    versions = ScriptVersion.objects.visible_to(user).filter(script__slug=script)
    return {version.pk: version.number_for(user) for version in versions.only("number", "open_number")}


def _methods(rows: Iterable[tuple[Any, ...]], numbers: Mapping[int, int]) -> dict[Any, Methods]:
    """By key, from rows of a key, an edition and, for one script, a version."""
    editions: dict[Any, set[int]] = defaultdict(set)
    versions: dict[Any, set[int]] = defaultdict(set)
    for key, edition, *version in rows:
        editions[key].add(edition)
        versions[key].update(numbers[each] for each in version if each in numbers)
    return {key: Methods(frozenset(editions[key]), frozenset(versions[key])) for key in editions}


def _editions_by_build(user: User, script: str, builds: Sequence[str]) -> Mapping[str, frozenset[int]]:
    """From the first and the last result that was filed on each build: an edition only ever follows an older one."""
    if taxonomy.EDITION == FIRST_EDITION:
        return dict.fromkeys(builds, frozenset({FIRST_EDITION}))
    rows = Result.objects.visible_to(user).filter(build=OuterRef("sort_key"))
    of_build = (rows.filter(script_id=script) if script else rows).values("taxonomy_edition")
    first, last = (Subquery(of_build.order_by(order)[:1], output_field=IntegerField()) for order in ("id", "-id"))
    found = Build.objects.filter(sort_key__in=builds).order_by().values_list("sort_key", first, last)
    return {key: frozenset(range(low, high + 1)) for key, low, high in found if low is not None}


# --- over weeks ---


def monday_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _over_weeks(counting: Counting) -> tuple[Stop, ...]:
    """At most half a year, up to the last week in which anything was called. A week without calls is in it, empty."""
    last = counting.rows.order_by("-called_at").values_list("called_at", flat=True).first()
    if last is None:
        return ()
    end = monday_of(timezone.localtime(last).date())
    begin = timezone.make_aware(datetime.combine(end - (MOST_WEEKS - 1) * WEEK, time.min))
    script = counting.filters.script
    by = ("week", "taxonomy_edition", *(("script_version",) if script else ()))
    counted = read_rows(counting.rows.filter(called_at__gte=begin), by, with_reviews=False)
    weeks: dict[date, RatingCounts] = {}
    for (monday, *_), counts in counted.items():
        weeks[monday] = weeks.get(monday, RatingCounts()) + counts
    methods = _methods((key for key, counts in counted.items() if counts.runs), _numbers(counting.user, script))
    return tuple(_weekly(counting, weeks, methods))


def _weekly(counting: Counting, weeks: Mapping[date, RatingCounts], methods: Mapping[date, Methods]) -> Iterator[Stop]:
    """Every week from the first to the last; one without runs breaks nothing."""
    monday, end, method = min(weeks), max(weeks), Methods()
    while monday <= end:
        method = methods.get(monday, method)
        counts = weeks.get(monday, RatingCounts())
        yield Stop(date_format(monday, "j M Y"), counts, Rows.of(_within_week(counting.filters, monday)), method)
        monday += WEEK


def _within_week(filters: Filters, monday: date) -> Filters:
    """The part of the week that the filters leave."""
    sunday = monday + timedelta(days=6)
    first, last = filters.first_day or monday, filters.last_day or sunday
    return filters.but(first_day=max(first, monday), last_day=min(last, sunday))
