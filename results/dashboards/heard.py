"""What recordings say themselves beside the ratings of Listening & timing, by build: for each, over its calls.

A call counts once, by its newest recording; only figures of the current edition are counted, so that no two methods are
mixed. At most the newest `MOST_RECORDINGS` are looked at, in one query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

from emma_eval.scoring.intervals import FEWEST, Mean, Median, mean_of, median_of, rate_of
from emma_eval.scoring.turns import EDITION
from scripts_catalog.models import Build

from ..figures import say_number, say_range, say_share, say_share_range
from ..models import CallFigures, Recording
from .counting import Counting

DIMENSION = "listening_timing"
MOST_RECORDINGS = 2_000
MOST_BUILDS = 6
PER_MS = 600_000  # silences and overlaps are told per ten minutes
OLDER_EDITION = "Measured by an earlier edition of the method."
_COLUMNS = (
    *("recording__tester", "recording__call_uuid", "recording__duration_ms", "build", "edition", "unmeasured_because"),
    *("latency_median_ms", "silence_count", "overlap_count", "emma_share"),
)


@dataclass(frozen=True)
class Call:
    """The figures of one call."""

    build: str
    unmeasured_because: str
    lasts_ms: int
    latency_ms: int | None
    silences: int
    overlaps: int
    share: float | None


@dataclass(frozen=True)
class Said:
    """A figure as it is written; without `value`, n is too small."""

    label: str
    value: str
    interval: str
    n: int


@dataclass(frozen=True)
class Heard:
    """The calls of one build, and how its Listening & timing was rated."""

    name: str
    is_chosen: bool
    rating: Said
    figures: tuple[Said, ...]
    unmeasured: tuple[tuple[str, int], ...]

    @property
    def unmeasured_count(self) -> int:
        return sum(count for _, count in self.unmeasured)


@dataclass(frozen=True)
class HeardCalls:
    """The builds that have recordings, the newest first. `left_out`: older ones that are not shown."""

    builds: tuple[Heard, ...]
    left_out: int
    edition: int = EDITION
    fewest: int = FEWEST


def read_heard(counting: Counting, chosen: str) -> HeardCalls:
    """Of every build, whatever build is asked for: `chosen` is its name. Three queries."""
    by_build: dict[str, list[Call]] = {}
    for call in _calls(counting.of_every_build):
        by_build.setdefault(call.build, []).append(call)
    keys = sorted(by_build, reverse=True)
    names = dict(Build.objects.filter(sort_key__in=keys).values_list("sort_key", "name"))
    rated = counting.of_every_build.ratings("build") if keys else {}
    shown = tuple(
        Heard(
            names.get(key, key),
            names.get(key) == chosen,
            _mean("Rated", rated[key,].mean(DIMENSION) if (key,) in rated else None),
            _figures([call for call in by_build[key] if not call.unmeasured_because]),
            _reasons(by_build[key]),
        )
        for key in keys[:MOST_BUILDS]
    )
    return HeardCalls(shown, len(keys) - len(shown))


def _calls(counting: Counting) -> Iterable[Call]:
    of_call = counting.rows.filter(tester=OuterRef("recording__tester"), call_uuid=OuterRef("recording__call_uuid"))
    seen = Recording.objects.visible_to(counting.user).playable()
    rows = (
        CallFigures.objects.filter(recording__in=seen)
        .annotate(build=Subquery(of_call.order_by("pk").values("build")[:1]))
        .exclude(build=None)
        .order_by("-recording__created_at")
        .values_list(*_COLUMNS)[:MOST_RECORDINGS]
    )
    told = set()
    for tester, call, lasts_ms, build, edition, because, latency_ms, silences, overlaps, share in rows:
        if (tester, call) in told:
            continue
        told.add((tester, call))
        why = because or ("" if edition == EDITION else OLDER_EDITION)
        yield Call(build, why, lasts_ms or 0, latency_ms, silences or 0, overlaps or 0, share)


def _figures(calls: Sequence[Call]) -> tuple[Said, ...]:
    latencies = [call.latency_ms for call in calls if call.latency_ms is not None]
    shares = [call.share for call in calls if call.share is not None]
    parts = [call.lasts_ms / PER_MS for call in calls]
    return (
        _median("Reply latency, median", median_of(latencies)),
        _mean("Silences over 3 s in 10 min", rate_of(_pairs([call.silences for call in calls], parts)), 1),
        _mean("Overlaps in 10 min", rate_of(_pairs([call.overlaps for call in calls], parts)), 1),
        _share("Emma’s share of talk", mean_of(shares)),
    )


def _pairs(counts: Sequence[int], parts: Sequence[float]) -> list[tuple[float, float]]:
    return [(float(count), part) for count, part in zip(counts, parts, strict=True)]


def _median(label: str, found: Median | None) -> Said:
    """In seconds."""
    if found is None or found.is_too_small:
        return Said(label, "", "", found.n if found else 0)
    has_interval = found.low is not None and found.high is not None
    interval = say_range((found.low or 0) / 1000, (found.high or 0) / 1000) if has_interval else ""
    return Said(label, f"{say_number(found.median / 1000)} s", interval, found.n)


def _mean(label: str, found: Mean | None, decimals: int = 2) -> Said:
    if found is None or found.is_too_small:
        return Said(label, "", "", found.n if found else 0)
    interval = "" if found.low is None or found.high is None else say_range(found.low, found.high, decimals)
    return Said(label, say_number(found.mean, decimals), interval, found.n)


def _share(label: str, found: Mean | None) -> Said:
    if found is None or found.is_too_small:
        return Said(label, "", "", found.n if found else 0)
    has_interval = found.low is not None and found.high is not None
    interval = say_share_range(max(0.0, found.low or 0), min(1.0, found.high or 1)) if has_interval else ""
    return Said(label, say_share(found.mean), interval, found.n)


def _reasons(calls: Iterable[Call]) -> tuple[tuple[str, int], ...]:
    """Why calls are not measured, the most frequent reason first."""
    return tuple(Counter(call.unmeasured_because for call in calls if call.unmeasured_because).most_common())
