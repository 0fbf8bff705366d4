"""What programs send: one JSON object, whose values are of the kind that the document says, and nothing besides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import IO, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.request import Request

from .kinds import Kind
from .problems import ProblemError

MOST_BYTES = 200_000
MOST_FAULTS = 50  # that are told at once: who sent more mistakes than that made one of them over and over
MOST_OF_A_PLACE = 300
Faults = dict[str, list[str]]


class BoundedJSON(JSONParser):
    """JSON of a bounded size, of which every text can be stored and said again."""

    def parse(self, stream: IO[Any], media_type: Any = None, parser_context: Any = None) -> Any:
        length = parser_context["request"].META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length) > MOST_BYTES:
            raise ProblemError(Kind.TOO_LARGE)
        try:
            found = json.loads(stream.read().decode(), object_pairs_hook=_each_once, parse_constant=_not_json)
            json.dumps(found, ensure_ascii=False).encode()
        except (RecursionError, ValueError) as cause:  # too deep to be read; half a character; no JSON
            raise ParseError from cause
        return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """What is said twice is read differently by different readers, so it is not read at all."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name twice in one object")
    return found


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


class Text(serializers.Field[str, str, str, Any]):
    """Text as it was sent; a number or a truth value is none. What may stand in it, the rules say."""

    default_error_messages = {"invalid": "Send text.", "null": "Send text, or leave it out."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(data)

    def to_representation(self, value: str) -> str:
        return value


class Truth(serializers.Field[bool, bool, bool, Any]):
    """true or false, and nothing that only stands for one of them."""

    default_error_messages = {"invalid": "Send true or false.", "null": "Send true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return bool(data)

    def to_representation(self, value: bool) -> bool:
        return value


extend_schema_field(OpenApiTypes.STR)(Text)
extend_schema_field(OpenApiTypes.BOOL)(Truth)


class Body(serializers.Serializer[Any]):
    """The object that an endpoint reads. Names that it doesn't know are faults: most are slips of the pen."""

    def read(self, data: Any) -> tuple[dict[str, Any], Faults]:
        """Every field that could be read, and what is wrong with the others, by their JSON pointers."""
        if not isinstance(data, Mapping):
            return {}, {"": ["Send a JSON object."]}
        unknown = islice((name for name in data if name not in self.fields), MOST_FAULTS + 1)
        said, faults = {}, {pointer(name): ["There is no such field."] for name in unknown}
        for name, field in self.fields.items():
            sent = data.get(name, serializers.empty)
            try:
                said[name] = self._read_field(name, field, sent, faults)
            except serializers.SkipField:
                continue
            except serializers.ValidationError as error:
                faults[pointer(name)] = _sentences(error.detail)
        return said, faults

    def _read_field(self, name: str, field: Any, sent: Any, faults: Faults) -> Any:
        """One value. The faults of an object within the object are told by their places in the whole."""
        if not (isinstance(field, Body) and isinstance(sent, Mapping)):
            return field.run_validation(sent)
        said, inner = field.read(sent)
        faults.update({pointer(name) + place: words for place, words in inner.items()})
        return said


def pointer(*names: str) -> str:
    """The place of something in a JSON body (RFC 6901)."""
    return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names)


def _sentences(detail: Any) -> list[str]:
    found = [str(words) for words in detail] if isinstance(detail, list) else [str(detail)]
    return ["It is missing." if words == "This field is required." else words for words in found]


def read_body(body: Body, request: Request) -> dict[str, Any]:
    """What was sent, or every fault of it at once."""
    said, faults = body.read(request.data)
    if faults:
        raise not_right(faults)
    return said


def not_right(faults: Faults, *, at: str = "pointer") -> ProblemError:
    """The faults with their places: `at` a JSON pointer into the body, or a parameter of the address. Of many, the
    first are told, and that there are more."""
    found = (
        {at: place[:MOST_OF_A_PLACE], "detail": words} for place, sentences in faults.items() for words in sentences
    )
    errors = list(islice(found, MOST_FAULTS + 1))
    if len(errors) > MOST_FAULTS:
        errors[MOST_FAULTS] = {at: "", "detail": f"These are the first {MOST_FAULTS} faults; there are more."}
    return ProblemError(Kind.NOT_RIGHT, errors=errors)
