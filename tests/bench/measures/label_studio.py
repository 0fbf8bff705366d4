"""Label Studio's list of ten thousand labelled tasks, fifty of them as its own page asks for them, beside our whole
Results tab with fifty rows of all that are in the database. Processor time of the server, and of PostgreSQL where that
holds our rows; Label Studio keeps its own in SQLite. It is measured where EMMA_LABEL_STUDIO names its program."""

from __future__ import annotations

from collections.abc import Iterator

from .. import label_studio
from ..figures import Figure, ratio
from ..label_studio import TASKS, TOKEN
from ..rounds import Side, compare
from ..server import Request
from ..stage import Stage, again_and_again

PLACE, TITLE = 10, "Label Studio's list beside our Results tab"
MOST, REQUESTS = 0.12, 20


def measure(stage: Stage) -> Iterator[Figure]:
    its_program = label_studio.program()
    if its_program is None:
        yield Figure(f"Results tab beside Label Studio's list of {TASKS:,} tasks", aside="it is not installed here")
        return
    with label_studio.running(its_program, stage.house.folder.parent) as theirs:
        page = f"/api/tasks?project={theirs.project}&page=1&page_size=50&fields=all"
        floor = Side(theirs, again_and_again(Request(page, headers={"Authorization": f"Token {TOKEN}"})))
        tab = again_and_again(Request("/results/", headers=stage.signed_in()))
        ours = Side(stage.ours, tab, stage.house.database_pid)
        found = compare(floor, ours, rounds=stage.rounds, requests=REQUESTS)
    cost = found.of(lambda each: each.web_ms + each.database_ms)
    yield ratio(f"Results tab beside Label Studio {theirs.version}'s list of {TASKS:,} tasks", cost, MOST)
