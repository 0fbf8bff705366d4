"""`manage.py let_in EMAIL` prints a link that signs a person in once: the way back in for administrators."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from emma_eval.accounts import audit, change_access, link_in
from emma_eval.accounts.addresses import address_of
from emma_eval.accounts.models import User
from emma_eval.accounts.role import Role


class Command(BaseCommand):
    help = "Print a link that signs a person in, once, within 15 minutes, whatever sign-on and passwords say."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument(
            "--administrator", action="store_true", help="Make them administrator too; sign-on may take it back."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email=address_of(options["email"]), is_active=True).first()
        if user is None:
            raise CommandError("There is no active account with this address; `manage.py invite` makes one.")
        if options["administrator"]:
            change_access.change_roles(user, user.roles | {Role.ADMINISTRATOR}, None)
        audit.record(None, "made a link that signs in", about=user)
        self.stdout.write(settings.ORIGIN + reverse("link_in", args=[link_in.token_for(user)]))
