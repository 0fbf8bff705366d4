"""The demo team: six people, three builds, sixty results, some reviews and a call without a result.

So that a new house isn't empty.

Everything of it says that it is a demo. It is loaded once; what people do to it afterwards stays.
"""

from __future__ import annotations

import json
import os
import secrets
import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import yaml
from django.contrib.auth.models import Group
from django.db import transaction
from django.utils import timezone

from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from scripts_catalog.models import Build, Script

from .demo_calls import Beside, hold_call, run_too
from .demo_recordings import note_something, record_call
from .demo_reviews import review_some
from .demo_talk import talk
from .filing.file_result import file_result
from .filing.rules import Filing, Ratings
from .models import DIMENSION_KEYS, Result, Round
from .rounds.plan_round import Plan, plan_round

ENTRIES = Path(__file__).parent / "data" / "demo.yaml"
NAMESPACE = uuid.UUID("5b0c8f0e-3f4e-4f4b-9d5c-0a8f6f0d3c11")
OLDEST_CALL = timedelta(days=66)
RELEASED_DAYS_AGO = (70, 38, 13)
UNFILED_SCRIPT = "names-and-numbers"
ROUND_SCRIPTS = (
    *("small-talk-first-call", "interrupt-mid-answer", "long-story-with-pauses", "ask-for-facts", "sure-but-wrong"),
    *("bad-news-day", "noisy-room", "names-and-numbers", "show-an-object", "hello-again"),
)
UNFILED = Beside(
    "phone", "5:12", ["1:07 Read the number back without being asked.", "2:31 “Siobhan” with a hard b again.", "4:02"]
)


@dataclass(frozen=True)
class Person:
    """One of the demo team."""

    name: str
    email: str
    role: Role
    is_trained: bool = False


PEOPLE = (
    Person("Tess Tester (demo)", "tess@demo.example", Role.TESTER),
    Person("Theo Trained (demo)", "theo@demo.example", Role.TESTER, is_trained=True),
    Person("Eva Evalteam (demo)", "eva@demo.example", Role.EVAL_TEAM, is_trained=True),
    Person("Lea Lead (demo)", "lea@demo.example", Role.EVAL_LEAD, is_trained=True),
    Person("Max Manager (demo)", "max@demo.example", Role.MANAGER),
    Person("Ada Admin (demo)", "ada@demo.example", Role.ADMINISTRATOR),
)
REVIEWER = next(person for person in PEOPLE if person.role is Role.EVAL_TEAM)
MANAGER = next(person for person in PEOPLE if person.role is Role.MANAGER)
TESTERS = tuple(person for person in PEOPLE if person.role is Role.TESTER)


@dataclass(frozen=True)
class Entry:
    """One entry of the file: what a tester filed. `same_call` = on the call of the entry before.

    `beside`: what was kept beside the call, where it was held on the live-call page. `recorded`: its recording here.
    """

    script: str
    problems: list[str]
    comment: str
    ratings: str = ""
    camera: bool = False
    camera_note: str = ""
    never_started: bool = False
    met_before: bool = False
    recording: bool = True
    recorded: str = ""
    same_call: bool = False
    beside: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """Who called, when, and the call's identity."""

    tester: User
    called_at: datetime
    uuid: uuid.UUID


@dataclass(frozen=True)
class SignIn:
    """How to sign in as one of the demo team."""

    role: str
    email: str
    password: str


@transaction.atomic
def load_demo(now: datetime, rng: Random) -> int:
    """Load the whole team, dated back from `now`; how many results were filed. 0 where the team is there already."""
    if User.objects.filter(is_demo=True).exists():
        return 0
    for person in PEOPLE:
        _add_person(person, now)
    builds = _add_builds(now)
    entries = [Entry(**entry) for entry in yaml.safe_load(ENTRIES.read_text(encoding="utf-8"))]
    call = None
    for place, entry in enumerate(entries):
        if call is None or not entry.same_call:
            call = _call_for(entry, place / (len(entries) - 1), now, rng)
        _hold(entry, call)
        _file(filing_of(entry, call, builds), call, place)
        if entry.recorded:
            record_call(call.tester, call.uuid, call.called_at, entry.recorded)
    _leave_unfiled(now)
    _plan_rounds(builds, now)
    review_some(User.objects.get(email=REVIEWER.email), now)
    talk(builds[0].name, now)
    note_something(User.objects.get(email=REVIEWER.email), now)
    return len(entries)


def _add_person(person: Person, now: datetime) -> None:
    user = User.objects.create_user(person.email, name=person.name, is_demo=True)
    user.groups.set(Group.objects.filter(name=person.role.value))
    if person.is_trained:
        starts_on = (now - OLDEST_CALL).date() - timedelta(days=30)
        Training.objects.create(user=user, starts_on=starts_on, note="Demo training")


def _add_builds(now: datetime) -> list[Build]:
    """Three builds, oldest first. The newest is current, unless the team has a current build of its own."""
    builds = []
    for days in RELEASED_DAYS_AGO:
        day = (now - timedelta(days=days)).date()
        year, week, _ = day.isocalendar()
        name, note = f"{year}.{week:02} (demo)", "Invented: part of the demo team's data."
        builds.append(Build.objects.get_or_create(name=name, defaults={"released_on": day, "note": note})[0])
    if not Build.objects.filter(is_current=True).exists():
        Build.objects.filter(pk=builds[-1].pk).update(is_current=True)
    return builds


def _call_for(entry: Entry, share: float, now: datetime, rng: Random) -> Call:
    """The calls run evenly from the oldest to a day ago, by day; Safety scripts are the trained tester's."""
    needs_training = Script.objects.get(slug=entry.script).is_safety
    tester = rng.choice([person for person in TESTERS if person.is_trained or not needs_training])
    day = timezone.localtime(now - timedelta(days=1) - OLDEST_CALL * (1 - share))
    called_at = day.replace(hour=9, minute=0, second=0, microsecond=0) + timedelta(minutes=rng.randrange(9 * 60))
    return Call(User.objects.get(email=tester.email), called_at, uuid.UUID(int=rng.getrandbits(128), version=4))


def filing_of(entry: Entry, call: Call, builds: list[Build]) -> Filing:
    """One entry as a filing, on the build that was the newest when the call took place."""
    version = Script.objects.get(slug=entry.script).latest
    if version is None:
        raise ValueError(f"{entry.script} has no version")
    released = [build for build in builds if build.released_on and build.released_on <= call.called_at.date()]
    return Filing(
        script_version=version,
        build=(released or builds)[-1],
        called_at=call.called_at,
        ratings=_ratings_of(entry.ratings),
        camera_used=entry.camera,
        camera_note=entry.camera_note,
        never_started=entry.never_started,
        problems=tuple(entry.problems),
        comment=entry.comment.strip(),
        met_emma_before=entry.met_before,
        recording_link=_recording_of(entry, call),
    )


def _hold(entry: Entry, call: Call) -> None:
    script = Script.objects.get(slug=entry.script)
    if entry.beside:
        hold_call(call.tester, call.uuid, script, call.called_at, Beside(**entry.beside))
    elif entry.same_call:
        run_too(call.tester, call.uuid, script)


def _leave_unfiled(now: datetime) -> None:
    """The call that the first of the testers has just ended and not filed yet."""
    tester, script = User.objects.get(email=TESTERS[0].email), Script.objects.get(slug=UNFILED_SCRIPT)
    hold_call(tester, uuid.uuid5(NAMESPACE, "unfiled"), script, now - timedelta(minutes=25), UNFILED)


def _plan_rounds(builds: list[Build], now: datetime) -> None:
    """A round that is closed, and one on the newest build that still lacks a part of its runs; as the manager plans."""
    by, today = User.objects.get(email=MANAGER.email), timezone.localdate(now)
    for build, name, due_on, runs in (
        (builds[1], "Last release (demo)", today - timedelta(days=15), 1),
        (builds[2], "Before the release (demo)", today + timedelta(days=6), 2),
    ):
        wanted = dict.fromkeys(ROUND_SCRIPTS, runs)
        made = plan_round(by, Plan(name, build, due_on, "Invented: part of the demo team's data.", wanted))
    Round.objects.exclude(pk=made.pk).filter(begun_by=by).update(closed_at=now - timedelta(days=14))


def _recording_of(entry: Entry, call: Call) -> str:
    """A link that leads nowhere; none where the recording is here or missing, or the call never started."""
    is_elsewhere = entry.recording and not entry.recorded and not entry.never_started
    return f"https://recordings.example.org/demo/{call.uuid.hex[:8]}.mp4" if is_elsewhere else ""


def _ratings_of(text: str) -> Ratings:
    values = [None if figure == "-" else int(figure) for figure in text.split()]
    return Ratings(**dict(zip(DIMENSION_KEYS, values, strict=False)))


def _file(filing: Filing, call: Call, place: int) -> None:
    result = file_result(call.tester, uuid.uuid5(NAMESPACE, f"result {place}"), filing, call_uuid=call.uuid).result
    # Filing says "now"; these were filed right after their calls, weeks ago.
    Result.objects.filter(pk=result.pk).update(filed_at=call.called_at + timedelta(minutes=25))


def keep_sign_ins(file: Path) -> list[SignIn]:
    """The demo team's passwords: made once for each installation and kept in a file only its owner can read."""
    if file.exists():
        return [SignIn(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))]
    sign_ins = [_give_password(person) for person in PEOPLE if User.objects.filter(email=person.email, is_demo=True)]
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as kept:
        json.dump([asdict(sign_in) for sign_in in sign_ins], kept, indent=2)
    return sign_ins


def _give_password(person: Person) -> SignIn:
    password = speakable_password()
    user = User.objects.get(email=person.email)
    user.set_password(password)
    user.save(update_fields=["password"])
    role = f"{person.role}, trained" if person.is_trained else str(person.role)
    return SignIn(role, person.email, password)


def speakable_password() -> str:
    """Four groups such as "kofi", 50 bits of chance, easy to type on a phone."""

    def group() -> str:
        return "".join(secrets.choice("bdfghklmnprstvz") + secrets.choice("aeiou") for _ in range(2))

    return "-".join(group() for _ in range(4))
