"""Importing a sheet of ten thousand rows: every cell read, every rule asked, what was filed before looked for, all good
rows written in one transaction, with a report line for each bad one. Beside it the plainest import of the same file:
csv.DictReader, a look at each value, two times bulk_create in one transaction. The processor time of the import itself,
without the start of Python."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from ..figures import Figure, ratio
from ..rounds import Ratios
from ..stage import Stage

PLACE, TITLE = 6, "Import of a sheet"
MOST, ROWS = 3.0, 10_000
LINK = "https://recordings.example.test/of-the-benchmarks-sheet"
# One group's labels without a comma, so that the plainest way to take a list apart is a right one.
GROUPS = {
    "Listening & timing": ("Cut in while the user was still talking", "Long silence before answering"),
    "Content": ("Too long or rambling", "Repeated itself", "Relevant but unhelpful"),
    "Voice & audio": ("Too slow or drawn out", "Flat or robotic delivery"),
    "Face & video": ("Lips out of sync with speech", "Jerky or jittery motion"),
}
DIMENSIONS = ("Listening & timing", "Content", "Voice & audio", "Face & video", "Emotional fit")
FIRST_CALL = datetime(2026, 3, 2, 9, 0)


def measure(stage: Stage) -> Iterator[Figure]:
    sheet = stage.house.folder / "sheet.csv"
    rows = min(ROWS, stage.house.rows)
    _write_sheet(sheet, rows, stage.house.ask("measures.import_sheet", "names"))
    pairs = []
    for _ in range(stage.rounds):
        floor = stage.house.ask_floor(str(sheet))
        _forget(stage, rows)
        ours = stage.house.ask("measures.import_sheet", "import_it", path=str(sheet))
        _forget(stage, rows)
        pairs.append((floor["cpu_s"], ours["cpu_s"]))
    found = Ratios([ours / floor for floor, ours in pairs], *(median(side) for side in zip(*pairs, strict=True)))
    yield ratio(f"import of {rows:,} rows", found, MOST, "s CPU")


def _write_sheet(path: Path, rows: int, names: dict[str, Any]) -> None:
    """The old sheet, as it is exported today. The same each time: chance is seeded."""
    rng = Random(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        heads = [f"Problems: {group}" for group in (*GROUPS, "Live call only")]
        writer.writerow(
            [
                *("Timestamp", "Tester", "Script", "Emma build", "Recording link", *DIMENSIONS, "Vision"),
                *(*heads, "Biggest problem", "Comment", "Returning user?"),
            ]
        )
        for number in range(rows):
            script, uses_camera = rng.choice(names["scripts"])
            problems = {group: rng.sample(labels, rng.choice((0, 0, 1, 2))) for group, labels in GROUPS.items()}
            picked = [label for labels in problems.values() for label in labels]
            writer.writerow(
                [
                    f"{FIRST_CALL + timedelta(seconds=61 * number):%Y-%m-%d %H:%M:%S}",
                    *(rng.choice(names["testers"]), script, rng.choice(names["builds"]), f"{LINK}/{number}.webm"),
                    *(rng.randint(1, 5) for _ in DIMENSIONS),
                    rng.randint(1, 5) if uses_camera else "n/a",
                    *(", ".join(labels) for labels in problems.values()),
                    "",
                    rng.choice(picked) if picked else "",
                    f"Comment {number}: she kept to the point." if number % 3 else "",
                    rng.choice(("yes", "no")),
                ]
            )


def _forget(stage: Stage, rows: int) -> None:
    imported = stage.house.ask("measures.import_sheet", "forget_what_was_imported")
    if imported != rows:
        raise ValueError(f"{imported} rows of {rows} were imported")


# --- asked of our Django -----------------------------------------------------------------------


def names() -> dict[str, Any]:
    """What a sheet may name: testers, scripts with whether they use the camera, builds."""
    from emma_eval.accounts.models import User
    from scripts_catalog.models import Build, Script

    scripts = Script.objects.filter(slug__startswith="script-").order_by("slug")
    return {
        "testers": list(
            User.objects.filter(email__startswith="tester-").order_by("pk").values_list("email", flat=True)
        ),
        "scripts": list(scripts.values_list("slug", "latest__uses_camera")),
        "builds": list(Build.objects.values_list("name", flat=True)),
    }


def import_it(path: str) -> dict[str, Any]:
    from emma_eval.accounts.models import User
    from results.old_sheet.import_sheet import import_sheet

    from ..data import EVAL_MEMBER

    importer = User.objects.get(email=EVAL_MEMBER)
    began = time.process_time()
    found = import_sheet(Path(path), importer, "sheet.csv")
    return {"cpu_s": time.process_time() - began, "rows": found.new}


def forget_what_was_imported() -> int:
    """Take the rows out again, so that the next import finds none of them; how many there were."""
    from results.models import Result

    imported = Result.objects.filter(recording_link__startswith=LINK)
    count = imported.count()
    imported.delete()
    return count
