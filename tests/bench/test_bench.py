"""The benchmark itself, on two thousand rows and in one round: that it measures, tells and fails as it should.

What the figures are is no matter of these tests; a machine that runs tests is no quiet place.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.bench import __main__ as bench
from tests.bench.cores import halves, on_cores
from tests.bench.figures import Figure, at_most, pace, ratio
from tests.bench.measures import Measure, all_measures, filing, results_list
from tests.bench.report import Report, Section, line, said
from tests.bench.rounds import Compared, Cost, Ratios
from tests.bench.server import Request, WrongAnswerError, command_of_up, cpu_s
from tests.bench.stage import Stage

Run = Callable[..., tuple[int, str]]


def met(stage: Stage) -> Iterator[Figure]:
    yield at_most("something small", 1, 2, "units")


def missed(stage: Stage) -> Iterator[Figure]:
    yield at_most("something large", 3, 2, "units")


def other_rows(stage: Stage) -> Iterator[Figure]:
    """A floor that shows another script's rows than we do."""
    ours = Request(f"/results/?script={stage.facts['script']}", headers=stage.signed_in())
    results_list.check_they_show_the_same(stage, Request("/results/?script=script-002"), ours)
    yield at_most("never told", 1, 2, "units")


def of_our_own(*functions: Callable[[Stage], Iterator[Figure]]) -> list[Measure]:
    return [Measure(each.__name__, each.__name__, each.__doc__ or "", each) for each in functions]


@pytest.fixture(scope="module")
def keep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture
def run(keep: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """`./emma bench` with other measures; what it ended with and what it said."""

    def run_(measures: list[Measure], *words: str) -> tuple[int, str]:
        monkeypatch.setattr(bench, "all_measures", lambda: measures)
        few = ("--rows", "2000", "--rounds", "1", "--databases", "sqlite", "--keep", str(keep))
        return bench.main([*few, *words]), capfd.readouterr().out

    return run_


def test_it_measures_tells_and_ends_with_one_when_a_limit_is_not_met(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_list, "REQUESTS", 3)
    monkeypatch.setattr(filing, "REQUESTS", 3)
    real = [measure for measure in all_measures() if measure.name in {"results_list", "filing"}]
    started_before = set(psutil.Process().children())
    before = bench.PAGE.read_text() if bench.PAGE.exists() else None

    ended_with, told = run([*real, *of_our_own(missed, met)])

    assert ended_with == 1
    assert "sqlite: writing 2,000 results" in told
    # The floor showed the same fifty rows as ours and took the same result, or these would have a fault instead.
    assert "could not be measured" not in told
    assert "list by script and range, whole page" in told
    assert "filing a result" in told
    assert "something large" in told
    assert "at most 2 units: NOT MET" in told
    assert told.index("NOT MET") < told.index("at most 2 units: met"), "it goes on after a limit that is not met"
    assert told.rstrip().endswith("Not every limit is met.")
    assert (bench.PAGE.read_text() if bench.PAGE.exists() else None) == before, "a small run is no benchmark"
    assert set(psutil.Process().children()) == started_before

    ended_with, told = run(of_our_own(met))
    assert ended_with == 0
    assert "writing" not in told, "the rows are there from before"
    assert told.rstrip().endswith("Every limit is met.")

    ended_with, told = run(of_our_own(other_rows, met))
    assert ended_with == 1
    assert WrongAnswerError.__name__ in told
    assert "something small" in told, "a measure that fails keeps no other from being taken"


def test_a_ratio_is_that_of_the_middle_round() -> None:
    floor = [Cost(web_ms, 5, 9) for web_ms in (1, 2, 4)]
    ours = [Cost(web_ms, 5, 9) for web_ms in (3, 4, 4)]
    found = Compared(floor, ours).of(lambda cost: cost.web_ms)
    assert found == Ratios([3, 2, 1], 2, 4)
    assert found.middle == 2
    assert ratio("it", found, 2.0) == Figure(
        "it", "2 ms CPU", "4 ms CPU", "2.00 (1.00 to 3.00)", "at most 2 times", True
    )
    assert ratio("it", found, 1.9).is_met is False


def test_a_pace_is_the_share_of_the_middle_round() -> None:
    found = pace("it", [100, 80, 100], [90, 80, 70], "MB/s", 0.8)
    assert found == Figure("it", "100 MB/s", "80 MB/s", "0.90 (0.70 to 1.00)", "at least 0.8 times", True)
    assert pace("it", [100], [79], "MB/s", 0.8).is_met is False
    assert pace("it", [100], [79], "MB/s").is_met is None


def test_what_is_started_on_some_cores_stays_there() -> None:
    mine = os.sched_getaffinity(0)
    servers, senders = halves()
    assert servers | senders == mine
    with on_cores(senders), subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        assert os.sched_getaffinity(started.pid) == senders
        started.communicate(b"\n")
    assert os.sched_getaffinity(0) == mine


def test_what_was_spent_by_a_process_and_by_those_below_it_is_counted() -> None:
    spin = "import time\nwhile time.process_time() < 0.4: pass\n"
    both = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {spin!r}])\n{spin}print(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", both], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert cpu_s(process.pid) >= 0.7
        process.communicate(b"\n")


def test_the_server_is_started_as_by_up() -> None:
    assert command_of_up()[:4] == ["--interface", "wsgi", "--workers", "1"]
    assert "--blocking-threads" in command_of_up()


def test_each_measure_says_what_it_is() -> None:
    measures = all_measures()
    assert len({measure.title for measure in measures}) == len(measures) >= 9
    assert all(len(measure.words) > 80 for measure in measures)


def test_the_page_shows_every_figure_and_names_what_is_not_met() -> None:
    report = Report(rows=1_000_000, rounds=5, command="./emma bench")
    report.databases["sqlite"] = "SQLite 3"
    measures = of_our_own(met, missed, other_rows)
    small, large = at_most("something small", 1, 2, "units"), at_most("something large", 3, 2, "units", "on a | day")
    report.sections["sqlite"] = [
        Section(measures[0], [small]),
        Section(measures[1], [large]),
        Section(measures[2], fault="Traceback"),
    ]
    page = report.page()
    assert not report.is_met
    assert "| something small |  | 1 units |  | at most 2 units | yes |" in page
    assert line(large) in page
    assert "**no**" in line(large)
    assert "**Not met:**\n\n- something large on SQLite 3\n- other_rows could not be measured on SQLite 3\n" in page
    assert "1,000,000 results" in page
    assert "floor that shows another script's rows" in page
    assert "NOT MET" in said(large)
