"""Counts as the readings that charts and tables show: a value only where n is large enough for one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from emma_eval.scoring.intervals import Share, mean_of_counts

from ..charts.svg import Reading

_mean_of = lru_cache(4096)(mean_of_counts)  # a page names the same mean in its table, its charts and their twins


def mean_reading(counts: Sequence[int], href: str) -> Reading:
    """The mean of ratings with its interval."""
    found = _mean_of(tuple(counts))
    if found is None:
        return Reading(None, 0)
    if found.is_too_small:
        return Reading(None, found.n, href=href)
    return Reading(found.mean, found.n, found.low, found.high, href)


def share_reading(share: Share | None, href: str) -> Reading:
    """A share of results with its interval."""
    if share is None:
        return Reading(None, 0)
    if share.is_too_small:
        return Reading(None, share.n, href=href)
    return Reading(share.share, share.n, share.low, share.high, href)
