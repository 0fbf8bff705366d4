"""The form and the interface judge and keep the very same: a thousand filings, right, nearly right and wrong."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import reverse

from emma_eval.accounts.models import User
from results.filing.forms import ResultForm
from results.filing.typed import place_name
from results.models import DIMENSION_KEYS, Problem, Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script, ScriptVersion
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
# On PostgreSQL half of them: what is judged is the same there, and what is kept is seen as well.
MANY = 1_000 if connection.vendor == "sqlite" else 500
ZONE = ZoneInfo(settings.TIME_ZONE)
TAGS = list(taxonomy.TAG_BY_KEY)
TEXTS = (
    *(
        "",
        " ",
        "Words.",
        "  Around.  ",
        "A\nB",
        "A\r\nB",
        "\u200b",
        "...",
        "Wörter 字",
        "x" * 201,
        "\x07bell",
        "e\u0301",
    ),
    *("x" * 20_000, "x" * 20_001, " " * 30 + "y", "<b>bold</b>", "'; DROP TABLE"),
)
LINKS = (
    *("", "", "https://a.example/1", " https://a.example/2 ", "http://10.0.0.1/", "javascript:alert(1)", "a.example"),
    *("https://me:pw@a.example/", "https://a.example/" + "x" * 1_990, "ftp://a.example/", "https://ａ.example/"),
)
RATINGS: tuple[Any, ...] = (1, 2, 3, 4, 5, 0, 6, -1, 10**19, 4.5, 4.0, "five", None)
TIMES = (
    datetime(2026, 3, 2, 14, 36),
    datetime(2026, 3, 2, 14, 36, 7),
    datetime(1999, 12, 31, 23, 59),
    datetime(2000, 1, 1, 12, 0),
    datetime(2026, 2, 1, 9, 0),
    datetime(2199, 1, 1, 0, 0),
    None,
)


@dataclass
class Said:
    """What a tester says, before it is put into a form or into JSON."""

    script: ScriptVersion
    build: Build | str | None
    called_at: datetime | None
    ratings: dict[str, Any]
    camera_used: bool
    never_started: bool
    problems: list[str]
    camera_note: str = ""
    comment: str = ""
    recording_link: str = ""
    met_emma_before: bool | None = False
    call: uuid.UUID = field(default_factory=uuid.uuid4)

    def as_form(self) -> dict[str, str]:
        return {
            "script_version": str(self.script.pk),
            "call": str(self.call),
            "build": str(self.build.pk) if isinstance(self.build, Build) else (self.build or ""),
            "called_at": f"{self.called_at:%Y-%m-%dT%H:%M:%S}" if self.called_at else "",
            "camera_used": "yes" if self.camera_used else "no",
            **({"never_started": "on"} if self.never_started else {}),
            **{key: "" if value is None else str(value) for key, value in self.ratings.items()},
            **{place_name(tag): str(place) for place, tag in enumerate(self.problems, 1)},
            "camera_note": self.camera_note,
            "comment": self.comment,
            "recording_link": self.recording_link,
            **({} if self.met_emma_before is None else {"met_emma_before": "yes" if self.met_emma_before else "no"}),
        }

    def as_json(self) -> dict[str, Any]:
        when = self.called_at.replace(tzinfo=ZONE).isoformat() if self.called_at else ...
        said = {
            "script": self.script.script.slug,
            "script_version": self.script.number,
            "call": str(self.call),
            "build": self.build.name if isinstance(self.build, Build) else (self.build or ...),
            "called_at": when,
            "camera_used": self.camera_used,
            "never_started": self.never_started,
            "ratings": self.ratings,
            "problems": self.problems,
            "camera_note": self.camera_note,
            "comment": self.comment,
            "recording_link": self.recording_link,
            "met_emma_before": ... if self.met_emma_before is None else self.met_emma_before,
        }
        return {name: value for name, value in said.items() if value is not ...}


def a_right_one(rng: random.Random, versions: list[ScriptVersion], builds: list[Build]) -> Said:
    version = rng.choice(versions)
    is_call = rng.random() < 0.85
    camera = is_call and version.uses_camera and rng.random() < 0.7
    rated = {key: rng.randint(1, 5) for key in DIMENSION_KEYS[:-1]} if is_call else {}
    problems = rng.sample(TAGS, rng.choice((0, 1, 2, 3, 5)))
    return Said(
        script=version,
        build=rng.choice(builds),
        called_at=datetime(2026, 3, 2, 14, 36) + timedelta(minutes=rng.randint(0, 10_000)),
        ratings={**rated, **({"vision": rng.randint(1, 5)} if camera else {})},
        camera_used=camera or (not is_call and rng.random() < 0.3),
        never_started=not is_call,
        problems=problems,
        camera_note="It was broken." if version.uses_camera and not camera else "",
        comment="She waited.",
        recording_link=rng.choice(("", "https://a.example/1")),
        met_emma_before=rng.random() < 0.5,
    )


def mend(rng: random.Random, said: Said) -> None:
    """Change one thing, which may make it wrong."""
    changes: list[tuple[str, Callable[[], Any]]] = [
        ("camera_used", lambda: not said.camera_used),
        ("never_started", lambda: not said.never_started),
        ("called_at", lambda: rng.choice(TIMES)),
        ("build", lambda: rng.choice((None, "1999.9", "\u0000"))),
        ("problems", lambda: rng.sample([*TAGS, "nonsense"], rng.randint(0, 6))),
        ("problems", lambda: [rng.choice(("other_content", "stuck_start", "nonsense"))]),
        ("comment", lambda: rng.choice(TEXTS)),
        ("camera_note", lambda: rng.choice(TEXTS)),
        ("recording_link", lambda: rng.choice(LINKS)),
        ("met_emma_before", lambda: None),
        *[("ratings", lambda: {**said.ratings, rng.choice(DIMENSION_KEYS): rng.choice(RATINGS)})] * 4,
    ]
    name, change = rng.choice(changes)
    setattr(said, name, change())


def many_of_them(rng: random.Random, versions: list[ScriptVersion], builds: list[Build]) -> list[Said]:
    found = []
    for number in range(MANY):
        said = a_right_one(rng, versions, builds)
        for _ in range((0, 1, 2, 4)[number % 4]):
            mend(rng, said)
        found.append(said)
    return found


def faults_of_form(said: Said, tester: User) -> set[str]:
    """The fields at fault, as the form itself names them."""
    form = ResultForm(said.as_form(), version_run=said.script, tester=tester)
    form.is_valid()
    return set(form.errors)


def faults_of_answer(answer: Any) -> set[str]:
    places = {fault["pointer"] for fault in answer.json().get("errors", ())}
    return {place.removeprefix("/ratings/").removeprefix("/") for place in places}


def kept(result: Result) -> dict[str, Any]:
    """The row and its problems, without what names the row itself and who filed it when."""
    row = Result.objects.filter(pk=result.pk).values().get()
    own = {"id", "tester_id", "draft_uuid", "filed_at"}
    problems = Problem.objects.filter(result=result).values_list("tag", "position", "rank")
    return {**{name: value for name, value in row.items() if name not in own}, "problems": list(problems)}


@dataclass
class Both:
    """The form and the interface, each with a tester of its own."""

    form: Client
    program: Program
    owners: tuple[User, User]

    def judge(self, said: Said, *, is_looked_at: bool) -> tuple[set[str], set[str]]:
        """The fields at fault of each; where there are none, what both have kept is the same.

        A page with faults takes long to be written, so only some of them (`is_looked_at`) are.
        """
        key, wrong = uuid.uuid4(), faults_of_form(said, self.owners[0])
        answer = self.program.send(f"/api/v1/results/{key}/", said.as_json())
        assert answer.status_code == (422 if wrong else 201), (said, answer.text)
        if not wrong or is_looked_at:
            page = self.form.post(reverse("draft_file", args=[key]), said.as_form())
            assert page.status_code == (422 if wrong else 303)
        if wrong:
            assert not Result.objects.filter(draft_uuid=key).exists()
        else:
            rows = [kept(Result.objects.get(tester=owner, draft_uuid=key)) for owner in self.owners]
            assert rows[0] == rows[1]
        return wrong, faults_of_answer(answer)


def test_both_judge_and_keep_the_same(tester: User, settings: Any) -> None:
    settings.API_REQUESTS_A_MINUTE = 10 * MANY
    another = make.user("paul@example.test", *tester.roles)
    make.script("bad-news-day")
    make.script("show-an-object", uses_camera=True, main_dimension="vision")
    make.script("old-one")
    Script.objects.filter(slug="old-one").update(retired_at=datetime(2026, 3, 4, tzinfo=ZONE))
    builds = [make.build("2026.42"), make.build("2026.43", is_current=True)]
    versions = list(ScriptVersion.objects.select_related("script").order_by("pk"))
    both = Both(make.client_of(tester), Program(another), (tester, another))
    met: Counter[str] = Counter()
    for number, said in enumerate(many_of_them(random.Random(2026), versions, builds)):
        by_form, by_program = both.judge(said, is_looked_at=number % 10 == 1)
        assert by_form == by_program, said
        met.update(by_form or ["right"])
    assert met["right"] > MANY * 0.3, "right ones are among them"
    facts = {"build", "called_at", "problems", "comment", "recording_link", "camera_note", "met_emma_before"}
    assert set(met) == {"right", *DIMENSION_KEYS, *facts}
