"""The rows of the list as markup, written here: in a template they would take most of the page's time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from django.urls import reverse
from django.utils.safestring import SafeString

from results.charts.ratings import rating_cells
from results.markup import format_html, format_html_join, together
from scripts_catalog import taxonomy

from .rows import Row, Tagged

NOTHING = SafeString()
NEVER_STARTED = format_html('<td colspan="{}" class="never quiet">never started</td>', len(taxonomy.DIMENSIONS))
SAFETY_BADGE = SafeString(' <span class="badge warn">Safety</span>')
ROW = """
<tr>
  <td class="when">{} <span class="quiet small">{}</span></td>
  <th scope="row"><a href="{}{}/"><bdi>{}</bdi></a>{}{}</th>
  <td class="build"><bdi>{}</bdi></td>
  <td class="tester"><bdi class="clamp">{}</bdi>{}</td>
  {}
  <td class="problems">{}</td>
  <td class="comment">{}</td>
</tr>"""


def table_rows(rows: Iterable[Row]) -> SafeString:
    """A row of the table for each, with links to the results' own pages."""
    results = reverse("results")
    return together(_row(row, results) for row in rows)


def _row(row: Row, results: str) -> SafeString:
    return format_html(
        ROW,
        *(row.day, row.time),
        *(results, row.id, row.title, SAFETY_BADGE if row.is_covered else NOTHING, _badges(row.marks)),
        *(row.build, row.tester, _badges(row.tester_marks)),
        NEVER_STARTED if row.never_started else rating_cells(row.ratings),
        _problems(row),
        format_html('<bdi class="clamp">{}</bdi>', row.comment) if row.comment else NOTHING,
    )


def _problems(row: Row) -> SafeString:
    """The first of them, and a quiet line about the others."""
    if not row.problems:
        return NOTHING
    others = row.about_the_others
    return format_html(
        "<ol>{}</ol>{}",
        together(map(_problem_line, row.first_problems)),
        format_html('<p class="quiet">{}</p>', others) if others else NOTHING,
    )


@cache
def _problem_line(problem: Tagged) -> SafeString:
    """A line of the list of problems; its number is the browser's, where its place is known."""
    if problem.is_biggest:
        biggest = '<li class="biggest"><span class="visually-hidden">biggest: </span>{}</li>'
        return format_html(biggest, problem.label)
    return format_html("<li>{}</li>" if problem.has_place else '<li class="no-place">{}</li>', problem.label)


@cache
def _badges(marks: tuple[str, ...]) -> SafeString:
    """What is special about something, in a few fixed words, behind its name."""
    return format_html_join("", ' <span class="badge">{}</span>', ((words,) for words in marks))
