"""What every operation of the document has in common: its scope, its errors, the token that opens it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
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


class ProgramSchema(AutoSchema):
    """drf-spectacular's, with the errors that any operation can answer, and scopes instead of cookies."""

    def get_response_serializers(self) -> Any:
        said: dict[Any, Any] = dict(super().get_response_serializers())  # type: ignore[arg-type]
        kinds = {kind.value.status: kind for kind in self._kinds()}
        listed = {code for code in said if isinstance(code, int)}
        problems = {(status, MEDIA_TYPE): _response(kind) for status, kind in kinds.items() if status not in listed}
        return dict(sorted({**said, **problems}.items(), key=lambda pair: _code(pair[0])))

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

    def get_override_parameters(self) -> Any:
        headers = [
            OpenApiParameter(
                *(name, str, OpenApiParameter.HEADER),
                required=True,
                description=words,
                response=[kind.value.status],
                examples=[OpenApiExample(name, value=example)],
            )
            for kind, (name, words, example) in HEADERS_OF.items()
        ]
        return [*super().get_override_parameters(), *headers]

    def get_extensions(self) -> dict[str, Any]:
        scope = self.scope
        said = {"x-scope": scope.value, "x-roles": sorted(ROLES_OF[scope])} if scope else {}
        return {**super().get_extensions(), **said}


def _code(key: Any) -> int:
    return int(key[0] if isinstance(key, tuple) else key)


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
