"""Charts as inline SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from results.charts.bars import Bar, share_bar, stacked_bars


def drawn(*bars: Bar, title: str = "How often") -> ElementTree.Element:
    return ElementTree.fromstring(stacked_bars("ratings", title, list(bars)))


def widths(chart: ElementTree.Element) -> list[float]:
    return [float(str(box.get("width")).rstrip("%")) for box in chart.iter("rect")]


def test_each_rating_takes_its_share_of_the_bar() -> None:
    chart = drawn(Bar("Content", (10, 0, 20, 0, 10), "n 40"))
    assert widths(chart) == [25, 50, 25]
    assert [box.get("class") for box in chart.iter("rect")] == ["chart-1", "chart-3", "chart-5"]
    assert [box.get("x") for box in chart.iter("rect")] == ["0.00%", "25.00%", "75.00%"]


def test_it_has_a_title_and_says_its_figures_in_words() -> None:
    chart = drawn(Bar("Content", (1, 0, 2, 0, 3), "n 6"), Bar("Vision", (0,) * 5, "n 0"))
    assert chart.get("role") == "img"
    ids = str(chart.get("aria-labelledby")).split()
    named = {element.get("id"): element.text for element in chart}
    assert named[ids[0]] == "How often"
    assert named[ids[1]] == "Content: 1 × 1, 0 × 2, 2 × 3, 0 × 4, 3 × 5. Vision: no ratings."


def test_what_a_bar_is_of_stands_below_its_label_and_makes_room() -> None:
    long = "in “Tell her that you have had a very bad day at work”"
    chart = drawn(
        Bar("1. Content", (1, 0, 0, 0, 1), "n 2", long), Bar("2. Content", (1, 0, 0, 0, 1), "n 2", "in “Far”")
    )
    said = [text.text for text in chart.iter("text") if "chart-note" in str(text.get("class"))]
    assert " ".join(str(line) for line in said[1:-2]) == long
    assert said[-1] == "in “Far”"
    tops = [float(str(box.get("y"))) for box in chart.iter("rect")]
    lines = [float(str(text.get("y"))) for text in chart.iter("text")]
    assert tops[0] > lines[3], "the bar begins below the last line of its label"
    assert tops[2] + 22 <= float(str(chart.get("height")))
    assert "1. Content in “Tell her" in "".join(chart.itertext())


def test_a_figure_stands_where_there_is_room() -> None:
    chart = drawn(Bar("Content", (1, 0, 0, 0, 99), "n 100"))
    on_bars = [text.text for text in chart.iter("text") if "chart-on" in str(text.get("class"))]
    assert on_bars == ["99"]


def test_a_bar_without_ratings_is_drawn_empty() -> None:
    chart = drawn(Bar("Vision", (0, 0, 0, 0, 0), "n 0"))
    assert [box.get("class") for box in chart.iter("rect")] == ["chart-empty"]


def test_labels_are_text() -> None:
    chart = stacked_bars("k", "<script>", [Bar('"><script>alert(1)</script>', (1, 1, 1, 1, 1), "<b>")])
    assert "<script>" not in chart
    assert "<b>" not in chart


def test_nothing_is_styled_inline() -> None:
    """The content policy refuses style attributes, and dark and print need classes."""
    chart = stacked_bars("k", "t", [Bar("a", (1, 2, 3, 4, 5), "n 15")]) + share_bar(1, 2)
    assert not re.search(r'\b(style|fill|stroke)="', chart)


@pytest.mark.parametrize(("part", "whole", "width"), [(1, 4, "25.0%"), (4, 4, "100.0%"), (0, 4, "0.0%"), (0, 0, "0%")])
def test_a_share_is_drawn_to_scale(part: int, whole: int, width: str) -> None:
    assert f'<rect width="{width}"' in share_bar(part, whole)
