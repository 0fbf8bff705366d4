"""The Results tab, filtered by a script and a range of one dimension, as a tester who is signed in sees it: the whole
page, and the rows alone that htmx asks for. Beside it the plainest list of the very same fifty rows (select_related,
prefetch_related, a template), for anybody, without a form and without pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..figures import Figure, at_most, ratio
from ..server import Client, Request, WrongAnswerError
from ..stage import Stage, again_and_again

PLACE, TITLE = 2, "Filtered Results tab"
MOST, MOST_QUERIES, REQUESTS = 1.2, 6, 40
A_RESULT = re.compile(rb'href="/results/(\d+)/"')


def measure(stage: Stage) -> Iterator[Figure]:
    query = f"script={stage.facts['script']}&dimension=content&low=1&high=2"
    floor = Request(f"/results/?{query}")
    kinds = {
        "whole page": Request(f"/results/?{query}", headers=stage.signed_in()),
        "rows for htmx": Request(f"/results/?{query}", headers=stage.signed_in(**{"HX-Request": "true"})),
    }
    for kind, ours in kinds.items():
        check_they_show_the_same(stage, floor, ours)
        found = stage.compare(again_and_again(floor), again_and_again(ours), requests=REQUESTS)
        yield ratio(f"filtered list, {kind}", found.of(lambda cost: cost.web_ms), MOST)
        queries = stage.house.ask(
            "facts", "queries_of", path=ours.path, session=stage.facts["session"], headers=_for_htmx(ours)
        )
        yield at_most(f"queries, {kind}", len(queries), MOST_QUERIES, "queries")


def _for_htmx(request: Request) -> dict[str, str]:
    return {name: value for name, value in request.headers.items() if name != "Cookie"}


def check_they_show_the_same(stage: Stage, floor: Request, ours: Request) -> None:
    """Or the ratio would compare different work."""
    shown = [
        A_RESULT.findall(Client(server).ask(request).body)
        for server, request in ((stage.floor, floor), (stage.ours, ours))
    ]
    if not shown[0] or shown[0] != shown[1]:
        raise WrongAnswerError(f"the floor shows {len(shown[0])} results and we show {len(shown[1])}, or others")
