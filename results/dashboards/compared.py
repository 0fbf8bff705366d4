"""What a comparison of two builds consists of, and what it says in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from emma_eval.scoring.intervals import FEWEST, Difference, Mean, Share
from scripts_catalog import taxonomy
from scripts_catalog.models import Build

from ..charts.dumbbell import Dumbbell, Pair, draw_dumbbell, dumbbell_key
from ..charts.svg import TOO_SMALL, Reading
from ..figures import say_range, say_signed, to_whole
from ..listing.filters import Filters
from ..markup import apart
from ..models import Source
from .differences import is_compared, is_told, say_in_short, sureness


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


@dataclass(frozen=True)
class Compared:
    """One dimension on both builds.

    `is_sure`: it also holds for all comparisons of its kind together. `is_rated`: there are ratings of it, though
    perhaps not of both in the same script.
    """

    dimension: taxonomy.Dimension
    build: Side
    other: Side
    difference: Difference | None
    is_sure: bool
    words: str
    is_rated: bool

    @property
    def is_shown(self) -> bool:
        return self.difference is not None and self.difference.shows_difference

    @property
    def is_higher(self) -> bool:
        return self.is_shown and self.difference is not None and self.difference.difference > 0

    @property
    def is_compared(self) -> bool:
        return is_compared(self.difference)

    @property
    def is_told(self) -> bool:
        return is_told(self.difference)

    @property
    def is_too_small(self) -> bool:
        """Whether too few ratings are why nothing is said."""
        return self.is_rated and (self.difference is None or self.difference.is_too_small)


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
    tagged: tuple[Side, Side]

    @property
    def made(self) -> int:
        """How many comparisons of a script and a dimension were made: those that could have shown something."""
        return sum(cell.is_compared for line in self.lines for cell in line.cells)

    @property
    def left_out(self) -> int:
        """How many scripts are left out: of one build alone, or changed and unwanted."""
        return len({each.slug for each in (*self.only_build, *self.only_other)})

    @property
    def answer(self) -> str:
        return answer(self)

    @property
    def is_run_once(self) -> bool:
        """Whether no script was run a second time on either build."""
        return all(line.runs.n == line.other_runs.n == 1 for line in self.lines)

    @property
    def goes_by_scripts(self) -> bool:
        """Whether an interval is taken from how scripts differ, since there are few runs of each."""
        return any(each.is_compared and each.difference and each.difference.is_between for each in self.dimensions)

    @property
    def compared_dimensions(self) -> int:
        return sum(each.is_compared for each in self.dimensions)

    @property
    def by_chance(self) -> int:
        """How many of them would differ on average if nothing did: one in twenty."""
        return to_whole(self.made / 20)

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
        return to_whole(self.compared_problems / 20)

    @property
    def has_sure_findings(self) -> bool:
        return any(finding.cell.is_sure for finding in self.findings)

    @property
    def has_sure_problems(self) -> bool:
        return any(problem.is_sure for problem in self.problems)

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
        build, other = apart(self.two.build.name), apart(self.two.other.name)
        title = f"Mean ratings of {build} and {other}"
        return Dumbbell("compared", title, build, other, pairs)


def _drawn(cell: Compared) -> SafeString:
    """A difference with its interval, or why there is none; Vision with an n of its own, of calls with camera."""
    name = cell.dimension.name
    n = f"n {cell.build.n}, {cell.other.n}" if cell.dimension.key == "vision" and cell.is_rated else ""
    if cell.difference is None or not cell.is_told:
        why = TOO_SMALL if cell.is_too_small else "no interval" if cell.is_rated else "N/A"
        return format_html(
            '<td class="number" data-label="{}"><span class="quiet small">{}</span>'
            '<span class="small n">{}</span></td>',
            *(name, why, n),
        )
    found = cell.difference
    interval = "" if found.low is None or found.high is None else say_range(found.low, found.high)
    return format_html(
        '<td class="number{}" data-label="{}"><span class="size">{}</span>'
        '<span class="small interval">{}</span><span class="small n">{}</span></td>',
        *(" shown" if cell.is_shown else "", name, say_signed(found.difference), interval, n),
    )


CANT_YET = "Can’t be told yet"


def answer(found: Comparison) -> str:
    """Is this build better than the other one, and where? In plain words, with what can't be told, and no surer
    than the figures below it: what may be chance is said to be."""
    build, other = apart(found.two.build.name), apart(found.two.other.name)
    told = [each for each in found.dimensions if each.is_told]
    if not told:
        return _why_not(found)
    sure = [each for each in told if each.is_shown and each.is_sure]
    perhaps = [each for each in told if each.is_shown and not each.is_sure]
    said = [f"{build} is {_claim(sure, other)}."] if sure else []
    if perhaps:
        who = "it is also" if sure else f"{build} is"
        chance = f"{found.compared_dimensions} dimensions were compared, and that much may come by chance"
        said.append(f"Perhaps {who} {_claim(perhaps, '' if sure else other)}: {chance}.")
    if not sure and not perhaps:
        where = f"in {_joined([each.dimension.name for each in told])}" if len(told) < 5 else "in any dimension"
        said.append(f"No difference between {build} and {other} is shown {where}.")
    else:
        said += _others(len(told) - len(sure) - len(perhaps))
    return " ".join([*said, *_not_told(found.dimensions), *_where(found)])


def _why_not(found: Comparison) -> str:
    """Why no dimension can be told."""
    build, other = apart(found.two.build.name), apart(found.two.other.name)
    if not any(each.difference and not each.is_too_small for each in found.dimensions):
        return (
            f"Whether {build} is better than {other} can’t be told yet: "
            f"that takes {FEWEST} ratings on each, in scripts that both ran."
        )
    if found.is_run_once:
        return f"{CANT_YET}: each script was run once on each build. Run them again."
    return f"{CANT_YET}: nothing varies between the runs of a script, so there is no interval. Run them again."


def _claim(those: Sequence[Compared], other: str) -> str:
    """ "better than 2026.42 in Content (+0.40, interval …), and worse in Vision (−0.20, interval …)"."""
    better, worse = ([each for each in those if each.is_higher is is_higher] for is_higher in (True, False))
    than = f" than {other}" if other else ""
    said = [f"better{than} in {_listed(better)}"] if better else []
    said += [f"worse{'' if better else than} in {_listed(worse)}"] if worse else []
    return ", and ".join(said)


def _listed(those: Sequence[Compared]) -> str:
    return _joined([f"{each.dimension.name} ({say_in_short(each.difference)})" for each in those if each.difference])


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _others(unshown: int) -> Iterator[str]:
    if unshown:
        others = "the other dimension" if unshown == 1 else f"the other {unshown} dimensions"
        yield f"No difference is shown in {others}."


def _not_told(dimensions: Sequence[Compared]) -> Iterator[str]:
    """The dimensions of which nothing is said, and why."""
    small = [each.dimension.name for each in dimensions if each.is_too_small]
    if small:
        yield f"n is too small in {_joined(small)}."
    alike = [each.dimension.name for each in dimensions if each.is_rated and not each.is_told and not each.is_too_small]
    if alike:
        yield f"{_joined(alike)} can’t be told yet, since nothing varies that would tell an interval."


def _where(found: Comparison) -> Iterator[str]:
    """In which script it shows, if any script could show it by itself."""
    if not found.findings:
        if found.made:
            yield "No single script shows a difference by itself."
        return
    first = found.findings[0]
    size = say_in_short(first.cell.difference) if first.cell.difference else ""
    said = f"“{apart(first.line.title)}”: {first.cell.dimension.name}, {size}."
    if first.cell.is_sure:
        yield f"It shows most surely in {said}"
    else:
        yield f"Of single scripts, what differs may be chance; the least so in {said}"
