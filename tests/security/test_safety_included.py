"""Figures of the trained count Safety: the pages tell them so, and tell nobody else."""

from __future__ import annotations

import pytest

from emma_eval.accounts.roles import Role
from results.models import Round, Wanted
from tests import make

pytestmark = pytest.mark.django_db
PATHS = (
    *("/dashboard/", "/dashboard/scripts/small-talk/", "/dashboard/compare/", "/dashboard/coverage/"),
    *("/dashboard/agreement/", "/results/", "/results/export/", "/rounds/", "/rounds/1/"),
)


@pytest.fixture(autouse=True)
def world() -> None:
    owner, build = make.user(), make.build(is_current=True)
    script = make.script("small-talk")
    make.result(owner, script, build)
    Wanted.objects.create(round=Round.objects.create(pk=1, name="One", build=build, begun_by=owner), script=script)


@pytest.mark.parametrize("path", PATHS)
def test_the_trained_are_told_and_others_read_no_word_of_it(path: str) -> None:
    trained = make.client_of(make.user(None, Role.EVAL_TEAM, is_trained=True)).get(path)
    assert trained.status_code == 200
    assert trained.text.count("data-safety-included") == 1
    other = make.client_of(make.user(None, Role.EVAL_TEAM)).get(path)
    assert other.status_code == 200
    assert "data-safety-included" not in other.text
    assert "Safety included" not in other.text
