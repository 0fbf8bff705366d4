"""Problems by how often: a bar a tag, split where it was the biggest."""

from __future__ import annotations

from results.charts.pareto import Pareto, TagBar, draw_pareto, pareto_figure, pareto_table
from results.charts.svg import Reading
from scripts_catalog import taxonomy

from .drawn import is_plain, named, of_class, parsed, percent, rows_of, words


def bar(label: str, tagged: int, biggest: int, of: int = 80) -> TagBar:
    shares = (Reading(count / of, of, 0.1, 0.6, f"/results/?n={count}") for count in (tagged, biggest))
    return TagBar(label, "Content", tagged, biggest, *shares)


TWO = Pareto("p", "Which problems?", 80, (bar("Too long or rambling", 40, 10), bar("Cut in", 20, 0)))


def test_the_whole_bar_is_how_often_it_was_tagged_and_its_dark_part_as_the_biggest() -> None:
    chart = parsed(draw_pareto(TWO))
    rest, dark = of_class(chart, "chart-any"), of_class(chart, "chart-biggest")
    whole = percent(dark[0], "width") + percent(rest[0], "width")
    assert percent(dark[0], "width") * 4 == whole
    assert percent(rest[0], "x") == percent(dark[0], "width")
    assert percent(rest[1], "width") * 2 == whole
    assert len(dark) == 1, "nothing is drawn of none"


def test_counts_stand_at_the_end_of_the_bars() -> None:
    assert words(parsed(draw_pareto(TWO))) == [
        "Too long or rambling", "40 · biggest 10", "Cut in", "20 · biggest 0",
    ]  # fmt: skip


def test_both_parts_open_their_rows() -> None:
    links = {link.get("aria-label"): link.get("href") for link in parsed(draw_pareto(TWO)).iter("a")}
    assert links["Too long or rambling: tagged on 40 of 80 results"] == "/results/?n=40"
    assert links["Too long or rambling: the biggest problem of 10 of 80 results"] == "/results/?n=10"


def test_the_table_says_the_same_with_shares_and_intervals() -> None:
    assert rows_of(pareto_table(TWO))[1:] == [
        ["Too long or rambling", "40", "50 %", "10 % to 60 %", "10", "13 %", "10 % to 60 %"],
        ["Cut in", "20", "25 %", "10 % to 60 %", "0", "0 %", "10 % to 60 %"],
    ]
    assert named(parsed(draw_pareto(TWO))) == (
        "Which problems?",
        "Of 80 results. Too long or rambling: 40, as the biggest 10. Cut in: 20, as the biggest 0.",
    )


def test_a_long_label_is_broken_into_lines_and_moves_what_is_below() -> None:
    longest = max(taxonomy.TAG_BY_KEY.values(), key=lambda tag: len(tag.label)).label
    short, long = (parsed(draw_pareto(Pareto("p", "t", 80, (bar(label, 5, 1),)))) for label in ("Short", longest))
    assert " ".join(words(long)[:-1]) == longest
    assert float(str(long.get("height"))) > float(str(short.get("height")))


def test_words_are_text_and_nothing_is_styled_inline() -> None:
    figure = pareto_figure(Pareto("k", "<b>", 1, (bar('"><script>alert(1)</script>', 1, 1),)))
    assert "<script" not in figure
    assert is_plain(figure)
    parsed(figure)
