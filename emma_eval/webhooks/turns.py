"""Which deliveries a worker tries at the same time: receivers that are slow hold up their owner's deliveries alone.

One try of an owner at a time, and all of them on no more than half of the worker's threads, so that mail and whatever
else has to be done goes on. What has to wait is woken by the end of a try; what nobody wakes, the sweep finds.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from emma_eval.outbox.deliver import key_in_work
from emma_eval.outbox.enqueue import wake
from emma_eval.outbox.registry import TryLaterError

MOST_REMEMBERED = 10_000
_lock = threading.Lock()
_owners_in_turn: set[int] = set()
_waiting: deque[int] = deque(maxlen=MOST_REMEMBERED)


@contextmanager
def turn_of(owner: int) -> Iterator[None]:
    """Raises TryLaterError, which costs no try, if it is not this owner's turn now."""
    with _lock:
        is_free = owner not in _owners_in_turn and len(_owners_in_turn) < settings.WEBHOOKS_AT_ONCE
        if is_free:
            _owners_in_turn.add(owner)
    if not is_free:
        key = key_in_work()
        if key is not None and key not in _waiting:
            _waiting.append(key)
        raise TryLaterError("other deliveries are under way", counts=False)
    try:
        yield
    finally:
        with _lock:
            _owners_in_turn.discard(owner)
        _wake_some()


def _wake_some() -> None:
    """As many as may be tried at once; those that find no turn wait again."""
    for _ in range(settings.WEBHOOKS_AT_ONCE):
        try:
            key = _waiting.popleft()
        except IndexError:
            return
        wake(key)
