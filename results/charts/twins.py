"""The table beside a chart: the same figures for those who can't see it, and for those who want them exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from ..markup import format_html, format_html_join, together
from .svg import TOO_SMALL, Reading, Scale

NOTHING = SafeString()


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, the rows that it opens, and whether it is there only to say that there is no figure."""

    words: str
    href: str = ""
    is_quiet: bool = False


def table(caption: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[Cell]]]) -> SafeString:
    """`heads` begins with that of the first column, whose cells name the rows. All others hold figures."""
    return format_html(
        '<div class="table-scroll" tabindex="0" role="group" aria-label="{}"><table class="chart-table">'
        '<caption class="visually-hidden">{}</caption>'
        '<thead><tr><th scope="col">{}</th>{}</tr></thead><tbody>{}</tbody></table></div>',
        *(caption, caption, heads[0]),
        format_html_join("", '<th scope="col" class="number">{}</th>', ((head,) for head in heads[1:])),
        format_html_join(
            "", '<tr><th scope="row">{}</th>{}</tr>', ((name, together(map(_cell, cells))) for name, cells in rows)
        ),
    )


def reading_heads(name: str) -> list[str]:
    """Of the three cells of a reading, where a row has several: each head says whose it is."""
    return [name, f"{name}: 95 % interval", f"{name}: n"]


def reading_cells(reading: Reading, scale: Scale) -> list[Cell]:
    """Value, interval and n, in three cells."""
    n = Cell(str(reading.n), reading.href if reading.n else "", is_quiet=not reading.n)
    if reading.value is None:
        return [Cell(TOO_SMALL, is_quiet=True), Cell(""), n]
    return [Cell(scale.say(reading.value), reading.href), Cell(scale.say_interval(reading)), n]


def figure(drawn: SafeString, twin: SafeString, *, below: SafeString = NOTHING) -> SafeString:
    """A chart as it stands on a page: what is drawn, what is said below it, and its table to be opened."""
    return format_html(
        '<figure class="chart-figure">{}{}<details class="chart-twin"><summary>The same in figures</summary>{}'
        "</details></figure>",
        *(drawn, below, twin),
    )


def _cell(cell: Cell) -> SafeString:
    words = format_html('<a href="{}">{}</a>', cell.href, cell.words) if cell.href else format_html("{}", cell.words)
    return format_html('<td class="number{}">{}</td>', " quiet" if cell.is_quiet else "", words)
