"""The Results tab: what a row says, what the filters leave, and what the viewer may not know."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from results.listing.filters import Filters
from results.listing.list_results import Asked, Listing, Sort, list_results
from results.models import ProblemOrder, Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script
from scripts_catalog.publish_version import publish_version
from tests import make

pytestmark = pytest.mark.django_db
data_layer = pytest.mark.data_layer

MARCH = datetime(2026, 3, 3, 12, tzinfo=UTC)
HTMX = {"HX-Request": "true"}


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10")


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


def ids(user: User, **filters: Any) -> set[int]:
    return {row.id for row in list_results(user, Asked(Filters(**filters))).rows}


def listing(client: Client, query: str = "") -> Listing:
    page = client.get(f"/results/?{query}")
    assert page.status_code == 200
    found: Listing = page.context["listing"]
    return found


def row_of(client: Client, result: Result) -> str:
    """The text of one row, without its tags."""
    page = client.get("/results/").text
    rows = [row for row in page.split("<tr>") if f'href="/results/{result.pk}/"' in row]
    assert len(rows) == 1
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", rows[0])).split())


# --- a row ---------------------------------------------------------------------------------------


def test_a_row_says_what_was_filed(tester: User, tester_client: Client, build: Build) -> None:
    script = make.script("show-an-object", title="Show an object", uses_camera=True)
    result = make.result(
        tester,
        script,
        build,
        ratings=2,
        problems=("too_long", "cut_in"),
        comment="She rambled.",
        called_at=MARCH,
        recording_link="https://recordings.example.test/1.webm",
        met_emma_before=True,
    )
    said = row_of(tester_client, result)
    for words in ("3 Mar 2026 20:00", "Show an object", "2026.10", "tess@example.test", "returning", "She rambled."):
        assert words in said
    assert "2 2 2 2 2 2" in said
    assert re.search("biggest: Too long or rambling .*Cut in while", said)
    assert "no recording yet" not in said


def test_vision_is_na_where_the_camera_was_not_used(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    assert "4 4 4 4 4 N/A" in row_of(tester_client, make.result(tester, script, build))


def test_a_camera_used_off_script_is_marked(tester: User, tester_client: Client, script: Script, build: Build) -> None:
    result = make.result(tester, script, build, camera_used=True)
    assert "camera off-script" in row_of(tester_client, result)


def test_a_call_that_never_started_shows_no_ratings(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build, never_started=True, problems=("stuck_start",))
    said = row_of(tester_client, result)
    assert "never started" in said
    assert "N/A" not in said


@pytest.mark.parametrize(
    ("order", "ranks", "words", "marks"),
    [
        (ProblemOrder.OVERALL, (1, 2, 3), "", 1),
        (ProblemOrder.BIGGEST, (1, None, None), "order of the others not known", 1),
        (ProblemOrder.GROUPS, (None, None, None), "order not known", 0),
    ],
)
def test_only_a_known_order_marks_a_biggest(
    tester: User,
    tester_client: Client,
    script: Script,
    build: Build,
    order: ProblemOrder,
    ranks: tuple[int | None, ...],
    words: str,
    marks: int,
) -> None:
    tags = ("too_long", "cut_in", "too_fast")
    result = make.result(tester, script, build, problem_order=order, problems=tags, ranks=ranks)
    said = row_of(tester_client, result)
    assert said.count("biggest") == marks
    assert words in said
    assert bool(words) == ("not known" in said)


def test_it_marks_what_is_imported_of_the_demo_or_without_a_link(
    tester_client: Client, script: Script, build: Build
) -> None:
    demo = make.user("demo@example.test", name="Dee", is_demo=True)
    said = row_of(tester_client, make.result(demo, script, build, sheet_digest="d" * 64))
    for words in ("imported", "demo", "no recording yet", "Dee"):
        assert words in said


def test_a_name_that_says_demo_has_no_badge_that_says_it_again(
    tester_client: Client, script: Script, build: Build
) -> None:
    demo = make.user("demo@example.test", name="Dee (demo)", is_demo=True)
    assert row_of(tester_client, make.result(demo, script, build)).count("demo") == 1


@pytest.mark.parametrize(
    ("tags", "order", "shown", "more"),
    [
        (3, ProblemOrder.OVERALL, 3, ""),
        (5, ProblemOrder.OVERALL, 2, "and 3 more"),
        (3, ProblemOrder.GROUPS, 2, "and 1 more, order not known"),
        (2, ProblemOrder.GROUPS, 2, "order not known"),
    ],
)
def test_a_row_has_room_for_three_lines_about_problems(
    tester: User,
    tester_client: Client,
    script: Script,
    build: Build,
    tags: int,
    order: ProblemOrder,
    shown: int,
    more: str,
) -> None:
    keys = ("too_long", "cut_in", "too_fast", "weird_gaze", "flat_delivery")[:tags]
    make.result(tester, script, build, problems=keys, problem_order=order)
    row = listing(tester_client).rows[0]
    assert [tag.label for tag in row.first_problems] == [taxonomy.TAG_BY_KEY[key].label for key in keys[:shown]]
    assert row.about_the_others == more


@pytest.mark.parametrize(
    ("who", "may_file"), [("tester", True), ("eval_member", False), ("manager", False), ("administrator", False)]
)
def test_only_who_may_file_is_offered_to(request: pytest.FixtureRequest, who: str, may_file: bool) -> None:
    client = make.client_of(request.getfixturevalue(who))
    page = client.get("/results/").text
    assert ('href="/results/new/"' in page) == may_file
    assert ("Pick a script to run" in page) == may_file
    assert client.get("/results/new/").status_code == (200 if may_file else 403)


def test_the_search_says_what_it_finds(tester: User, tester_client: Client, script: Script, build: Build) -> None:
    found, other = (make.result(tester, script, build, comment=words) for words in ("She froze", "Fine"))
    page = tester_client.get("/results/").text
    assert re.search(
        r'<label for="filter-q">Search comments</label><span class="hint" id="filter-q-hint">words, or', page
    )
    assert re.search(r'<input type="search" [^>]*aria-describedby="filter-q-hint filter-q-error"', page)
    assert ids(tester, text="froze") == {found.pk}
    assert ids(tester, text=str(other.pk)) == {other.pk}


def test_a_row_keeps_the_title_of_the_version_that_was_run(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    result = make.result(tester, script, build)
    wording = replace(script.latest.wording, title="Good news day")
    publish_version(script, wording, by=None, started_from=script.latest.pk)
    assert "Bad news day" in row_of(tester_client, result)


def test_a_long_comment_is_cut_at_a_word(tester: User, tester_client: Client, script: Script, build: Build) -> None:
    make.result(tester, script, build, comment="word " * 1000)
    shown = listing(tester_client).rows[0].comment
    assert shown.endswith("word …")
    assert len(shown) <= 165


# --- filters -------------------------------------------------------------------------------------


@data_layer
def test_each_filter_leaves_what_fits(tester: User, script: Script, build: Build) -> None:
    other_tester, other_build = make.user(name="Otto"), make.build("2026.9")
    camera_script = make.script("show", area="camera", uses_camera=True)
    plain = make.result(tester, script, build, called_at=MARCH, comment="Fine", ratings=3)
    shown = make.result(tester, camera_script, build, called_at=MARCH, problems=("too_long", "cut_in"), ratings=5)
    other = make.result(other_tester, script, other_build, called_at=MARCH - timedelta(days=9), ratings=1)
    stuck = make.result(tester, script, build, called_at=MARCH, never_started=True, problems=("cut_in",))
    Result.objects.filter(pk=other.pk).update(met_emma_before=True, content=2)
    table: list[tuple[dict[str, Any], set[Result]]] = [
        ({}, {plain, shown, other, stuck}),
        ({"script": script.slug}, {plain, other, stuck}),
        ({"area": "camera"}, {shown}),
        ({"build": "2026.9"}, {other}),
        ({"build": "2026.09"}, {other}),
        ({"tester": other_tester.pk}, {other}),
        ({"problem": "cut_in"}, {shown, stuck}),
        ({"problem": "cut_in", "is_biggest": True}, {stuck}),
        ({"dimension": "content", "low": 2, "high": 3}, {plain, other}),
        ({"dimension": "vision", "low": 1}, {shown}),
        ({"met_emma_before": True}, {other}),
        ({"camera_used": False, "started": True}, {plain, other}),
        ({"started": False}, {stuck}),
        ({"first_day": MARCH.date()}, {plain, shown, stuck}),
        ({"last_day": MARCH.date() - timedelta(days=1)}, {other}),
        ({"text": "fine"}, {plain}),
        ({"text": f"#{other.pk}"}, {other}),
        ({"script": script.slug, "build": "2026.10", "started": True}, {plain}),
    ]
    for filters, expected in table:
        assert ids(tester, **filters) == {result.pk for result in expected}, filters


@data_layer
def test_days_are_days_of_the_site(tester: User, script: Script, build: Build) -> None:
    """Half past midnight in Hong Kong is the evening before in UTC."""
    result = make.result(tester, script, build, called_at=datetime(2026, 3, 3, 16, 30, tzinfo=UTC))
    day = datetime(2026, 3, 4).date()
    assert ids(tester, first_day=day, last_day=day) == {result.pk}
    assert ids(tester, last_day=day - timedelta(days=1)) == set()


@data_layer
@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        *[("100%", True), ("00%_", True), ("c:\\dir", True), ("FROZE", True), ("太慢", True), ("it's", True)],
        *[("1%0", False), ("100_", False), ("c:dir", False), ('"', False)],
    ],
)
def test_text_is_found_as_it_stands(tester: User, script: Script, build: Build, text: str, is_found: bool) -> None:
    make.result(tester, script, build, comment="100%_ sure: c:\\dir froze, it's 太慢了")
    assert bool(ids(tester, text=text)) is is_found


def test_an_address_narrows_and_says_so(tester: User, tester_client: Client, script: Script, build: Build) -> None:
    make.result(tester, script, build, ratings=2, problems=("cut_in",))
    make.result(tester, make.script("other"), build)
    query = (
        f"script=bad-news-day&area=everyday&build=2026.10&tester={tester.pk}&problem=cut_in&biggest=on&returning=no"
        "&camera=no&dimension=content&low=1&high=2&from=2020-01-01&to=2099-01-01&q=&started=yes"
    )
    page = tester_client.get(f"/results/?{query}", follow=True)
    assert page.context["listing"].count == 1
    words = [chip.words for chip in page.context["chips"]]
    assert words == [
        *("Script: Bad news day", "Build: 2026.10", "Tester: tess@example.test", "Area: Everyday talk"),
        *("Biggest problem: Cut in while the user was still talking", "Content: 1 to 2", "The call took place"),
        *("Camera not used", "New to Emma", "From 1 Jan 2020", "To 1 Jan 2099"),
    ]


def test_taking_a_chip_away_leaves_the_other_filters(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    make.result(tester, script, build, comment="froze")
    make.result(tester, make.script("other"), build, comment="froze")
    page = tester_client.get("/results/?script=bad-news-day&q=froze&sort=script&direction=desc")
    script_chip = next(chip for chip in page.context["chips"] if chip.words.startswith("Script"))
    left = listing(tester_client, script_chip.query)
    assert left.count == 2
    assert "q=froze" in script_chip.query
    assert "sort=script" in script_chip.query


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("script=nope", "script", "There is no such script"),
        ("area=nope", "area", "There is no such area"),
        ("build=nope", "build", "There is no such build"),
        ("tester=99999999999999999999", "tester", "There is no such tester"),
        ("tester=x", "tester", "There is no such tester"),
        ("problem=nope", "problem", "There is no such problem"),
        ("dimension=nope&low=1", "dimension", "There is no such dimension"),
        ("dimension=content&low=0", "low", "Pick a rating from 1 to 5"),
        ("dimension=content&high=4.5", "high", "Pick a rating from 1 to 5"),
        ("dimension=content&low=4&high=2", "low", "The lowest rating is above the highest"),
        ("low=2", "dimension", "Pick the dimension"),
        ("from=yesterday", "from", "Give the day as 2026-03-31"),
        ("from=0001-01-01", "from", "between 2000 and 2100"),
        ("to=9999-12-31", "to", "between 2000 and 2100"),
        ("from=2026-03-02&to=2026-03-01", "from", "The first day is after the last"),
        ("started=perhaps", "started", "Pick one from the list"),
        ("q=" + "x" * 201, "q", "at most 200 characters"),
    ],
)
def test_a_bad_filter_is_told_beside_its_field_and_the_others_apply(
    tester: User, tester_client: Client, script: Script, build: Build, query: str, field: str, words: str
) -> None:
    make.result(tester, script, build, met_emma_before=True)
    make.result(tester, script, build)
    page = tester_client.get(f"/results/?{query}&returning=yes")
    assert page.status_code == 200
    beside = re.search(rf'<p class="error" id="filter-{field}-error">([^<]*)</p>', page.text)
    assert beside
    assert words in unescape(beside[1])
    assert 'class="error-summary"' in page.text
    assert page.context["listing"].count == 1


def test_an_unknown_sort_is_told_and_the_list_is_by_date(tester_client: Client) -> None:
    page = tester_client.get("/results/?sort=password&direction=asc")
    assert "sorted that way" in page.text
    assert page.context["asked"].sort == Sort()


def test_an_empty_field_leaves_the_address(tester_client: Client) -> None:
    page = tester_client.get("/results/?script=&q=a&low=")
    assert page.status_code == 302
    assert page.headers["Location"] == "/results/?q=a"


# --- sorting -------------------------------------------------------------------------------------


def test_a_head_sorts_by_its_column_and_pressed_again_the_other_way(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    low, high = (make.result(tester, script, build, ratings=rating) for rating in (1, 5))
    page = tester_client.get("/results/")
    assert re.search(r'<th[^>]*class="head-date" aria-sort="descending">', page.text)
    heads = {head.key: head for head in page.context["heads"]}
    page = tester_client.get(f"/results/?{heads['content'].query}")
    assert [row.id for row in page.context["listing"].rows] == [low.pk, high.pk]
    assert re.search(r'<th[^>]*class="head-content" aria-sort="ascending">', page.text)
    assert page.text.count("aria-sort") == 1
    heads = {head.key: head for head in page.context["heads"]}
    page = tester_client.get(f"/results/?{heads['content'].query}")
    assert [row.id for row in page.context["listing"].rows] == [high.pk, low.pk]


def test_builds_sort_by_their_numbers(tester: User, tester_client: Client, script: Script) -> None:
    for name in ("2026.10", "2026.9", "2026.11"):
        make.result(tester, script, make.build(name))
    rows = listing(tester_client, "sort=build&direction=asc").rows
    assert [row.build for row in rows] == ["2026.9", "2026.10", "2026.11"]


# --- htmx ----------------------------------------------------------------------------------------


def test_htmx_gets_the_rows_the_errors_and_a_clean_address(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    make.result(tester, script, build)
    part = tester_client.get("/results/?script=&low=2&q=", headers=HTMX)
    assert "<html" not in part.text
    assert '<section id="rows"' in part.text
    assert re.search(r'id="filter-dimension-error" hx-swap-oob="true">Pick the dimension', part.text)
    assert part.headers["HX-Push-Url"] == "/results/?low=2"
    assert "HX-Request" in part.headers["Vary"]


def test_going_back_in_the_browser_gets_the_whole_page(tester_client: Client) -> None:
    page = tester_client.get("/results/?q=a", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "<html" in page.text


# --- what may not be known -------------------------------------------------------------------------


@pytest.fixture
def canary(trained_tester: User, build: Build) -> Result:
    script = make.script("canary-slug", area="safety", title="Canary title")
    return make.result(trained_tester, script, build, comment="canary comment", problems=("too_long",))


@pytest.mark.parametrize(
    "query",
    [
        *("", "q=canary", "script=canary-slug", "area=safety", "problem=too_long", "sort=script", "started=yes"),
        *("after=0.0", "sort=script&after=0.a", "dimension=content&low=1&high=5"),
    ],
)
def test_the_untrained_learn_nothing_of_safety(tester_client: Client, canary: Result, query: str) -> None:
    page = tester_client.get(f"/results/?{query}")
    text = page.text.replace(f"/results/?{query}", "").replace("value=&quot;canary&quot;", "")
    assert "Canary" not in text
    assert "canary comment" not in text
    assert "canary-slug" not in re.sub(r'value="[^"]*"', "", text).replace(query, "")
    assert "tara@" not in text
    assert page.context["listing"].count == 0


def test_a_safety_script_and_one_that_does_not_exist_get_the_same_answer(tester_client: Client, canary: Result) -> None:
    def answer(slug: str) -> str:
        text: str = tester_client.get(f"/results/?script={slug}").text
        return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text.replace(slug, ""))

    assert answer("canary-slug") == answer("nobody-slug")


def test_the_trained_see_safety_with_its_badge(trained_tester: User, canary: Result) -> None:
    client = make.client_of(trained_tester)
    assert "Safety" in row_of(client, canary)
    assert listing(client, "area=safety").count == 1


@data_layer
def test_what_was_filed_as_safety_stays_covered_when_its_script_moves(tester: User, canary: Result) -> None:
    Script.objects.filter(pk=canary.script.pk).update(area="everyday")
    assert ids(tester) == set()


def test_anonymous_people_are_sent_to_sign_in(client: Client) -> None:
    assert client.get("/results/").status_code == 302


# --- cost ----------------------------------------------------------------------------------------


@data_layer
@pytest.mark.parametrize("key", ["date", "script", "build", "content", "vision"])
def test_the_number_of_queries_does_not_depend_on_the_rows(
    tester: User, script: Script, build: Build, key: str
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert make.client_of(tester).get(f"/results/?sort={key}").status_code == 200
        return len([query for query in seen if '"results_' in query["sql"] or '"scripts_catalog_' in query["sql"]])

    make.result(tester, script, build, problems=("too_long",))
    few = queries()
    camera = make.script("camera", uses_camera=True)
    for number in range(60):
        make.result(make.user(), (script, camera)[number % 2], make.build(), problems=("too_long", "cut_in"))
    # How many there are is asked where there is another page.
    assert queries() <= few + 1 <= 5


@data_layer
@pytest.mark.parametrize("place", ["first", "next"])
@pytest.mark.parametrize("sort", ["date", "script", "content"])
def test_a_page_of_many_asks_six_queries_in_all(
    tester: User, script: Script, build: Build, sort: str, place: str
) -> None:
    """The session, the person with their rights, what there is to choose, the rows, their problems, how many."""
    for _ in range(110):
        make.result(tester, script, build, problems=("too_long",))
    client, address = make.client_of(tester), f"/results/?script={script.slug}&problem=too_long&sort={sort}"
    if place == "next":
        address = f"/results/?{client.get(address).context['listing'].next}"
    with CaptureQueriesContext(connection) as seen:
        page = client.get(address)
    assert page.text.count('<th scope="row">') == 50
    assert len(seen) <= 6, [query["sql"][:80] for query in seen]


def test_a_full_page_stays_light(tester: User, tester_client: Client, build: Build) -> None:
    """With every field in use: at most 25 KB on the wire."""
    tags = tuple(tag.key for group in taxonomy.TAG_GROUPS for tag in group.tags)
    for number in range(51):
        script = make.script(uses_camera=True, title=f"A title of the usual length {number}")
        words = " ".join(f"word{number * place}" for place in range(40))
        tagged = tuple(tags[(number + step) % len(tags)] for step in (0, 7, 13, 19))
        make.result(make.user(name=f"Person Number {number}"), script, build, problems=tagged, comment=words)
    page = tester_client.get("/results/")
    assert page.text.count('<th scope="row">') == 50
    assert len(gzip.compress(page.content, 6)) <= 25_000


def test_the_count_stops_at_ten_thousand(monkeypatch: pytest.MonkeyPatch, tester: User, script: Script) -> None:
    monkeypatch.setattr("results.listing.list_results.MOST_COUNTED", 3)
    for _ in range(3):
        make.result(tester, script, make.build())
    assert list_results(tester, Asked(Filters())).count_in_words == "3 results"
    for _ in range(5):
        make.result(tester, script, make.build())
    assert list_results(tester, Asked(Filters())).count_in_words == "3+ results"


@data_layer
def test_that_there_are_more_is_kept_for_a_minute_for_those_who_see_the_same(
    monkeypatch: pytest.MonkeyPatch, tester: User, script: Script, build: Build
) -> None:
    monkeypatch.setattr("results.listing.list_results.MOST_COUNTED", 51)
    covered = make.script(area=taxonomy.SAFETY)
    trained = make.user(is_trained=True)
    for each in (covered, covered, *[script] * 51):
        make.result(tester, each, build)

    def asks_to_count(user: User, **filters: Any) -> bool:
        with CaptureQueriesContext(connection) as asked:
            list_results(user, Asked(Filters(**filters)))
        return any("COUNT(" in query["sql"] for query in asked.captured_queries)

    assert list_results(trained, Asked(Filters())).count_in_words == "51+ results"
    assert not asks_to_count(trained)
    assert list_results(trained, Asked(Filters())).count_in_words == "51+ results"
    assert asks_to_count(trained, started=True)
    assert list_results(tester, Asked(Filters())).count_in_words == "51 results"
    assert asks_to_count(tester), "an exact count is never kept"
    make.result(tester, script, build)
    assert list_results(tester, Asked(Filters())).count_in_words == "51+ results"
    cache.clear()
    assert asks_to_count(trained)


def test_an_empty_list_says_what_will_be_here(tester_client: Client) -> None:
    page = tester_client.get("/results/").text
    assert "becomes a row here" in page
    assert "<table" not in page


def test_nothing_that_fits_offers_the_whole_list(tester_client: Client) -> None:
    assert "No result fits these filters" in tester_client.get("/results/?q=nothing").text


def test_what_people_wrote_is_text(tester: User, script: Script, build: Build) -> None:
    evil = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
    person = make.user(name=evil)
    make.result(person, make.script(title=evil), build, comment=evil, camera_note=evil)
    page = make.client_of(tester).get("/results/", {"q": evil}).text
    assert "<img src=x" not in page
    assert "<script>alert" not in page


def test_the_trained_can_leave_safety_out_and_others_read_no_word_of_it(
    tester: User, trained_tester: User, build: Build
) -> None:
    make.result(tester, make.script("bad-news-day"), build)
    make.result(trained_tester, make.script("quiet-talk", area="safety"), build)
    trained, other = make.client_of(trained_tester), make.client_of(tester)
    assert (len(listing(trained).rows), len(listing(trained, "safety=no").rows)) == (2, 1)
    page = trained.get("/results/?safety=no").text
    assert "Safety left out" in page
    assert "Safety included" not in page
    assert "Safety left out" in trained.get("/results/?safety=no", headers={"HX-Request": "true"}).text
    without = other.get("/results/").text
    assert "afety" not in without
    asked = other.get("/results/?safety=no")
    assert "1 result" in asked.text
    assert not re.search(r"Safety|filter-safety", asked.text)
