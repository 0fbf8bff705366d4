"""Figures in templates, written as everywhere (`results.figures`). An interval is written of whatever has one."""

from __future__ import annotations

from typing import Protocol

from django import template

from .. import figures

register = template.Library()


class HasInterval(Protocol):
    """Such as a mean, a share, or an agreement that was worked out."""

    low: float | None
    high: float | None


@register.filter
def number(value: float) -> str:
    """A rating or an alpha: "4.13"."""
    return figures.say_number(value)


@register.filter
def interval(found: HasInterval | None) -> str:
    """Of what is on the scale of ratings or of alpha: "3.61 to 4.10"; empty where there is none."""
    if found is None or found.low is None or found.high is None:
        return ""
    return figures.say_range(found.low, found.high)


@register.filter
def share(value: float) -> str:
    """A share from 0 to 1: "20 %"."""
    return figures.say_share(value)


@register.filter
def share_interval(found: HasInterval | None) -> str:
    """Of a share: "14 % to 40 %"; empty where there is none."""
    if found is None or found.low is None or found.high is None:
        return ""
    return figures.say_share_range(found.low, found.high)
