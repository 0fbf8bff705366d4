"""`manage.py rebuild_counts [--check]`: count by month anew from the results, or only say what is out of step."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from results.counts.rebuild_counts import Differences, compare_counts, rebuild_counts


class Command(BaseCommand):
    help = "Count by month anew from the results, and put right what differs. Safe while people file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="only say what differs; exit 1 if anything does")

    def handle(self, *, check: bool, **options: Any) -> None:
        found = compare_counts() if check else rebuild_counts()
        for differences in found:
            self.stdout.write(_in_words(differences, "differ" if check else "put right"))
        if not found:
            self.stdout.write("Every count is as it is counted anew.")
        elif check:
            raise CommandError("Counts are out of step: `manage.py rebuild_counts` puts them right.", returncode=1)


def _in_words(found: Differences, what: str) -> str:
    where = f"{found.month:%Y-%m}" if found.month else "run counts"
    return f"{where}: {found.rows} rows {what}"
