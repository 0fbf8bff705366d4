"""Keys of rows that people meet in addresses: they grow with time and tell nobody how many rows there are.

A plain sequence would let anybody count the rows that are hidden from them by the gaps between their own. So would
keys in the order of an import, which makes rows one right after the other: the gap between two neighbours would be
the wider the more lies between. Rows that are made by the dozen therefore get keys that are scattered.
"""

from __future__ import annotations

import secrets
import threading
import time
from datetime import datetime

START_MS = 1_735_689_600_000  # 2025-01-01T00:00:00Z
KEYS_A_MS = 4096
LONGEST_STEP = 64
SCATTERED_OVER_MS = 60_000

_lock = threading.Lock()
_last = 0


def new_key() -> int:
    """A key above all earlier ones of this process: milliseconds since 2025 with a random part behind them.

    When keys are asked for faster than that, each follows the one before at a random distance, short enough for
    keys never to run ahead of the clock: how far ahead would tell how many there were. Two processes may, once in
    a very long time, make the same key; the database then refuses the second row.
    """
    global _last  # noqa: PLW0603  (the one number that the threads of a process share)
    with _lock:
        _last = max(_by_clock(), _last + 1 + secrets.randbelow(LONGEST_STEP))
        return _last


def new_scattered_key() -> int:
    """A key somewhere in the minute that ends now, which depends on no other key.

    For rows of an import: in what order they were made, and what lies between two of them, can't be read off.
    """
    return _by_clock() - secrets.randbelow(SCATTERED_OVER_MS * KEYS_A_MS)


def least_key_at(at: datetime) -> int:
    """Below every key that is made from this time on, and above nearly every one made before."""
    return (round(at.timestamp() * 1000) - START_MS) * KEYS_A_MS


def _by_clock() -> int:
    return (time.time_ns() // 1_000_000 - START_MS) * KEYS_A_MS + secrets.randbelow(KEYS_A_MS)
