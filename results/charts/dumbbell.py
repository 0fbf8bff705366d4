"""Two figures of each row with their intervals, on one scale: a build against another, returning against first-time.

The first is a ring, the second a filled diamond: shape tells them apart, colour only helps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from ..markup import together
from . import twins
from .svg import (
    LINE_HEIGHT,
    RATINGS,
    Reading,
    Scale,
    circle,
    diamond,
    frame,
    hit,
    key_of,
    label,
    line,
    linked,
    percent,
    text,
    wrapped,
)

ROW = 52
LEFT, WIDTH = 0.03, 0.94
AXIS = 24
APART = 7


@dataclass(frozen=True)
class Pair:
    """A row: what it is of, its two figures, and what stands in words for the difference (it may be empty)."""

    label: str
    first: Reading
    second: Reading
    words: str = ""


@dataclass(frozen=True)
class Dumbbell:
    """`first_name` and `second_name` are what the two figures of every row are of."""

    key: str
    title: str
    first_name: str
    second_name: str
    pairs: tuple[Pair, ...]
    scale: Scale = RATINGS
    row_name: str = "Dimension"


def dumbbell_figure(dumbbell: Dumbbell) -> SafeString:
    return twins.figure(draw_dumbbell(dumbbell), dumbbell_table(dumbbell), below=dumbbell_key(dumbbell))


def draw_dumbbell(dumbbell: Dumbbell) -> SafeString:
    rows, top = [], 0
    for pair in dumbbell.pairs:
        lines = wrapped(pair.label)
        middle = top + len(lines) * LINE_HEIGHT + 14
        rows += [label(lines, top + 12), *_row(dumbbell, pair, middle)]
        top += ROW + (len(lines) - 1) * LINE_HEIGHT
    has_links = any(reading.href for pair in dumbbell.pairs for reading in (pair.first, pair.second))
    drawn = together([*_grid(dumbbell.scale, top), *rows])
    said = " ".join(_sentences(dumbbell))
    return frame(dumbbell.key, dumbbell.title, said, top + AXIS, drawn, has_links=has_links)


def dumbbell_table(dumbbell: Dumbbell) -> SafeString:
    has_words = any(pair.words for pair in dumbbell.pairs)
    heads = [dumbbell.row_name]
    for name in (dumbbell.first_name, dumbbell.second_name):
        heads += twins.reading_heads(name)
    rows = []
    for pair in dumbbell.pairs:
        cells = [cell for each in (pair.first, pair.second) for cell in twins.reading_cells(each, dumbbell.scale)]
        rows.append((pair.label, [*cells, twins.Cell(pair.words)] if has_words else cells))
    return twins.table(dumbbell.title, [*heads, "Difference"] if has_words else heads, rows)


def _x(scale: Scale, value: float) -> str:
    return percent(LEFT + WIDTH * scale.place(value))


def _grid(scale: Scale, bottom: int) -> Iterator[SafeString]:
    for tick in scale.ticks:
        yield line(_x(scale, tick), 0, _x(scale, tick), bottom, "chart-grid")
        yield text(scale.say_tick(tick), _x(scale, tick), bottom + 16, kind="chart-note", anchor="middle")


def _row(dumbbell: Dumbbell, pair: Pair, y: int) -> Iterator[SafeString]:
    yield text(_numbers(pair), "100%", y - 14 - 4, kind="chart-note", anchor="end")
    if pair.first.value is not None and pair.second.value is not None:
        scale = dumbbell.scale
        yield line(_x(scale, pair.first.value), y, _x(scale, pair.second.value), y, "chart-bar")
    yield _mark(dumbbell, pair, y, is_first=True)
    yield _mark(dumbbell, pair, y, is_first=False)


def _numbers(pair: Pair) -> str:
    return f"n {pair.first.n} and {pair.second.n}"


def _mark(dumbbell: Dumbbell, pair: Pair, y: int, *, is_first: bool) -> SafeString:
    """A figure: its interval a little above the middle for the first, a little below for the second."""
    reading = pair.first if is_first else pair.second
    if reading.value is None:
        return SafeString()
    scale, which = dumbbell.scale, "first" if is_first else "second"
    x = _x(scale, reading.value)
    drawn = hit(x, y)
    if reading.low is not None and reading.high is not None:
        at = y - APART if is_first else y + APART
        drawn += line(_x(scale, reading.low), at, _x(scale, reading.high), at, f"chart-interval chart-{which}")
    drawn += circle(x, y, 5, "chart-ring") if is_first else diamond(x, y, 6, "chart-diamond")
    name = dumbbell.first_name if is_first else dumbbell.second_name
    return linked(reading.href, f"{pair.label}, {name}: {scale.say_reading(reading)}", drawn)


def dumbbell_key(dumbbell: Dumbbell) -> SafeString:
    """Which mark is which; for the eye alone, since every figure is named in words."""
    return key_of(
        [
            (circle("50%", 7, 5, "chart-ring"), dumbbell.first_name),
            (diamond("50%", 7, 6, "chart-diamond"), dumbbell.second_name),
            (line("0", 7, "100%", 7, "chart-interval"), "95 % interval"),
        ]
    )


def _sentences(dumbbell: Dumbbell) -> Iterator[str]:
    for pair in dumbbell.pairs:
        first, second = (dumbbell.scale.say_reading(each) for each in (pair.first, pair.second))
        more = f" {pair.words}." if pair.words else ""
        yield f"{pair.label}: {dumbbell.first_name} {first}; {dumbbell.second_name} {second}.{more}"
