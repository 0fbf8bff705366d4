"""Makers of rows for tests, each with everything a right row needs and nothing more."""

from __future__ import annotations

import itertools
import uuid
from datetime import date, timedelta
from typing import Any

from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from results.counts.keep_counts import Tally
from results.models import (
    DIMENSION_KEYS,
    Call,
    MonthCount,
    MonthTag,
    Problem,
    Recording,
    RecordingState,
    Result,
    Review,
    Sides,
)
from scripts_catalog.models import Build, Script, ScriptVersion

PASSWORD = "a-long-enough-password"
_count = itertools.count(1)


def user(email: str | None = None, *roles: Role, is_trained: bool = False, **fields: Any) -> User:
    made = User.objects.create_user(email or f"person-{next(_count)}@example.test", PASSWORD, **fields)
    # A test with real transactions empties every table after it, the groups of the migration too.
    made.groups.set([Group.objects.get_or_create(name=role.value)[0] for role in roles])
    if is_trained:
        Training.objects.create(user=made, starts_on=date(2020, 1, 1))
    return User.objects.get(pk=made.pk)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def script(slug: str = "", *, area: str = "everyday", uses_camera: bool = False, **fields: Any) -> Script:
    slug = slug or f"script-{next(_count)}"
    made = Script.objects.create(slug=slug, area=area)
    made.latest = ScriptVersion.objects.create(
        script=made,
        number=1,
        area=area,
        uses_camera=uses_camera,
        **{
            "title": slug.replace("-", " ").capitalize(),
            "main_dimension": "content",
            "summary": "What this script finds out.",
            "what_to_do": "Find a quiet place.",
            "steps": ["Say hello.", "Ask her a question."],
            "anchors": {"content": {"five": "Answers it well.", "one": "Makes it up."}},
            **fields,
        },
    )
    made.save()
    return made


def build(name: str = "", **fields: Any) -> Build:
    return Build.objects.create(name=name or f"2024.{next(_count)}", **fields)


def result(
    tester: User,
    script: Script,
    build: Build,
    *,
    problems: tuple[str, ...] = (),
    ranks: tuple[int | None, ...] | None = None,
    ratings: int = 4,
    **fields: Any,
) -> Result:
    camera_used = fields.setdefault("camera_used", script.latest.uses_camera)
    rated = {} if fields.get("never_started") else dict.fromkeys(DIMENSION_KEYS[:-1], ratings)
    if camera_used:
        rated["vision"] = ratings
    made = Result.objects.create(
        tester=tester,
        script=script,
        build=build,
        **{
            "script_version": script.latest,
            "draft_uuid": uuid.uuid4(),
            "called_at": timezone.now(),
            "filed_as_safety": script.is_safety,
            **rated,
            **fields,
        },
    )
    Problem.objects.bulk_create(
        Problem(result=made, tag=tag, position=place, rank=ranks[place - 1] if ranks else place)
        for place, tag in enumerate(problems, 1)
    )
    return made


def counts() -> None:
    """Count every result by month anew, as filing and reviewing would have: `result` makes a row and no more."""
    MonthCount.objects.all().delete()
    MonthTag.objects.all().delete()
    tally = Tally()
    for made in Result.objects.select_related("script", "build").prefetch_related("problems"):
        tally.count(made, made.problems.all())
    for review in Review.objects.filter(stands=True).select_related("result").prefetch_related("problems"):
        tally.count_review(review.result, review.problems.all())
    tally.runs.clear()
    tally.write()


def call(tester: User, *scripts: Script, moments: tuple[str, ...] = (), **fields: Any) -> Call:
    """A call that began ten minutes ago, with a run of each script, and a moment every half minute with these words."""
    begun = {"started_at": timezone.now() - timedelta(minutes=10)}
    made = Call.objects.create(tester=tester, **{**begun, **fields})
    for each in scripts:
        made.runs.create(script=each, script_version=each.latest, is_safety=each.is_safety)
    for number, words in enumerate(moments, 1):
        made.moments.create(uuid=uuid.uuid4(), number=number, at_ms=number * 30_500, words=words)
    return made


def recording(tester: User, call_uuid: uuid.UUID, **fields: Any) -> Recording:
    """One of two sides that can be played, a minute and a half long; its file is not in the store."""
    key = uuid.uuid4()
    ready = {
        "uuid": key,
        "origin": "recorded",
        "state": RecordingState.READY,
        "key": f"{key}/media.webm",
        "media_type": "video/webm",
        "duration_ms": 90_000,
        "sides": Sides.TWO,
        "ready_at": timezone.now(),
    }
    return Recording.objects.create(tester=tester, call_uuid=call_uuid, **{**ready, **fields})
