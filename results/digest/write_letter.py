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
from ..markup import apart
from .due import Week
from .read_digest import Rated, Said, Tagged

NONE_TAGGED = "None this week."


@dataclass(frozen=True)
class Link:
    """What opens the rows that a figure counts; `shows` names them."""

    address: str
    shows: str


@dataclass(frozen=True)
class Line:
    """One thing that is said, of what, with a link for each thing that it counts."""

    of: str
    words: str
    links: tuple[Link, ...] = ()

    @property
    def sentence(self) -> str:
        return f"{self.of}: {self.words}"


@dataclass(frozen=True)
class Section:
    """`none`: what is said where there is no line."""

    title: str
    lines: tuple[Line, ...]
    none: str = ""


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
                yield f"* {line.sentence}"
                yield from (f"  {link.shows}: {link.address}" for link in line.links)
            if not section.lines:
                yield section.none
            yield ""
        yield from ("The same view on the site:", self.page, "")
        yield from ("You asked for this letter. Stop it, or change what it is about, on your views:", self.views, "")


def write_letter(said: Said) -> Letter:
    week = _days(said.week)
    return Letter(
        subject=f"Emma in the week of {week}: {said.about}",
        greeting=(
            f"What testers found out about Emma from {week}, beside the week before. Counted: {said.about}."
            f"{_other_days(said)} Safety is left out of letters."
        ),
        sections=(
            Section("Runs", tuple(_runs(said))),
            Section("How she was rated, as filed", tuple(_rated(rated) for rated in said.rated)),
            Section(
                f"Problems tagged most often, {said.source.label.lower()}",
                _problems(said.often, "tagged on"),
                NONE_TAGGED,
            ),
            Section(
                f"Biggest problems, {said.source.label.lower()}", _problems(said.biggest, "the biggest on"), NONE_TAGGED
            ),
            Section("Open rounds", tuple(_rounds(said)), "No round is open."),
        ),
        page=settings.ORIGIN + said.address.url,
        views=settings.ORIGIN + reverse("views"),
    )


def rows(filters: Filters) -> str:
    """The address of the results that a figure counts."""
    return f"{settings.ORIGIN}{reverse('results')}?{filters.query()}"


def _days(week: Week) -> str:
    return f"{date_format(week.first_day, 'j M')} to {date_format(week.last_day, 'j M Y')}"


def _other_days(said: Said) -> str:
    """A letter is always of one week, whatever days its view is narrowed to on the site."""
    if not said.days:
        return ""
    return f" On the site this view is narrowed to other days ({said.days}); a letter is always about one week."


def _runs(said: Said) -> Iterator[Line]:
    runs = _count(said.now.runs, "run")
    before = _count(said.before.runs, "run")
    yield Line(
        *("Took place", f"{runs}; {said.before.runs} the week before."),
        (
            *_opens(said.now.runs, f"The {runs}", said.filters.but(started=True)),
            *_opens(said.before.runs, f"The {before} of the week before", said.earlier.but(started=True)),
        ),
    )
    if said.now.never_started or said.before.never_started:
        never = _count(said.now.never_started, "call")
        earlier = _count(said.before.never_started, "call")
        earlier_shows = f"The {earlier} of the week before that never started"
        yield Line(
            *("Never started", f"{never}; {said.before.never_started} the week before. They count in no mean."),
            (
                *_opens(said.now.never_started, f"The {never} that never started", said.filters.but(started=False)),
                *_opens(said.before.never_started, earlier_shows, said.earlier.but(started=False)),
            ),
        )


def _opens(count: int, shows: str, filters: Filters) -> tuple[Link, ...]:
    """The link; none where there is nothing to be seen."""
    return (Link(rows(filters), shows),) if count else ()


def _rated(rated: Rated) -> Line:
    name, mean = rated.dimension.name, rated.now
    if mean is None:
        return Line(name, "no ratings this week.")
    compared = "" if mean.is_too_small else f" {_difference(rated.difference)}"
    shows = f"The {_count(mean.n, 'rating')} of {name}"
    return Line(name, f"{_mean(mean)}.{compared}", (Link(rows(rated.filters), shows),))


def _mean(mean: Mean) -> str:
    if mean.is_too_small:
        return f"n too small (n {mean.n})"
    if mean.low is None or mean.high is None:
        return f"mean {say_number(mean.mean)} (n {mean.n}, all alike: no interval)"
    return f"mean {say_number(mean.mean)} (n {mean.n}, interval {say_range(mean.low, mean.high)})"


def _difference(difference: Difference | None) -> str:
    """Against the week before, within the scripts that were run in both weeks."""
    if difference is None:
        return "No script was rated in both weeks, so there is nothing to compare."
    n = f"{difference.n_a} and {difference.n_b} ratings of the same scripts"
    if difference.is_too_small:
        return f"Against the week before n is too small ({n})."
    if difference.low is None or difference.high is None:
        return f"No difference from the week before can be told ({n})."
    size = f"{say_size(difference)} against the week before ({say_interval(difference)}, {n})."
    return size if difference.shows_difference else f"No difference shown: {size}"


def _problems(found: tuple[Tagged, ...], how: str) -> tuple[Line, ...]:
    return tuple(_problem(each, how) for each in found)


def _problem(each: Tagged, how: str) -> Line:
    share = each.biggest if each.filters.is_biggest else each.tagged
    label, noun = each.tag.label, "reviewed result" if each.filters.is_as_reviewed else "result"
    results = _count(share.part, noun)
    shows = f"The {results} with “{label}”{' as the biggest' if each.filters.is_biggest else ''}"
    links = (Link(rows(each.filters), shows),)
    told = f"{how} {_part_of(share.part, share.n, noun)}"
    if share.is_too_small:
        return Line(label, f"{told} (n too small for a share).", links)
    interval = say_share_range(share.low, share.high)
    return Line(label, f"{told}, {say_share(share.share)} (interval {interval}).", links)


def _part_of(part: int, n: int, noun: str) -> str:
    return f"the only {noun}" if part == n == 1 else f"{part} of {_count(n, noun)}"


def _rounds(said: Said) -> Iterator[Line]:
    for progress in said.rounds:
        due = f", due {date_format(progress.round.due_on, 'j M Y')}" if progress.round.due_on else ""
        missing = f"{progress.missing} missing" if progress.missing else "complete"
        told = f"{progress.counted} of {progress.wanted} wanted runs, {missing}{due}"
        name = f"{apart(progress.round.name)}, build {apart(progress.round.build.name)}"
        link = settings.ORIGIN + progress.round.get_absolute_url()
        yield Line(name, f"{told}.", (Link(link, f"The round “{apart(progress.round.name)}”"),))


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
