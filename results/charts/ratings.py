"""Ratings as they stand in the cells of a table."""

from __future__ import annotations

from functools import cache

from django.utils.html import format_html
from django.utils.safestring import SafeString

from scripts_catalog import taxonomy


def rating_cells(ratings: tuple[int | None, ...]) -> SafeString:
    """The table cells of a result's ratings, in the order of the dimensions; None is N/A."""
    cells = SafeString()
    for dimension, rating in zip(taxonomy.DIMENSIONS, ratings, strict=True):
        cells += _rating_cell(dimension.name, rating)
    return cells


@cache
def _rating_cell(dimension: str, rating: int | None) -> SafeString:
    """Written once for each dimension and rating: a list has hundreds of them."""
    return format_html(
        '<td class="rated" data-label="{}"><span class="rating rating-{}">{}</span></td>',
        *(dimension, rating or "na", rating or "N/A"),
    )
