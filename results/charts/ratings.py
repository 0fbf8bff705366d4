"""Ratings as they stand in the cells of a table."""

from __future__ import annotations

from functools import cache

from django.utils.safestring import SafeString

from results.markup import format_html, together
from scripts_catalog import taxonomy

NAMES = tuple(dimension.name for dimension in taxonomy.DIMENSIONS)


def rating_cells(ratings: tuple[int | None, ...]) -> SafeString:
    """The table cells of a result's ratings, in the order of the dimensions; None is N/A."""
    return together(map(_rating_cell, NAMES, ratings))


@cache
def _rating_cell(dimension: str, rating: int | None) -> SafeString:
    """Written once for each dimension and rating: a list has hundreds of them."""
    return format_html(
        '<td class="rated" data-label="{}"><span class="rating rating-{}">{}</span></td>',
        *(dimension, rating or "na", rating or "N/A"),
    )
