"""Random results of everything that a dashboard tells apart, and the plainest way to count them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from html import unescape
from random import Random
from statistics import mean, stdev
from urllib.parse import urlsplit

from django.http import QueryDict
from scipy import stats

from emma_eval.accounts.models import User
from results.listing.choices import choices_for
from results.listing.filter_form import FilterForm
from results.models import DIMENSION_KEYS, Problem, ProblemOrder, Result, Review
from scripts_catalog.models import Build, Script, ScriptVersion
from tests import make

TAGS = ("too_long", "cut_in", "too_fast", "stuck_start", "weird_gaze")


def random_results(
    rng: Random, number: int, testers: list[User], first: datetime, days: int, *, with_safety: bool = True
) -> list[Result]:
    """Of five scripts on three builds over some days: without camera, never started, reviewed, of unknown order."""
    scripts = [
        make.script("plain"),
        make.script("other"),
        make.script("show", area="camera", uses_camera=True),
        _of_two_versions(),
        *([make.script("canary", area="safety")] if with_safety else []),
    ]
    builds = [make.build("2026.9"), make.build("2026.10", is_current=True), make.build("2026.11")]
    return [_one(rng, rng.choice(testers), scripts, builds, first, days) for _ in range(number)]


def _of_two_versions() -> Script:
    script = make.script("edited")
    ScriptVersion.objects.create(
        **{
            field.attname: getattr(script.latest, field.attname)
            for field in ScriptVersion._meta.fields
            if field.attname not in {"id", "number", "open_number"}
        },
        number=2,
    )
    return script


def _one(rng: Random, tester: User, scripts: list[Script], builds: list[Build], first: datetime, days: int) -> Result:
    script, never = rng.choice(scripts), rng.random() < 0.1
    made = make.result(
        tester,
        script,
        rng.choice(builds),
        problems=tuple(rng.sample(TAGS, rng.randint(0, 3))),
        called_at=first + timedelta(minutes=rng.randrange(days * 24 * 60)),
        met_emma_before=rng.random() < 0.4,
        recording_link="https://recordings.example.test/1" if rng.random() < 0.5 else "",
        script_version=rng.choice(list(script.versions.all())),
        **_ratings(rng, script, never=never),
    )
    if rng.random() < 0.2:
        Result.objects.filter(pk=made.pk).update(problem_order=ProblemOrder.GROUPS)
        Problem.objects.filter(result=made).update(rank=None)
    if rng.random() < 0.4:
        review(made, tester, rng.sample(TAGS, rng.randint(0, 2)), stands=rng.random() < 0.7)
    return Result.objects.select_related("script").get(pk=made.pk)


def _ratings(rng: Random, script: Script, *, never: bool) -> dict[str, object]:
    if never:
        return {"never_started": True, "camera_used": False}
    camera = script.latest.uses_camera and rng.random() < 0.8
    rated: dict[str, object] = {key: rng.randint(1, 5) for key in DIMENSION_KEYS[:-1]}
    return {**rated, "camera_used": camera, "vision": rng.randint(1, 5) if camera else None}


def review(result: Result, by: User, tags: Iterable[str], *, stands: bool = True) -> Review:
    made = Review.objects.create(result=result, reviewer=by, filed_at=result.filed_at, stands=stands)
    for place, tag in enumerate(tags, 1):
        made.problems.create(tag=tag, position=place, rank=place)
    return made


def mean_by_hand(ratings: list[int]) -> tuple[float, float, float]:
    """A mean and its t interval, by scipy's own t."""
    middle = mean(ratings)
    low, high = stats.t.interval(0.95, len(ratings) - 1, middle, stdev(ratings) / len(ratings) ** 0.5)
    return middle, max(1.0, low), min(5.0, high)


def count_behind(user: User, link: str) -> int:
    """How many rows the list of results finds under this address, which it must understand whole."""
    form = FilterForm(QueryDict(urlsplit(unescape(link)).query).dict(), choices_for(user))
    found = form.filters().narrow(Result.objects.visible_to(user)).count()
    assert not form.errors, link
    return found


TagsOf = Callable[[Result], list[tuple[str, int | None]]]


def tags_by_hand(results: list[Result], tags_of: TagsOf) -> tuple[Counter[str], Counter[str]]:
    """How often each tag was used, and how often as the biggest."""
    found = [pair for result in results for pair in tags_of(result)]
    return Counter(tag for tag, _ in found), Counter(tag for tag, rank in found if rank == 1)


def as_filed(result: Result) -> list[tuple[str, int | None]]:
    return list(result.problems.values_list("tag", "rank"))


def as_reviewed(result: Result) -> list[tuple[str, int | None]]:
    standing = result.reviews.filter(stands=True).first()
    return list(standing.problems.values_list("tag", "rank")) if standing else []
