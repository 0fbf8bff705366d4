"""What a comparison of two builds consists of, and what it says in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from emma_eval.scoring.intervals import FEWEST, Difference, Mean, Share
from scripts_catalog import taxonomy
from scripts_catalog.models import Build

from ..charts.dumbbell import Dumbbell, Pair, draw_dumbbell, dumbbell_key
from ..charts.svg import TOO_SMALL, Reading
from ..listing.filters import Filters
from ..models import Source
from .differences import is_compared, say_size, sureness


@dataclass(frozen=True)
class Two:
    """The builds: `build` is the one that is asked about, `other` what it is compared with."""

    build: Build
    other: Build

    @property
    def keys(self) -> tuple[str, str]:
        return self.build.sort_key, self.other.sort_key


@dataclass(frozen=True)
class Side:
    """What one build has of something: the figure with its interval, its n, and the rows that it counts.

    `rows` is None where they are not one list: then another part of the page takes them apart.
    """

    figure: Mean | Share | None
    n: int
    part: int = 0
    rows: Filters | None = None

    @property
    def query(self) -> str:
        return self.rows.query() if self.rows else ""

    @property
    def reading(self) -> Reading:
        """As charts take it; without a value under the n that a figure needs."""
        figure = self.figure
        if figure is None or figure.is_too_small:
            return Reading(None, self.n)
        value = figure.mean if isinstance(figure, Mean) else figure.share
        return Reading(value, self.n, figure.low, figure.high)

    @property
    def share(self) -> str:
        """Of shares: in hundredths, as the page writes it."""
        return _hundredths(self.reading.value)

    @property
    def interval(self) -> str:
        reading = self.reading
        return f"{_hundredths(reading.low)} to {_hundredths(reading.high)}"


@dataclass(frozen=True)
class Compared:
    """One dimension on both builds. `is_sure`: it also holds for all comparisons of its kind together."""

    dimension: taxonomy.Dimension
    build: Side
    other: Side
    difference: Difference | None
    is_sure: bool
    words: str

    @property
    def is_shown(self) -> bool:
        return self.difference is not None and self.difference.shows_difference

    @property
    def is_higher(self) -> bool:
        return self.is_shown and self.difference is not None and self.difference.difference > 0

    @property
    def is_rated(self) -> bool:
        return bool(self.build.n or self.other.n)

    @property
    def is_compared(self) -> bool:
        return is_compared(self.difference)


@dataclass(frozen=True)
class ScriptLine:
    """One script that both builds ran, dimension by dimension."""

    slug: str
    title: str
    runs: Side
    other_runs: Side
    cells: tuple[Compared, ...]

    @property
    def drawn(self) -> SafeString:
        """The cells of its row, written in one go: a page has hundreds of them."""
        return format_html_join("", "{}", ((_drawn(cell),) for cell in self.cells))

    @property
    def sureness(self) -> float:
        return max(sureness(cell.difference) for cell in self.cells)


@dataclass(frozen=True)
class Finding:
    """A dimension that differs in one script."""

    line: ScriptLine
    cell: Compared


@dataclass(frozen=True)
class Problem:
    """How often one problem was tagged on both builds, within the scripts that both have results of.

    `scripts`: those where it was tagged the most often; `more_scripts`: how many others it was tagged in.
    """

    tag: str
    label: str
    group: str
    build: Side
    other: Side
    difference: Difference | None
    is_sure: bool
    words: str
    scripts: tuple[ProblemLine, ...]
    more_scripts: int

    @property
    def is_more(self) -> bool:
        return self.is_shown and self.difference is not None and self.difference.difference > 0

    @property
    def is_shown(self) -> bool:
        return self.difference is not None and self.difference.shows_difference


@dataclass(frozen=True)
class ProblemLine:
    """The same in one script."""

    title: str
    build: Side
    other: Side


@dataclass(frozen=True)
class LeftOut:
    """A script that only one of the builds ran."""

    slug: str
    title: str
    runs: Side


@dataclass(frozen=True)
class Changed:
    """A script whose versions are not the same on both builds."""

    slug: str
    title: str
    build: str
    other: str


@dataclass(frozen=True)
class Comparison:
    """Everything that the page says of two builds."""

    two: Two
    dimensions: tuple[Compared, ...]
    lines: tuple[ScriptLine, ...]
    only_build: tuple[LeftOut, ...]
    only_other: tuple[LeftOut, ...]
    changed: tuple[Changed, ...]
    editions: tuple[str, str]
    problems: tuple[Problem, ...]
    source: Source

    @property
    def made(self) -> int:
        """How many comparisons of a script and a dimension were made: those with enough ratings on both sides."""
        return sum(cell.is_compared for line in self.lines for cell in line.cells)

    @property
    def left_out(self) -> int:
        """How many scripts are left out: of one build alone, or changed and unwanted."""
        return len({each.slug for each in (*self.only_build, *self.only_other)})

    @property
    def answer(self) -> str:
        return answer(self.two.build.name, self.two.other.name, self.dimensions, self.findings)

    @property
    def compared_dimensions(self) -> int:
        return sum(each.is_compared for each in self.dimensions)

    @property
    def by_chance(self) -> int:
        """How many of them would differ on average if nothing did: one in twenty."""
        return round(self.made / 20)

    @property
    def findings(self) -> list[Finding]:
        """What differs, the surest first."""
        found = [Finding(line, cell) for line in self.lines for cell in line.cells if cell.is_shown]
        return sorted(found, key=lambda finding: -sureness(finding.cell.difference))

    @property
    def compared_problems(self) -> int:
        return sum(is_compared(problem.difference) for problem in self.problems)

    @property
    def problems_by_chance(self) -> int:
        return round(self.compared_problems / 20)

    @property
    def more(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.is_more]

    @property
    def less(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.is_shown and not problem.is_more]

    @property
    def unshown(self) -> list[Problem]:
        return [problem for problem in self.problems if not problem.is_shown]

    @property
    def chart(self) -> SafeString:
        return draw_dumbbell(self._dumbbell)

    @property
    def chart_key(self) -> SafeString:
        return dumbbell_key(self._dumbbell)

    @property
    def _dumbbell(self) -> Dumbbell:
        pairs = tuple(Pair(each.dimension.name, each.build.reading, each.other.reading) for each in self.dimensions)
        title = f"Mean ratings of {self.two.build.name} and {self.two.other.name}"
        return Dumbbell("compared", title, self.two.build.name, self.two.other.name, pairs)


def _drawn(cell: Compared) -> SafeString:
    """A difference with its interval, or why there is none; Vision with an n of its own, of calls with camera."""
    name = cell.dimension.name
    n = f"n {cell.build.n}, {cell.other.n}" if cell.dimension.key == "vision" and cell.is_rated else ""
    if cell.difference is None or not cell.is_compared:
        why = TOO_SMALL if cell.is_rated else "N/A"
        return format_html(
            '<td class="number" data-label="{}"><span class="quiet small">{}</span>'
            '<span class="small n">{}</span></td>',
            *(name, why, n),
        )
    found = cell.difference
    interval = "" if found.low is None or found.high is None else f"{found.low:.2f} to {found.high:.2f}"
    return format_html(
        '<td class="number{}" data-label="{}"><span class="size">{}</span>'
        '<span class="small interval">{}</span><span class="small n">{}</span></td>',
        *(" shown" if cell.is_shown else "", name, f"{found.difference:+.2f}", interval, n),
    )


def _hundredths(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}"


def answer(build: str, other: str, dimensions: Sequence[Compared], findings: Sequence[Finding]) -> str:
    """Is this build better than the other one, and where? In plain words, with what can't be told."""
    compared = [each for each in dimensions if each.is_compared]
    if not compared:
        return (
            f"Whether {build} is better than {other} can’t be told yet: "
            f"that takes {FEWEST} ratings on each, in scripts that both ran."
        )
    small = [each.dimension.name for each in dimensions if not each.is_compared and each.is_rated]
    better = [each for each in compared if each.is_higher]
    worse = [each for each in compared if each.is_shown and not each.is_higher]
    if not better and not worse:
        nothing = f"No difference between {build} and {other} is shown in any dimension."
        return f"{nothing} {_too_small(small)}{_where(findings)}"
    said = [f"better than {other} in {_listed(better)}"] if better else []
    said += [f"worse{'' if better else f' than {other}'} in {_listed(worse)}"] if worse else []
    others = _others(len(compared) - len(better) - len(worse)) + _too_small(small)
    return f"{build} is {', and '.join(said)}. {others}{_where(findings)}"


def _listed(those: Sequence[Compared]) -> str:
    """ "Content (0.40 higher) and Vision (0.20 higher)"."""
    named = [f"{each.dimension.name} ({say_size(each.difference)})" for each in those if each.difference]
    return _joined(named)


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _others(unshown: int) -> str:
    if not unshown:
        return ""
    return f"No difference is shown in {'the other dimension' if unshown == 1 else f'the other {unshown} dimensions'}. "


def _too_small(names: Sequence[str]) -> str:
    return f"n is too small in {_joined(names)}. " if names else ""


def _where(findings: Sequence[Finding]) -> str:
    if not findings:
        return "No single script shows a difference by itself."
    first = findings[0]
    size = say_size(first.cell.difference) if first.cell.difference else ""
    return f"It shows most surely in “{first.line.title}”: {first.cell.dimension.name}, {size}."
