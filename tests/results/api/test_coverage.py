"""Coverage for programs is held against the same round as on the page, and faults are told in words fit for them."""

from __future__ import annotations

import pytest

from emma_eval.accounts.models import User
from results.models import Round, Wanted
from tests import make
from tests.programs import Program

pytestmark = pytest.mark.django_db
PATH = "/api/v1/figures/"


def test_without_a_round_coverage_is_held_against_the_open_one_as_on_the_page(manager: User, tester: User) -> None:
    script, build = make.script("bad-news-day"), make.build("2026.43", is_current=True)
    make.result(tester, script, build)
    program, path = Program(manager), f"{PATH}coverage/"
    assert program.get(path).json()["round"] is None
    for name, due in (("Later", "2026-12-30"), ("First", "2026-12-04")):
        round_ = Round.objects.create(name=name, build=build, begun_by=manager, due_on=due)
        Wanted.objects.create(round=round_, script=script, runs=1000)
    shown = make.client_of(manager).get("/dashboard/coverage/").context["coverage"]
    said = program.get(path).json()
    assert shown.round.name == "First"
    assert (said["round"], said["wanted"], said["missing"]) == (str(shown.round.pk), 1000, 999)
    assert (shown.wanted, shown.missing) == (1000, 999)
    Round.objects.update(closed_at=shown.round.begun_at)
    assert program.get(path).json()["round"] is None


@pytest.mark.parametrize(
    "path",
    [
        *("figures/?build=1999.1", "figures/?script=x", "figures/?tags=x", "figures/?returning=x"),
        *("figures/comparison/?build=1999.1", "figures/comparison/?with=1999.1"),
        *("results/?build=1999.1", "results/?tester=7", "results/?started=x", "results/?safety=x"),
    ],
)
def test_programs_are_not_sent_to_a_list_that_they_do_not_have(manager: User, path: str) -> None:
    answer = Program(manager).get(f"/api/v1/{path}")
    assert answer.status_code == 422
    assert [bool(fault["detail"]) for fault in answer.json()["errors"]] == [True]
    assert "from the list" not in answer.text
