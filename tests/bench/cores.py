"""Which cores a process and all that it starts may use: what stands for another machine is given its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


def halves() -> tuple[set[int], set[int]]:
    """The cores that we may use, in two halves; on a machine of one, both are that one."""
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2
    return (set(cores[:half]) or set(cores), set(cores[half:]))


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """Threads and processes that are started meanwhile stay there, whatever becomes of us."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
