"""Do what takes long and gives no sign of life, without losing the row of the outbox that it is done for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, TimeoutError
from threading import Thread
from typing import TypeVar

from emma_eval.outbox.deliver import hold_on

HOLD_EVERY_S = 10.0

T = TypeVar("T")


def hold_while(act: Callable[[], T], every_s: float = HOLD_EVERY_S) -> T:
    """What the act returns or raises. It runs beside, since only the handler's own thread may hold on.

    Where the lease is lost the act is left to end by itself: what it brings about must do no harm.
    """
    done: Future[T] = Future()
    Thread(target=_do, args=(act, done), daemon=True).start()
    while True:
        try:
            return done.result(every_s)
        except TimeoutError:
            if done.done():
                raise
            hold_on()


def _do(act: Callable[[], T], done: Future[T]) -> None:
    try:
        done.set_result(act())
    except BaseException as fault:  # whatever it is, it is raised where the act was asked for
        done.set_exception(fault)
