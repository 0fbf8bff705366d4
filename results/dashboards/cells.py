"""The parts of dashboards that come up by the dozen, written here: in a template they would take ten times as long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from ..charts.svg import SHARES, Reading
from ..markup import format_html, format_html_join, together
from ..models import Ticket
from .asked import Figure
from .dimensions import Cell, Line
from .examples import Example
from .problems import MOST_RANKED, Shown

NOTHING = SafeString()


# --- the six dimensions of all that is counted ---


def rows_of_dimensions(line: Line) -> SafeString:
    """A row of the table for each dimension: mean, interval, n, how often each rating was given, and N/A."""
    return together(map(_row_of_dimension, line.cells))


@lru_cache(256)
def _row_of_dimension(cell: Cell) -> SafeString:
    return format_html(
        '<tr><th scope="row">{}</th><td class="number">{}</td><td class="number interval">{}</td>{}{}{}</tr>',
        cell.dimension.name,
        _mean_or_why_not(cell),
        cell.interval,
        _count_cell(cell.rated),
        together(map(_count_cell, cell.values)),
        _count_cell(cell.not_applicable) if cell.has_not_applicable else format_html("<td></td>"),
    )


def _mean_or_why_not(cell: Cell) -> SafeString:
    if cell.shown:
        return _linked(cell.rated, format_html("<b>{}</b>", cell.shown))
    if cell.is_not_applicable:
        return _linked(cell.not_applicable, "N/A", kind="quiet")
    return format_html('<span class="quiet small">n too small</span>')


def _count_cell(figure: Figure) -> SafeString:
    """A cell with a count that opens its rows."""
    count = _linked(figure, str(figure.count)) if figure.count else format_html('<span class="quiet">0</span>')
    return format_html('<td class="number">{}</td>', count)


def _linked(figure: Figure, words: str, *, kind: str = "") -> SafeString:
    shown_as = format_html(' class="{}"', kind) if kind else NOTHING
    return format_html('<a{} href="{}" data-count="{}">{}</a>', shown_as, figure.href, figure.count, words)


# --- the means of each script ---


def cells_of_line(line: Line) -> SafeString:
    """The means of a script, a cell each."""
    return together(map(_mean_cell, line.cells))


def _mean_cell(cell: Cell) -> SafeString:
    """The mean and under it the interval and n, all one link to the ratings that they are taken from; N/A apart."""
    without = cell.not_applicable
    return format_html(
        '<td class="number mean" data-label="{}">{}{}</td>',
        cell.dimension.name,
        NOTHING if cell.is_not_applicable else _mean(cell),
        _linked(without, f"N/A {without.count}", kind="n") if without.count else NOTHING,
    )


def _mean(cell: Cell) -> SafeString:
    reading = cell.reading
    if not reading.n:
        return format_html('<span class="quiet">0</span>')
    value = "<b>{}</b>" if cell.shown else '<span class="quiet">{}</span>'
    interval = cell.interval.replace(" to ", "–")
    return format_html(
        '<a href="{}" data-count="{}">{} <span class="n">{}n {}</span></a>',
        *(reading.href, reading.n, format_html_join("", value, [(cell.shown or "n too small",)])),
        *(f"{interval} · " if interval else "", reading.n),
    )


# --- problems ---


@dataclass(frozen=True)
class Ranking:
    """A ranking as items of a list: the first five, what is left of the first ten, and the others."""

    first: SafeString
    more: SafeString
    others: SafeString


FEW_RANKED = 5
_PARTS_OF_RANKING = (slice(FEW_RANKED), slice(FEW_RANKED, MOST_RANKED), slice(MOST_RANKED, None))


def ranking_of(ranked: Sequence[Shown], *, names_script: bool) -> Ranking:
    """`names_script`: on a page of many scripts a call says which one was run."""
    results, places = reverse("results"), _places([shown.figure.count for shown in ranked])
    items = [
        _problem(place, shown, results, names_script=names_script) for place, shown in zip(places, ranked, strict=True)
    ]
    return Ranking(*(together(items[part]) for part in _PARTS_OF_RANKING))


def _places(counts: Sequence[int]) -> list[str]:
    """The place of each of these counts, which fall: those that are alike share the first place among them."""
    return [f"{counts.index(count) + 1}{'=' if counts.count(count) > 1 else ''}" for count in counts]


def _problem(place: str, shown: Shown, results: str, *, names_script: bool) -> SafeString:
    return format_html(
        "<li>{}{}{}</li>",
        _figures(place, shown.ranked.label, shown.ranked.group, shown.figure, shown.share),
        _calls(shown.calls, results, names_script=names_script),
        _tickets(shown.tickets),
    )


@lru_cache(1024)
def _figures(place: str, label: str, group: str, figure: Figure, share: Reading) -> SafeString:
    """What a ranking says of a problem in figures: depends on nothing but these, and people come back to them."""
    said = (
        f"{SHARES.say(share.value)} of results, interval {SHARES.say_interval(share)}"
        if share.value is not None
        else ""
    )
    return format_html(
        '<span class="place">{}</span><b>{}</b><a class="figures" href="{}" data-count="{}">{}</a>'
        '<p class="small quiet">{} · {}</p>',
        *(place, label, figure.href, figure.count, f"{figure.count} result{'' if figure.count == 1 else 's'}"),
        *(group, said or "n too small for a share"),
    )


def _calls(calls: Sequence[Example], results: str, *, names_script: bool) -> SafeString:
    if not calls:
        return NOTHING
    links = [_call(call, f"{results}{call.id}/", names_script=names_script) for call in calls]
    return format_html('<p class="calls small">{}</p>', together(links))


@lru_cache(1024)  # a call that has several problems stands beside each
def _call(call: Example, href: str, *, names_script: bool) -> SafeString:
    title = format_html("<bdi>{}</bdi>, ", call.title) if names_script else NOTHING
    day = _day(call.called_at)
    if not call.has_recording:
        return format_html('<a href="{}">{}{}, <bdi>{}</bdi></a> ', href, title, day, call.tester)
    return format_html(
        '<a href="{}"><span aria-hidden="true">▶ </span>{}{}, <bdi>{}</bdi>'
        '<span class="visually-hidden">, with a recording</span></a> ',
        *(href, title, day, call.tester),
    )


def _day(when: datetime) -> str:
    local = localtime(when)
    return f"{local.day} {local:%b}"


def _tickets(tickets: Sequence[Ticket]) -> SafeString:
    if not tickets:
        return NOTHING
    links = ((ticket.get_absolute_url(), ticket.title) for ticket in tickets)
    return format_html(
        '<p class="calls small"><span class="quiet">Ticket{}:</span> {}</p>',
        "" if len(tickets) == 1 else "s",
        format_html_join(" ", '<a href="{}"><bdi>{}</bdi></a>', links),
    )
