"""How long acts and pages take inside a process of ours, turn by turn beside the plain SQL for the same figures."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.counts.read_counts import read_months
from results.models import DIMENSION_KEYS, RATINGS, Hold, Review
from results.review.take_next import take_next

from .data import EVAL_MEMBER

REVIEWERS = 20
_RATED = ", ".join(f"COUNT(*) FILTER (WHERE {key} = {value})" for key in DIMENSION_KEYS for value in RATINGS)
_MEANS = ", ".join(f"AVG({key})" for key in DIMENSION_KEYS)
_SEEN = "NOT filed_as_safety AND script_id NOT IN (SELECT slug FROM scripts_catalog_script WHERE area = 'safety')"
RATINGS_OF_ALL = f"SELECT script_id, {_MEANS}, {_RATED} FROM results_result WHERE {_SEEN} GROUP BY script_id"
RATINGS_OF_ONE = f"SELECT {_MEANS}, {_RATED} FROM results_result WHERE script_id = %s AND NOT never_started"
PROBLEMS_OF_ONE = (
    "SELECT p.tag, COUNT(*), COUNT(*) FILTER (WHERE p.rank = 1) FROM results_problem p "
    "JOIN results_result r ON r.id = p.result_id WHERE r.script_id = %s GROUP BY p.tag"
)
PEOPLE_OF_ONE = "SELECT COUNT(DISTINCT tester_id) FROM results_result WHERE script_id = %s AND NOT never_started"
CALLS_OF_ONE = (
    "WITH placed AS (SELECT p.tag, p.rank, r.id, r.called_at, r.recording_link, r.tester_id, r.script_version_id, "
    "ROW_NUMBER() OVER (PARTITION BY p.tag ORDER BY r.called_at DESC) AS place, "
    "ROW_NUMBER() OVER (PARTITION BY p.tag, p.rank ORDER BY r.called_at DESC) AS place_of_rank "
    "FROM results_problem p JOIN results_result r ON r.id = p.result_id WHERE r.script_id = %s) "
    "SELECT tag, rank, placed.id, called_at, recording_link, u.name, u.email, v.title FROM placed "
    "JOIN accounts_user u ON u.id = tester_id JOIN scripts_catalog_scriptversion v ON v.id = script_version_id "
    "WHERE place <= 3 OR rank = 1 AND place_of_rank <= 3"
)


def script_dashboard(script: str, session: str, turns: int) -> dict[str, list[float]]:
    """Of each turn, the time of the plain SQL for a script's ratings and problems, of that for what else its dashboard
    shows of its results, and of the page."""
    client = Client(HTTP_HOST="127.0.0.1")
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    path = f"/dashboard/scripts/{script}/?build=any"

    def page() -> None:
        answer = client.get(path)
        if answer.status_code != 200:
            raise ValueError(f"{path} answered {answer.status_code}")

    def counts() -> None:
        _fetch(RATINGS_OF_ONE, script)
        _fetch(PROBLEMS_OF_ONE, script)

    def calls() -> None:
        _fetch(PEOPLE_OF_ONE, script)
        _fetch(CALLS_OF_ONE, script)

    return _in_turns({"counts": counts, "calls": calls, "page": page}, turns)


def overview(turns: int) -> dict[str, list[float]]:
    """Of each turn, the time of counting the ratings of all scripts from the results, and from the kept months."""
    viewer = User.objects.get(email=EVAL_MEMBER)
    viewer.is_trained = False  # as for most, so that the Safety rule has something to do
    return _in_turns(
        {"plain": lambda: _fetch(RATINGS_OF_ALL), "kept": lambda: read_months(viewer, by=("script",))}, turns
    )


def next_reviews(turns: int) -> list[float]:
    """How long each of twenty reviewers waits for a result to look at, one after the other, none giving one back."""
    taken = []
    reviewers = [_reviewer(number) for number in range(REVIEWERS)]
    try:
        for _ in range(turns):
            Review.objects.filter(reviewer__in=reviewers).delete()
            Hold.objects.filter(reviewer__in=reviewers).delete()
            for reviewer in reviewers:
                began = time.perf_counter()
                found = take_next(reviewer, timezone.now())
                taken.append((time.perf_counter() - began) * 1000)
                if found is None:
                    raise ValueError("there was nothing to review")
    finally:
        Review.objects.filter(reviewer__in=reviewers).delete()
        User.objects.filter(pk__in=[reviewer.pk for reviewer in reviewers]).delete()
    return taken


def _reviewer(number: int) -> User:
    made, _ = User.objects.get_or_create(email=f"reviewer-{number:02}@example.test", defaults={"password": "!"})
    made.groups.add(Group.objects.get_or_create(name=Role.EVAL_TEAM.value)[0])
    return User.objects.get(pk=made.pk)


def _fetch(sql: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        cursor.fetchall()


def _in_turns(acts: dict[str, Callable[[], object]], turns: int) -> dict[str, list[float]]:
    """A first turn warms up and isn't counted."""
    found: dict[str, list[float]] = {name: [] for name in acts}
    for turn in range(turns + 1):
        for name, act in acts.items():
            began = time.perf_counter()
            act()
            if turn:
                found[name].append((time.perf_counter() - began) * 1000)
    return found
