"""What the charts share: readings, scales, and the pieces that all of them are drawn with."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from django.utils.safestring import SafeString

from ..figures import say_number, say_share
from ..markup import format_html, format_html_join, together

TOO_SMALL = "n too small"
LINE_HEIGHT = 16
LETTERS_A_LINE = 34
MOST_LINES = 3


@dataclass(frozen=True)
class Reading:
    """A figure with its 95 % interval and the number it is taken from; no value: n is too small for one.

    `href` opens the rows that it counts. A mean is on 1-5, a share from 0 to 1.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    href: str = ""


@dataclass(frozen=True)
class Scale:
    """From where to where a chart reaches, and how its figures are written."""

    low: float
    high: float
    ticks: tuple[float, ...]
    decimals: int
    tick_decimals: int = 0
    is_of_shares: bool = False

    def place(self, value: float) -> float:
        """Where a value stands between the ends, from 0 to 1. What is beyond an end stands on it."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)

    def say(self, value: float) -> str:
        return self._said(value, self.decimals)

    def say_tick(self, value: float) -> str:
        return self._said(value, self.tick_decimals)

    def _said(self, value: float, decimals: int) -> str:
        return say_share(value, decimals) if self.is_of_shares else say_number(value, decimals)

    def say_interval(self, reading: Reading) -> str:
        """ "3.61 to 4.10"; empty where there is none."""
        if reading.low is None or reading.high is None:
            return ""
        return f"{self.say(reading.low)} to {self.say(reading.high)}"

    def say_reading(self, reading: Reading) -> str:
        """In words, with everything that belongs to the figure."""
        if reading.value is None:
            return f"{TOO_SMALL}, n {reading.n}"
        interval = self.say_interval(reading)
        return f"{self.say(reading.value)}, {f'interval {interval}, ' if interval else ''}n {reading.n}"


RATINGS = Scale(1, 5, (1, 2, 3, 4, 5), decimals=2)
SHARES = Scale(0, 1, (0, 0.25, 0.5, 0.75, 1), decimals=0, is_of_shares=True)


def frame(key: str, title: str, description: str, height: int, drawn: SafeString, *, has_links: bool) -> SafeString:
    """The SVG itself. `key` makes its ids unique on a page. One with links in it is a group, not one picture."""
    return format_html(
        '<svg class="chart" width="100%" height="{}" role="{}" aria-labelledby="{key}-title {key}-desc">'
        '<title id="{key}-title">{}</title><desc id="{key}-desc">{}</desc>{}</svg>',
        *(height, "group" if has_links else "img", title, description, drawn),
        key=key,
    )


def percent(share: float) -> str:
    """A share as a coordinate."""
    return f"{100 * share:.2f}%"


def text(words: str, x: str, y: float, *, kind: str = "", anchor: str = "start") -> SafeString:
    return format_html('<text{} x="{}" y="{}" text-anchor="{}">{}</text>', _class(kind), x, _number(y), anchor, words)


def line(x1: str, y1: float, x2: str, y2: float, kind: str) -> SafeString:
    return format_html('<line{} x1="{}" y1="{}" x2="{}" y2="{}"/>', _class(kind), x1, _number(y1), x2, _number(y2))


def rect(x: str, y: float, width: str, height: float, kind: str) -> SafeString:
    return format_html(
        '<rect{} x="{}" y="{}" width="{}" height="{}"/>', _class(kind), x, _number(y), width, _number(height)
    )


def circle(x: str, y: float, radius: float, kind: str) -> SafeString:
    return format_html('<circle{} cx="{}" cy="{}" r="{}"/>', _class(kind), x, _number(y), _number(radius))


def diamond(x: str, y: float, radius: int, kind: str) -> SafeString:
    """A square on its corner. A path has no percentages, so it stands in a frame of its own that has."""
    return format_html(
        '<svg class="chart-mark" x="{}" y="{}" width="1" height="1"><path{} d="M0-{r}L{r} 0L0 {r}L-{r} 0Z"/></svg>',
        *(x, _number(y), _class(kind)),
        r=radius,
    )


def hit(x: str, y: float) -> SafeString:
    """What can be pressed of a mark that is smaller than a finger."""
    return circle(x, y, 12, "chart-hit")


def linked(href: str, name: str, drawn: SafeString) -> SafeString:
    """What is drawn as a link to its rows, under this name; without an address it stays as it is, with its name."""
    if not href:
        return format_html("<g><title>{}</title>{}</g>", name, drawn)
    return format_html('<a href="{}" aria-label="{}"><title>{}</title>{}</a>', href, name, name, drawn)


def key_of(marks: Iterable[tuple[SafeString, str]]) -> SafeString:
    """What each mark means, below a chart; for the eye alone, since everything drawn is also named in words."""
    return format_html(
        '<p class="chart-key small" aria-hidden="true">{}</p>',
        format_html_join(" ", '<span><svg class="chart-swatch" width="14" height="14">{}</svg> {}</span>', marks),
    )


def wrapped(words: str, letters: int = LETTERS_A_LINE) -> list[str]:
    """A label in lines that fit a phone: SVG breaks none by itself."""
    return textwrap.wrap(words, letters, max_lines=MOST_LINES, placeholder="…") or [""]


def label(lines: list[str], y: float, kind: str = "") -> SafeString:
    """Lines of a label, the first on `y`, from the left."""
    return together(text(words, "0", y + LINE_HEIGHT * place, kind=kind) for place, words in enumerate(lines))


@cache
def _class(kind: str) -> SafeString:
    return format_html(' class="{}"', kind) if kind else SafeString()


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
