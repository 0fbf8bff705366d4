"""Two builds beside each other: the truth where it is known, brute force where it is not."""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from html import unescape
from random import Random

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import Difference, difference_of, difference_of_shares, mean_of
from results.dashboards.compared import Comparison
from results.dashboards.differences import say_difference_of_shares
from results.figures import say_number
from results.models import DIMENSION_KEYS, Result, Review, ReviewedProblem
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script, ScriptVersion
from tests import make

pytestmark = pytest.mark.django_db
data_layer = pytest.mark.data_layer

TAGS = ("too_long", "cut_in", "too_fast", "stuck_start")


@pytest.fixture
def old(db: None) -> Build:
    return make.build("2026.42")


@pytest.fixture
def new(db: None) -> Build:
    return make.build("2026.43", is_current=True)


def compared(client: Client, query: str = "") -> Comparison:
    page = client.get(f"/dashboard/compare/?{query}")
    assert page.status_code == 200
    found: Comparison = page.context["compared"]
    return found


def rate(tester: User, script: Script, build: Build, content: list[int], **fields: object) -> None:
    """A result for each rating of Content; every other dimension is rated 3."""
    for rating in content:
        make.result(tester, script, build, ratings=3, **{"content": rating, **fields})


@pytest.fixture
def better(tester: User, old: Build, new: Build) -> tuple[Script, Script]:
    """The new build is a whole rating better in one script, and the same in the other, which it ran more."""
    good, same = make.script("bad-news-day", title="Bad news day"), make.script("small-talk", title="Small talk")
    rate(tester, good, old, [2, 3, 3, 3, 2, 3, 3, 2, 3, 3])
    rate(tester, good, new, [4, 4, 3, 4, 4, 4, 4, 3, 4, 4])
    rate(tester, same, old, [3, 4, 3, 4, 3, 4])
    rate(tester, same, new, [3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4])
    return good, same


@data_layer
def test_it_answers_whether_the_current_build_is_better_and_where(
    better: tuple[Script, Script], manager_client: Client
) -> None:
    found = compared(manager_client)
    assert (found.two.build.name, found.two.other.name) == ("2026.43", "2026.42")
    content = found.dimensions[1]
    assert (content.build.n, content.other.n) == (22, 16)
    assert content.is_shown
    assert content.is_sure
    weights = [10 * 10 / 20, 12 * 6 / 18]
    assert content.difference is not None
    assert content.difference.difference == pytest.approx((weights[0] * 1.1 + weights[1] * 0.0) / sum(weights))
    assert content.words.startswith("+0.61 against 2026.42, interval ")
    assert content.words.endswith(", 22 and 16 calls")
    assert found.answer == (
        "2026.43 is better than 2026.42 in Content (+0.61, interval 0.27 to 0.95, n 22 and 16). "
        "No difference is shown in the other 4 dimensions. "
        "It shows most surely in “Bad news day”: Content, +1.10, interval 0.67 to 1.53, n 10 and 10."
    )
    assert found.answer in unescape(manager_client.get("/dashboard/compare/").text)
    assert [finding.line.title for finding in found.findings] == ["Bad news day"]


def test_the_other_way_round_it_is_worse(better: tuple[Script, Script], manager_client: Client) -> None:
    found = compared(manager_client, "build=2026.42&with=2026.43")
    assert found.answer.startswith("2026.42 is worse than 2026.43 in Content (−0.61, interval −0.95 to −0.27")
    assert found.dimensions[1].words.startswith("−0.61 against 2026.43, interval −")


def test_a_harder_script_makes_no_build_worse(tester: User, old: Build, new: Build, manager_client: Client) -> None:
    """Simpson's paradox: the new build is better in both scripts, but ran the hard one more often."""
    easy, hard = make.script("easy"), make.script("hard")
    rate(tester, easy, old, [4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4])
    rate(tester, easy, new, [5, 5, 5, 5, 4, 5])
    rate(tester, hard, old, [1, 1, 1, 2, 1, 1])
    rate(tester, hard, new, [2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 2, 2, 2, 2])
    content = compared(manager_client).dimensions[1]
    assert content.build.reading.value is not None
    assert content.other.reading.value is not None
    assert content.build.reading.value < content.other.reading.value
    assert content.is_higher


@data_layer
def test_it_says_that_no_difference_is_shown(tester: User, old: Build, new: Build, manager_client: Client) -> None:
    script = make.script("small-talk")
    rate(tester, script, old, [2, 3, 4, 3, 2, 4])
    rate(tester, script, new, [3, 4, 2, 4, 3, 3])
    found = compared(manager_client)
    assert found.dimensions[1].words.startswith("no difference shown: +0.17 against 2026.42, interval −0.")
    assert found.answer == (
        "No difference between 2026.43 and 2026.42 is shown in any dimension. "
        "No single script shows a difference by itself."
    )


def test_an_interval_has_the_sign_of_the_difference_before_it(
    tester: User, old: Build, new: Build, manager_client: Client
) -> None:
    script = make.script("small-talk")
    rate(tester, script, old, [3, 4, 2, 4, 3, 3])
    rate(tester, script, new, [2, 3, 4, 3, 2, 4])
    content = compared(manager_client).dimensions[1]
    assert content.difference is not None
    low, high = content.difference.low, content.difference.high
    assert low is not None
    assert high is not None
    assert low < -0.5 < 0 < high
    assert content.words == (
        f"no difference shown: −0.17 against 2026.42, interval {say_number(low)} to {say_number(high)}, 6 and 6 calls"
    )
    page = manager_client.get("/dashboard/compare/").text
    assert "Compared within the <b>one</b> script that both ran" in page
    assert "lower than" not in page


def test_the_same_goes_for_shares_of_problems() -> None:
    less = Difference(-0.12, -0.3, 0.05, 20, 20, 1)
    assert say_difference_of_shares(less, "2026.42") == (
        "no difference shown: −12.0 points against 2026.42, interval −30.0 to 5.0"
    )
    more = Difference(0.12, 0.031, 0.21, 20, 20, 1)
    assert say_difference_of_shares(more, "2026.42") == "+12.0 points against 2026.42, interval 3.1 to 21.0"


def test_a_dimension_with_few_ratings_is_named(
    better: tuple[Script, Script], tester: User, new: Build, manager_client: Client
) -> None:
    make.result(tester, better[0], new, ratings=3, camera_used=True)
    assert "n is too small in Vision." in compared(manager_client).answer


def test_with_few_ratings_it_says_so(tester: User, old: Build, new: Build, manager_client: Client) -> None:
    script = make.script("small-talk")
    rate(tester, script, old, [1, 1, 1, 1])
    rate(tester, script, new, [5, 5, 5, 5, 5])
    found = compared(manager_client)
    assert found.dimensions[1].words == "n too small: 5 and 4 calls"
    assert found.answer.startswith("Whether 2026.43 is better than 2026.42 can’t be told yet")
    assert found.made == 0


def run_once(tester: User, build: Build, content: list[int]) -> None:
    """One result of each script, all dimensions but Content rated 3."""
    for number, rating in enumerate(content):
        script = Script.objects.filter(slug=f"once-{number:02}").first() or make.script(f"once-{number:02}")
        rate(tester, script, build, [rating])


@data_layer
def test_scripts_that_were_run_once_on_each_build_are_compared_with_each_other(
    tester: User, old: Build, new: Build, manager_client: Client
) -> None:
    run_once(tester, old, [3, 4, 3, 3, 2, 4, 4, 3, 3, 4, 3, 3, 4, 3, 3, 4, 3])
    run_once(tester, new, [5, 4, 5, 4, 4, 5, 5, 4, 5, 5, 4, 5, 5, 4, 5, 4, 5])
    found = compared(manager_client)
    content = found.dimensions[1]
    assert content.is_shown
    assert content.is_sure
    assert content.words == "+1.29 against 2026.42, interval 0.94 to 1.65, 17 and 17 calls"
    assert found.answer == (
        "2026.43 is better than 2026.42 in Content (+1.29, interval 0.94 to 1.65, n 17 and 17). "
        "No difference is shown in the other 4 dimensions."
    )
    page = manager_client.get("/dashboard/compare/").text
    assert "intervals of differences are taken from how the scripts differ from each other" in page
    assert "by chance" not in page, "no script was compared by itself, so none of them differs by chance"
    assert "No script was run often enough on both builds to be compared by itself" in page
    assert "badge sure" not in page


def test_where_nothing_tells_an_interval_it_asks_for_more_runs(
    tester: User, old: Build, new: Build, manager_client: Client
) -> None:
    for number in range(6):
        script = make.script(f"s-{number}")
        make.result(tester, script, old, ratings=3)
        make.result(tester, script, new, ratings=4)
    found = compared(manager_client)
    assert found.answer == "Can’t be told yet: each script was run once on each build. Run them again."
    assert found.dimensions[1].words == (
        "can’t be told: +1.00 against 2026.42, but every script differs by the same and nothing tells an interval, "
        "6 and 6 calls"
    )
    assert not found.dimensions[1].is_shown
    assert found.compared_dimensions == 0


def test_ratings_of_one_script_that_are_all_alike_cannot_be_told_either(
    tester: User, old: Build, new: Build, manager_client: Client
) -> None:
    script = make.script("small-talk")
    rate(tester, script, old, [3] * 6)
    rate(tester, script, new, [4] * 6)
    found = compared(manager_client)
    assert "Content can’t be told yet, since nothing varies that would tell an interval." in found.answer
    assert found.dimensions[1].words.startswith("can’t be told: +1.00 against 2026.42, but all ratings of a script")
    assert found.dimensions[0].words == (
        "no difference shown: rated alike, with nothing to take an interval from, 6 and 6 calls"
    )
    assert "no interval" in found.lines[0].drawn


def test_what_may_be_chance_is_no_surer_in_the_headline_than_in_its_row(
    tester: User, old: Build, new: Build, manager_client: Client
) -> None:
    """Five dimensions vary, one of them differs at 95 % but not for all five together."""
    script, steady = make.script("small-talk", title="Small talk"), [2, 3, 4, 3, 2, 4, 3, 3]
    for build, content in ((old, [2, 3, 3, 2, 4, 3, 3, 2]), (new, [3, 4, 3, 3, 4, 4, 3, 4])):
        for place, rating in enumerate(content):
            others = {key: steady[(place + turn) % 8] for turn, key in enumerate(DIMENSION_KEYS[:-1])}
            make.result(tester, script, build, **{**others, "ratings": 3, "content": rating})
    found = compared(manager_client)
    content = found.dimensions[1]
    assert (content.is_shown, content.is_sure) == (True, False)
    assert found.answer.startswith(
        "Perhaps 2026.43 is better than 2026.42 in Content (+0.75, interval 0.07 to 1.43, n 8 and 8): "
        "5 dimensions were compared, and that much may come by chance. "
        "No difference is shown in the other 4 dimensions."
    )
    assert "is better" not in found.answer.removeprefix("Perhaps 2026.43 is better")
    assert "Of single scripts, what differs may be chance; the least so in “Small talk”: Content" in found.answer
    assert "surely" not in found.answer
    page = manager_client.get("/dashboard/compare/").text
    assert "badge sure" not in page, "nothing is marked sure, so nothing has to be said about it"


def test_means_are_of_the_calls_that_were_compared(
    tester: User, old: Build, new: Build, manager_client: Client
) -> None:
    """Vision: one script was run with the camera on one build alone, so its ratings are in no mean."""
    both, mixed = (make.script(slug, uses_camera=True) for slug in ("both", "mixed"))
    for build in (old, new):
        for rating in (2, 3, 4, 3, 4):
            make.result(tester, both, build, ratings=rating, camera_used=True)
    make.result(tester, mixed, new, ratings=5, camera_used=True)
    for build in (old, new):
        make.result(tester, mixed, build, ratings=3, vision=None, camera_used=False)
    vision = compared(manager_client).dimensions[-1]
    assert vision.difference is not None
    assert (vision.difference.n_a, vision.difference.n_b) == (vision.build.n, vision.other.n) == (5, 5)
    assert vision.build.reading.value == pytest.approx(3.2)
    assert (vision.build.rows, vision.other.rows is None) == (None, False)


def test_as_reviewed_it_says_how_many_results_were_reviewed(
    better: tuple[Script, Script], tester: User, manager_client: Client
) -> None:
    for result in Result.objects.filter(build__name="2026.43")[:3]:
        review(result, tester, ())
    page = " ".join(re.sub(r"<[^>]*>", "", manager_client.get("/dashboard/compare/?tags=reviewed").text).split())
    assert (
        "No problem was tagged in reviews on scripts that both have reviewed results of. "
        "Reviewed results: 3 of 2026.43 and 0 of 2026.42."
    ) in page


def test_scripts_of_one_build_alone_are_left_out_and_named(
    better: tuple[Script, Script], tester: User, old: Build, new: Build, manager_client: Client
) -> None:
    rate(tester, make.script("only-old", title="Only old"), old, [1] * 9)
    rate(tester, make.script("only-new", title="Only new"), new, [5] * 7)
    found = compared(manager_client)
    assert [(each.title, each.runs.n) for each in found.only_other] == [("Only old", 9)]
    assert [(each.title, each.runs.n) for each in found.only_build] == [("Only new", 7)]
    assert found.dimensions[1].build.n == 22
    assert found.dimensions[1].build.rows is None, "its rows are not all rows of the build"
    page = manager_client.get("/dashboard/compare/").text
    assert "2 scripts are left out." in page
    assert 'data-count="9">9</a> calls on' in page


def test_a_script_that_changed_is_told_and_can_be_left_out(
    better: tuple[Script, Script], tester: User, new: Build, manager_client: Client
) -> None:
    script, _ = better
    script.latest = ScriptVersion.objects.create(
        script=script,
        number=2,
        area="everyday",
        title="Bad news day",
        main_dimension="content",
        summary="s",
        what_to_do="w",
        steps=["Say hello."],
    )
    make.result(tester, script, new)
    found = compared(manager_client)
    assert [(each.title, each.build, each.other) for each in found.changed] == [("Bad news day", "1 and 2", "1")]
    assert "version 1 on <bdi>2026.42</bdi>, 1 and 2 on" in manager_client.get("/dashboard/compare/").text
    without = compared(manager_client, "unchanged=on")
    assert [line.title for line in without.lines] == ["Small talk"]
    assert not without.findings
    assert [each.title for each in without.only_build] == ["Bad news day"]


def test_another_taxonomy_edition_is_a_break(better: tuple[Script, Script], new: Build, manager_client: Client) -> None:
    Result.objects.filter(build=new).update(taxonomy_edition=2)
    page = manager_client.get("/dashboard/compare/").text
    assert "were filed by edition 1, those of <bdi>2026.43</bdi> by edition 2" in page


@pytest.fixture
def filed(tester: User, old: Build, new: Build) -> None:
    random = Random(11)
    scripts = [make.script(f"s-{number}", uses_camera=number == 1) for number in range(4)]
    scripts += [make.script("show", area="camera", uses_camera=True), make.script("canary", area="safety")]
    third = make.build("2026.44")
    for _ in range(160):
        never = random.random() < 0.1
        made = make.result(
            tester,
            random.choice(scripts),
            random.choice([old, new, third]),
            ratings=random.randint(1, 5),
            met_emma_before=random.random() < 0.5,
            problems=tuple(random.sample(TAGS, random.randint(0, 3))),
            **({"never_started": True, "camera_used": False} if never else {}),
        )
        if random.random() < 0.5:
            review(made, tester, tuple(random.sample(TAGS, random.randint(0, 2))))


def review(result: Result, reviewer: User, tags: tuple[str, ...]) -> None:
    made = Review.objects.create(result=result, reviewer=reviewer, filed_at=result.filed_at, stands=True)
    for place, tag in enumerate(tags, 1):
        ReviewedProblem.objects.create(review=made, tag=tag, position=place, rank=place)


def rows_of(query: str, *, is_trained: bool) -> list[Result]:
    """The results of the two builds that a viewer may know and the filters let through, one by one."""
    rows = Result.objects.select_related("script").filter(build__name__in=("2026.42", "2026.43"))
    kept = [row for row in rows if is_trained or row.script.area != taxonomy.SAFETY]
    if "area=camera" in query:
        kept = [row for row in kept if row.script.area == "camera"]
    if "returning=yes" in query:
        kept = [row for row in kept if row.met_emma_before]
    return kept


@data_layer
@pytest.mark.parametrize("query", ["", "returning=yes", "area=camera", "tags=reviewed"])
@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_brute_force_comes_to_the_same(
    filed: None, manager: User, trained_eval_member: User, query: str, is_trained: bool
) -> None:
    client = make.client_of(trained_eval_member if is_trained else manager)
    found = compared(client, f"build=2026.43&with=2026.42&{query}")
    rows = rows_of(query, is_trained=is_trained)
    new, old = (Build.objects.get(name=name).sort_key for name in ("2026.43", "2026.42"))
    ran = defaultdict(set)
    for row in rows:
        if not row.never_started:
            ran[row.build_id].add(row.script_id)
    both = ran[new] & ran[old]
    assert {line.slug for line in found.lines} == both
    assert {each.slug for each in found.only_build} == ran[new] - both
    for each, key in zip(found.dimensions, DIMENSION_KEYS, strict=True):
        values = defaultdict(list)
        for row in rows:
            if row.script_id in both and getattr(row, key) is not None:
                values[row.script_id, row.build_id].append(getattr(row, key))
        pairs = [
            tuple([values[slug, build].count(rating) for rating in range(1, 6)] for build in (new, old))
            for slug in both
        ]
        assert each.difference == Near(difference_of(pairs))
        for side, build in ((each.build, new), (each.other, old)):
            rated = [slug for slug in both if values[slug, new] and values[slug, old]]
            expected = mean_of([value for slug in rated for value in values[slug, build]])
            assert difference_n(each.difference, build == new) == side.n, "a mean is of what was compared"
            assert side.n == (expected.n if expected else 0)
            if expected:
                assert side.figure.mean == pytest.approx(expected.mean)
    assert_problems(found, rows, new, old, is_as_reviewed="reviewed" in query)


def difference_n(difference: Difference | None, is_build: bool) -> int:
    if difference is None:
        return 0
    return difference.n_a if is_build else difference.n_b


def assert_problems(found: Comparison, rows: list[Result], new: str, old: str, *, is_as_reviewed: bool) -> None:
    tagged: dict[tuple[str, str], list[set[str]]] = defaultdict(list)
    for row in rows:
        standing = row.reviews.filter(stands=True).first()
        if is_as_reviewed and standing is None:
            continue
        problems = standing.problems if is_as_reviewed and standing else row.problems
        tagged[row.script_id, row.build_id].append(set(problems.values_list("tag", flat=True)))
    both = [slug for slug in {slug for slug, _ in tagged} if tagged[slug, new] and tagged[slug, old]]
    for problem in found.problems:
        pairs = []
        for slug in both:
            sides = [tagged[slug, build] for build in (new, old)]
            pairs.append(tuple((sum(problem.tag in tags for tags in side), len(side)) for side in sides))
        assert (problem.build.part, problem.build.n) == tuple(map(sum, zip(*(pair[0] for pair in pairs), strict=True)))
        assert problem.difference == Near(difference_of_shares(pairs))
    assert len(found.problems) == len(
        {tag for slug in both for b in (new, old) for tags in tagged[slug, b] for tag in tags}
    )


class Near:
    """Equal but for the order in which floats were added."""

    def __init__(self, expected: object) -> None:
        self.expected = expected

    def __eq__(self, other: object) -> bool:
        if self.expected is None or other is None:
            return self.expected is other
        return vars(other) == pytest.approx(vars(self.expected))

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("query", ["", "returning=no", "tags=reviewed"])
@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_every_figure_opens_the_rows_that_it_counts(
    filed: None, manager: User, trained_eval_member: User, query: str, is_trained: bool
) -> None:
    client = make.client_of(trained_eval_member if is_trained else manager)
    page = client.get(f"/dashboard/compare/?{query}").text
    links = set(re.findall(r'href="(/results/\?[^"]*)" data-count="(\d+)"', page))
    assert len(links) > 20
    for link, count in links:
        rows = client.get(unescape(link))
        assert rows.context["listing"].count == int(count), link
        assert not rows.context["form"].errors, link


def test_the_untrained_are_told_nothing_of_safety(
    trained_tester: User, old: Build, new: Build, manager_client: Client, trained_eval_member: User
) -> None:
    canary = make.script("canary", area="safety", title="Canary")
    for build in (old, new):
        rate(trained_tester, canary, build, [3] * 6)
    page = manager_client.get("/dashboard/compare/").text
    assert "Canary" not in page
    assert "Safety" not in page
    assert "Canary" in make.client_of(trained_eval_member).get("/dashboard/compare/").text


@data_layer
def test_queries_do_not_grow_with_the_scripts(filed: None, manager: User, old: Build, new: Build) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            compared(make.client_of(manager))
        return len(seen)

    few = queries()
    for number in range(20):
        for build in (old, new):
            make.result(make.user(), make.script(f"{build.pk}-{number}"), build, problems=("too_long",))
    assert queries() == few


def test_twenty_comparisons_of_nothing_are_not_called_sure(
    tester: User, old: Build, new: Build, manager_client: Client
) -> None:
    """Noise alone: some scripts differ by chance, which the page foretells, and none of them is marked as sure."""
    random = Random(4)
    for number in range(20):
        script = make.script(f"noise-{number:02}")
        for build in (old, new):
            Result.objects.bulk_create(
                Result(
                    tester=tester,
                    script=script,
                    script_version=script.latest,
                    build=build,
                    draft_uuid=uuid.uuid4(),
                    called_at="2026-05-04T10:00Z",
                    **{key: random.randint(1, 5) for key in DIMENSION_KEYS[:-1]},
                )
                for _ in range(12)
            )
    found = compared(manager_client)
    assert found.made == 100
    assert found.by_chance == 5
    assert 0 < len(found.findings) < 15
    assert not any(finding.cell.is_sure for finding in found.findings)


@pytest.mark.parametrize("query", ["build=nope", "with=nope", "build=2026.42&with=2026.42", "area=safety", "tags=x"])
def test_what_is_wrong_is_told_and_the_rest_is_shown(filed: None, manager_client: Client, query: str) -> None:
    page = manager_client.get(f"/dashboard/compare/?{query}")
    assert 'class="error-summary"' in page.text
    assert page.context["compared"].lines


def test_htmx_gets_the_figures_alone(filed: None, manager_client: Client) -> None:
    part = manager_client.get("/dashboard/compare/?area=&returning=yes", headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert '<section id="figures"' in part.text
    assert part.headers["HX-Push-Url"] == "/dashboard/compare/?returning=yes"


def test_with_one_build_there_is_nothing_to_compare(new: Build, manager_client: Client) -> None:
    assert "As soon as there are two builds with results" in manager_client.get("/dashboard/compare/").text


def test_the_oldest_build_is_compared_with_the_next(better: tuple[Script, Script], manager_client: Client) -> None:
    found = compared(manager_client, "build=2026.42")
    assert found.two.other.name == "2026.43"


def test_testers_may_not_open_it(better: tuple[Script, Script], tester_client: Client) -> None:
    assert tester_client.get("/dashboard/compare/").status_code == 403


def test_with_and_without_safety_the_untrained_read_the_same_to_the_letter(
    filed: None, trained_tester: User, manager: User
) -> None:
    def read() -> list[str]:
        client = make.client_of(manager)
        pages = (
            client.get(f"/dashboard/compare/?build=2026.43&with=2026.42{more}").text for more in ("", "&area=camera")
        )
        return [re.sub(r'(name="csrfmiddlewaretoken" value|hx-headers)=[^>]*', "", page) for page in pages]

    before = read()
    canary = make.script("second-canary", area="safety")
    for name in ("2026.42", "2026.43"):
        build = Build.objects.get(name=name)
        rate(trained_tester, canary, build, [1, 5, 1, 5, 5, 5], problems=("too_long",))
        moved = make.script(f"moved-{build.pk}")
        make.result(trained_tester, moved, build, filed_as_safety=True, ratings=1)
    assert read() == before
