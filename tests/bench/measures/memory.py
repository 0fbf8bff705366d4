"""The memory of the web worker after two hundred mixed requests, beside that of the minimal Django site of the floors
after two hundred of its own, each freshly started under the same server. RSS is what the worker's pages take; PSS
counts what it shares with other processes in part only."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

from ..figures import Figure, ratio
from ..rounds import Ratios
from ..server import FLOOR, OURS, Client, Request, Server
from ..stage import Stage

PLACE, TITLE = 9, "Memory of the web worker"
MOST, REQUESTS = 2.5, 200
MOST_TURNS = 3
MB = 1_000_000


def measure(stage: Stage) -> Iterator[Figure]:
    headers = stage.signed_in()
    script = stage.facts["script"]
    plain = [Request("/empty/"), Request("/results/"), Request(f"/results/?script={script}")]
    mixed = [
        Request("/account/login/"),
        Request("/scripts/", headers=headers),
        Request(f"/scripts/{script}/", headers=headers),
        Request("/results/", headers=headers),
        Request(f"/results/?script={script}", headers=headers),
        Request(f"/results/new/?script={script}", headers=headers),
        Request("/todo/", headers=headers),
        Request("/dashboard/", headers={"Cookie": f"session={stage.facts['evaluator']}"}),
    ]
    turns = [
        (_memory_after(stage, FLOOR, plain), _memory_after(stage, OURS, mixed))
        for _ in range(min(stage.rounds, MOST_TURNS))
    ]
    for place, name in enumerate(("RSS", "PSS")):
        pairs = [(floor[place], ours[place]) for floor, ours in turns]
        ratios = [ours / floor for floor, ours in pairs]
        middle = sorted(pairs, key=lambda pair: pair[1] / pair[0])[len(pairs) // 2]
        yield ratio(f"memory of the web worker, {name}", Ratios(ratios, *middle), MOST, "MB")


def _memory_after(stage: Stage, application: str, requests: list[Request]) -> tuple[float, float]:
    with Server(application, stage.house.environment) as server:
        client = Client(server)
        for request in islice(cycle(requests), REQUESTS):
            client.ask(request)
        client.close()
        found = [worker.memory_full_info() for worker in server.workers()]
    return sum(each.rss for each in found) / MB, sum(each.pss for each in found) / MB
