"""Our quick way to write markup escapes what Django's does, to the letter."""

from __future__ import annotations

import itertools

import pytest
from django.utils import html
from django.utils.safestring import SafeString

from results.markup import format_html, format_html_join, together
from tests.security.payloads import PAYLOADS

VALUES = [*PAYLOADS, SafeString("<b>&amp;</b>"), 3, -2.5, None, True, "", "'\"&<>", ["<i>"], b"<u>"]


@pytest.mark.parametrize(("one", "other"), list(itertools.pairwise(VALUES)))
def test_it_writes_what_django_writes(one: object, other: object) -> None:
    for pattern in ('<a href="{}">{}</a>', "{0}{0}{1}", "<p>{} {name}</p>"):
        ours, theirs = (write(pattern, one, other, name=other) for write in (format_html, html.format_html))
        assert ours == theirs
        assert isinstance(ours, SafeString)
    rows = [(one, other), (other, one)]
    assert format_html_join("<br>", "<li>{}{}</li>", rows) == html.format_html_join("<br>", "<li>{}{}</li>", rows)


def test_pieces_are_put_together_and_what_is_no_markup_is_escaped() -> None:
    assert together([SafeString("<b>"), "<i>"]) == "<b>&lt;i&gt;"  # type: ignore[list-item]
    assert isinstance(together([]), SafeString)
