"""Nobody but leads finds out which results are gold.

The whole site is read by everybody else, once before a result becomes gold and is answered by somebody, and once after:
both readings are the same to the letter, but for lines of the audit trail that name no result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unittest import mock

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.counts.rebuild_counts import rebuild_counts
from results.export import columns
from results.listing.reviewed import REVIEW_STATES
from results.models import QueuedFor, Result
from results.review.file_review import Judged, file_review
from results.review.gold import retire_gold, set_gold
from results.review.hold_result import begin_review
from tests import make
from tests.security.access import ACCESS
from tests.security.test_safety_canary import addresses, read_from
from tests.security.world import NAMES, World, build_world

from .conftest import reviewer

pytestmark = pytest.mark.django_db
OTHERS = [name for name in NAMES if name != Role.EVAL_LEAD.value]
LEFT_OUT = ("/audit/", "/people/")
WHY = "A minute in, twice."


@pytest.fixture
def world(db: None) -> Iterator[World]:
    made = build_world()
    # Some wait, so that the queue has counts; what is about to become gold is one of them.
    Result.objects.filter(pk=made.result.pk).update(queued_for=QueuedFor.SAMPLE)
    tester = made.user(Role.TESTER.value)
    for _ in range(10):
        make.result(tester, made.script, made.build, queued_for=QueuedFor.SAMPLE, problems=("too_long",))
    rebuild_counts()
    yield made
    made.upload.path.unlink(missing_ok=True)


def make_it_gold(result: Result) -> tuple[User, User]:
    """Set by a lead, answered by one reviewer and begun by another."""
    lead, first, second = reviewer("Lea", Role.EVAL_LEAD), reviewer("Rae"), reviewer("Ron")
    set_gold(lead, result.pk, ("weird_gaze", "cut_in"), WHY)
    now = timezone.now()
    begin_review(first, result, now)
    file_review(first, result.pk, Judged(("weird_gaze",), "Heard it."), based_on=result.version, now=now)
    begin_review(second, result, now)
    return first, second


def read_all(client: Client, world: World) -> dict[str, str]:
    """Every page but the audit trail, and but the list of people, which the three reviewers are new on."""
    lists = [f"/results/?problem={tag}&tags=reviewed" for tag in ("weird_gaze", "cut_in")]
    lists += [f"/results/?review={state}" for state in REVIEW_STATES]
    pages = read_from(client, [*(path for path in addresses(world) if not path.startswith(LEFT_OUT)), *lists])
    return {path: page for path, page in pages.items() if not path.startswith(LEFT_OUT)}


@pytest.mark.parametrize("name", OTHERS)
def test_the_site_reads_the_same_before_and_after(world: World, name: str) -> None:
    client = world.client(name)
    before = read_all(client, world)
    make_it_gold(world.result)
    rebuild_counts()
    after = read_all(client, world)
    assert sorted(after) == sorted(before)
    differ = [path for path in before if after[path] != before[path]]
    # Somebody has it in hand: that is said of any result, gold or not.
    assert [path for path in differ if not path.startswith(f"/review/{world.result.pk}/")] == []
    assert not any(WHY in page for page in after.values())


def test_the_queue_waits_as_long_as_before(world: World) -> None:
    """Counts leave it in: before, when a lead sets it, and after somebody else has answered it."""
    client = world.client(Role.EVAL_TEAM.value)

    def waiting() -> str:
        found = re.search(r'<dl class="reasons">(.*?)</dl>', client.get("/review/").text)
        return " ".join(re.sub(r"<[^>]+>", " ", found.group(1)).split()) if found else ""

    assert waiting() == "Picked at random 11"
    make_it_gold(world.result)
    assert waiting() == "Picked at random 11"


def test_a_lead_reads_it(world: World) -> None:
    """So that the tests above can fail."""
    make_it_gold(world.result)
    assert WHY in world.client(Role.EVAL_LEAD.value).get("/review/gold/").text


def test_a_page_that_showed_what_it_knows_would_be_seen(world: World) -> None:
    """So that the first test can fail: with the rule of leads gone, pages differ."""
    path = world.result.get_absolute_url()
    before = world.client(Role.MANAGER.value).get(path).text
    make_it_gold(world.result)
    with mock.patch.object(User, "has_role", return_value=True):
        assert "Only leads see this" in world.client(Role.MANAGER.value).get(path).text
    assert "Only leads see this" not in before


def test_lines_of_the_audit_trail_name_no_result(world: World) -> None:
    first, _ = make_it_gold(world.result)
    lead = User.objects.get(email="lea@example.test")
    retire_gold(lead, world.result.pk)
    lines = AuditEntry.objects.filter(actor__in=[lead, first]).order_by("pk")
    assert [line.action for line in lines] == ["set a gold answer", "reviewed a result", "retired a gold answer"]
    for line in lines:
        said = f"{line.target} {line.script} {line.details}"
        assert str(world.result.pk) not in said
        assert world.script.slug not in said
    page = world.client(Role.ADMINISTRATOR.value).get("/audit/?who=rae@example.test").text
    assert f"/results/{world.result.pk}/" not in page
    assert "/results/gold" not in page


def test_a_reviewer_who_has_not_answered_is_told_nothing_by_the_page(world: World) -> None:
    _, second = make_it_gold(world.result)
    page = make.client_of(second).get(f"/review/{world.result.pk}/").text
    assert "gold" not in page.lower()
    assert "weird_gaze" not in re.sub(r'(?s)<div class="tag-groups">.*', "", page), "nothing of what others found"
    assert "Rae" not in page


def test_no_export_has_a_column_of_it() -> None:
    assert not any("gold" in repr(column).lower() for column in vars(columns).values())


def test_programs_and_pages_of_others_have_no_address_of_it() -> None:
    named = [name for name in ACCESS if "gold" in name]
    assert sorted(named) == ["gold", "gold_set"]
    assert all(ACCESS[name].who == {Role.EVAL_LEAD.value} for name in named)
