"""Keys that tell nobody how many rows there are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import AuditEntry
from results.models import Result
from scripts_catalog.models import ScriptVersion

MOST_THAT_A_BIGINT_HOLDS = 2**63 - 1


def test_keys_grow_and_fit_into_the_database() -> None:
    keys = [new_key() for _ in range(1000)]
    assert keys == sorted(set(keys))
    assert 0 < keys[0] < keys[-1] < MOST_THAT_A_BIGINT_HOLDS // 1000


def test_no_two_threads_get_the_same_key() -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = list(pool.map(lambda _: new_key(), range(5000)))
    assert len(set(keys)) == 5000


def test_the_distance_of_two_keys_is_a_matter_of_chance() -> None:
    keys = [new_key() for _ in range(200)]
    distances = {later - earlier for earlier, later in pairwise(keys)}
    assert len(distances) > 20


@pytest.mark.parametrize("model", [Result, ScriptVersion, AuditEntry])
def test_what_may_be_hidden_is_known_by_such_a_key(model: type[Result | ScriptVersion | AuditEntry]) -> None:
    assert model._meta.pk.get_default() > new_key() - 10_000
