"""Words that people stumbled over are on no page."""

from __future__ import annotations

from pathlib import Path

import pytest

TEMPLATES = sorted((Path(__file__).parents[2] / "templates").rglob("*.html"))


@pytest.mark.parametrize("words", ["nought", "beside the pages", "reviews that stand", "review stands", "What stands<"])
def test_no_page_says(words: str) -> None:
    assert len(TEMPLATES) > 60
    assert [str(path) for path in TEMPLATES if words in path.read_text()] == []


def test_the_names_of_label_studio_are_told_in_the_guide_alone() -> None:
    """Where they matter: to those who label there too."""
    assert [path.name for path in TEMPLATES if "label_studio" in path.read_text()] == ["guide.html"]
