"""A trend: one figure over builds or weeks, each with its interval and its n, and breaks where nothing compares.

A line joins only what may be compared: it stops where n is too small, and at a break (another taxonomy edition,
script version or scoring edition), which is a rule with a letter whose reason is told below the chart.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase

from django.utils.safestring import SafeString

from ..markup import format_html, format_html_join, together
from . import twins
from .svg import (
    LINE_HEIGHT,
    RATINGS,
    TOO_SMALL,
    Reading,
    Scale,
    circle,
    frame,
    hit,
    line,
    linked,
    percent,
    text,
)

TOP, BOTTOM, HEIGHT = 30, 170, 212
N_AT, LABEL_AT = 190, 208
LEFT, WIDTH = 0.09, 0.89
# What is left for labels under a narrow chart, one of middling width and a wide one, and the width of a letter.
ROOM_PX = ((215, ""), (390, "chart-middle"), (790, "chart-wide"))
LETTER_PX, BETWEEN_PX, NARROWEST_PX = 7.2, 3, 250
# A label has two lines of so many letters; of a few points each keeps its own, however narrow the chart.
LONGEST_LINE, MOST_LINES_OF_A_LABEL, FEW_POINTS = 10, 2, 4


@dataclass(frozen=True)
class Point:
    """A build or a week. `breaks`: why it does not compare with the point before it; empty where it does."""

    label: str
    reading: Reading
    breaks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trend:
    """`title` is the question that it answers, `over` what its points are: "Build" or "Week of"."""

    key: str
    title: str
    over: str
    points: tuple[Point, ...]
    scale: Scale = RATINGS
    value_name: str = "Mean"


def trend_figure(trend: Trend) -> SafeString:
    """The chart with what its gaps and breaks mean below it, and its table."""
    return twins.figure(draw_trend(trend), trend_table(trend), below=_reasons(trend) + _gaps(trend))


def draw_trend(trend: Trend) -> SafeString:
    drawn = together([*_grid(trend.scale), *_breaks(trend), *_joins(trend), *_points(trend), *_nothing(trend)])
    said = " ".join(_sentences(trend))
    has_links = any(point.reading.href for point in trend.points)
    height = HEIGHT + (LINE_HEIGHT if any(len(lines) > 1 for lines in _labels(trend)) else 0)
    return frame(trend.key, trend.title, said or "Nothing to show yet.", height, drawn, has_links=has_links)


def trend_table(trend: Trend) -> SafeString:
    heads = [trend.over, trend.value_name, "95 % interval", "n", "Break before it"]
    rows = [
        (point.label, [*twins.reading_cells(point.reading, trend.scale), twins.Cell("; ".join(point.breaks))])
        for point in trend.points
    ]
    return twins.table(
        trend.title,
        heads if _has_breaks(trend) else heads[:-1],
        rows if _has_breaks(trend) else [(name, cells[:-1]) for name, cells in rows],
    )


def _has_breaks(trend: Trend) -> bool:
    return any(point.breaks for point in trend.points)


def _x(trend: Trend, place: float) -> str:
    return percent(LEFT + WIDTH * (place + 0.5) / len(trend.points))


def _y(scale: Scale, value: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * scale.place(value)


def _grid(scale: Scale) -> Iterator[SafeString]:
    for tick in scale.ticks:
        y = _y(scale, tick)
        yield line("0", y, "100%", y, "chart-grid")
        yield text(scale.say_tick(tick), "0", y - 4, kind="chart-note")
    yield text("n", "0", N_AT, kind="chart-note")


def _lettered(trend: Trend) -> list[tuple[str, int, Point]]:
    """The breaks by letter, each with the place of the point that it stands before."""
    broken = [(place, point) for place, point in enumerate(trend.points) if point.breaks]
    return [(_letter(number), place, point) for number, (place, point) in enumerate(broken)]


def _letter(number: int) -> str:
    """A, B, … Z, AA, AB, …"""
    more, last = divmod(number, len(ascii_uppercase))
    return (_letter(more - 1) if more else "") + ascii_uppercase[last]


def _breaks(trend: Trend) -> Iterator[SafeString]:
    for letter, place, point in _lettered(trend):
        x = _x(trend, place - 0.5)
        rule = line(x, TOP - 14, x, BOTTOM, "chart-break")
        name = text(letter, x, TOP - 18, kind="chart-letter", anchor="middle")
        yield linked("", f"Break {letter} before {point.label}: {'; '.join(point.breaks)}", rule + name)


def _reasons(trend: Trend) -> SafeString:
    found = _lettered(trend)
    if not found:
        return SafeString()
    return format_html(
        '<ul class="chart-reasons small">{}</ul>',
        format_html_join(
            "",
            "<li><b>{}</b> Not comparable before {}: {}.</li>",
            ((letter, point.label, "; ".join(point.breaks)) for letter, _, point in found),
        ),
    )


def _gaps(trend: Trend) -> SafeString:
    """What an n without a point means, where some have one and some have none."""
    if not any(point.reading.value is None and point.reading.n for point in trend.points) or _is_bare(trend):
        return SafeString()
    return format_html('<p class="chart-reasons small">n in italics: {}.</p>', TOO_SMALL)


def _is_bare(trend: Trend) -> bool:
    return all(point.reading.value is None for point in trend.points)


def _nothing(trend: Trend) -> Iterator[SafeString]:
    """In the middle of an empty frame, why it is empty."""
    if trend.points and _is_bare(trend):
        middle = percent(LEFT + WIDTH / 2)
        yield text(TOO_SMALL, middle, (TOP + BOTTOM) / 2 - 6, kind="chart-bare", anchor="middle")


def _joins(trend: Trend) -> Iterator[SafeString]:
    """Lines between neighbours that both have a value, unless a break stands between them."""
    for place, (before, after) in enumerate(zip(trend.points, trend.points[1:], strict=False)):
        first, second = before.reading.value, after.reading.value
        if first is not None and second is not None and not after.breaks:
            yield line(
                _x(trend, place),
                _y(trend.scale, first),
                _x(trend, place + 1),
                _y(trend.scale, second),
                "chart-join",
            )


def _points(trend: Trend) -> Iterator[SafeString]:
    for place, point in enumerate(trend.points):
        name = f"{point.label}: {trend.scale.say_reading(point.reading)}"
        drawn = _marks(trend, place, point.reading) + _under(trend, place, point)
        yield linked(point.reading.href if point.reading.n else "", name, drawn)


def _marks(trend: Trend, place: int, reading: Reading) -> SafeString:
    if reading.value is None:
        return SafeString()
    x, y = _x(trend, place), _y(trend.scale, reading.value)
    pieces = [hit(x, y)]
    if reading.low is not None and reading.high is not None:
        pieces.append(line(x, _y(trend.scale, reading.low), x, _y(trend.scale, reading.high), "chart-interval"))
    return together([*pieces, circle(x, y, 4.5, "chart-point")])


def _under(trend: Trend, place: int, point: Point) -> SafeString:
    """n and the label. Counted from the newest, so that it keeps its label however few have room."""
    quiet = " chart-too-few" if point.reading.value is None else ""
    numbers = [[str(each.reading.n)] for each in trend.points]
    return _word(place, numbers, (N_AT, f"chart-n{quiet}")) + _word(place, _labels(trend), (LABEL_AT, "chart-label"))


def _word(place: int, words: list[list[str]], row: tuple[int, str]) -> SafeString:
    """What stands under a point, in lines: below its own, but at the edge where it would leave a narrow chart."""
    y, kind = row
    middle = LEFT + WIDTH * (place + 0.5) / len(words)
    half = _longest([words[place]]) * LETTER_PX / 2 / NARROWEST_PX
    kind = f"{kind} {_room(len(words) - 1 - place, words)}".rstrip()
    x, anchor = (percent(middle), "middle")
    if middle + half > 1:
        x, anchor = ("100%", "end")
    elif middle < half:
        x, anchor = ("0", "start")
    return together(
        text(line_, x, y + LINE_HEIGHT * number, kind=kind, anchor=anchor) for number, line_ in enumerate(words[place])
    )


def _labels(trend: Trend) -> list[list[str]]:
    """Each in one line or two: the whole name is in the title of its point and in the table."""
    letters = LONGEST_LINE
    if trend.points and len(trend.points) <= FEW_POINTS:
        letters = min(letters, int((ROOM_PX[0][0] / len(trend.points) - BETWEEN_PX) / LETTER_PX))
    return [_in_lines(point.label, letters) for point in trend.points]


def _in_lines(words: str, letters: int) -> list[str]:
    """At a gap between words; a longer word loses its middle, since its end is what tells it from others."""
    lines = textwrap.wrap(words, letters, break_long_words=False, break_on_hyphens=False) or [""]
    if len(lines) > MOST_LINES_OF_A_LABEL:
        lines = [lines[0], " ".join(lines[1:])]
    return [_cut(each, letters) for each in lines]


def _cut(words: str, letters: int) -> str:
    if len(words) <= letters:
        return words
    kept = letters - 1
    return f"{words[: kept - kept // 2]}…{words[-(kept // 2) :]}"


def _longest(labels: list[list[str]]) -> int:
    return max(len(each) for lines in labels for each in lines)


def _room(from_last: int, labels: list[list[str]]) -> str:
    """The class of the narrowest chart that has room for this one of the labels.

    Every second, fourth and so on is left out, so that what a narrow chart shows, a wider one shows too.
    """
    widest = _longest(labels) * LETTER_PX + BETWEEN_PX
    for room_px, kind in ROOM_PX:
        step = 1
        while len(labels) / step * widest > room_px:
            step *= 2
        if from_last % step == 0:
            return kind
    return "chart-nowhere"


def _sentences(trend: Trend) -> Iterator[str]:
    for point in trend.points:
        if point.breaks:
            yield f"Break: {'; '.join(point.breaks)}."
        yield f"{point.label}: {trend.scale.say_reading(point.reading)}."
