"""What the child may use: told by its parent, and drawn tighter once it is known how long the recording is."""

from __future__ import annotations

import os
import resource

_NICE = 5
_GRACE_S = 5


def limit(*, cpu_s: int, memory_bytes: int, file_bytes: int) -> None:
    """Before anything is read."""
    for what, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    _limit_cpu(cpu_s)
    os.nice(_NICE)


def allow(seconds: float) -> None:
    """From now on so much time of a processor, and no more than was given before."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds) + 1
    given, _ = resource.getrlimit(resource.RLIMIT_CPU)
    _limit_cpu(most if given == resource.RLIM_INFINITY else min(most, given))


def _limit_cpu(most_s: int) -> None:
    """First a signal that says what it is, and only then the one that anybody might have sent."""
    resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s + _GRACE_S))
