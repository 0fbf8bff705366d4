"""`manage.py load_demo`: load the demo team, once."""

from __future__ import annotations

from random import Random
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from results.demo import keep_sign_ins, load_demo

SEED = 60


class Command(BaseCommand):
    help = "Load a small demo team with results. It is loaded once; its passwords are in demo_sign_ins.json."

    def handle(self, *args: Any, **options: Any) -> None:
        filed = load_demo(timezone.now(), Random(SEED))  # noqa: S311  (spreads the demo; guards nothing)
        self.stdout.write(f"{filed} demo results filed" if filed else "the demo team is there already")
        for sign_in in keep_sign_ins(settings.VAR_DIR / "demo_sign_ins.json"):
            self.stdout.write(f"{sign_in.role:<18} {sign_in.email:<20} {sign_in.password}")
