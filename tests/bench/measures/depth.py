"""The last pages of the whole list, at the depth of all its rows, beside its first page. PostgreSQL's own time counts
here: that is where a list that isn't read off an index spends it."""

from __future__ import annotations

from collections.abc import Iterator

from ..figures import Figure, at_most, ratio
from ..rounds import Side, compare
from ..server import Client, Request
from ..stage import Stage, again_and_again

PLACE, TITLE = 3, "The list at its greatest depth"
MOST, REQUESTS = 1.2, 40
BELOW = 200


def measure(stage: Stage) -> Iterator[Figure]:
    pid, headers = stage.house.database_pid, stage.signed_in()
    for order, sort, cursor in _places(stage):
        first, deep = (Request(f"/results/?{sort}{place}", headers=headers) for place in ("", f"&after={cursor}"))
        Client(stage.ours).ask(deep)
        found = compare(
            Side(stage.ours, again_and_again(first), pid),
            Side(stage.ours, again_and_again(deep), pid),
            rounds=stage.rounds,
            requests=REQUESTS,
        )
        whole = found.of(lambda cost: cost.web_ms + cost.database_ms)
        yield ratio(f"depth {stage.house.rows:,}, {order} (beside its first page)", whole, MOST)
        queries = [len(_queries(stage, request)) for request in (first, deep)]
        yield at_most(f"queries more than on the first page, {order}", queries[1] - queries[0], 0, "queries")


def _places(stage: Stage) -> Iterator[tuple[str, str, str]]:
    """Each order of the list, with the place of a row that has hardly any behind it."""
    last = stage.house.ask("facts", "near_the_end", below=BELOW)
    yield "newest first", "sort=date&direction=desc", last["by_date"]
    yield "by a rating", "sort=content&direction=asc", last["by_content"]


def _queries(stage: Stage, request: Request) -> list[str]:
    found: list[str] = stage.house.ask(
        "facts", "queries_of", path=request.path, session=stage.facts["session"], headers={}
    )
    return found
