"""What a program may ask of the token that it holds."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from .programs.scopes import Scope
from .programs.view import ProgramRequest, ProgramView
from .role import Role


class OwnerSerializer(serializers.Serializer[Any]):
    """In whose name the program acts, with the rights of this moment."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    roles = serializers.ListField(child=serializers.ChoiceField(choices=[role.value for role in Role]))
    is_trained = serializers.BooleanField(help_text="Whether Safety is open to the owner today.")


class TokenSerializer(serializers.Serializer[Any]):
    """The token that was sent."""

    name = serializers.CharField()
    begins_with = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=[scope.value for scope in Scope]))
    expires_at = serializers.DateTimeField()
    owner = OwnerSerializer()


class TokenView(ProgramView):
    @extend_schema(
        operation_id="read_token",
        summary="Read the token in use",
        description="A good first call: it says in whose name you act, and what the token opens.",
        tags=["Token"],
        responses={200: OpenApiResponse(TokenSerializer, "The token.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        token, owner = request.auth, request.user
        said = {
            "id": owner.pk,
            "name": str(owner),
            "roles": [role.value for role in Role if role in owner.roles],
            "is_trained": owner.is_trained,
        }
        return Response(
            {
                "name": token.name,
                "begins_with": token.begins_with,
                "scopes": token.scopes,
                "expires_at": token.expires_at,
                "owner": said,
            }
        )


urlpatterns = [path("token/", TokenView.as_view(), name="api_token")]
