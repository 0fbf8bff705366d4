"""`manage.py measure_calls`: make the figures of recorded calls again after the method changed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from results.recordings.making.measure_call import measure_again


class Command(BaseCommand):
    help = (
        "Make figures of recordings again that an older edition of the method made: from what was heard, or, where "
        "that was heard by other ears than today's, by listening to them again, which the workers do."
    )

    def handle(self, **options: Any) -> None:
        again = measure_again()
        self.stdout.write(
            f"{_recordings(again.measured)} measured again, {_recordings(again.to_hear)} to be heard again."
        )


def _recordings(count: int) -> str:
    return f"{count} recording{'' if count == 1 else 's'}"
