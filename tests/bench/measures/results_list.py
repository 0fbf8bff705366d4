"""The Results tab as a tester who is signed in sees it, narrowed to the script that is run most, and to a range of one
dimension besides: the whole page, and the rows alone that htmx asks for. Beside it the plainest list of the very same
fifty rows (select_related, prefetch_related, a template), for anybody, without a form and without pages. For the range
a database may sort thousands of rows under the plain query; the script alone is the stricter comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..figures import Figure, at_most, ratio
from ..rounds import Compared
from ..server import Client, Request, WrongAnswerError
from ..stage import Stage, again_and_again

PLACE, TITLE = 2, "Filtered Results tab"
MOST, MOST_QUERIES, REQUESTS = 1.2, 6, 40
A_RESULT = re.compile(rb'href="/results/(\d+)/"')


def measure(stage: Stage) -> Iterator[Figure]:
    script = f"script={stage.facts['script']}"
    for narrowed, query in (("by script", script), ("by script and range", f"{script}&dimension=content&low=1&high=2")):
        floor = Request(f"/results/?{query}")
        for part, headers in (("whole page", {}), ("rows for htmx", {"HX-Request": "true"})):
            ours = Request(floor.path, headers=stage.signed_in(**headers))
            check_they_show_the_same(stage, floor, ours)
            found = stage.compare(again_and_again(floor), again_and_again(ours), requests=REQUESTS)
            yield ratio(f"list {narrowed}, {part}", found.of(lambda cost: cost.web_ms), MOST, aside=_waited(found))
            session = stage.facts["session"]
            queries = stage.house.ask("facts", "queries_of", path=ours.path, session=session, headers=headers)
            yield at_most(f"list {narrowed}, {part}: queries", len(queries), MOST_QUERIES, "queries")


def _waited(found: Compared) -> str:
    return f"waited {found.of(lambda cost: cost.wall_ms).ours:.0f} ms"


def check_they_show_the_same(stage: Stage, floor: Request, ours: Request) -> None:
    """Or the ratio would compare different work."""
    shown = [
        A_RESULT.findall(Client(server).ask(request).body)
        for server, request in ((stage.floor, floor), (stage.ours, ours))
    ]
    if not shown[0] or shown[0] != shown[1]:
        raise WrongAnswerError(f"the floor shows {len(shown[0])} results and we show {len(shown[1])}, or others")
