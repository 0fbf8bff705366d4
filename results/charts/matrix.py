"""Agreement in a grid: one cell for each row and column, its figure on its shade; hatched where it can't be told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from ..figures import say_number, say_range
from ..markup import format_html, together
from . import twins
from .svg import LINE_HEIGHT, TOO_SMALL, frame, key_of, label, linked, percent, text, wrapped

CELL, GAP = 40, 8
LETTERS_A_HEAD = 9
UNTOLD = "chart-untold"
# Bounds that are customary for alpha (Krippendorff, Content Analysis): reliable, and for tentative conclusions.
RELIABLE, TENTATIVE = 0.8, 0.667


@dataclass(frozen=True)
class Square:
    """One figure from -1 to 1, or why there is none. `n` counts the units that it is taken from; `is_too_small`: that
    is why."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    why: str = ""
    href: str = ""
    is_too_small: bool = False

    @property
    def in_words(self) -> str:
        if self.is_too_small:
            return f"{TOO_SMALL}, n {self.n}"
        if self.value is None:
            return f"can’t be told{f' ({self.why})' if self.why else ''}, n {self.n}"
        return f"{say_number(self.value)}{f', interval {self.interval}' if self.interval else ''}, n {self.n}"

    @property
    def interval(self) -> str:
        return "" if self.low is None or self.high is None else say_range(self.low, self.high)

    @property
    def shade(self) -> str:
        """By the customary bounds; the figure stands on it in any case."""
        if self.value is None:
            return UNTOLD
        if self.value >= RELIABLE:
            return "chart-shade-3"
        return "chart-shade-2" if self.value >= TENTATIVE else "chart-shade-1"


@dataclass(frozen=True)
class MatrixRow:
    label: str
    squares: tuple[Square, ...]


@dataclass(frozen=True)
class Matrix:
    """`row_name` says what the rows are. Every row has a square for each column."""

    key: str
    title: str
    row_name: str
    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def matrix_figure(matrix: Matrix) -> SafeString:
    return twins.figure(draw_matrix(matrix), matrix_table(matrix), below=matrix_key(matrix))


def draw_matrix(matrix: Matrix) -> SafeString:
    heads = [wrapped(name, LETTERS_A_HEAD) for name in matrix.columns]
    top = max((len(lines) for lines in heads), default=1) * LINE_HEIGHT + GAP
    pieces = [_hatch(matrix.key), *_heads(heads)]
    for row in matrix.rows:
        lines = wrapped(row.label)
        under = top + len(lines) * LINE_HEIGHT
        pieces += [label(lines, top + 11), *_squares(matrix, row, under)]
        top = under + CELL + GAP
    has_links = any(square.href for row in matrix.rows for square in row.squares)
    return frame(matrix.key, matrix.title, " ".join(_sentences(matrix)), top, together(pieces), has_links=has_links)


def matrix_table(matrix: Matrix) -> SafeString:
    heads = [matrix.row_name]
    for name in matrix.columns:
        heads += twins.reading_heads(name)
    rows = [(row.label, [cell for square in row.squares for cell in _cells(square)]) for row in matrix.rows]
    return twins.table(matrix.title, heads, rows)


def matrix_key(matrix: Matrix) -> SafeString:
    shades = (
        ("chart-shade-3", f"{RELIABLE} or more"),
        ("chart-shade-2", f"{TENTATIVE} or more"),
        ("chart-shade-1", f"below {TENTATIVE}"),
        (UNTOLD, f"can’t be told, or {TOO_SMALL}"),
    )
    return key_of(
        (format_html('<rect {} width="14" height="14"/>', _filled(matrix.key, kind)), words) for kind, words in shades
    )


def _filled(key: str, kind: str) -> SafeString:
    """How a rectangle is filled: by its shade, or hatched where it can't be told."""
    if kind == UNTOLD:
        return format_html('class="chart-square" fill="url(#{}-hatch)"', key)
    return format_html('class="chart-square {}"', kind)


def _hatch(key: str) -> SafeString:
    return format_html(
        '<defs><pattern id="{}-hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><line class="chart-hatching" x1="0" y1="0" x2="0" y2="7"/></pattern></defs>',
        key,
    )


def _heads(heads: list[list[str]]) -> Iterator[SafeString]:
    for place, lines in enumerate(heads):
        middle = percent((place + 0.5) / len(heads))
        for number, words in enumerate(lines):
            yield text(words, middle, 11 + LINE_HEIGHT * number, kind="chart-head", anchor="middle")


def _squares(matrix: Matrix, row: MatrixRow, top: int) -> Iterator[SafeString]:
    for place, square in enumerate(row.squares):
        name = f"{row.label}, {matrix.columns[place]}: {square.in_words}"
        yield linked(square.href, name, _square(matrix, square, place, top))


def _square(matrix: Matrix, square: Square, place: int, top: int) -> SafeString:
    width = 1 / len(matrix.columns)
    box = format_html(
        '<rect {} x="{}" y="{}" width="{}" height="{}"/>',
        *(_filled(matrix.key, square.shade), percent(place * width), top, percent(width), CELL),
    )
    middle = percent((place + 0.5) * width)
    figure = "–" if square.value is None else say_number(square.value)
    return together(
        [
            box,
            text(figure, middle, top + 18, kind=f"chart-figure-on {square.shade}-ink", anchor="middle"),
            text(f"n {square.n}", middle, top + 33, kind=f"chart-n-on {square.shade}-ink", anchor="middle"),
        ]
    )


def _cells(square: Square) -> list[twins.Cell]:
    n = twins.Cell(str(square.n), is_quiet=not square.n)
    if square.is_too_small:
        return [twins.Cell(TOO_SMALL, is_quiet=True), twins.Cell(""), n]
    if square.value is None:
        return [twins.Cell(f"can’t be told{f': {square.why}' if square.why else ''}", is_quiet=True), twins.Cell(""), n]
    return [twins.Cell(say_number(square.value), square.href), twins.Cell(square.interval), n]


def _sentences(matrix: Matrix) -> Iterator[str]:
    for row in matrix.rows:
        said = "; ".join(f"{name} {square.in_words}" for name, square in zip(matrix.columns, row.squares, strict=True))
        yield f"{row.label}: {said}."
