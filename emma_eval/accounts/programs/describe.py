"""What every operation of the document has in common: its scope, its errors, the token that opens it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework import serializers

from .kinds import Kind, problem_of
from .problems import MEDIA_TYPE
from .scopes import ROLES_OF, WORDS_OF, Scope

OF_ALL = (Kind.NOT_UNDERSTOOD, Kind.NO_TOKEN, Kind.NOT_ACCEPTABLE, Kind.TOO_MANY)
OF_BODIES = (Kind.TOO_LARGE, Kind.NOT_JSON, Kind.NOT_RIGHT)
HEADERS_OF = {
    Kind.NO_TOKEN: ("WWW-Authenticate", "What opens this, and why it did not.", 'Bearer realm="Emma Eval"'),
    Kind.TOO_MANY: ("Retry-After", "In how many seconds the next request is free.", "17"),
}


class FaultSerializer(serializers.Serializer[Any]):
    """One thing that is not right, and where it stands."""

    pointer = serializers.CharField(required=False, help_text="Where in the body, as a JSON pointer.")
    parameter = serializers.CharField(required=False, help_text="Or which parameter of the address.")
    detail = serializers.CharField(help_text="What is wrong with it and what to do, in words.")


class ProblemSerializer(serializers.Serializer[Any]):
    """An error (RFC 9457). `type` tells kinds apart and leads to what is said of them."""

    type = serializers.ChoiceField(choices=[kind.type for kind in Kind])
    title = serializers.CharField()
    status = serializers.IntegerField(min_value=400, max_value=599)
    detail = serializers.CharField()
    # A serializer has errors of its own, too.
    errors = FaultSerializer(  # type: ignore[assignment]
        many=True, required=False, help_text="Every fault of a request that is not right."
    )
    scope = serializers.ChoiceField(
        choices=[scope.value for scope in Scope], required=False, help_text="What is missing to be allowed."
    )
    result = serializers.CharField(required=False, help_text="The result that stands there already.")
    name = serializers.CharField(required=False, help_text="The build that stands there already.")
    round = serializers.CharField(required=False, help_text="The round that stands there already.")


class ProgramSchema(AutoSchema):
    """drf-spectacular's, with the errors that any operation can answer, and scopes instead of cookies."""

    def get_description(self) -> str:  # type: ignore[override]
        """Only what an operation says of itself: the docstring of its view is for those who read the code."""
        return ""

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        """Here, since what `extend_schema` is told of answers takes the place of the methods that are meant for it."""
        said = super()._get_response_bodies(direction)
        for kind in self._kinds():
            status = str(kind.value.status)
            answer = self._get_response_for_code(_response(kind), status, [MEDIA_TYPE], direction)  # type: ignore[no-untyped-call]
            said.setdefault(status, answer)
        return dict(sorted(said.items()))

    def _get_response_headers_for_code(self, status_code: Any, direction: Any = "response") -> Any:
        said = super()._get_response_headers_for_code(status_code, direction)
        for kind, (name, words, example) in HEADERS_OF.items():
            if str(kind.value.status) == str(status_code):
                schema = {"type": "string", "examples": [example]}
                said[name] = {"description": words, "required": True, "schema": schema}
        return said

    def _kinds(self) -> list[Kind]:
        found = [*OF_ALL, *getattr(self.view, "answers", {}).get(self.method, ())]
        if self.scope is not None:
            found.append(Kind.NOT_ALLOWED)
        if self.method in {"PUT", "POST", "PATCH"}:
            found += OF_BODIES
        if "{" in self.path:
            found.append(Kind.NOT_FOUND)
        return found

    @property
    def scope(self) -> Scope | None:
        needs: dict[str, Scope] = getattr(self.view, "needs", {})
        return needs.get(self.method)

    def get_extensions(self) -> dict[str, Any]:
        scope = self.scope
        said = {"x-scope": scope.value, "x-roles": sorted(ROLES_OF[scope])} if scope else {}
        return {**super().get_extensions(), **said}


def _response(kind: Kind) -> OpenApiResponse:
    example = OpenApiExample(kind.value.title, value=problem_of(kind), media_type=MEDIA_TYPE)
    return OpenApiResponse(ProblemSerializer, f"{kind.value.title}. {kind.value.words}", examples=[example])


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Registered by being there: drf-spectacular finds it by the class that it is about."""

    target_class = "emma_eval.accounts.programs.authenticate.Bearer"
    name = "token"

    def get_security_requirement(self, auto_schema: Any) -> dict[str, list[str]]:
        return {self.name: [auto_schema.scope.value] if auto_schema.scope else []}

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        scopes = "\n".join(f"- `{scope.value}`: {WORDS_OF[scope]}" for scope in Scope)
        return {
            "type": "http",
            "scheme": "bearer",
            "description": f"A token that a member makes on the page Programs, for these scopes:\n\n{scopes}",
        }


def closed(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: what is sent has no other fields than those that are named."""
    for name, schema in result.get("components", {}).get("schemas", {}).items():
        if name.endswith("Request") and schema.get("type") == "object":
            schema["additionalProperties"] = False
    return result
