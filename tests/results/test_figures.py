"""Figures are written in one way: rounded half up, a true minus, never before a nought, shares in hundredths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template import Context, Template

from emma_eval.scoring.intervals import Difference
from results.charts.svg import RATINGS, SHARES
from results.dashboards.differences import say_interval
from results.figures import say_number, say_points, say_range, say_share, say_signed, to_whole

ROOT = Path(__file__).parents[2]
ROOMS = ("charts", "dashboards", "digest", "listing", "review", "rounds", "tickets")  # where figures are written
COORDINATES = {"svg.py", "bars.py"}


@pytest.mark.parametrize(
    ("value", "said"),
    [(37 / 8, "4.63"), (33 / 8, "4.13"), (87 / 20, "4.35"), (-0.001, "0.00"), (0.0, "0.00"), (-0.125, "−0.13")],
)
def test_numbers_are_rounded_half_up_with_a_true_minus_and_none_before_a_nought(value: float, said: str) -> None:
    assert say_number(value) == said
    assert RATINGS.say(value) == said
    assert Template("{% load figures %}{{ value|number }}").render(Context({"value": value})) == said


def test_the_value_that_is_rounded_is_the_one_that_is_said() -> None:
    assert say_number(4.35, 1) == "4.4", "in binary it is a little less than 4.35"
    assert say_share(29 / 200) == "15 %", "in binary a hundred times it is 14.499999999999998"
    assert to_whole(10 / 20) == 1


@pytest.mark.parametrize(("value", "said"), [(0.4, "+0.40"), (-0.4, "−0.40"), (0.004, "0.00"), (-0.004, "0.00")])
def test_differences_have_a_sign_unless_they_are_nought(value: float, said: str) -> None:
    assert say_signed(value) == said


def test_shares_are_written_in_hundredths_with_a_gap() -> None:
    assert (say_share(0.125), say_share(0.2), say_share(1.0)) == ("13 %", "20 %", "100 %")
    assert SHARES.say(0.125) == "13 %"
    assert say_points(-0.0312, 1) == "−3.1"
    found = {"low": 0.142, "high": 0.4}
    template = Template("{% load figures %}{{ found|share_interval }}")
    assert template.render(Context({"found": type("Found", (), found)})) == "14 % to 40 %"


def test_an_interval_has_no_nought_below_nought() -> None:
    assert say_interval(Difference(-0.26, -0.52, 0.001, 9, 9, 1)) == "interval −0.52 to 0.00"
    assert say_range(-0.2, 0.5) == "−0.20 to 0.50"


def test_nobody_rounds_by_themselves() -> None:
    """A format of its own would round half to even, and write a hyphen for a minus."""
    by_themselves = re.compile(r"\{[^{}]*:[+,]?\.\d[f%]\}|floatformat|widthratio|(?<!def )\bround\(")
    modules = [path for room in ROOMS for path in (ROOT / "results" / room).rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (*modules, *(ROOT / "templates").rglob("*.html"))
        if path.name not in COORDINATES
        for line in path.read_text().splitlines()
        if by_themselves.search(line)
    ]
    assert len(modules) > 40
    assert not found
