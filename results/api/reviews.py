"""Reviews for programs: those of a result, all that may be read, the next one to do, and filing it once."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.body import Body, Faults, Text, not_right, read_body
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.problems import ProblemError
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.view import ProgramRequest, ProgramView, page_of_items

from ..filing.typed import place_name
from ..models import MOST_REASON_CHARACTERS, Hold, Problem, ProblemOrder, Result, Review
from ..review.blind import is_shown_as_reviewed, readable_by, reviews_shown_to
from ..review.compare_tags import compare_tags
from ..review.file_review import CorrectedMeanwhileError, Judged, file_review, tags_of
from ..review.open_to import AllInError, FiledError, HeldError, OwnResultError
from ..review.review_form import CHANGED, RIGHT, ReviewForm
from ..review.take_next import take_next
from .by_number import ForwardPageSerializer, list_parameters, read_place
from .describe import KEY
from .read_filing import Number, Tags
from .results import find_result
from .rows import TAGS, PersonSerializer, ProblemTagSerializer, ResultSerializer, Row, columns_of, instant, tell_rows

OTHER_CONTENT = "You have filed a review of it, with other content."
ALL_IN = "All the reviews that it needs are filed."
HELD = "Somebody else has it in hand."
CORRECTED = "Its tester has corrected it since: read it again, and send its version of now."


class ReviewSerializer(serializers.Serializer[Any]):
    """What a reviewer says of the tags of a result, beside what its tester filed."""

    id = serializers.RegexField(r"^[0-9]{1,19}$")
    result = serializers.RegexField(r"^[0-9]{1,19}$")
    reviewer = PersonSerializer()
    filed_at = serializers.DateTimeField()
    result_version = serializers.IntegerField(min_value=1, help_text="The version of the result that was judged.")
    stands = serializers.BooleanField(help_text="Whether these are the tags that count as reviewed.")
    confirms = serializers.BooleanField(help_text="The tags are right as they were filed.")
    problem_order = serializers.ChoiceField(choices=ProblemOrder.values)
    problems = ProblemTagSerializer(many=True)
    added = serializers.ListField(
        child=serializers.ChoiceField(choices=TAGS), help_text="The tester did not pick them."
    )
    taken_out = serializers.ListField(child=serializers.ChoiceField(choices=TAGS))
    reason = serializers.CharField(allow_blank=True)


class ReviewPageSerializer(ForwardPageSerializer):
    """A page of reviews, those that were begun last first."""

    items = ReviewSerializer(many=True)


class ReviewsOfResultSerializer(serializers.Serializer[Any]):
    """What the owner of the token may read of the reviews of a result."""

    result = serializers.RegexField(r"^[0-9]{1,19}$")
    result_version = serializers.IntegerField(min_value=1, help_text="The one to send with a review.")
    is_reviewed = serializers.BooleanField(help_text="Whether all the reviews that are wanted are in.")
    standing = ReviewSerializer(allow_null=True, help_text="The one whose tags count.")
    mine = ReviewSerializer(allow_null=True)
    others = ReviewSerializer(many=True, help_text="None before all are in.")


class TakenSerializer(serializers.Serializer[Any]):
    """What was taken from the queue."""

    result = ResultSerializer(allow_null=True, help_text="null: nothing waits for the token's owner.")
    until = serializers.DateTimeField(allow_null=True, help_text="Until when nobody else is given it.")


class ReviewBody(Body):
    """A review: the tags as they are right, and why they differ from the tester's."""

    result_version = Number(help_text="The version of the result that you judged.")
    problems = Tags(help_text="Keys of the taxonomy, the biggest first. The same as the tester's: you confirm them.")
    reason = Text(
        required=False,
        help_text=f"A few words whenever the tags differ, at most {MOST_REASON_CHARACTERS:,} characters.",
    )


class ReviewsView(ProgramView):
    needs: ClassVar = {"GET": Scope.REVIEWS_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="list_reviews",
        summary="List reviews",
        description="All that you may read: your own, and those of others once all that were wanted of a result are "
        "in. Managers read those that stand.",
        tags=["Reviews"],
        parameters=list_parameters("review"),
        responses={200: OpenApiResponse(ReviewPageSerializer, "A page of reviews.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        place = read_place(request.query_params)
        found = readable_by(request.user).select_related("reviewer").prefetch_related("problems", _filed_problems())
        shown, following = place.page_of(found)
        return page_of_items(request, [_tell(each, _filed_tags(each)) for each in shown], next=following)


def _filed_problems() -> Prefetch[Any]:
    return Prefetch("result__problems", Problem.objects.order_by("position"))


def _filed_tags(review: Review) -> tuple[str, ...]:
    return tuple(problem.tag for problem in review.result.problems.all())


class NextView(ProgramView):
    needs: ClassVar = {"POST": Scope.REVIEWS_WRITE}

    @extend_schema(
        operation_id="take_next_review",
        summary="Take the next result to review",
        description="What waits the longest for the most pressing reason, held for you. What you have in hand stays in "
        "hand: asked again, it is the same result.",
        tags=["Reviews"],
        request=None,
        responses={200: OpenApiResponse(TakenSerializer, "What you have in hand now.")},
    )
    def post(self, request: ProgramRequest) -> Response:
        user, now = request.user, timezone.now()
        result = take_next(user, now)
        if result is None:
            return Response({"result": None, "until": None})
        hold = Hold.objects.filter(result=result, reviewer=user).first()
        rows = tell_rows(user, list(columns_of(Result.objects.filter(pk=result.pk))))
        return Response({"result": rows[0], "until": hold and instant(hold.until)})


class ReviewView(ProgramView):
    needs: ClassVar = {"GET": Scope.REVIEWS_READ, "PUT": Scope.REVIEWS_WRITE}
    answers: ClassVar = {"PUT": [Kind.CONFLICT, Kind.CHANGED_MEANWHILE]}

    @extend_schema(
        operation_id="read_review",
        summary="Read the reviews of a result",
        description="The one that stands, your own, and those of others once all are in.",
        tags=["Reviews"],
        parameters=[KEY],
        responses={200: OpenApiResponse(ReviewsOfResultSerializer, "The reviews.")},
    )
    def get(self, request: ProgramRequest, key: str) -> Response:
        return Response(_row(request.user, find_result(request.user, key)))

    @extend_schema(
        operation_id="file_review",
        summary="File your review of a result",
        description="Whether or not you have it in hand, unless somebody else has. The tester's own tags stay as they "
        "are. The same content again is the same review (200); other content changes nothing (409).",
        tags=["Reviews"],
        parameters=[KEY],
        request=ReviewBody,
        examples=[
            OpenApiExample(
                "One problem taken out",
                value={"result_version": 1, "problems": ["cut_in"], "reason": "She spoke at her usual speed."},
                request_only=True,
            )
        ],
        responses={
            200: OpenApiResponse(ReviewsOfResultSerializer, "It is filed so already."),
            201: OpenApiResponse(ReviewsOfResultSerializer, "It is filed now."),
        },
    )
    def put(self, request: ProgramRequest, key: str) -> Response:
        user = request.user
        result = find_result(user, key)
        status = _file(user, result, read_body(ReviewBody(), request), timezone.now())
        return Response(_row(user, find_result(user, str(result.pk))), status)


def _file(user: User, result: Result, said: Row, now: datetime) -> int:
    """The status of the answer. What was filed before is judged by what stands there, whatever is wrong with it now."""
    mine = result.reviews.filed().filter(reviewer=user).first()
    form = _judged(user, result, said)
    if mine is not None:
        return _again(mine, form)
    if form.errors:
        raise not_right(_faults_of(form))
    try:
        file_review(user, result.pk, form.says, based_on=said["result_version"], now=now)
    except FiledError as filed:
        return _again(filed.review, form)
    except CorrectedMeanwhileError as corrected:
        raise ProblemError(Kind.CHANGED_MEANWHILE, CORRECTED) from corrected
    except OwnResultError as own:
        raise PermissionDenied from own
    except (AllInError, HeldError) as closed:
        detail = HELD if isinstance(closed, HeldError) else ALL_IN
        raise ProblemError(Kind.CONFLICT, detail, result=str(result.pk)) from closed
    return 201


def _judged(user: User, result: Result, said: Row) -> ReviewForm:
    """By the form of the page, as if somebody had typed it: what is the same as the tester's confirms it."""
    filed, tags = tags_of(result), said["problems"]
    typed = {place_name(tag): str(place) for place, tag in enumerate(dict.fromkeys(tags), 1)}
    judged = RIGHT if compare_tags(filed, tags).is_same else CHANGED
    no_problem = {} if tags else {"no_problem": "on"}  # a program names its list, so an empty one is meant
    typed |= {"judged": judged, "reason": said.get("reason", ""), **no_problem}
    form = ReviewForm(typed, filed=filed, reviewer=user.pk)
    form.full_clean()
    if len(set(tags)) < len(tags):
        form.add_error("problems", "Name each problem once.")
    return form


def _faults_of(form: ReviewForm) -> Faults:
    places = {"reason": "/reason"}
    return {places.get(name, "/problems"): [str(words) for words in errors] for name, errors in form.errors.items()}


def _again(mine: Review, form: ReviewForm) -> int:
    tags = mine.problems.order_by("position").values_list("tag", flat=True)
    if form.errors or form.says != Judged(tuple(tags), mine.reason):
        raise ProblemError(Kind.CONFLICT, OTHER_CONTENT, result=str(mine.result_id))
    return 200


def _row(user: User, result: Result) -> Row:
    filed = tags_of(result)
    shown = [(review, _tell(review, filed)) for review in reviews_shown_to(user, result)]
    return {
        "result": str(result.pk),
        "result_version": result.version,
        "is_reviewed": is_shown_as_reviewed(user, result),
        "standing": next((row for review, row in shown if review.stands), None),
        "mine": next((row for review, row in shown if review.reviewer_id == user.pk), None),
        "others": [row for review, row in shown if not review.stands and review.reviewer_id != user.pk],
    }


def _tell(review: Review, filed: tuple[str, ...]) -> Row:
    problems = sorted(review.problems.all(), key=lambda problem: problem.position)
    found = compare_tags(filed, [problem.tag for problem in problems])
    assert review.filed_at is not None  # noqa: S101  (for the type checker)
    return {
        "id": str(review.pk),
        "result": str(review.result_id),
        "reviewer": {"id": review.reviewer_id, "name": str(review.reviewer)},
        "filed_at": instant(review.filed_at),
        "result_version": review.result_version,
        "stands": review.stands,
        "confirms": review.confirms,
        "problem_order": review.problem_order,
        "problems": [{"tag": each.tag, "label": each.label, "place": each.rank} for each in problems],
        "added": list(found.added),
        "taken_out": list(found.taken_out),
        "reason": review.reason,
    }


urlpatterns = [
    path("reviews/", ReviewsView.as_view(), name="api_reviews"),
    path("reviews/next/", NextView.as_view(), name="api_review_next"),
    path("results/<str:key>/review/", ReviewView.as_view(), name="api_result_review"),
]
