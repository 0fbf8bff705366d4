"""Keys of rows that people meet in addresses: they grow with time and tell nobody how many rows there are.

A plain sequence would let anybody count the rows that are hidden from them by the gaps between their own.
"""

from __future__ import annotations

import secrets
import threading
import time

START_MS = 1_735_689_600_000  # 2025-01-01T00:00:00Z
KEYS_A_MS = 100

_lock = threading.Lock()
_last = 0


def new_key() -> int:
    """A key above all earlier ones of this process: milliseconds since 2025 with two random digits behind them.

    When keys are asked for faster than that, each follows the one before at a random distance. Two processes
    may, once in a very long time, make the same key; the database then refuses the second row.
    """
    global _last  # noqa: PLW0603  (the one number that the threads of a process share)
    with _lock:
        by_clock = (time.time_ns() // 1_000_000 - START_MS) * KEYS_A_MS + secrets.randbelow(KEYS_A_MS)
        _last = max(by_clock, _last + 1 + secrets.randbelow(KEYS_A_MS))
        return _last
