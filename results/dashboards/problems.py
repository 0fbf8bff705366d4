"""Problems by how often they were tagged and by how often they were the biggest, with three calls of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.utils.safestring import SafeString

from scripts_catalog import taxonomy

from ..charts.pareto import Pareto, TagBar, pareto_figure
from ..charts.svg import Reading
from ..counts.read_counts import RatingCounts, TagCounts
from ..models import Source, Ticket
from ..tickets.show_tickets import tickets_by_tag
from .asked import Figure, Rows
from .counting import Counting
from .examples import Example, Tag, find_examples
from .readings import share_reading

MOST_RANKED = 10
_drawn = lru_cache(16)(pareto_figure)


@dataclass(frozen=True)
class Ranked:
    """A problem: how many results carry it, how many as their biggest, and the share that each is, with interval."""

    tag: str
    label: str
    group: str
    often: Figure
    biggest: Figure
    share: Reading
    biggest_share: Reading


@dataclass(frozen=True)
class Shown:
    """A problem as a ranking shows it: by either count, with its calls."""

    ranked: Ranked
    figure: Figure
    share: Reading
    calls: Sequence[Example]
    tickets: Sequence[Ticket]


@dataclass(frozen=True)
class Problems:
    """Both rankings, of `n` results; whose tags they count is said by `source`."""

    source: Source
    n: Figure
    by_count: tuple[Shown, ...]
    by_biggest: tuple[Shown, ...]
    chart: SafeString

    @property
    def whose(self) -> str:
        return self.source.label.lower()


def rank_problems(counting: Counting, source: Source, of: RatingCounts) -> Problems:
    """Every problem that was used. One whose place in the overall order is not known is nobody's biggest.

    `of`: the counts of the same results.
    """
    counts = counting.tags(source, of)
    rows = Rows.of(counting.filters, source)
    found = [_ranked(counts, tag, rows) for tag in counts.tags]
    by_count = sorted(found, key=lambda each: (-each.often.count, -each.biggest.count, each.label))
    by_biggest = sorted(
        (each for each in found if each.biggest.count), key=lambda each: (-each.biggest.count, each.label)
    )
    shown = {(each.tag, False): each.often.count for each in by_count[:MOST_RANKED]}
    shown |= {(each.tag, True): each.biggest.count for each in by_biggest[:MOST_RANKED]}
    beside = _Beside(
        find_examples(counting, source, shown, counts.n),
        tickets_by_tag(counting.user, counting.filters.script) if found else {},
    )
    return Problems(
        source,
        Figure(counts.n, rows.href()),
        tuple(beside.show(each, is_biggest=False) for each in by_count),
        tuple(beside.show(each, is_biggest=True) for each in by_biggest),
        _chart(source, counts.n, by_count[:MOST_RANKED]),
    )


@dataclass(frozen=True)
class _Beside:
    """What stands beside the problems of a page."""

    calls: Mapping[Tag, Sequence[Example]]
    tickets: Mapping[str, Sequence[Ticket]]

    def show(self, each: Ranked, *, is_biggest: bool) -> Shown:
        figure, share = (each.biggest, each.biggest_share) if is_biggest else (each.often, each.share)
        return Shown(each, figure, share, self.calls.get((each.tag, is_biggest), ()), self.tickets.get(each.tag, ()))


def _ranked(counts: TagCounts, tag: str, rows: Rows) -> Ranked:
    often = Figure(counts.of(tag).tagged, rows.href(f"problem={tag}"))
    biggest = Figure(counts.of(tag).biggest, rows.href(f"problem={tag}", "biggest=yes"))
    return Ranked(
        tag,
        taxonomy.TAG_BY_KEY[tag].label,
        taxonomy.GROUP_OF_TAG[tag].name,
        often,
        biggest,
        share_reading(counts.tagged(tag), often.href),
        share_reading(counts.biggest(tag), biggest.href),
    )


def _chart(source: Source, n: int, found: Sequence[Ranked]) -> SafeString:
    if not found:
        return SafeString()
    bars = [
        TagBar(each.label, each.group, each.often.count, each.biggest.count, each.share, each.biggest_share)
        for each in found
    ]
    title = f"How often each problem was tagged, and how often as the biggest, {source.label.lower()}"
    return _drawn(Pareto("problems-drawn", title, n, tuple(bars)))
