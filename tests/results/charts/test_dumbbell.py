"""Two figures a row, told apart by shape."""

from __future__ import annotations

from results.charts.dumbbell import Dumbbell, Pair, draw_dumbbell, dumbbell_figure, dumbbell_table
from results.charts.svg import Reading

from .drawn import is_plain, named, of_class, parsed, percent, reading, rows_of, words

TWO = Dumbbell(
    "d",
    "2026.43 and 2026.42",
    "2026.43",
    "2026.42",
    (
        Pair("Content", reading(4.0, 38, href="/results/?x"), reading(3.0, 41), "1.00 higher"),
        Pair("Vision", Reading(None, 3), reading(2.0, 6)),
    ),
)


def test_marks_stand_at_their_values_in_two_shapes() -> None:
    chart = parsed(draw_dumbbell(TWO))
    assert [percent(ring, "cx") for ring in of_class(chart, "chart-ring")] == [3 + 94 * 0.75]
    diamonds = [element for element in of_class(chart, "chart-mark") if of_class(element, "chart-diamond")]
    assert [percent(diamond, "x") for diamond in diamonds] == [50, 26.5]
    assert len(of_class(chart, "chart-bar")) == 1, "nothing joins a figure that isn't there"


def test_both_intervals_are_seen_where_they_overlap() -> None:
    first, second = of_class(parsed(draw_dumbbell(TWO)), "chart-interval")[:2]
    assert first.get("y1") != second.get("y1")
    assert (percent(first, "x1"), percent(first, "x2")) == (68.8, 78.2)


def test_n_of_both_stands_on_every_row() -> None:
    said = words(parsed(draw_dumbbell(TWO)))
    assert "n 38 and 41" in said
    assert "n 3 and 6" in said


def test_the_table_and_the_description_say_the_same() -> None:
    assert rows_of(dumbbell_table(TWO)) == [
        [
            "Dimension",
            "2026.43",
            "2026.43: 95 % interval",
            "2026.43: n",
            "2026.42",
            "2026.42: 95 % interval",
            "2026.42: n",
            "Difference",
        ],
        ["Content", "4.00", "3.80 to 4.20", "38", "3.00", "2.80 to 3.20", "41", "1.00 higher"],
        ["Vision", "n too small", "", "3", "2.00", "1.80 to 2.20", "6", ""],
    ]
    said = named(parsed(draw_dumbbell(TWO)))[1]
    assert "Content: 2026.43 4.00, interval 3.80 to 4.20, n 38; 2026.42 3.00, interval 2.80 to 3.20, n 41." in said
    assert "Vision: 2026.43 n too small, n 3; 2026.42 2.00" in said


def test_a_mark_opens_its_rows() -> None:
    links = list(parsed(draw_dumbbell(TWO)).iter("a"))
    assert [link.get("href") for link in links] == ["/results/?x"]
    assert links[0].get("aria-label") == "Content, 2026.43: 4.00, interval 3.80 to 4.20, n 38"


def test_words_are_text_and_nothing_is_styled_inline() -> None:
    evil = '"><script>alert(1)</script>'
    figure = dumbbell_figure(Dumbbell("k", evil, evil, evil, (Pair(evil, reading(3), reading(4), evil),)))
    assert "<script" not in figure
    assert is_plain(figure)
    parsed(figure)
