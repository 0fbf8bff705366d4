"""What the tests of the charts share: a chart as its elements, and its table as rows of words."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from results.charts.svg import Reading


def parsed(chart: str) -> ElementTree.Element:
    """The chart as XML; what is not well-formed fails here."""
    return ElementTree.fromstring(chart)


def of_class(chart: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [element for element in chart.iter() if kind in str(element.get("class", "")).split()]


def words(chart: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in chart.iter("text")]


def named(chart: ElementTree.Element) -> tuple[str, str]:
    """Its title and description, by the ids that it is labelled by."""
    by_id = {element.get("id"): element.text or "" for element in chart.iter() if element.get("id")}
    title, description = str(chart.get("aria-labelledby")).split()
    return by_id[title], by_id[description]


def rows_of(table: str) -> list[list[str]]:
    """The cells of a table twin, heads included, without markup."""
    found = parsed(table)
    return [["".join(cell.itertext()).strip() for cell in row] for row in found.iter("tr")]


def heads_of(name: str) -> list[str]:
    return [name, f"{name}: 95 % interval", f"{name}: n"]


def percent(element: ElementTree.Element, name: str) -> float:
    return float(str(element.get(name)).rstrip("%"))


def reading(value: float | None, n: int = 20, reach: float = 0.2, href: str = "") -> Reading:
    if value is None:
        return Reading(None, n, href=href)
    return Reading(value, n, value - reach, value + reach, href)


def is_plain(chart: str) -> bool:
    """Nothing is styled inline: the content policy refuses it, and dark and print need classes."""
    return not re.search(r'\b(style|stroke|onclick)="|\bfill="(?!url\(#)', chart)
