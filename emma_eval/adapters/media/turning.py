"""Set pictures upright that were taken with a phone on its side, in the child: players do so with what is copied."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from av.filter import Graph

_TURNS = {
    -90: (("transpose", "clock"),),
    90: (("transpose", "cclock"),),
    180: (("hflip", ""), ("vflip", "")),
    -180: (("hflip", ""), ("vflip", "")),
}


def turn_of(frame: Any) -> int:
    """By how many degrees it must be turned, against the clock; 0 for what stands as it should."""
    turn = int(frame.rotation)
    return turn if turn in _TURNS else 0


def upright(frame: Any) -> Any:
    """The frame as people are to see it."""
    turn = turn_of(frame)
    if not turn:
        return frame
    graph = Graph()
    last = graph.add_buffer(width=frame.width, height=frame.height, format=frame.format, time_base=Fraction(1, 1000))
    for name, argument in (*_TURNS[turn], ("buffersink", "")):
        step = graph.add(name, argument) if argument else graph.add(name)
        last.link_to(step)
        last = step
    graph.configure()
    graph.push(frame)
    return graph.pull()
