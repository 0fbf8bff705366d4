"""`manage.py invite EMAIL --role administrator` prints the link that makes the first administrator."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.urls import reverse

from emma_eval.accounts import change_access, invite
from emma_eval.accounts.addresses import address_of, is_address
from emma_eval.accounts.models import Invitation, Training, User
from emma_eval.accounts.roles import Role


class Command(BaseCommand):
    help = "Invite a person and print the link that lets them set a password; it is mailed too."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="")
        parser.add_argument(
            "--role", action="append", dest="roles", choices=[role.value for role in Role], help="May be given again."
        )
        parser.add_argument("--trained-from", type=date.fromisoformat, metavar="YYYY-MM-DD")
        parser.add_argument("--trained-until", type=date.fromisoformat, metavar="YYYY-MM-DD")

    def handle(self, *args: Any, **options: Any) -> None:
        address = address_of(options["email"])
        if not is_address(address):
            raise CommandError(f"{address} is not an e-mail address of plain letters.")
        training = _training(options["trained_from"], options["trained_until"])
        roles = {Role(name) for name in options["roles"] or [Role.TESTER.value]}
        invitation = _invite(address, options["name"], roles, training)
        self.stdout.write(settings.ORIGIN + reverse("accept_invitation", args=[invitation.token]))


def _training(starts_on: date | None, ends_on: date | None) -> Training | None:
    if starts_on is None and ends_on is None:
        return None
    if starts_on is None or (ends_on is not None and ends_on < starts_on):
        raise CommandError("Give --trained-from, and no --trained-until before it.")
    return Training(starts_on=starts_on, ends_on=ends_on)


@transaction.atomic
def _invite(address: str, name: str, roles: set[Role], training: Training | None) -> Invitation:
    """Somebody who was invited before gets a new link and the roles that were named besides the old ones."""
    user = User.objects.filter(email=address).first()
    if user is None:
        return invite.invite(address, name, roles, None, training=training)
    if user.has_joined or not user.is_active:
        raise CommandError(f"{address} has an account already: look at it on the People page.")
    change_access.change_roles(user, user.roles | roles, None)
    if training is not None:
        training.user = user
        change_access.grant_training(training, None)
    return invite.invite_again(user, None)
