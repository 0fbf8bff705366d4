"""Agreement in a grid."""

from __future__ import annotations

import pytest

from results.charts.matrix import Matrix, MatrixRow, Square, draw_matrix, matrix_figure, matrix_table

from .drawn import is_plain, named, of_class, parsed, percent, rows_of, words

ONE = Matrix(
    "m",
    "How far do testers agree?",
    "Dimension",
    ("2026.42", "2026.43"),
    (MatrixRow("Content", (Square(0.82, 12, 0.7, 0.9, href="/x/"), Square(None, 1, why="one tester only"))),),
)


@pytest.mark.parametrize(
    ("value", "shade"),
    [(1.0, 3), (0.8, 3), (0.79, 2), (0.667, 2), (0.66, 1), (0.0, 1), (-0.4, 1)],
)
def test_the_shade_follows_the_customary_bounds(value: float, shade: int) -> None:
    assert Square(value, 9).shade == f"chart-shade-{shade}"


def test_a_figure_stands_on_each_shade_with_its_n() -> None:
    assert words(parsed(draw_matrix(ONE))) == ["2026.42", "2026.43", "Content", "0.82", "n 12", "–", "n 1"]
    squares = of_class(parsed(draw_matrix(ONE)), "chart-square")
    assert [(percent(square, "x"), percent(square, "width")) for square in squares] == [(0, 50), (50, 50)]


def test_what_cannot_be_told_is_hatched_and_says_why() -> None:
    chart = parsed(draw_matrix(ONE))
    assert of_class(chart, "chart-square")[1].get("fill") == "url(#m-hatch)"
    assert [pattern.get("id") for pattern in chart.iter("pattern")] == ["m-hatch"]
    assert named(chart)[1] == (
        "Content: 2026.42 0.82, interval 0.70 to 0.90, n 12; 2026.43 can’t be told (one tester only), n 1."
    )


def test_the_table_says_the_same() -> None:
    assert rows_of(matrix_table(ONE)) == [
        [
            "Dimension",
            "2026.42",
            "2026.42: 95 % interval",
            "2026.42: n",
            "2026.43",
            "2026.43: 95 % interval",
            "2026.43: n",
        ],
        ["Content", "0.82", "0.70 to 0.90", "12", "can’t be told: one tester only", "", "1"],
    ]


def test_a_square_is_a_link_with_a_name() -> None:
    links = list(parsed(draw_matrix(ONE)).iter("a"))
    assert [(link.get("href"), link.get("aria-label")) for link in links] == [
        ("/x/", "Content, 2026.42: 0.82, interval 0.70 to 0.90, n 12")
    ]


def test_words_are_text_and_nothing_is_styled_inline() -> None:
    evil = '"><script>alert(1)</script>'
    figure = matrix_figure(Matrix("k", evil, evil, (evil,), (MatrixRow(evil, (Square(None, 0, why=evil),)),)))
    assert "<script" not in figure
    assert is_plain(figure)
    parsed(figure)
