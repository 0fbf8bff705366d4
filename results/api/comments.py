"""Comments for programs: what was said about a result, saying something, taking one's own words back."""

from __future__ import annotations

from typing import Any, ClassVar

from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from emma_eval.accounts import throttle
from emma_eval.accounts.models import User
from emma_eval.accounts.programs.body import Body, Text, not_right, read_body
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.problems import TooManyRequestsError
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.view import ProgramRequest, ProgramView, page_of_items

from ..comments.comment_form import MOST_CHARACTERS, CommentForm
from ..comments.comment_on import SAID_BY_ONE, comment_once, withdraw_comment
from ..comments.withhold import is_told_so, shown_to
from ..filing.typed import number_in
from ..models import Comment, Result
from .by_number import ForwardPageSerializer, list_parameters, read_place
from .describe import KEY, number_of
from .results import find_result
from .rows import PersonSerializer, Row, instant


class CommentSerializer(serializers.Serializer[Any]):
    """Something that was said about a result."""

    id = serializers.RegexField(r"^[0-9]{1,19}$")
    result = serializers.RegexField(r"^[0-9]{1,19}$")
    by = PersonSerializer()
    at = serializers.DateTimeField()
    text = serializers.CharField(allow_blank=True, help_text="Plain text with line ends; empty once it is withdrawn.")
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class CommentPageSerializer(ForwardPageSerializer):
    """A page of comments, the newest first."""

    items = CommentSerializer(many=True)
    some_may_be_withheld = serializers.BooleanField(
        help_text="You have a review of this result under way, so what may tell of others' reviews is kept from you."
    )


class CommentBody(Body):
    """What is to be said."""

    text = Text(help_text=f"At most {MOST_CHARACTERS:,} characters. Whoever may see the result reads it.")


class CommentsView(ProgramView):
    needs: ClassVar = {"GET": Scope.COMMENTS_READ, "POST": Scope.COMMENTS_WRITE}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="list_comments",
        summary="List the comments on a result",
        description="As its page shows them to you, the newest first. Reading them here marks none as read there.",
        tags=["Comments"],
        parameters=[KEY, *list_parameters("comment")],
        responses={200: OpenApiResponse(CommentPageSerializer, "A page of comments.")},
    )
    def get(self, request: ProgramRequest, key: str) -> Response:
        user = request.user
        result = find_result(user, key)
        shown, following = read_place(request.query_params).page_of(shown_to(user, result))
        answer = page_of_items(request, [_tell(each) for each in shown], next=following)
        answer.data["some_may_be_withheld"] = is_told_so(user, result)
        return answer

    @extend_schema(
        operation_id="add_comment",
        summary="Comment on a result",
        description="In your name. Its tester, and whoever said something there before, is told on the site. The same "
        "words within two minutes are the same comment (200), so ask again as long as you have no answer.",
        tags=["Comments"],
        parameters=[KEY],
        request=CommentBody,
        examples=[OpenApiExample("A question", value={"text": "Which button was it?"}, request_only=True)],
        responses={
            200: OpenApiResponse(CommentSerializer, "You said so just now."),
            201: OpenApiResponse(CommentSerializer, "It is said now."),
        },
    )
    def post(self, request: ProgramRequest, key: str) -> Response:
        user = request.user
        result = find_result(user, key)
        text = _read_text(read_body(CommentBody(), request))
        _count(user)
        said, is_new = comment_once(user, result, text)
        return Response(_tell(said), 201 if is_new else 200)


def _read_text(said: Row) -> str:
    """Judged by the form of the page."""
    form = CommentForm(said)
    if not form.is_valid():
        raise not_right({"/text": [str(words) for words in form.errors["text"]]})
    return str(form.cleaned_data["text"])


def _count(user: User) -> None:
    """Pages and programs together; beside the limit of the token, since each comment is told to people."""
    try:
        throttle.spend(SAID_BY_ONE, str(user.pk))
    except throttle.TooManyError as refused:
        raise TooManyRequestsError((refused.retry_at - timezone.now()).total_seconds()) from refused


class CommentView(ProgramView):
    needs: ClassVar = {"DELETE": Scope.COMMENTS_WRITE}

    @extend_schema(
        operation_id="withdraw_comment",
        summary="Withdraw your own comment",
        description="Its words are gone, its place stays. Another's comment is not there for this, nor is one that is "
        "withdrawn.",
        tags=["Comments"],
        parameters=[number_of("comment")],
        responses={200: OpenApiResponse(CommentSerializer, "The comment without its words.")},
    )
    def delete(self, request: ProgramRequest, key: str) -> Response:
        user = request.user
        own = Comment.objects.filter(by=user, withdrawn_at=None, result__in=Result.objects.visible_to(user))
        said = get_object_or_404(own.select_related("by", "result__script"), pk=number_in(key))
        withdraw_comment(user, said)
        said.refresh_from_db(fields=["text", "withdrawn_at"])
        return Response(_tell(said))


def _tell(said: Comment) -> Row:
    return {
        "id": str(said.pk),
        "result": str(said.result_id),
        "by": {"id": said.by_id, "name": str(said.by)},
        "at": instant(said.at),
        "text": said.text,
        "withdrawn_at": said.withdrawn_at and instant(said.withdrawn_at),
    }


urlpatterns = [
    path("results/<str:key>/comments/", CommentsView.as_view(), name="api_comments"),
    path("comments/<str:key>/", CommentView.as_view(), name="api_comment"),
]
