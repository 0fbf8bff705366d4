"""Counting anew: what is out of step is put right, told, and nothing that is filed meanwhile is lost."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from emma_eval.prepare import count_earlier_months
from results.counts.read_counts import read_month_tags, read_months, read_rows, read_tags
from results.counts.rebuild_counts import Differences, compare_counts, rebuild_counts
from results.filing.file_result import file_result
from results.filing.rules import Filing, Ratings
from results.models import MonthCount, MonthTag, Result, Source
from results.review.file_review import Judged, file_review
from results.tasks import rebuild_counts as nightly
from scripts_catalog.models import Build, RunCount, Script
from tests import make

pytestmark = [pytest.mark.data_layer]

CALLED = datetime(2026, 3, 2, 6, 36, tzinfo=UTC)
MARCH = date(2026, 3, 1)


def filed(tester: User, script: Script, build: Build, **changes: Any) -> Result:
    assert script.latest is not None
    said = {"called_at": CALLED, "ratings": Ratings(4, 3, 4, 2, 4), "problems": ("too_fast", "cut_in"), **changes}
    return file_result(tester, uuid.uuid4(), Filing(script.latest, build, **said)).result


@pytest.fixture
def result(tester: User) -> Result:
    return filed(tester, make.script(), make.build())


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("spoil", "rows"),
    [
        (lambda: MonthCount.objects.update(content_3=7), 1),
        (lambda: MonthCount.objects.update(runs=0, never_started=1), 1),
        (lambda: MonthTag.objects.filter(tag="cut_in").update(tagged=9, biggest=4), 1),
        (lambda: MonthTag.objects.all().delete(), 2),
        (lambda: MonthCount.objects.update(met_emma_before=True), 2),
        (lambda: MonthTag.objects.filter(tag="cut_in").update(source=Source.REVIEWED), 2),
    ],
)
def test_what_is_out_of_step_is_put_right(spoil: Callable[[], Any], rows: int, result: Result) -> None:
    before = kept()
    spoil()
    runs = [Differences(None, 1, False)] if not MonthCount.objects.filter(runs=1).exists() else []
    assert compare_counts() == [Differences(MARCH, rows, False), *runs]
    assert rebuild_counts()[0] == Differences(MARCH, rows, False)
    assert kept() == before
    assert compare_counts() == []


def kept() -> list[Any]:
    """Everything that is kept and counts something."""
    counts = [dict(row) for row in MonthCount.objects.order_by("month", "met_emma_before").values()]
    tags = [dict(row) for row in MonthTag.objects.order_by("source", "tag").values()]
    runs = list(RunCount.objects.values_list("script", "build", "runs"))
    for row in (*counts, *tags):
        del row["id"]
    counting = [row for row in counts if row["runs"] or row["never_started"]]
    return [counting, [row for row in tags if row["tagged"]], runs]


@pytest.mark.django_db
def test_months_without_any_result_are_emptied(result: Result) -> None:
    MonthCount.objects.create(script=result.script, build=result.build, month=date(1999, 12, 1), runs=3)
    MonthTag.objects.create(
        script=result.script, build=result.build, month=date(2030, 1, 1), tag="cut_in", tagged=2, biggest=2
    )
    rebuild_counts()
    assert compare_counts() == []
    assert set(read_months(result.tester, by=("month",))) == {(MARCH,)}


@pytest.mark.django_db
def test_run_counts_are_the_sums_of_the_months(result: Result) -> None:
    RunCount.objects.update(runs=5)
    assert rebuild_counts() == [Differences(None, 1, False)]
    assert RunCount.objects.get().runs == 1


@pytest.mark.django_db
def test_what_was_put_right_is_in_the_audit_trail_and_on_readyz(result: Result, client: Client) -> None:
    assert client.get("/readyz").json()["parts"]["counts"] == "up"
    MonthCount.objects.update(content_3=7)
    nightly()
    entry = AuditEntry.objects.filter(action="corrected counts").get()
    assert (entry.actor, entry.target, entry.details, entry.is_safety) == (None, "2026-03", {"rows": 1}, False)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["counts"]) == (200, "down")
    nightly()
    assert AuditEntry.objects.filter(action="corrected counts").count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("is_safety_by", ["as it was filed", "now"])
def test_a_line_that_tells_of_safety_is_for_the_trained(is_safety_by: str, trained_tester: User) -> None:
    script = make.script(area="safety" if is_safety_by == "as it was filed" else "everyday")
    filed(trained_tester, script, make.build())
    Script.objects.update(area="everyday" if is_safety_by == "as it was filed" else "safety")
    MonthTag.objects.update(tagged=4)
    rebuild_counts()
    assert AuditEntry.objects.get(action="corrected counts").is_safety


@pytest.mark.django_db
def test_the_command_checks_first_and_then_puts_right(result: Result) -> None:
    assert said_by("--check") == "Every count is as it is counted anew.\n"
    MonthTag.objects.all().delete()
    with pytest.raises(CommandError, match="out of step"):
        said_by("--check")
    assert not MonthTag.objects.exists()
    assert said_by() == "2026-03: 2 rows put right\n"
    assert said_by() == "Every count is as it is counted anew.\n"


def said_by(*options: str) -> str:
    words = StringIO()
    call_command("rebuild_counts", *options, stdout=words)
    return words.getvalue()


@pytest.mark.django_db
def test_a_folder_older_than_the_counts_shows_right_figures_at_once(
    tester: User, eval_member: User, capsys: pytest.CaptureFixture[str]
) -> None:
    script, build = make.script(), make.build()
    for month in (1, 2, 5):
        reviewed = filed(tester, script, build, called_at=CALLED.replace(month=month))
    file_review(eval_member, reviewed.pk, Judged(("cut_in",), "One only."), based_on=1, now=timezone.now())
    MonthCount.objects.all().delete()
    MonthTag.objects.all().delete()
    count_earlier_months()
    assert capsys.readouterr().err == "counted the results of 3 months, once\n"
    assert compare_counts() == []
    assert not AuditEntry.objects.filter(action="corrected counts").exists()
    rows, by = Result.objects.all(), ("script", "month")
    assert read_months(tester, by=by) == read_rows(rows, by)
    for source in Source:
        assert read_month_tags(tester, source, by=by) == read_tags(rows, source, by)
    count_earlier_months()
    assert capsys.readouterr().err == ""


@pytest.mark.django_db
def test_another_time_zone_of_the_site_moves_what_lay_at_the_edge(tester: User, settings: Settings) -> None:
    filed(tester, make.script(), make.build(), called_at=datetime(2026, 3, 31, 22, 30, tzinfo=UTC))
    assert set(read_months(tester, by=("month",))) == {(date(2026, 4, 1),)}  # Hong Kong
    settings.TIME_ZONE = "America/New_York"
    rebuild_counts()
    assert compare_counts() == []
    assert set(read_months(tester, by=("month",))) == {(MARCH,)}


@pytest.mark.django_db(transaction=True)
def test_rebuilds_beside_filing_put_right_and_lose_nothing() -> None:
    testers = [make.user(None, Role.TESTER) for _ in range(4)]
    script, build = make.script(), make.build()
    for tester in testers:
        filed(tester, script, build)
    MonthCount.objects.update(content_3=40, runs=1)
    MonthTag.objects.update(tagged=30, biggest=0)
    filings = threading.Semaphore(0)

    def file(tester: User) -> None:
        for _ in range(10):
            filed(tester, script, build)
            filings.release()

    def rebuild() -> None:
        for _ in range(6):
            filings.acquire(timeout=20)
            rebuild_counts()

    together([*(lambda one=one: file(one) for one in testers), rebuild, rebuild])
    assert compare_counts() == []
    assert MonthCount.objects.get().content_3 == Result.objects.count() == 44


def together(acts: list[Callable[[], Any]]) -> None:
    gate = threading.Barrier(len(acts))

    def one(act: Callable[[], Any]) -> None:
        gate.wait()
        try:
            act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        list(pool.map(one, acts))
