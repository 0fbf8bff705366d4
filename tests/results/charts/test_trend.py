"""A trend: points with intervals and n, gaps where n is too small, breaks where nothing compares."""

from __future__ import annotations

import pytest

from results.charts.svg import SHARES, Reading
from results.charts.trend import Point, Trend, draw_trend, trend_figure, trend_table

from .drawn import is_plain, named, of_class, parsed, percent, reading, rows_of, words


def trend(*points: Point, **fields: object) -> Trend:
    return Trend("t", "Did Content get better?", "Build", points, **fields)  # type: ignore[arg-type]


THREE = (
    Point("2026.41", reading(3.0, 12, href="/results/?build=2026.41")),
    Point("2026.42", reading(3.5, 9)),
    Point("2026.43", reading(4.0, 31)),
)


def test_a_point_stands_at_its_value_and_its_line_spans_its_interval() -> None:
    chart = parsed(draw_trend(trend(*THREE)))
    heights = [float(str(point.get("cy"))) for point in of_class(chart, "chart-point")]
    assert heights == [100, 82.5, 65]
    first = of_class(chart, "chart-interval")[0]
    assert (first.get("y1"), first.get("y2")) == ("107", "93")
    assert len(of_class(chart, "chart-join")) == 2


def test_n_and_label_stand_under_each_point() -> None:
    chart = parsed(draw_trend(trend(*THREE)))
    assert [n.text for n in of_class(chart, "chart-n")] == ["12", "9", "31"]
    assert [label.text for label in of_class(chart, "chart-label")] == ["2026.41", "2026.42", "2026.43"]


def test_where_n_is_too_small_the_line_has_a_gap_and_n_still_stands() -> None:
    chart = parsed(draw_trend(trend(THREE[0], Point("2026.42", Reading(None, 3)), THREE[2])))
    assert len(of_class(chart, "chart-point")) == 2
    assert of_class(chart, "chart-join") == []
    assert [n.text for n in of_class(chart, "chart-too-few")] == ["3"]
    assert "2026.42: n too small, n 3." in named(chart)[1]


def test_an_empty_frame_says_why_it_is_empty() -> None:
    bare = trend(Point("2026.41", Reading(None, 3)), Point("2026.42", Reading(None, 0)))
    chart = parsed(draw_trend(bare))
    assert [why.text for why in of_class(chart, "chart-bare")] == ["n too small"]
    assert not of_class(parsed(draw_trend(trend(*THREE))), "chart-bare")
    assert "n in italics" not in trend_figure(bare)
    assert "n in italics: n too small." in trend_figure(trend(*THREE, Point("2026.44", Reading(None, 3))))


def shown_at_any_width(points: list[str]) -> list[str]:
    """The labels, line by line, that no chart is too narrow for."""
    chart = parsed(draw_trend(trend(*(Point(label, reading(3)) for label in points))))
    return [str(label.text) for label in of_class(chart, "chart-label") if label.get("class") == "chart-label"]


def test_of_three_builds_each_has_its_label_whole() -> None:
    assert shown_at_any_width([f"2026.{number} (demo)" for number in (39, 41, 43)]) == [
        *("2026.39", "(demo)", "2026.41", "(demo)", "2026.43", "(demo)")
    ]


def test_a_long_name_keeps_its_end_which_tells_it_from_others() -> None:
    assert shown_at_any_width(["release-candidate-2026.39", "release-candidate-2026.40"]) == [
        *("relea…6.39", "relea…6.40")
    ]
    assert shown_at_any_width(["Emma on the new voice 2026.39"])[-1] == "the n…6.39"


def test_a_second_line_makes_room_for_itself() -> None:
    one, two = (parsed(draw_trend(trend(Point(name, reading(3))))) for name in ("2026.39", "2026.39 (demonstration)"))
    assert float(str(two.get("height"))) == float(str(one.get("height"))) + 16


def test_a_break_is_a_gap_with_a_rule_and_its_reason() -> None:
    broken = trend(THREE[0], THREE[1], Point("2026.43", reading(4.0), ("taxonomy edition 1 to 2", "script version 3")))
    chart = parsed(draw_trend(broken))
    assert len(of_class(chart, "chart-join")) == 1
    rule = of_class(chart, "chart-break")[0]
    before, after = (percent(point, "cx") for point in of_class(chart, "chart-point")[1:])
    assert before < percent(rule, "x1") < after
    assert "A" in words(chart)
    figure = trend_figure(broken)
    assert "<b>A</b> Not comparable before 2026.43: taxonomy edition 1 to 2; script version 3." in figure
    assert "Break: taxonomy edition 1 to 2; script version 3. 2026.43:" in named(chart)[1]
    assert rows_of(trend_table(broken))[3][-1] == "taxonomy edition 1 to 2; script version 3"


def test_the_table_says_the_same() -> None:
    assert rows_of(trend_table(trend(*THREE, Point("2026.44", Reading(None, 2))))) == [
        ["Build", "Mean", "95 % interval", "n"],
        ["2026.41", "3.00", "2.80 to 3.20", "12"],
        ["2026.42", "3.50", "3.30 to 3.70", "9"],
        ["2026.43", "4.00", "3.80 to 4.20", "31"],
        ["2026.44", "n too small", "", "2"],
    ]


def test_shares_are_written_in_hundredths() -> None:
    shares = trend(Point("2 Mar", Reading(0.25, 40, 0.14, 0.4)), scale=SHARES, value_name="Share")
    assert rows_of(trend_table(shares))[1] == ["2 Mar", "25 %", "14 % to 40 %", "40"]
    assert "100 %" in words(parsed(draw_trend(shares)))


def test_a_point_is_a_link_with_a_name_where_it_has_rows() -> None:
    chart = parsed(draw_trend(trend(*THREE)))
    links = list(chart.iter("a"))
    assert [link.get("href") for link in links] == ["/results/?build=2026.41"]
    assert links[0].get("aria-label") == "2026.41: 3.00, interval 2.80 to 3.20, n 12"
    assert chart.get("role") == "group"
    assert parsed(draw_trend(trend(*THREE[1:]))).get("role") == "img"


@pytest.mark.parametrize(("points", "narrow"), [(4, 4), (5, 3), (8, 4), (30, 4)])
def test_a_narrow_chart_shows_the_labels_that_it_has_room_for(points: int, narrow: int) -> None:
    chart = parsed(draw_trend(trend(*(Point(f"2026.{10 + place}", reading(3)) for place in range(points)))))
    labels = of_class(chart, "chart-label")
    always = [label for label in labels if label.get("class") == "chart-label"]
    assert len(always) == narrow
    assert always[-1] is labels[-1], "the newest keeps its label"


def test_what_is_beyond_the_scale_stands_on_its_end() -> None:
    chart = parsed(draw_trend(trend(Point("a", Reading(4.9, 6, 4.2, 5.6)))))
    assert of_class(chart, "chart-interval")[0].get("y2") == "30"


def test_words_are_text_and_nothing_is_styled_inline() -> None:
    evil = '"><script>alert(1)</script>'
    point = Point(evil, reading(3, href='/results/?a=1&b="x'), (evil,))
    figure = trend_figure(Trend("k", evil, evil, (point,)))
    assert "<script" not in figure
    assert is_plain(figure)
    parsed(figure)


def test_without_points_it_says_so() -> None:
    assert named(parsed(draw_trend(trend())))[1] == "Nothing to show yet."
