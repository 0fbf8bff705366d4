"""The last pages of the whole list, at the depth of all its rows, beside the same rows where they are the first page of
the list the other way round: what a page costs depends on what its rows have, and here on where it stands alone.
PostgreSQL's own time counts here: that is where a list that isn't read off an index spends it."""

from __future__ import annotations

from collections.abc import Iterator

from ..figures import Figure, at_most, ratio
from ..rounds import Side, compare
from ..server import Client, Request, WrongAnswerError
from ..stage import Stage, again_and_again
from .results_list import A_RESULT

PLACE, TITLE = 3, "The list at its greatest depth"
MOST, REQUESTS = 1.2, 40


def measure(stage: Stage) -> Iterator[Figure]:
    pid = stage.house.database_pid
    for order, first, deep in _places(stage):
        _check_they_show_the_same(stage, first, deep)
        found = compare(
            Side(stage.ours, again_and_again(first), pid),
            Side(stage.ours, again_and_again(deep), pid),
            rounds=stage.rounds,
            requests=REQUESTS,
        )
        whole = found.of(lambda cost: cost.web_ms + cost.database_ms)
        yield ratio(f"depth {stage.house.rows:,}, {order} (beside the same rows as a first page)", whole, MOST)
        queries = [len(_queries(stage, request)) for request in (first, deep)]
        yield at_most(f"queries more than as a first page, {order}", queries[1] - queries[0], 0, "queries")


def _places(stage: Stage) -> Iterator[tuple[str, Request, Request]]:
    """Each order of the list, with the first page of the list the other way round, and the place at its end."""
    last = stage.house.ask("facts", "near_the_end")
    headers = stage.signed_in()
    for order, sort, way, turned, cursor in (
        ("newest first", "date", "desc", "asc", last["by_date"]),
        ("by a rating", "content", "asc", "desc", last["by_content"]),
    ):
        first = Request(f"/results/?sort={sort}&direction={turned}", headers=headers)
        yield order, first, Request(f"/results/?sort={sort}&direction={way}&after={cursor}", headers=headers)


def _check_they_show_the_same(stage: Stage, first: Request, deep: Request) -> None:
    """All but one: the page at the end begins one row before the last page. Or the ratio would compare other rows."""
    shown = [set(A_RESULT.findall(Client(stage.ours).ask(request).body)) for request in (first, deep)]
    if not shown[0] or len(shown[0] & shown[1]) < len(shown[0]) - 1:
        raise WrongAnswerError(f"{first.path} and {deep.path} show other rows")


def _queries(stage: Stage, request: Request) -> list[str]:
    found: list[str] = stage.house.ask(
        "facts", "queries_of", path=request.path, session=stage.facts["session"], headers={}
    )
    return found
