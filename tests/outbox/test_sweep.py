"""Finding what was left behind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from emma_eval.outbox import tasks
from emma_eval.outbox.models import Row
from tests.outbox import handlers  # noqa: F401  (registers the handlers)

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
SOON = timedelta(seconds=30)


def row(path: Path, **fields: object) -> Row:
    return Row.objects.create(
        **{"handler": "tests.write_down", "payload": {"path": str(path)}, "next_try_at": timezone.now(), **fields}
    )


def test_it_delivers_what_nobody_was_woken_for(tmp_path: Path) -> None:
    row(tmp_path / "out")
    tasks.sweep()
    assert (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("lease", "is_delivered"), [(-SOON, True), (SOON, False)], ids=["ran out with its worker", "is held"]
)
def test_a_lease_keeps_a_row_until_it_runs_out(tmp_path: Path, lease: timedelta, is_delivered: bool) -> None:
    row(tmp_path / "out", lease_until=timezone.now() + lease, attempts=1)
    tasks.sweep()
    assert (tmp_path / "out").exists() == is_delivered


def test_one_bad_row_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    row(tmp_path, handler="tests.fail", payload={"words": "poison"}, next_try_at=timezone.now() - SOON)
    for place in range(20):
        row(tmp_path / str(place))
    tasks.sweep()
    assert Row.objects.exclude(done_at=None).count() == 20


def test_it_ends_before_the_next_sweep_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "SWEEP_EVERY_S", 0.3)
    for place in range(5):
        row(tmp_path / str(place), handler="tests.be_slow")
    tasks.sweep()
    assert 0 < Row.objects.exclude(done_at=None).count() < 5


def test_it_clears_away_what_was_done_long_ago(tmp_path: Path) -> None:
    long_ago = timezone.now() - tasks.KEEP_DONE_FOR - SOON
    row(tmp_path, done_at=long_ago)
    kept = row(tmp_path, done_at=timezone.now())
    aside = row(tmp_path, set_aside_at=long_ago)
    tasks.sweep()
    assert set(Row.objects.values_list("pk", flat=True)) == {kept.pk, aside.pk}
