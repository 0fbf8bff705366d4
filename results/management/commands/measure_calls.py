"""`manage.py measure_calls`: make the figures of recorded calls again after the method changed, from what was heard."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from results.recordings.making.measure_call import measure_again


class Command(BaseCommand):
    help = "Make figures of recordings again that an older edition of the method made. No sound is listened to."

    def handle(self, **options: Any) -> None:
        count = measure_again()
        self.stdout.write(f"{count} recording{'' if count == 1 else 's'} measured again.")
