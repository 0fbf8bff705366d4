"""The OpenAPI document as a page shows it: operations in groups, with what they take and answer, ready to be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote

from django.conf import settings

from .document import document
from .kinds import Kind
from .scopes import WORDS_OF, Scope

REF = "#/components/schemas/"
_MARKED = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")


@dataclass(frozen=True)
class Piece:
    """Some words of a text; `mark` is code, strong or nothing."""

    words: str
    mark: str = ""


@dataclass(frozen=True)
class Shape:
    """What kind of value it is, in words; `link` names the shape that stands on this page under a name of its own."""

    words: str
    link: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """One parameter, header or field."""

    name: str
    shape: Shape
    is_required: bool
    words: list[Piece]


@dataclass(frozen=True)
class Answer:
    """What comes back with one status. `kind` is the error that it is told as, `shape` what else it holds."""

    status: str
    words: list[Piece]
    kind: Kind | None
    shape: Shape | None
    headers: list[Line]


@dataclass(frozen=True)
class Operation:
    """One thing that a program can ask for."""

    id: str
    method: str
    path: str
    summary: str
    paragraphs: list[list[Piece]]
    scope: str
    roles: str
    parameters: dict[str, list[Line]]
    body: Shape | None
    curl: str
    example: str
    answers: list[Answer]

    @property
    def successes(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.kind is None]

    @property
    def refusals(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.kind is not None]


@dataclass(frozen=True)
class Group:
    name: str
    operations: list[Operation] = field(default_factory=list)


@dataclass(frozen=True)
class Named:
    """A shape that several operations speak of."""

    name: str
    words: list[Piece]
    lines: list[Line]


@dataclass(frozen=True)
class Reference:
    title: str
    paragraphs: list[list[Piece]]
    scopes: list[tuple[str, str]]
    groups: list[Group]
    shapes: list[Named]


@cache
def reference() -> Reference:
    """Read off once in a process: the document doesn't change while it runs."""
    written = document()
    groups: dict[str, Group] = {}
    for path, methods in written["paths"].items():
        for method, said in methods.items():
            group = groups.setdefault(said["tags"][0], Group(said["tags"][0]))
            group.operations.append(_operation(path, method, said))
    shapes = written["components"]["schemas"]
    return Reference(
        title=written["info"]["title"],
        paragraphs=_paragraphs(written["info"]["description"]),
        scopes=_scopes(),
        groups=list(groups.values()),
        shapes=[_named(name, shapes[name]) for name in sorted(shapes)],
    )


def _scopes() -> list[tuple[str, str]]:
    return [(scope.value, WORDS_OF[scope]) for scope in Scope]


def _operation(path: str, method: str, said: dict[str, Any]) -> Operation:
    sent = said.get("requestBody", {}).get("content", {}).get("application/json")
    example = _example_of(sent) if sent else None
    return Operation(
        id=said["operationId"],
        method=method.upper(),
        path=path,
        summary=said.get("summary", ""),
        paragraphs=_paragraphs(said.get("description", "")),
        scope=said.get("x-scope", ""),
        roles=", ".join(said.get("x-roles", ())),
        parameters=_parameters(said.get("parameters", [])),
        body=_shape(sent["schema"]) if sent else None,
        curl=_curl(path, method.upper(), said, example),
        example=_answer_example(said),
        answers=[_answer(status, answer) for status, answer in said["responses"].items()],
    )


def _parameters(said: list[dict[str, Any]]) -> dict[str, list[Line]]:
    """By where they stand, in words."""
    places = {"path": "In the path", "query": "In the address", "header": "As headers"}
    found: dict[str, list[Line]] = {}
    for one in said:
        found.setdefault(places[one["in"]], []).append(_line(one["name"], one, one.get("required", False)))
    return found


def _line(name: str, said: dict[str, Any], is_required: bool) -> Line:
    schema = said.get("schema", said)
    words = said.get("description") or schema.get("description", "")
    return Line(name, _shape(schema), is_required, pieces_of(words))


def _answer(status: str, said: dict[str, Any]) -> Answer:
    content = next(iter(said.get("content", {}).values()), None)
    kind = next((kind for kind in Kind if str(kind.value.status) == status), None)
    headers = [_line(name, header, header.get("required", False)) for name, header in said.get("headers", {}).items()]
    shape = _shape(content["schema"]) if content and kind is None else None
    return Answer(status, pieces_of(said["description"]), kind, shape, headers)


def _named(name: str, said: dict[str, Any]) -> Named:
    required = said.get("required", ())
    lines = [_line(key, inner, key in required) for key, inner in said.get("properties", {}).items()]
    return Named(name, pieces_of(said.get("description", "")), lines)


def _shape(schema: dict[str, Any]) -> Shape:
    ref = _ref_in(schema)
    if ref:
        return Shape("one of these or null" if _may_be_null(schema) else "", ref)
    if schema.get("type") == "array":
        inner = _shape(schema["items"])
        return Shape(f"list of {inner.words or 'these'}", inner.link, inner.values)
    return Shape(", ".join(_words_of(schema)), values=tuple(str(value) for value in schema.get("enum", ()) if value))


def _ref_in(schema: dict[str, Any]) -> str:
    """The name of the shape that this refers to, also inside of an allOf or a oneOf."""
    choices = [schema, *schema.get("allOf", ()), *schema.get("oneOf", ())]
    return next((str(one["$ref"]).removeprefix(REF) for one in choices if "$ref" in one), "")


def _may_be_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("oneOf", ())


def _words_of(schema: dict[str, Any]) -> Iterator[str]:
    said = schema.get("type", "any")
    kinds: list[str] = said if isinstance(said, list) else [said]
    format_ = schema.get("format", "")
    named = {"string": "text", "boolean": "true or false", "null": "null", "integer": "whole number"}
    yield " or ".join(named.get(kind, kind) for kind in kinds) + (f" ({format_})" if format_ else "")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None and high < 10_000:
        yield f"{low} to {high}"
    elif low:
        yield f"{low} or more"
    if "maxLength" in schema:
        yield f"at most {schema['maxLength']:,} characters"


# --- examples ----------------------------------------------------------------------------------------


def _example_of(content: dict[str, Any]) -> Any:
    examples = content.get("examples", {})
    return next(iter(examples.values()))["value"] if examples else None


def _answer_example(said: dict[str, Any]) -> str:
    for status in ("200", "201"):
        content = said["responses"].get(status, {}).get("content", {}).get("application/json")
        if content and _example_of(content):
            return json.dumps(_example_of(content), indent=2, ensure_ascii=False)
    return ""


def _curl(path: str, method: str, said: dict[str, Any], example: Any) -> str:
    """The call as somebody would type it, with the examples of the document in it."""
    for one in said.get("parameters", []):
        value = next((example["value"] for example in one.get("examples", {}).values()), None)
        if one["in"] == "path" and value is not None:
            path = path.replace(f"{{{one['name']}}}", quote(str(value), safe=""))
    lines = [f"curl {settings.ORIGIN}{path}", '--header "Authorization: Bearer $EMMA_TOKEN"']
    if method != "GET":
        lines.insert(1, f"--request {method}")
    if example is not None:
        body = json.dumps(example, indent=2, ensure_ascii=False).replace("'", "\\u0027")
        lines += ['--header "Content-Type: application/json"', f"--data '{body}'"]
    return " \\\n  ".join(lines)


# --- words -------------------------------------------------------------------------------------------


def _paragraphs(text: str) -> list[list[Piece]]:
    return [pieces_of(part) for part in text.split("\n\n") if part]


def pieces_of(text: str) -> list[Piece]:
    """A text with its `code` and its **strong** words told apart."""
    found, end = [], 0
    for match in _MARKED.finditer(text):
        found += [Piece(text[end : match.start()]), Piece(match[1] or match[2], "code" if match[1] else "strong")]
        end = match.end()
    return [piece for piece in [*found, Piece(text[end:])] if piece.words]
