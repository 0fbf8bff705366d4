"""The parts of the list's rows that come up in hundreds of them, each written once."""

from __future__ import annotations

from functools import cache

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from results.charts.ratings import rating_cells
from scripts_catalog import taxonomy

NEVER_STARTED = format_html('<td colspan="{}" class="never quiet">never started</td>', len(taxonomy.DIMENSIONS))
SAFETY_BADGE = SafeString(' <span class="badge warn">Safety</span>')
NOTHING = SafeString()


def ratings(given: tuple[int | None, ...], *, never_started: bool) -> SafeString:
    """The cells of the six ratings, or one over all of them."""
    return NEVER_STARTED if never_started else rating_cells(given)


@cache
def badges(marks: tuple[str, ...]) -> SafeString:
    """What is special about something, in a few fixed words, behind its name."""
    return format_html_join("", ' <span class="badge">{}</span>', ((words,) for words in marks))


@cache
def problem_line(label: str, *, is_biggest: bool, has_place: bool) -> SafeString:
    """A problem in the list of a row's problems; its number is the browser's, where its place is known."""
    if is_biggest:
        biggest = '<li class="biggest"><span class="visually-hidden">biggest: </span>{}</li>'
        return format_html(biggest, label)
    return format_html("<li>{}</li>" if has_place else '<li class="no-place">{}</li>', label)


@cache
def note(words: str) -> SafeString:
    """A quiet line under the problems."""
    return format_html('<p class="quiet">{}</p>', words) if words else NOTHING
