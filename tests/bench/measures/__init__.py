"""The measures, one file each: what is measured, why, and its limit beside it.

A file here is found by itself. It has PLACE (its place in the table), TITLE, and `measure(stage)`, which yields
figures; its docstring stands in docs/benchmarks.md.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..figures import Figure
from ..stage import Stage


@dataclass(frozen=True)
class Measure:
    name: str
    title: str
    words: str
    measure: Callable[[Stage], Iterator[Figure]]


def all_measures() -> list[Measure]:
    """Every file of this folder, in the order of the table."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    return [
        Measure(module.__name__.rpartition(".")[2], module.TITLE, (module.__doc__ or "").strip(), module.measure)
        for module in sorted(modules, key=lambda module: module.PLACE)
    ]
