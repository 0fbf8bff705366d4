"""Days are written one way on the whole site: 30 Nov 2026."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

IN_TEMPLATES = re.compile(r"""\|date:["']([^"']+)["']""")
DAYS = {"j M Y", "j M Y, H:i", "j M Y, H:i:s"}
NOT_DAYS = {"H:i", "H:i:s", "c"}  # times of today; the machine's form in <time datetime>


def test_every_day_on_a_page_or_in_a_mail_is_written_the_same_way() -> None:
    templates = [*Path(settings.BASE_DIR, "templates").rglob("*.html")]
    templates += Path(settings.BASE_DIR, "templates").rglob("*.txt")
    used = {(form, path.name) for path in templates for form in IN_TEMPLATES.findall(path.read_text())}
    assert sorted((form, name) for form, name in used if form not in DAYS | NOT_DAYS) == []
    assert {form for form, _ in used} & DAYS


@pytest.mark.parametrize("package", ["emma_eval", "results", "scripts_catalog"])
def test_no_code_writes_the_month_out(package: str) -> None:
    found = [path for path in Path(settings.BASE_DIR, package).rglob("*.py") if "%B" in path.read_text()]
    assert found == []
