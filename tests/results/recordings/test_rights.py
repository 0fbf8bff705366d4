"""Who may do what with a recording that they see: one table, and nobody asks elsewhere."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from django.conf import settings

from emma_eval.accounts.models import User
from results.models import Origin, Recording
from results.recordings.rights import may_change, may_read_watches, may_remove
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def everybody(tester: User, eval_member: User, eval_lead: User, manager: User, administrator: User) -> dict[str, User]:
    another = make.user("other@example.test")
    people = {"tester": tester, "another tester": another, "eval team": eval_member, "eval lead": eval_lead}
    return people | {"manager": manager, "administrator": administrator}


def test_each_right_is_that_of_these_people_alone(everybody: dict[str, User]) -> None:
    mine = Recording.objects.create(tester=everybody["tester"], call_uuid=uuid.uuid4(), origin=Origin.UPLOADED)
    change = {name for name, user in everybody.items() if may_change(user, mine)}
    remove = {name for name, user in everybody.items() if may_remove(user, mine)}
    watches = {name for name, user in everybody.items() if may_read_watches(user)}
    assert change == {"tester", "eval team", "eval lead"}
    assert remove == {"tester", "eval lead", "administrator"}
    assert watches == {"eval lead", "administrator"}


def test_no_other_place_of_the_room_asks_for_a_role() -> None:
    """What notes a reviewer reads is a rule of reviews, and is asked there."""
    room = Path(settings.BASE_DIR) / "results" / "recordings"
    asking = {path.name for path in room.rglob("*.py") if "has_role(" in path.read_text(encoding="utf-8")}
    assert asking == {"rights.py", "withhold_notes.py"}
