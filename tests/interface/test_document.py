"""The document of the interface, and the page that is made of it."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import resolve

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.document import document
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.problems import MEDIA_TYPE
from emma_eval.accounts.programs.scopes import ROLES_OF, WORDS_OF, Scope
from emma_eval.api import urlpatterns as rooms
from tests import make
from tests.security.endpoints import ENDPOINTS

OPERATIONS = [(path, method, said) for path, methods in document()["paths"].items() for method, said in methods.items()]
EVERY = pytest.mark.parametrize(
    ("path", "method", "said"), OPERATIONS, ids=[said["operationId"] for *_, said in OPERATIONS]
)


def test_drf_spectacular_warns_of_nothing_and_the_document_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "document.json"
    call_command("spectacular", "--fail-on-warn", "--validate", "--format", "openapi-json", "--file", str(file))
    assert json.loads(file.read_text(encoding="utf-8")) == document()


def test_everybody_may_read_it_and_it_is_asked_for_once(client: Client, db: None) -> None:
    answer = client.get("/api/schema/")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert answer.json() == document()
    assert answer.json()["openapi"] == "3.1.0"
    again = client.get("/api/schema/", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.post("/api/schema/").status_code == 405


def test_it_names_every_endpoint_there_is() -> None:
    assert len(rooms) >= 3
    assert len({path for path, _, _ in OPERATIONS}) == len(ENDPOINTS)
    methods = sum(len(endpoint.methods - {"head"}) for endpoint in ENDPOINTS.values())
    assert len(OPERATIONS) == methods


@EVERY
def test_an_operation_is_told_whole(path: str, method: str, said: dict[str, Any]) -> None:
    assert said["summary"]
    assert said["tags"]
    refusals = {code for code in said["responses"] if code >= "400"}
    expected = {"400", "401", "406", "429"}
    if "x-scope" in said:
        expected.add("403")
    if "{" in path:
        expected.add("404")
    if method == "put":
        expected |= {"413", "415", "422"}
    assert refusals >= expected
    for code in refusals:
        (media,) = said["responses"][code]["content"].items()
        assert media[0] == MEDIA_TYPE
        assert media[1]["examples"]
    for code in {"200", "201"} & set(said["responses"]):
        assert "application/json" in said["responses"][code]["content"]


@EVERY
def test_what_is_sent_and_what_stands_in_a_path_has_an_example(path: str, method: str, said: dict[str, Any]) -> None:
    if "requestBody" in said:
        assert said["requestBody"]["content"]["application/json"]["examples"]
        assert list(said["requestBody"]["content"]) == ["application/json"]
    for parameter in said.get("parameters", ()):
        assert parameter["description"]
        assert parameter["in"] != "path" or parameter["examples"]


@EVERY
def test_a_scope_is_said_as_it_is_asked_for(path: str, method: str, said: dict[str, Any]) -> None:
    (needed,) = said["security"]
    assert needed == {"token": [said["x-scope"]] if "x-scope" in said else []}
    if "x-scope" in said:
        assert said["x-roles"] == sorted(ROLES_OF[Scope(said["x-scope"])])


@EVERY
def test_no_words_for_those_who_read_the_code_are_in_it(path: str, method: str, said: dict[str, Any]) -> None:
    view = resolve(re.sub(r"{\w+}", "1", path)).func.cls
    docstrings = [cls.__doc__.strip() for cls in view.__mro__ if cls.__doc__]
    assert not [words for words in docstrings if words[:40] in said.get("description", "")]


def test_every_scope_opens_something() -> None:
    assert {said.get("x-scope") for *_, said in OPERATIONS} - {None} == {scope.value for scope in Scope}
    assert set(ROLES_OF) == set(WORDS_OF) == set(Scope)


def test_nothing_else_may_be_sent_than_what_is_named() -> None:
    shapes = document()["components"]["schemas"]
    sent = {name: shape for name, shape in shapes.items() if name.endswith("Request")}
    assert sent
    assert all(shape["additionalProperties"] is False for shape in sent.values())


def test_it_says_nothing_of_this_site_but_its_address() -> None:
    text = json.dumps(document())
    assert document()["servers"] == [{"url": settings.ORIGIN}]
    assert str(settings.BASE_DIR) not in text
    assert "demo.example" not in text


# --- the page ----------------------------------------------------------------------------------------


@pytest.fixture
def page(tester: User) -> str:
    return unescape(make.client_of(tester).get("/api/").text)


def test_it_shows_every_operation_with_a_call_to_copy(page: str) -> None:
    for path, method, said in OPERATIONS:
        assert f'id="{said["operationId"]}"' in page
        assert f"<code>{path}</code>" in page
        assert said["summary"] in page
        assert method.upper() in page
    assert page.count("curl ") == len(OPERATIONS)
    assert "$EMMA_TOKEN" in page


def test_it_shows_every_parameter_field_scope_and_error(page: str) -> None:
    names = {parameter["name"] for *_, said in OPERATIONS for parameter in said.get("parameters", ())}
    fields = {name for shape in document()["components"]["schemas"].values() for name in shape.get("properties", ())}
    words = {*(f"<code>{name}</code>" for name in names | fields), *(scope.value for scope in Scope)}
    assert [word for word in sorted(words) if word not in page] == []
    assert [kind for kind in Kind if kind.value.title not in page] == []
    assert f"{settings.API_REQUESTS_A_MINUTE} requests a minute" in page


def test_each_operation_lists_its_refusals(page: str) -> None:
    for _, _, said in OPERATIONS:
        article = page[page.index(f'aria-labelledby="{said["operationId"]}"') :].split("</article>", maxsplit=1)[0]
        listed = set(re.findall(r'<a href="#[\w-]+">(4\d\d)</a>', article))
        assert listed == {code for code in said["responses"] if code >= "400"}


def test_code_in_words_is_marked_up(page: str) -> None:
    assert "<code>Authorization: Bearer emma_…</code>. Who made it" in page
    assert "`" not in page


def test_its_links_lead_somewhere(page: str) -> None:
    anchors = set(re.findall(r'id="([\w-]+)"', page))
    assert {link for link in re.findall(r'href="#([\w-]+)"', page) if link not in anchors} == set()


def test_it_holds_no_script_and_no_style(page: str) -> None:
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page)


def test_strangers_sign_in_first(client: Client, db: None) -> None:
    assert client.get("/api/").status_code == 302
