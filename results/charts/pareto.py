"""Problems by how often they were tagged: one bar a tag, its dark part where it was the biggest of its result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from ..markup import format_html, together
from . import twins
from .svg import LINE_HEIGHT, SHARES, Reading, frame, key_of, label, linked, percent, rect, wrapped

BAR, GAP = 18, 14
# On the narrowest phone: what a chart has, and what a letter of the figures at the end of a bar takes.
NARROWEST_PX, LETTER_PX = 250, 7.2


@dataclass(frozen=True)
class TagBar:
    """A tag: on how many results it was tagged at all, and on how many as the biggest.

    `share` is that of the results that carry it, with its interval; `biggest_share` of those where it was biggest.
    """

    label: str
    group: str
    tagged: int
    biggest: int
    share: Reading
    biggest_share: Reading


@dataclass(frozen=True)
class Pareto:
    """`of`: results that were counted. The bars come in the order in which they are drawn."""

    key: str
    title: str
    of: int
    bars: tuple[TagBar, ...]


def pareto_figure(pareto: Pareto) -> SafeString:
    return twins.figure(draw_pareto(pareto), pareto_table(pareto), below=pareto_key())


def draw_pareto(pareto: Pareto) -> SafeString:
    pieces, top = [], 0
    for bar in pareto.bars:
        lines = wrapped(bar.label)
        pieces.append(_bar(pareto, bar, lines, top))
        top += len(lines) * LINE_HEIGHT + BAR + GAP
    said = " ".join(_sentences(pareto))
    has_links = any(bar.share.href for bar in pareto.bars)
    return frame(pareto.key, pareto.title, said, top, together(pieces), has_links=has_links)


def pareto_table(pareto: Pareto) -> SafeString:
    heads = ["Problem", "Tagged", "Share", "95 % interval", "Biggest", "Share as biggest", "95 % interval"]
    return twins.table(pareto.title, heads, [(bar.label, _cells(bar)) for bar in pareto.bars])


def pareto_key() -> SafeString:
    return key_of(
        [
            (rect("0", 0, "14", 14, "chart-biggest"), "as the biggest problem"),
            (rect("0", 0, "14", 14, "chart-any"), "tagged, but not as the biggest, or its place is not known"),
        ]
    )


def _bar(pareto: Pareto, bar: TagBar, lines: list[str], top: int) -> SafeString:
    most, longest = max(each.tagged for each in pareto.bars) or 1, _longest(pareto)
    y = top + len(lines) * LINE_HEIGHT + 2
    whole, part = (longest * count / most for count in (bar.tagged, bar.biggest))
    any_place = linked(
        bar.share.href,
        f"{bar.label}: tagged on {_of(bar.tagged, pareto.of)}",
        rect(percent(part), y, percent(whole - part), BAR, "chart-any"),
    )
    as_biggest = linked(
        bar.biggest_share.href,
        f"{bar.label}: the biggest problem of {_of(bar.biggest, pareto.of)}",
        rect("0", y, percent(part), BAR, "chart-biggest"),
    )
    figures = format_html(
        '<text class="chart-figures" x="{}" y="{}" dx="8">{}<tspan class="chart-note"> · biggest {}</tspan></text>',
        *(percent(whole), y + BAR - 5, bar.tagged, bar.biggest),
    )
    drawn = any_place + (as_biggest if bar.biggest else SafeString())
    return together([label(lines, top + 12), drawn, figures])


def _longest(pareto: Pareto) -> float:
    """The share of the width that the longest bar may have, so that the figures at its end still fit."""
    letters = max(len(f"{bar.tagged} · biggest {bar.biggest}") for bar in pareto.bars) + 2
    return 1 - min(letters * LETTER_PX / NARROWEST_PX, 0.7)


def _of(count: int, of: int) -> str:
    return f"{count} of {of} results"


def _cells(bar: TagBar) -> list[twins.Cell]:
    cells = []
    for count, share in ((bar.tagged, bar.share), (bar.biggest, bar.biggest_share)):
        value, interval, _ = twins.reading_cells(share, SHARES)
        cells += [twins.Cell(str(count), share.href if count else "", is_quiet=not count)]
        cells += [twins.Cell(value.words, is_quiet=value.is_quiet), interval]
    return cells


def _sentences(pareto: Pareto) -> Iterator[str]:
    yield f"Of {pareto.of} results."
    for bar in pareto.bars:
        yield f"{bar.label}: {bar.tagged}, as the biggest {bar.biggest}."
