"""Work out how far testers agree who ran the same script on the same build; for a task, it takes its time.

A unit is a script on a build, a tester's rating of it that of their latest result. All results are read as one table,
units by dimensions by ratings, which is small however many results there are (docs/decisions/0113-*).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from django.db import transaction
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from numpy.typing import NDArray

from emma_eval.scoring.agreement import Alpha, Untold, alpha_of_counts

from ..models import DIMENSION_KEYS, RATINGS, Agreement, Result, ResultQuerySet
from .take_time import take_time
from .when_agreement import is_due

WHY = {
    Untold.NO_PAIR: "No two testers have rated the same script on the same build.",
    Untold.NO_VARIATION: "All ratings are the same, so agreement can’t be told from habit.",
}
ROWS_AT_ONCE = 5_000
OF_A_TESTER = ("script_id", "build_id", "tester_id")
FIELDS = ["alpha", "low", "high", "why", "units", "ratings", "testers", "worked_out_at"]


def work_out_agreement(now: datetime, rng: np.random.Generator) -> bool:
    """Write every `Agreement` anew that is due, those with Safety and those without by themselves; whether any was."""
    due = [with_safety for with_safety in (False, True) if is_due(now, with_safety=with_safety)]
    own = dict(zip((False, True), rng.spawn(2), strict=True))  # so that neither's intervals depend on the other
    for with_safety in due:
        rows = Result.objects.all() if with_safety else Result.objects.open_to_all()
        found = list(_Table.of(rows).rows(with_safety, now, own[with_safety]))
        with transaction.atomic():
            _write(found, with_safety, now)
    return bool(due)


def _write(found: list[Agreement], with_safety: bool, now: datetime) -> None:
    named = ["dimension", "script", "build", "with_safety"]
    found.sort(key=lambda row: (row.dimension, row.script, row.build))
    Agreement.objects.bulk_create(
        found, batch_size=500, update_conflicts=True, unique_fields=named, update_fields=FIELDS
    )
    Agreement.objects.filter(with_safety=with_safety, worked_out_at__lt=now).delete()


@dataclass
class _Table:
    """How often each rating was given, by unit and dimension, and by whom."""

    units: dict[tuple[str, str], int] = field(default_factory=dict)
    counts: list[NDArray[np.int64]] = field(default_factory=list)
    testers: list[list[set[int]]] = field(default_factory=list)

    @classmethod
    def of(cls, rows: ResultQuerySet) -> _Table:
        table = cls()
        place = Window(RowNumber(), [F(column) for column in OF_A_TESTER], [F("called_at").desc(), F("id").desc()])
        latest = rows.rated().order_by().annotate(place=place).filter(place=1)
        fields = latest.values_list(*OF_A_TESTER, *DIMENSION_KEYS)
        with take_time():
            for script, build, tester, *ratings in fields.iterator(chunk_size=ROWS_AT_ONCE):
                table._add((script, build), tester, ratings)
        return table

    def _add(self, key: tuple[str, str], tester: int, ratings: list[int | None]) -> None:
        unit = self.units.setdefault(key, len(self.units))
        if unit == len(self.counts):
            self.counts.append(np.zeros((len(DIMENSION_KEYS), len(RATINGS)), dtype=np.int64))
            self.testers.append([set() for _ in DIMENSION_KEYS])
        for place, rating in enumerate(ratings):
            if rating is not None:
                self.counts[unit][place, rating - 1] += 1
                self.testers[unit][place].add(tester)

    def rows(self, with_safety: bool, now: datetime, rng: np.random.Generator) -> Iterator[Agreement]:
        """Of all together, of each script and of each build."""
        groups: dict[tuple[str, str], list[int]] = {("", ""): list(self.units.values())}
        for (script, build), unit in self.units.items():
            groups.setdefault((script, ""), []).append(unit)
            groups.setdefault(("", build), []).append(unit)
        for (script, build), units in groups.items():
            for place, dimension in enumerate(DIMENSION_KEYS):
                counts = np.array([self.counts[unit][place] for unit in units]).reshape(len(units), len(RATINGS))
                pairs = [self.testers[unit][place] for unit in units if len(self.testers[unit][place]) > 1]
                told = _told(alpha_of_counts(counts, rng), set().union(*pairs), now)
                told.dimension, told.script, told.build, told.with_safety = dimension, script, build, with_safety
                yield told


def _told(found: Alpha, testers: set[int], now: datetime) -> Agreement:
    return Agreement(
        alpha=found.alpha,
        low=found.low,
        high=found.high,
        why=WHY[found.why] if found.why else "",
        units=found.units,
        ratings=found.ratings,
        testers=len(testers),
        worked_out_at=now,
    )
