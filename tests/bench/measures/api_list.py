"""A page of fifty results through the API, for a program with a token, beside a list view of Django REST framework with
model serializers and its own cursor pages for the same rows, for anybody."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..figures import Figure, ratio
from ..rounds import Side, compare
from ..server import Client, Request, Server, WrongAnswerError
from ..stage import Stage, again_and_again

PLACE, TITLE = 11, "List of results through the API"
FLOOR = "tests.bench.floor_api:application"
MOST, REQUESTS = 1.3, 40


def measure(stage: Stage) -> Iterator[Figure]:
    theirs = stage.start(FLOOR)
    of_script = f"?script={stage.facts['script']}"
    floor = Request(f"/api/results/{of_script}")
    ours = Request(f"/api/v1/results/{of_script}", headers={"Authorization": f"Bearer {stage.facts['token']}"})
    check_they_list_the_same(stage, floor, ours, theirs)
    found = compare(
        Side(theirs, again_and_again(floor), stage.house.database_pid),
        Side(stage.ours, again_and_again(ours), stage.house.database_pid),
        rounds=stage.rounds,
        requests=REQUESTS,
    )
    yield ratio("API list by script", found.of(lambda cost: cost.web_ms), MOST)


def check_they_list_the_same(stage: Stage, floor: Request, ours: Request, theirs: Server) -> None:
    """Or the ratio would compare different work."""
    plain = json.loads(Client(theirs).ask(floor).body)["results"]
    told = json.loads(Client(stage.ours).ask(ours).body)["items"]
    keys = ([str(row["id"]) for row in plain], [row["id"] for row in told])
    if len(keys[0]) != 50 or keys[0] != keys[1]:
        raise WrongAnswerError(f"the floor lists {len(keys[0])} results and we list {len(keys[1])}, or others")
