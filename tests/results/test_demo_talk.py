"""What the demo team says, follows and knows, so that a new house has a thread, tickets and gold."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest
from django.core.management import call_command

from emma_eval.accounts.models import User
from results.comments.tell_threads import tell_threads
from results.demo import load_demo
from results.models import GoldAnswer, Ticket
from results.review.agreement_of_reviewers import agreement_of
from results.tickets.came_back import NOT_SEEN, STILL_THERE, came_back

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
NOW = datetime(2026, 11, 29, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize("chance", [1, 60])
def test_a_new_house_has_a_thread_tickets_and_gold(chance: int) -> None:
    call_command("load_catalogue", verbosity=0)
    load_demo(NOW, Random(chance))
    eva, lea = (User.objects.get(email=f"{name}@demo.example") for name in ("eva", "lea"))
    assert len(tell_threads(eva)) == 2
    went = came_back(lea, Ticket.objects.all())
    assert {each.state for each in went.values()} == {STILL_THERE, NOT_SEEN}
    assert len(went) == 3
    assert GoldAnswer.objects.filter(set_by=lea).count() >= 3
    found = agreement_of(lea, eva).gold
    assert found.n >= 2
    assert found.order is not None
    assert 0 < found.order.part < found.order.n
