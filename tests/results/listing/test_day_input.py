"""The field of a day is what Django's would be, written without its templates."""

from __future__ import annotations

from datetime import date
from html.parser import HTMLParser
from typing import Any

import pytest
from django import forms

from results.listing.filter_form import DayInput

ATTRS: tuple[dict[str, Any], ...] = (
    {},
    {"id": "id_from"},
    {"aria-invalid": "true", "required": True, "disabled": False, "aria-describedby": 'a"b'},
)


def attributes_of(html: str) -> list[tuple[str, str]]:
    """The element, and its attributes in no order."""
    found: list[tuple[str, str]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.extend(  # type: ignore[method-assign]
        [("", tag), *((name, value or "") for name, value in attrs)]
    )
    parser.feed(html)
    return sorted(found)


@pytest.mark.parametrize("attrs", ATTRS)
@pytest.mark.parametrize("value", [None, date(2026, 1, 2), "2026-01", '"><script>', "x&y"])
def test_it_has_the_attributes_of_the_field_that_django_writes(value: object, attrs: dict[str, Any]) -> None:
    plain = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
    ours = DayInput(format="%Y-%m-%d")
    assert attributes_of(ours.render("from", value, attrs)) == attributes_of(plain.render("from", value, attrs))
