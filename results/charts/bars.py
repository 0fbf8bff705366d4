"""Bars as inline SVG.

Widths are percentages and text keeps its size, so a chart fits a phone as it fits a sheet of paper. Each
has a title and a description; the page that shows one puts its figures in a table beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from django.utils.safestring import SafeString

from ..markup import format_html, format_html_join
from .svg import LINE_HEIGHT, wrapped
from .svg import label as lines_of

ROW, LABEL, BAR = 48, 16, 22
NARROWEST_WITH_FIGURE = 7.0


@dataclass(frozen=True)
class Bar:
    """One bar: how often each rating from 1 to 5 was given, and what stands at its right end.

    `under`: what stands below the label, in lines of its own, such as the script that it is of; it may be empty.
    """

    label: str
    counts: tuple[int, ...]
    note: str
    under: str = ""

    @property
    def lines(self) -> list[str]:
        return wrapped(self.under) if self.under else []

    @property
    def height(self) -> int:
        return ROW + LINE_HEIGHT * len(self.lines)

    @property
    def in_words(self) -> str:
        named = f"{self.label} {self.under}".rstrip()
        if not any(self.counts):
            return f"{named}: no ratings."
        said = ", ".join(f"{count} × {value}" for value, count in enumerate(self.counts, 1))
        return f"{named}: {said}."


def stacked_bars(key: str, title: str, bars: Sequence[Bar]) -> SafeString:
    """One bar of full width for each row, split into the five ratings; `key` makes its ids unique on a page."""
    return format_html(
        '<svg class="chart" width="100%" height="{height}" role="img" aria-labelledby="{key}-title {key}-desc">'
        '<title id="{key}-title">{title}</title><desc id="{key}-desc">{desc}</desc>{bars}</svg>',
        height=sum(bar.height for bar in bars),
        key=key,
        title=title,
        desc=" ".join(bar.in_words for bar in bars),
        bars=format_html_join("", "{}", ((_bar(bar, top),) for bar, top in zip(bars, _tops(bars), strict=True))),
    )


def _tops(bars: Sequence[Bar]) -> Iterator[int]:
    """Where each begins."""
    return accumulate((bar.height for bar in bars[:-1]), initial=0) if bars else iter(())


def _bar(bar: Bar, top: int) -> SafeString:
    return format_html(
        '<text x="0" y="{y}">{label}</text>'
        '<text class="chart-note" x="100%" y="{y}" text-anchor="end">{note}</text>{under}{drawn}',
        y=top + LABEL - 4,
        label=bar.label,
        note=bar.note,
        under=lines_of(bar.lines, top + LABEL - 4 + LINE_HEIGHT, "chart-note"),
        drawn=_segments(bar.counts, top + LABEL + LINE_HEIGHT * len(bar.lines)),
    )


def _segments(counts: tuple[int, ...], top: int) -> SafeString:
    whole = sum(counts)
    if not whole:
        return format_html('<rect class="chart-empty" x="0" y="{}" width="100%" height="{}"/>', top, BAR)
    drawn, left = [], 0.0
    for value, count in enumerate(counts, 1):
        width = 100 * count / whole
        drawn.append((_segment(value, count, left, width, top),))
        left += width
    return format_html_join("", "{}", drawn)


def _segment(value: int, count: int, left: float, width: float, top: int) -> SafeString:
    """One rating's part. Its count stands on it where there is room; the table has it in any case."""
    if not count:
        return SafeString()
    box = format_html(
        '<rect class="chart-{}" x="{}%" y="{}" width="{}%" height="{}"/>',
        *(value, f"{left:.2f}", top, f"{width:.2f}", BAR),
    )
    if width < NARROWEST_WITH_FIGURE:
        return box
    figure = '{}<text class="chart-on-{}" x="{}%" y="{}" text-anchor="middle">{}</text>'
    return format_html(figure, box, value, f"{left + width / 2:.2f}", top + BAR - 6, count)


def share_bar(part: int, whole: int) -> SafeString:
    """A small bar for a cell that also shows its figure, so it says nothing to a screen reader."""
    share = f"{100 * part / whole:.1f}" if whole else "0"
    return format_html(
        '<svg class="share" width="100%" height="10" aria-hidden="true"><rect width="{}%" height="10"/></svg>', share
    )
