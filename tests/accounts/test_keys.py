"""Keys that tell nobody how many rows there are."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from emma_eval.accounts.keys import KEYS_A_MS, SCATTERED_OVER_MS, START_MS, new_key, new_scattered_key
from emma_eval.accounts.models import AuditEntry
from results.models import Result
from scripts_catalog.models import ScriptVersion

MOST_THAT_A_BROWSER_COUNTS_TO = 2**53 - 1
A_MINUTE_OF_KEYS = SCATTERED_OVER_MS * KEYS_A_MS


def test_keys_grow_and_fit_into_the_database() -> None:
    keys = [new_key() for _ in range(1000)]
    assert keys == sorted(set(keys))
    assert 0 < keys[0] < keys[-1] < MOST_THAT_A_BROWSER_COUNTS_TO // 10


def test_no_two_threads_get_the_same_key() -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = list(pool.map(lambda _: new_key(), range(5000)))
    assert len(set(keys)) == 5000


def test_many_rows_in_one_go_leave_no_distance_to_the_next_one() -> None:
    """Or the key of the row after an import would tell how long the import was."""
    for _ in range(3000):
        Result()
    ahead_ms = new_key() // KEYS_A_MS - (time.time_ns() // 1_000_000 - START_MS)
    assert ahead_ms <= 1


def test_scattered_keys_are_of_the_last_minute_and_in_no_order() -> None:
    now = new_key()
    keys = [new_scattered_key() for _ in range(1000)]
    assert now - A_MINUTE_OF_KEYS - KEYS_A_MS < min(keys)
    assert max(keys) < now + A_MINUTE_OF_KEYS
    assert max(keys) - min(keys) > A_MINUTE_OF_KEYS // 2
    later_is_higher = sum(later > earlier for earlier, later in pairwise(keys))
    assert 400 < later_is_higher < 600


def test_the_distance_of_two_keys_is_a_matter_of_chance() -> None:
    keys = [new_key() for _ in range(200)]
    distances = {later - earlier for earlier, later in pairwise(keys)}
    assert len(distances) > 20


@pytest.mark.parametrize("model", [Result, ScriptVersion, AuditEntry])
def test_what_may_be_hidden_is_known_by_such_a_key(model: type[Result | ScriptVersion | AuditEntry]) -> None:
    assert model._meta.pk.get_default() > new_key() - 10_000 * KEYS_A_MS
