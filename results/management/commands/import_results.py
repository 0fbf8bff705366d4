"""`manage.py import_results FILE`: import the old results sheet, or see first what an import would do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from results.old_sheet.import_sheet import Findings, RowsAreBadError, import_sheet, look_through
from results.old_sheet.read_sheet import SheetError


class Command(BaseCommand):
    help = "Import the old results sheet (CSV or XLSX): all its good rows, in one transaction."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="only say what an import would do")
        parser.add_argument("--json", action="store_true", help="print rows, good and bad as JSON, and nothing else")
        parser.add_argument("--all-or-nothing", action="store_true", help="import nothing when any row is bad")

    def handle(self, *, file: Path, dry_run: bool, all_or_nothing: bool, **options: Any) -> None:
        """Exit 0: read, and imported unless a dry run; 1: bad rows, nothing imported; 2: not a readable sheet."""
        refused = False
        try:
            found = (
                look_through(file, None)
                if dry_run
                else import_sheet(file, None, file.name, only_good=not all_or_nothing)
            )
        except RowsAreBadError as bad:
            found, refused = bad.findings, True
        except SheetError as cause:
            raise CommandError(str(cause), returncode=2) from cause
        except OSError as cause:
            raise CommandError(f"{file} can't be opened: {cause.strerror}.", returncode=2) from cause
        self._say(found, as_json=options["json"], is_written=not dry_run and not refused)
        if refused:
            raise CommandError(
                f"Nothing was imported: {len(found.bad)} rows are bad. Mend them, or import the {found.good} good "
                "rows without --all-or-nothing.",
                returncode=1,
            )

    def _say(self, found: Findings, *, as_json: bool, is_written: bool) -> None:
        for notice in found.notices:
            self.stderr.write(notice)
        if as_json:
            bad = [[row.line, row.reasons] for row in found.bad]
            self.stdout.write(json.dumps({"rows": found.rows, "good": found.good, "bad": bad}))
            return
        for row in found.bad:
            for fault in row.faults:
                value = _on_one_line(fault.value)
                if fault.before_is_in:
                    value += f"; {fault.before_is_in}: {_on_one_line(fault.before)}"
                self.stdout.write(f"row {row.line}, {fault.column}: {fault.reason} ({value})")
        added = f"{found.new} results added" if is_written else f"{found.new} results to add"
        self.stdout.write(
            f"{found.rows} rows: {found.good} good, {len(found.bad)} bad. {added}, {found.here} were here already."
        )
        for what, names in (("testers", found.new_testers), ("builds", found.new_builds)):
            if names:
                self.stdout.write(f"New {what}: {', '.join(names)}.")


def _on_one_line(text: str) -> str:
    return " ".join(text.split()) or "empty"
