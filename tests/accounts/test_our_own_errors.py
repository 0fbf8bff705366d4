"""What is wrong with a form is said by us, beside the field and in our words, not by the browser's bubble."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests.conftest import OpenPage

FORM = re.compile(r"<form\b(?P<attributes>[^>]*)>(?P<body>.*?)</form>", re.DOTALL)
# What a browser would have an opinion on before anything is sent.
CHECKED_BY_BROWSERS = re.compile(
    r"components/field\.html|accounts/checks\.html|required|type=\"(email|url|number|date)"
)


def forms_of(path: Path) -> list[str]:
    """The opening tags of the forms that a browser would check by itself."""
    text = path.read_text()
    return [found["attributes"] for found in FORM.finditer(text) if CHECKED_BY_BROWSERS.search(found["body"])]


TEMPLATES = sorted(path for path in Path(settings.BASE_DIR, "templates").rglob("*.html") if forms_of(path))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_form_leaves_its_errors_to_the_browser(path: Path) -> None:
    assert [attributes for attributes in forms_of(path) if "novalidate" not in attributes] == []


def test_the_forms_are_found() -> None:
    assert len(TEMPLATES) > 15


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "field"),
    [("/account/login/", "login"), ("/account/password/reset/", "email")],
)
def test_an_address_that_is_none_is_said_so_in_our_words(client: Client, path: str, field: str) -> None:
    answer = client.post(path, {field: "notmail", "password": "anything"})
    assert answer.status_code == 422
    assert answer.text.count("Enter an e-mail address such as name@example.org.") == 2
    assert 'value="notmail"' in answer.text


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_browser_sends_what_is_wrong_and_shows_our_answer(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/account/login/")
    page.get_by_label("E-mail address").fill("notmail")
    page.get_by_role("button", name="Sign in").click()
    alert = page.get_by_role("alert")
    assert "such as name@example.org" in alert.inner_text()
    assert "Enter your password." in alert.inner_text()
