"""Charts in a real browser: no word leaves its chart or runs into another, on a phone, at a desk and on paper."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page

from results.charts.bars import Bar, stacked_bars
from results.charts.dumbbell import Dumbbell, Pair, dumbbell_figure
from results.charts.matrix import Matrix, MatrixRow, Square, matrix_figure
from results.charts.pareto import Pareto, TagBar, pareto_figure
from results.charts.svg import Reading
from results.charts.trend import Point, Trend, trend_figure
from scripts_catalog import taxonomy

from .drawn import reading

pytestmark = pytest.mark.browser

WIDEST = "Wild mountain weather, wonderfully mumbled while moving (2)"
CSS = "".join(
    (settings.BASE_DIR / "static" / "css" / f"{name}.css").read_text(encoding="utf-8")
    for name in ("base", "components", "charts")
)
# Every word that stands out of its chart, and every pair of words that touch.
FAULTS = """() => [...document.querySelectorAll('svg.chart')].flatMap(chart => {
  const frame = chart.getBoundingClientRect();
  const words = [...chart.querySelectorAll('text')].filter(text => text.getBoundingClientRect().width);
  const boxes = words.map(text => [text.textContent, text.getBoundingClientRect()]);
  const isOut = b => b.left < frame.left - 1 || b.right > frame.right + 1 || b.bottom > frame.bottom + 1;
  const out = boxes.filter(([, box]) => isOut(box));
  const across = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  const meet = boxes.flatMap(([one, a], place) => boxes.slice(place + 1).filter(
    ([, b]) => across(a, b) > 1 && down(a, b) > 4
  ).map(([other]) => `${one} | ${other}`));
  return [...out.map(([word]) => `out: ${word}`), ...meet];
})"""


def all_charts() -> str:
    """One of each, with the longest words and the most points that there are."""
    names = [dimension.name for dimension in taxonomy.DIMENSIONS]
    builds = [f"2026.{40 + place}" for place in range(6)]
    points = tuple(Point(f"2026.{10 + place}", reading(3 + place / 20, 90 + place)) for place in range(26))
    named_long = tuple(Point(f"{place} release candidate of autumn", reading(3, 1200)) for place in range(9))
    tags = [tag.label for group in taxonomy.TAG_GROUPS for tag in group.tags]
    broken = (*points[:13], Point("2026.30", reading(4), ("edition",)), *points[14:])
    pairs = tuple(Pair(name, reading(1.1, 1234), reading(5, 1234)) for name in names)
    shares = (Reading(0.4, 900, 0.3, 0.5), Reading(0.2, 900, 0.1, 0.3))
    squares = tuple(Square(0.55, 1234) for _ in range(6))
    drawn = (
        stacked_bars("s", "s", [Bar(name, (30, 20, 10, 30, 40), "n 1234 · N/A 1234") for name in names]),
        trend_figure(Trend("t", "t", "Build", broken)),
        trend_figure(Trend("t2", "t", "Build", named_long)),
        trend_figure(Trend("t3", "t", "Build", points[:2])),
        pareto_figure(Pareto("p", "p", 900, tuple(TagBar(tag, "", 1234, 1000, *shares) for tag in tags))),
        dumbbell_figure(Dumbbell("d", "d", "2026.43", "2026.42", pairs)),
        matrix_figure(Matrix("m", "m", "Dimension", tuple(builds), tuple(MatrixRow(name, squares) for name in names))),
        matrix_figure(Matrix("m2", "m", "Script", tuple(names), (MatrixRow(WIDEST, squares),))),
    )
    return "".join(f'<section class="card">{chart}</section>' for chart in drawn)


@pytest.fixture
def page(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": request.param, "height": 800})
    page = context.new_page()
    head = f'<meta charset="utf-8"><title>Charts</title><style>{CSS}</style>'
    page.set_content(
        f'<!doctype html><html lang="en"><head>{head}</head><body><main class="page">{all_charts()}</main>'
    )
    yield page
    context.close()


@pytest.mark.parametrize("page", [320, 360, 700, 1280], indirect=True)
def test_no_word_leaves_its_chart_or_touches_another(page: Page) -> None:
    assert page.evaluate(FAULTS) == [], page.evaluate(FAULTS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("page", [700], indirect=True)
def test_on_paper_the_tables_are_open_and_nothing_is_cut(page: Page) -> None:
    page.emulate_media(media="print")
    assert page.evaluate(FAULTS) == []
    heights = page.eval_on_selector_all(".chart-twin table", "tables => tables.map(each => each.offsetHeight)")
    assert heights
    assert min(heights) > 20
    assert not page.locator(".chart-twin summary").first.is_visible()


@pytest.mark.parametrize("page", [360], indirect=True)
def test_in_forced_colours_each_mark_is_still_seen(page: Page) -> None:
    page.emulate_media(forced_colors="active")
    canvas = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for kind in (".chart-point", ".chart-diamond", ".chart-biggest"):
        assert page.eval_on_selector(kind, "mark => getComputedStyle(mark).fill") != canvas
    for kind in (".chart-interval", ".chart-join", ".chart-ring", ".chart-square", ".chart-any"):
        assert page.eval_on_selector(kind, "mark => getComputedStyle(mark).stroke") != canvas
