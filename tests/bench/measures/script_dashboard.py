"""The dashboard of a script over all builds, of the one that is run most and of one that is run seldom, as a manager
sees it: the time the server takes for the whole page, less the time of the plain SQL for what it shows of the script's
results: ratings, problems, how many people ran it, and three calls of each problem. Measured inside one process, turn
by turn; the middle turn of each counts."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from ..figures import Figure, at_most
from ..stage import Stage

PLACE, TITLE = 12, "Dashboard of a script"
MOST_MS, TURNS = 15, 15


def measure(stage: Stage) -> Iterator[Figure]:
    for name, script in (("run most", stage.facts["script"]), ("run seldom", stage.facts["rare_script"])):
        session = stage.facts["evaluator"]
        found = stage.house.ask("timed", "script_dashboard", script=script, session=session, turns=TURNS)
        counts, calls, page = (median(found[part]) for part in ("counts", "calls", "page"))
        aside = f"{page:.1f} ms of which {counts + calls:.1f} ms plain SQL, {counts:.1f} ms for ratings and problems"
        yield at_most(f"dashboard of the script {name}, beyond its SQL", page - counts - calls, MOST_MS, "ms", aside)
