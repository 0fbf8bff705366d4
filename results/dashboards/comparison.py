"""Two builds against each other: what was rated higher, in which scripts, and which problems came or went.

Everything is compared within the scripts that both builds ran, so that a build that was tried on harder scripts is
not called worse; what only one ran is left out, counted and named. Three queries, whatever the number of scripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import difference_of, difference_of_shares, share_of
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, ScriptVersion

from ..counts.read_counts import RatingCounts, TagCounts, read_rows, read_tags
from ..listing.filters import Filters
from ..markup import apart
from ..models import Result, Source
from .compared import (
    Changed,
    Compared,
    Comparison,
    LeftOut,
    Problem,
    ProblemLine,
    ScriptLine,
    Side,
    Two,
)
from .differences import holds, joint_confidence, say_difference, say_difference_of_shares, sureness

NOTHING = RatingCounts()
MOST_SCRIPTS = 10


def compare_builds(
    user: User, two: Two, filters: Filters, titles: Mapping[str, str], *, without_changed: bool = False
) -> Comparison:
    """What can be said of the two. `titles`: of the scripts that the viewer may know; others are not counted."""
    filters, source = filters.but(build=""), Source(filters.tags)
    plain = filters.but(tags=Source.FILED.value)
    rows = plain.narrow(Result.objects.visible_to(user).filter(build__in=two.keys))
    counted = read_rows(rows, by=("script", "build", "script_version", "taxonomy_edition"))
    by_script = _folded(counted)
    changed = _changed(user, two, titles, counted)
    left = {each.slug for each in changed} if without_changed else set()
    both = [slug for slug in titles if slug not in left and all(_runs(by_script, slug, key) for key in two.keys)]
    maker = _Maker(two, plain, titles, by_script, both)
    tagged = read_tags(rows.exclude(script__in=left), source, by=("script", "build"))
    return Comparison(
        two=two,
        dimensions=maker.dimensions(),
        lines=maker.lines(),
        only_build=maker.left_out(two.build, two.other, left),
        only_other=maker.left_out(two.other, two.build, left),
        changed=changed,
        editions=(_editions(counted, two.build), _editions(counted, two.other)),
        problems=_problems(two, filters, titles, tagged),
        source=source,
        tagged=_results_of(two, filters, tagged, is_linked=not left),
    )


Counted = Mapping[tuple[str, str, int, int], RatingCounts]
ByScript = Mapping[tuple[str, str], RatingCounts]


def _folded(counted: Counted) -> ByScript:
    """By script and build alone."""
    found: dict[tuple[str, str], RatingCounts] = {}
    for (script, build, _, _), counts in counted.items():
        found[script, build] = found.get((script, build), NOTHING) + counts
    return found


def _runs(by_script: ByScript, slug: str, build: str) -> int:
    return by_script.get((slug, build), NOTHING).runs


def _editions(counted: Counted, build: Build) -> str:
    found = sorted({edition for _, key, _, edition in counted if key == build.sort_key})
    return " and ".join(map(str, found))


def _changed(user: User, two: Two, titles: Mapping[str, str], counted: Counted) -> tuple[Changed, ...]:
    """Scripts that both builds ran, but not in the same versions."""
    ran: dict[tuple[str, str], set[int]] = {}
    for (script, build, version, _), counts in counted.items():
        if counts.runs:
            ran.setdefault((script, build), set()).add(version)
    pairs = {slug: (ran.get((slug, two.keys[0]), set()), ran.get((slug, two.keys[1]), set())) for slug in titles}
    differing = {slug: pair for slug, pair in pairs.items() if all(pair) and pair[0] != pair[1]}
    if not differing:
        return ()
    asked = set().union(*(versions for pair in differing.values() for versions in pair))
    known = ScriptVersion.objects.visible_to(user).in_bulk(asked)
    return tuple(
        Changed(slug, titles[slug], *(_numbers(user, known, versions) for versions in pair))
        for slug, pair in differing.items()
    )


def _numbers(user: User, known: Mapping[int, ScriptVersion], versions: set[int]) -> str:
    return " and ".join(
        str(number) for number in sorted(known[key].number_for(user) for key in versions if key in known)
    )


@dataclass(frozen=True)
class _Maker:
    """Makes the parts of a comparison from counts. `both`: the scripts that are compared, in order."""

    two: Two
    filters: Filters
    titles: Mapping[str, str]
    by_script: ByScript
    both: Sequence[str]

    def dimensions(self) -> tuple[Compared, ...]:
        pairs = [[self._pair(slug, dimension.key) for slug in self.both] for dimension in taxonomy.DIMENSIONS]
        confidence = joint_confidence(map(difference_of, pairs))
        return tuple(
            self._compared(dimension, of, "", confidence)
            for dimension, of in zip(taxonomy.DIMENSIONS, pairs, strict=True)
        )

    def lines(self) -> tuple[ScriptLine, ...]:
        """The scripts, those that differ the most surely first."""
        confidence = joint_confidence(
            difference_of([self._pair(slug, dimension.key)]) for slug in self.both for dimension in taxonomy.DIMENSIONS
        )
        lines = (self._line(slug, confidence) for slug in self.both)
        return tuple(sorted(lines, key=lambda line: (-line.sureness, line.title)))

    def left_out(self, build: Build, other: Build, left: set[str]) -> tuple[LeftOut, ...]:
        """Scripts that only the first of them ran, and those that were asked to be left out."""
        return tuple(
            LeftOut(slug, title, self._ran(slug, build))
            for slug, title in self.titles.items()
            if self._ran(slug, build).n and (slug in left or not self._ran(slug, other).n)
        )

    def _line(self, slug: str, confidence: float) -> ScriptLine:
        cells = (
            self._compared(dimension, [self._pair(slug, dimension.key)], slug, confidence)
            for dimension in taxonomy.DIMENSIONS
        )
        runs, other_runs = self._ran(slug, self.two.build), self._ran(slug, self.two.other)
        return ScriptLine(slug, self.titles[slug], runs, other_runs, tuple(cells))

    def _ran(self, slug: str, build: Build) -> Side:
        rows = self.filters.but(script=slug, build=build.name, started=True)
        return Side(None, _runs(self.by_script, slug, build.sort_key), rows=rows)

    def _pair(self, slug: str, dimension: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        of_build, of_other = (self.by_script[slug, key].counts[dimension] for key in self.two.keys)
        return of_build, of_other

    def _compared(
        self,
        dimension: taxonomy.Dimension,
        pairs: list[tuple[tuple[int, ...], tuple[int, ...]]],
        slug: str,
        confidence: float,
    ) -> Compared:
        difference = difference_of(pairs)
        return Compared(
            dimension,
            self._side(dimension.key, slug, self.two.build),
            self._side(dimension.key, slug, self.two.other),
            difference,
            holds(difference, partial(difference_of, pairs, confidence=confidence)),
            say_difference(difference, apart(self.two.other.name)),
            any(sum(a) or sum(b) for a, b in pairs),
        )

    def _side(self, dimension: str, slug: str, build: Build) -> Side:
        """Of one script, or (without a slug) of all where both were rated in this dimension, then with its mean."""
        within = self.filters.but(script=slug, build=build.name, dimension=dimension, low=1, high=5)
        if slug:
            return Side(None, self.by_script[slug, build.sort_key].n(dimension), rows=within)
        within = within.but(script=self.filters.script)
        rated = [each for each in self.both if all(self._n(each, key, dimension) for key in self.two.keys)]
        counts = sum((self.by_script[each, build.sort_key] for each in rated), NOTHING)
        rows = None if self._leaves_out(build, dimension, rated) else within
        return Side(counts.mean(dimension), counts.n(dimension), rows=rows)

    def _n(self, slug: str, build: str, dimension: str) -> int:
        return self.by_script[slug, build].n(dimension)

    def _leaves_out(self, build: Build, dimension: str, rated: Sequence[str]) -> bool:
        """Whether the build has ratings in scripts that are not compared: then its rows here are not all of them."""
        key = build.sort_key
        return {slug for slug, of in self.by_script if of == key and self._n(slug, of, dimension)} != set(rated)


Tagged = Mapping[tuple[str, str], TagCounts]


def _results_of(two: Two, filters: Filters, tagged: Tagged, *, is_linked: bool) -> tuple[Side, Side]:
    """Of how many results of either build the tags are counted, whether or not the other one has that script."""
    sides = []
    for build in (two.build, two.other):
        n = sum(counts.n for (_, key), counts in tagged.items() if key == build.sort_key)
        sides.append(Side(None, n, rows=filters.but(build=build.name) if is_linked else None))
    return sides[0], sides[1]


def _problems(two: Two, filters: Filters, titles: Mapping[str, str], tagged: Tagged) -> tuple[Problem, ...]:
    """Every problem that was tagged on either build, the surest difference first."""
    both = [slug for slug in titles if all((slug, key) in tagged for key in two.keys)]
    exact = tuple(sum(key == build for _, build in tagged) == len(both) for key in two.keys)
    maker = _ProblemMaker(two, filters, titles, tagged, both, (exact[0], exact[1]))
    tags = sorted({tag for slug in both for key in two.keys for tag in tagged[slug, key].tags})
    confidence = joint_confidence(difference_of_shares(maker.pairs(tag)) for tag in tags)
    made = (maker.problem(tag, confidence) for tag in tags)
    return tuple(sorted(made, key=lambda each: (-sureness(each.difference), -each.build.part, each.label)))


@dataclass(frozen=True)
class _ProblemMaker:
    """The same for problems. `exact`: whether all rows of the build, and of the other, are among those compared."""

    two: Two
    filters: Filters
    titles: Mapping[str, str]
    tagged: Tagged
    both: Sequence[str]
    exact: tuple[bool, bool]

    def pairs(self, tag: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        return [self._parts(tag, slug) for slug in self.both]

    def problem(self, tag: str, confidence: float) -> Problem:
        pairs = self.pairs(tag)
        difference = difference_of_shares(pairs)
        build_exact, other_exact = self.exact
        tagged_in = [slug for slug in self.both if any(part for part, _ in self._parts(tag, slug))]
        return Problem(
            tag,
            taxonomy.TAG_BY_KEY[tag].label,
            taxonomy.GROUP_OF_TAG[tag].name,
            self._side(tag, self.both, self.two.build, is_linked=build_exact),
            self._side(tag, self.both, self.two.other, is_linked=other_exact),
            difference,
            holds(difference, partial(difference_of_shares, pairs, confidence=confidence)),
            say_difference_of_shares(difference, apart(self.two.other.name)),
            tuple(self._lines(tag, tagged_in)),
            max(len(tagged_in) - MOST_SCRIPTS, 0),
        )

    def _lines(self, tag: str, slugs: list[str]) -> Iterable[ProblemLine]:
        """Those where it was tagged the most often."""
        often = sorted(slugs, key=lambda slug: -sum(part for part, _ in self._parts(tag, slug)))
        for slug in often[:MOST_SCRIPTS]:
            sides = (self._side(tag, [slug], build, is_linked=True) for build in (self.two.build, self.two.other))
            yield ProblemLine(self.titles[slug], *sides)

    def _parts(self, tag: str, slug: str) -> tuple[tuple[int, int], tuple[int, int]]:
        return self._of(tag, slug, self.two.build), self._of(tag, slug, self.two.other)

    def _of(self, tag: str, slug: str, build: Build) -> tuple[int, int]:
        counts = self.tagged[slug, build.sort_key]
        return counts.of(tag).tagged, counts.n

    def _side(self, tag: str, slugs: Sequence[str], build: Build, *, is_linked: bool) -> Side:
        found = [self._of(tag, slug, build) for slug in slugs]
        part, n = sum(part for part, _ in found), sum(n for _, n in found)
        script = slugs[0] if len(slugs) == 1 else self.filters.script
        rows = self.filters.but(build=build.name, script=script, problem=tag) if is_linked else None
        return Side(share_of(part, n), n, part, rows)
