"""A small site whose truth is known: what a manager's questions should be answered with.

- Build 2026.43 is rated a whole point higher than 2026.42 in Content of "Bad news day", and the same elsewhere.
- This month "Too long or rambling" is the biggest problem most often: on four results, of three testers.
- On 2026.43 Tess ran both scripts, Theo and Tina one; "Noisy room" and "Remember me" were not run by anybody.
- Testers agree wholly on Content, and on the face no more than by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Result
from scripts_catalog.models import Build, Script
from tests import make

OLD, NEW = "2026.42", "2026.43"
BIGGEST = "Too long or rambling"
RUNS_ON_NEW = 12 + 6


@dataclass(frozen=True)
class ManagersWorld:
    """`examples`: the three calls of the biggest problem that are to be shown, the most telling first."""

    manager: User
    examples: list[Result]


def build_managers_world() -> ManagersWorld:
    tess, theo, tina = (make.user(f"{name.lower()}@example.test", Role.TESTER, name=name) for name in _NAMES)
    old, new = make.build(OLD), make.build(NEW, is_current=True)
    news = make.script("bad-news-day", title="Bad news day")
    talk = make.script("small-talk", title="Small talk")
    for title in ("Noisy room", "Remember me"):
        make.script(title.lower().replace(" ", "-"), title=title)
    for place in range(12):
        tester, face = (tess, theo)[place % 2], (1, 5)[place // 2 % 2 ^ place % 2]
        _run(tester, news, old, place, content=3 + place // 2 % 2, face_video=face)
        _run(tester, news, new, place, content=4 + place // 2 % 2, face_video=face)
    for place in range(6):
        for build in (old, new):
            _run((tess, tina)[place % 2], talk, build, place, content=2 + place // 2, face_video=3)
    manager = make.user("mona@example.test", Role.MANAGER, name="Mona")
    examples = _tag(new, tess, theo, tina)
    make.counts()
    return ManagersWorld(manager, examples)


_NAMES = ("Tess", "Theo", "Tina")


def _run(tester: User, script: Script, build: Build, place: int, **ratings: int) -> Result:
    """The old build months ago, the new one this month."""
    when = _this_month() + timedelta(minutes=place) if build.name == NEW else _this_month() - timedelta(days=90 - place)
    return make.result(tester, script, build, ratings=4, called_at=when, **ratings)


def _this_month() -> datetime:
    """The first minutes of this month, where tests run on the first of it too."""
    return timezone.localtime().replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _tag(new: Build, tess: User, theo: User, tina: User) -> list[Result]:
    """The biggest problem on four results of this month, two of them of Tess; another is tagged more often.

    Theo held the latest call of all, then another tester's comes first; Tina's has no recording.
    """
    recording = "https://recordings.example.test/1"
    found = []
    for tester, link in ((tess, recording), (tess, recording), (theo, recording), (tina, "")):
        mine = Result.objects.filter(tester=tester, build=new).exclude(pk__in=[each.pk for each in found])
        result = mine.order_by("-called_at", "-id")[0]
        Result.objects.filter(pk=result.pk).update(recording_link=link)
        result.problems.create(tag="too_long", position=1, rank=1)
        result.problems.create(tag="cut_in", position=2, rank=2)
        found.append(result)
    others = Result.objects.filter(build=new).exclude(pk__in=[each.pk for each in found]).order_by("id")
    for result in others[:2]:
        result.problems.create(tag="cut_in", position=1, rank=1)
    months_ago = Result.objects.filter(build__name=OLD)
    for result in months_ago:
        result.problems.create(tag="weird_gaze", position=1, rank=1)
    latest_of_tess, earlier_of_tess, latest_of_theo, _ = found
    return [latest_of_theo, latest_of_tess, earlier_of_tess]
