"""`./emma bench [--rows N] [--only NAME] [--databases sqlite,postgresql] [--rounds N] [--keep DIR] [--no-write]`"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from .house import DATABASES, House, HouseError, open_house
from .measures import Measure, all_measures
from .report import Report, Section, said
from .server import ROOT
from .stage import Stage

ROWS, ROUNDS = 1_000_000, 5
PAGE = ROOT / "docs" / "benchmarks.md"


def read_arguments(words: Sequence[str]) -> argparse.Namespace:
    names = [measure.name for measure in all_measures()]
    parser = argparse.ArgumentParser(prog="./emma bench", description="What the site costs, against its limits.")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"results in the database ({ROWS:,})")
    parser.add_argument("--only", action="append", choices=names, default=[], help="one measure; may be repeated")
    parser.add_argument("--databases", default=",".join(DATABASES), help="sqlite, postgresql, or both")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of floor and ours ({ROUNDS})")
    parser.add_argument("--keep", type=Path, help="where the data stays for the next run (a folder of EMMA_VAR)")
    parser.add_argument("--no-write", action="store_true", help="print only; docs/benchmarks.md stays as it is")
    found = parser.parse_args(words)
    found.databases = found.databases.split(",")
    if not set(found.databases) <= set(DATABASES):
        parser.error(f"--databases is one or both of {','.join(DATABASES)}")
    if found.rows < 1000 or found.rounds < 1:
        parser.error("--rows is at least 1000, --rounds at least 1")
    found.keep = (found.keep or Path(os.environ.get("EMMA_VAR") or ROOT / "var") / "bench").resolve()
    return found


def say(words: str) -> None:
    print(words, flush=True)  # noqa: T201  (a program for people at a terminal)


def run(found: argparse.Namespace, measures: Sequence[Measure]) -> Report:
    """Take every measure on every database; one that fails does not keep the others from being taken."""
    report = Report(found.rows, found.rounds, _command(found))
    for database in found.databases:
        with open_house(database, found.rows, found.keep, say) as house:
            report.databases[database] = house.ask("machine", "database_version")
            report.sections[database] = []
            say(f"\n{report.databases[database]}, {found.rows:,} results, {found.rounds} rounds")
            for measure in measures:
                report.sections[database].append(_take(measure, house, found.rounds))
    return report


def _take(measure: Measure, house: House, rounds: int) -> Section:
    section, stage = Section(measure), Stage(house, rounds)
    with stage.ends:
        try:
            for figure in measure.measure(stage):
                section.figures.append(figure)
                say(said(figure))
        except Exception:  # whatever is wrong with one measure, the others are still asked for
            section.fault = traceback.format_exc()
            say(f"  {measure.title} could not be measured:\n{section.fault}")
    return section


def _command(found: argparse.Namespace) -> str:
    words = ["./emma bench"]
    words += [f"--rows {found.rows}"] if found.rows != ROWS else []
    words += [f"--only {name}" for name in found.only]
    words += [f"--rounds {found.rounds}"] if found.rounds != ROUNDS else []
    words += [f"--databases {','.join(found.databases)}"] if found.databases != list(DATABASES) else []
    return " ".join(words)


def _is_whole(found: argparse.Namespace) -> bool:
    return found.rows == ROWS and not found.only and set(found.databases) == set(DATABASES)


def main(words: Sequence[str]) -> int:
    found = read_arguments(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    try:
        report = run(found, [each for each in all_measures() if not found.only or each.name in found.only])
    except HouseError as wrong:
        sys.exit(f"emma: {wrong}")
    if _is_whole(found) and not found.no_write:
        PAGE.write_text(report.page())
        say(f"\nWritten to {PAGE.relative_to(ROOT)}.")
    say("\nEvery limit is met." if report.is_met else "\nNot every limit is met.")
    return 0 if report.is_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
