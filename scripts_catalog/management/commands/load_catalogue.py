"""`manage.py load_catalogue [FILE]`: load the shipped scripts, or those of another file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scripts_catalog import catalogue_file
from scripts_catalog.load_catalogue import Outcome, load_catalogue

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "scripts.yaml"


class Command(BaseCommand):
    help = "Load scripts from a YAML file (the shipped catalogue, unless another is named); all of them or none."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, default=SHIPPED)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            outcomes = load_catalogue(catalogue_file.read(options["file"].read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as cause:
            raise CommandError(f"{options['file']} can't be read: {cause}") from cause
        except catalogue_file.CatalogueError as cause:
            raise CommandError(f"Nothing was loaded.\n{cause}") from cause
        for slug, outcome in outcomes.items():
            if outcome is Outcome.EDITED_HERE:
                self.stdout.write(f"{slug}: {outcome}")
        count = Counter(outcomes.values())
        self.stdout.write(", ".join(f"{count[outcome]} {outcome}" for outcome in Outcome))
