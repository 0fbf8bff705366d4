"""A digest as a letter: the same sections as plain text, as simple HTML, and on the page that shows it beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.formats import date_format

from emma_eval.scoring.intervals import Difference, Mean

from ..dashboards.differences import say_interval, say_size
from ..figures import say_number, say_range, say_share, say_share_range
from ..listing.filters import Filters
from .due import Week
from .read_digest import Rated, Said, Tagged


@dataclass(frozen=True)
class Line:
    """One thing that is said. `link` opens what it counts; empty for none."""

    words: str
    link: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Letter:
    subject: str
    greeting: str
    sections: tuple[Section, ...]
    page: str
    views: str

    def as_text(self) -> str:
        return "\n".join(self._text_lines())

    def _text_lines(self) -> Iterator[str]:
        yield from (self.greeting, "")
        for section in self.sections:
            yield from (section.title, "-" * len(section.title))
            for line in section.lines:
                yield f"* {line.words}"
                if line.link:
                    yield f"  {line.link}"
            yield ""
        yield from ("The same view on the site:", self.page, "")
        yield from ("You asked for this letter. Stop it, or change what it is about, on your views:", self.views, "")


def write_letter(said: Said) -> Letter:
    week = _days(said.week)
    return Letter(
        subject=f"Emma in the week of {week}: {said.about}",
        greeting=f"What testers found out about Emma from {week}, beside the week before. Counted: {said.about}.",
        sections=(
            Section("Runs", tuple(_runs(said))),
            Section("How she was rated, as filed", tuple(_rated(rated) for rated in said.rated)),
            Section(f"Problems tagged most often, {said.source.label.lower()}", _problems(said.often, "tagged on")),
            Section(f"Biggest problems, {said.source.label.lower()}", _problems(said.biggest, "the biggest on")),
            Section("Open rounds", tuple(_rounds(said)) or (Line("No round is open."),)),
        ),
        page=settings.ORIGIN + said.address.url,
        views=settings.ORIGIN + reverse("views"),
    )


def rows(filters: Filters) -> str:
    """The address of the results that a figure counts."""
    return f"{settings.ORIGIN}{reverse('results')}?{filters.query()}"


def _days(week: Week) -> str:
    return f"{date_format(week.first_day, 'j M')} to {date_format(week.last_day, 'j M Y')}"


def _runs(said: Said) -> Iterator[Line]:
    yield Line(
        f"{_count(said.now.runs, 'run')}; {said.before.runs} the week before.", rows(said.filters.but(started=True))
    )
    if said.now.never_started or said.before.never_started:
        never = _count(said.now.never_started, "call")
        words = f"{never} never started; {said.before.never_started} the week before. They count in no mean."
        yield Line(words, rows(said.filters.but(started=False)))


def _rated(rated: Rated) -> Line:
    name, mean = rated.dimension.name, rated.now
    if mean is None:
        return Line(f"{name}: no ratings this week.")
    compared = "" if mean.is_too_small else f" {_difference(rated.difference)}"
    return Line(f"{name}: {_mean(mean)}.{compared}", rows(rated.filters))


def _mean(mean: Mean) -> str:
    if mean.is_too_small:
        return f"n too small (n {mean.n})"
    interval = f", interval {say_range(mean.low, mean.high)}" if mean.low is not None and mean.high is not None else ""
    return f"mean {say_number(mean.mean)} (n {mean.n}{interval})"


def _difference(difference: Difference | None) -> str:
    """Against the week before, within the scripts that were run in both weeks."""
    if difference is None:
        return "No script was rated in both weeks, so there is nothing to compare."
    n = f"{difference.n_a} and {difference.n_b} ratings of the same scripts"
    if difference.is_too_small:
        return f"Against the week before n is too small ({n})."
    if difference.low is None or difference.high is None:
        return f"No difference from the week before can be told ({n})."
    size = f"{say_size(difference)} than the week before ({say_interval(difference)}, {n})."
    return size if difference.shows_difference else f"No difference shown: {size}"


def _problems(found: tuple[Tagged, ...], how: str) -> tuple[Line, ...]:
    if not found:
        return (Line("None this week."),)
    return tuple(_problem(each, how) for each in found)


def _problem(each: Tagged, how: str) -> Line:
    share = each.biggest if each.filters.is_biggest else each.tagged
    told = f"{each.tag.label}: {how} {share.part} of {_count(share.n, 'result')}"
    if share.is_too_small:
        return Line(f"{told} (n too small for a share).", rows(each.filters))
    return Line(
        f"{told}, {say_share(share.share)} (interval {say_share_range(share.low, share.high)}).", rows(each.filters)
    )


def _rounds(said: Said) -> Iterator[Line]:
    for progress in said.rounds:
        due = f", due {date_format(progress.round.due_on, 'j M Y')}" if progress.round.due_on else ""
        missing = f"{progress.missing} missing" if progress.missing else "complete"
        told = f"{progress.counted} of {progress.wanted} wanted runs, {missing}{due}"
        words = f"{progress.round.name}, build {progress.round.build.name}: {told}."
        yield Line(words, settings.ORIGIN + progress.round.get_absolute_url())


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
