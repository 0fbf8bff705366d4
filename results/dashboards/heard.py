"""What recordings say themselves beside the ratings of Listening & timing, by build: for each, over its calls.

A call counts once, by its newest recording; only figures of the current edition are counted, so that no two methods are
mixed. At most the newest `MOST_RECORDINGS` are looked at, in one query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

from emma_eval.scoring.intervals import FEWEST, Mean, Median, mean_of, median_of, rate_of
from emma_eval.scoring.turns import EDITION
from scripts_catalog.models import Build

from ..figures import say_number, say_range, say_share, say_share_range
from ..models import CallFigures, Recording
from .asked import Rows
from .counting import Counting
from .dimensions import RATED

DIMENSION = "listening_timing"
MOST_RECORDINGS = 2_000
MOST_BUILDS = 6
PER_MS = 600_000  # silences and overlaps are told per ten minutes
OLDER_EDITION = "Measured by an earlier edition of the method."
Write = Callable[[float], str]
WriteRange = Callable[[float, float], str]
_COLUMNS = (
    *("recording", "recording__tester", "recording__call_uuid", "recording__duration_ms"),
    *("build", "edition", "unmeasured_because"),
    *("latency_median_ms", "silence_count", "overlap_count", "emma_share"),
)


@dataclass(frozen=True)
class Call:
    """The figures of one call. `recording`: the key of the one that they were made from."""

    recording: int
    build: str
    unmeasured_because: str
    lasts_ms: int
    latency_ms: int | None
    silences: int
    overlaps: int
    share: float | None

    @property
    def parts(self) -> float:
        """Its length, of ten minutes."""
        return self.lasts_ms / PER_MS


@dataclass(frozen=True)
class Said:
    """A figure as it is written; without `value`, n is too small. `key`: how its calls are asked for."""

    key: str
    label: str
    value: str
    interval: str
    n: int


@dataclass(frozen=True)
class Heard:
    """The calls of one build, and how its Listening & timing was rated; `rated_rows`: the address of those results."""

    name: str
    is_chosen: bool
    rating: Said
    rated_rows: str
    calls: tuple[Call, ...]
    figures: tuple[Said, ...]

    @property
    def unmeasured_count(self) -> int:
        return sum(1 for call in self.calls if call.unmeasured_because)


@dataclass(frozen=True)
class Reason:
    """Why calls are not measured, and of how many of each build that is so: (name, count)."""

    words: str
    builds: tuple[tuple[str, int], ...]

    @property
    def count(self) -> int:
        return sum(count for _, count in self.builds)


@dataclass(frozen=True)
class HeardCalls:
    """The builds that have recordings, the newest first. `left_out`: older ones that are not shown.

    `is_cut`: as many recordings as are looked at were found, so that there may be more.
    """

    builds: tuple[Heard, ...]
    left_out: int
    is_cut: bool
    edition: int = EDITION
    fewest: int = FEWEST
    most: str = f"{MOST_RECORDINGS:,}"


def read_heard(counting: Counting, chosen: str) -> HeardCalls:
    """Of every build, whatever build is asked for: `chosen` is its name. Three queries."""
    found, is_cut = _calls(counting.of_every_build)
    by_build: dict[str, list[Call]] = {}
    for call in found:
        by_build.setdefault(call.build, []).append(call)
    keys = sorted(by_build, reverse=True)
    names = dict(Build.objects.filter(sort_key__in=keys).values_list("sort_key", "name"))
    rated = counting.of_every_build.ratings("build") if keys else {}
    shown = tuple(
        Heard(
            name := names.get(key, key),
            name == chosen,
            _mean("rated", "Rated", rated[key,].mean(DIMENSION) if (key,) in rated else None),
            Rows.of(counting.filters.but(build=name)).href(RATED[DIMENSION]),
            tuple(by_build[key]),
            _figures([call for call in by_build[key] if not call.unmeasured_because]),
        )
        for key in keys[:MOST_BUILDS]
    )
    return HeardCalls(shown, len(keys) - len(shown), is_cut)


def _calls(counting: Counting) -> tuple[list[Call], bool]:
    of_call = counting.rows.filter(tester=OuterRef("recording__tester"), call_uuid=OuterRef("recording__call_uuid"))
    seen = Recording.objects.visible_to(counting.user).playable()
    rows = list(
        CallFigures.objects.filter(recording__in=seen)
        .annotate(build=Subquery(of_call.order_by("pk").values("build")[:1]))
        .exclude(build=None)
        .order_by("-recording__created_at")
        .values_list(*_COLUMNS)[:MOST_RECORDINGS]
    )
    newest: dict[tuple[int, object], Call] = {}
    for key, tester, call, lasts_ms, build, edition, because, latency_ms, silences, overlaps, share in rows:
        why = because or ("" if edition == EDITION else OLDER_EDITION)
        found = Call(key, build, why, lasts_ms or 0, latency_ms, silences or 0, overlaps or 0, share)
        newest.setdefault((tester, call), found)
    return list(newest.values()), len(rows) == MOST_RECORDINGS


def _figures(calls: Sequence[Call]) -> tuple[Said, ...]:
    latencies = [call.latency_ms for call in calls if call.latency_ms is not None]
    shares = [call.share for call in calls if call.share is not None]
    parts = [call.parts for call in calls]
    return (
        _seconds("latency", "Reply latency, median", median_of(latencies)),
        _mean("silences", "Silences over 3 s in 10 min", rate_of(_pairs([call.silences for call in calls], parts)), 1),
        _mean("overlaps", "Overlaps in 10 min", rate_of(_pairs([call.overlaps for call in calls], parts)), 1),
        _share("share", "Emma’s share of talk", mean_of(shares)),
    )


def _pairs(counts: Sequence[int], parts: Sequence[float]) -> list[tuple[float, float]]:
    return [(float(count), part) for count, part in zip(counts, parts, strict=True)]


def _said(key: str, label: str, found: Mean | Median | None, value: Write, interval: WriteRange) -> Said:
    """`value` and `interval` write what `found` says."""
    if found is None or found.is_too_small:
        return Said(key, label, "", "", found.n if found else 0)
    between = "" if found.low is None or found.high is None else interval(found.low, found.high)
    return Said(key, label, value(found.mean if isinstance(found, Mean) else found.median), between, found.n)


def _seconds(key: str, label: str, found: Median | None) -> Said:
    """Of milliseconds."""
    return _said(
        key, label, found, lambda ms: f"{say_number(ms / 1000)} s", lambda low, high: say_range(low / 1000, high / 1000)
    )


def _mean(key: str, label: str, found: Mean | None, decimals: int = 2) -> Said:
    return _said(
        key, label, found, lambda mean: say_number(mean, decimals), lambda low, high: say_range(low, high, decimals)
    )


def _share(key: str, label: str, found: Mean | None) -> Said:
    return _said(key, label, found, say_share, lambda low, high: say_share_range(max(0.0, low), min(1.0, high)))


def reasons_of(heard: HeardCalls) -> list[Reason]:
    """Why calls of the builds shown are not measured, the most frequent reason first."""
    found: dict[str, Counter[str]] = {}
    for build in heard.builds:
        for call in build.calls:
            if call.unmeasured_because:
                found.setdefault(call.unmeasured_because, Counter())[build.name] += 1
    reasons = [Reason(words, tuple(counts.items())) for words, counts in found.items()]
    return sorted(reasons, key=lambda reason: -reason.count)
