"""Say whether the audit trail is as it was linked: manage.py verify_audit [--expect DIGEST]."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from emma_eval.accounts.audit_chain.link_entries import link_entries
from emma_eval.accounts.audit_chain.verify_chain import verify_chain


class Command(BaseCommand):
    help = "Walk the chain of the audit trail. Ends with 1 where an entry was changed, removed, inserted or moved."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--expect", default="", metavar="DIGEST", help="a head that was noted earlier, elsewhere")
        parser.add_argument("--link", action="store_true", help="link what is not linked yet, first")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["link"]:
            link_entries(timezone.now(), is_everything=True, patience_s=float("inf"))
        found = verify_chain(options["expect"])
        if found.fault is not None:
            raise CommandError(found.in_words(), returncode=1)
        self.stdout.write(found.in_words())
