"""Rounds for programs: what is wanted and what was run, planning one once, closing it and opening it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.http import Http404
from django.urls import path, reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.body import Body, Text, not_right, pointer, read_body
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.problems import ProblemError
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.view import ProgramRequest, ProgramView, page_of_items

from ..filing.typed import number_in
from ..models import Round, RoundQuerySet
from ..rounds.plan_once import PlannedOtherwiseError, plan_once, planned_under
from ..rounds.plan_round import close_round, reopen_round
from ..rounds.progress import Line, Progress, progress_of
from ..rounds.round_form import MOST_RUNS, RoundForm, field_of
from .by_number import (
    CLOSE_IT,
    ForwardPageSerializer,
    StateBody,
    asks_for_closed,
    faults_of_state,
    list_parameters,
    read_place,
    state_parameter,
)
from .describe import A_UUID, HEADER, KEY_IS
from .read_filing import build_called, uuid_in
from .rows import PersonSerializer, Row, instant

KEY = OpenApiParameter(
    *("key", {"type": "string", "pattern": KEY_IS}, OpenApiParameter.PATH),
    description="The number of a round, or the UUID under which the token's owner planned it.",
    examples=[OpenApiExample("A UUID", value=A_UUID)],
)
LOCATION = OpenApiParameter(
    *("Location", OpenApiTypes.URI_REF, HEADER), response=[200, 201], description="Where the round stands."
)
A_ROUND = OpenApiExample(
    "Two scripts before a release",
    value={
        "name": "Before the release",
        "build": "2026.43",
        "note": "With headphones, please.",
        "wanted": {"bad-news-day": 3},
    },
    request_only=True,
)


class Wants(serializers.Field[dict[str, int], dict[str, int], dict[str, int], Any]):
    """By the slug of a script, a number of runs; what is right of them, the form says."""

    default_error_messages = {"invalid": "Send an object of slugs, each with a whole number of runs."}

    def to_internal_value(self, data: Any) -> dict[str, int]:
        if not isinstance(data, Mapping) or not all(type(runs) is int for runs in data.values()):
            self.fail("invalid")
        return dict(data)


_RUNS = {"type": "integer", "minimum": 1, "maximum": MOST_RUNS}
extend_schema_field({"type": "object", "minProperties": 1, "additionalProperties": _RUNS})(Wants)


class RoundBody(Body):
    """What a round asks for."""

    name = Text(help_text="Such as “Before the release”, at most 80 characters. Testers read it.")
    build = Text(help_text="The name of the build that is to be run. All runs on it count.")
    due_on = Text(required=False, allow_null=True, help_text="A day, such as 2026-11-06; null, or left out, for none.")
    note = Text(required=False, help_text="At most 500 characters. Every tester reads it, so name no Safety script.")
    wanted = Wants(help_text=f"How many runs of each script, 1 to {MOST_RUNS}, by its slug.")


class WantedSerializer(serializers.Serializer[Any]):
    """One script of a round: what is wanted and what was run on the build."""

    script = serializers.SlugField()
    title = serializers.CharField()
    wanted = serializers.IntegerField(min_value=1)
    runs = serializers.IntegerField(min_value=0)
    people = serializers.IntegerField(min_value=0, help_text="How many ran it.")
    missing = serializers.IntegerField(min_value=0)
    last_called_at = serializers.DateTimeField(allow_null=True)


class RoundSerializer(serializers.Serializer[Any]):
    """A round, of the scripts that the token's owner may know of."""

    id = serializers.RegexField(r"^[0-9]{1,19}$")
    url = serializers.URLField(help_text="Its page, for people.")
    name = serializers.CharField()
    build = serializers.CharField()
    due_on = serializers.DateField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    planned_by = PersonSerializer()
    planned_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True, help_text="null: it is open.")
    is_overdue = serializers.BooleanField()
    wanted = serializers.IntegerField(min_value=0)
    missing = serializers.IntegerField(min_value=0, help_text="Runs; more of one script makes up for none of another.")
    scripts = WantedSerializer(many=True)


class RoundPageSerializer(ForwardPageSerializer):
    """A page of rounds, the newest first."""

    items = RoundSerializer(many=True)


class RoundsView(ProgramView):
    needs: ClassVar = {"GET": Scope.ROUNDS_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="list_rounds",
        summary="List rounds",
        description="The newest first, with what is wanted and what was run: those that are open, unless you ask for "
        "the closed ones.",
        tags=["Rounds"],
        parameters=[state_parameter(), *list_parameters("round")],
        responses={200: OpenApiResponse(RoundPageSerializer, "A page of rounds.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        params = request.query_params
        place = read_place(params, "state", faults=faults_of_state(params))
        rounds = _known(request.user).filter(closed_at__isnull=not asks_for_closed(params))
        shown, following = place.page_of(rounds)
        return page_of_items(request, [_tell(each) for each in progress_of(request.user, shown)], next=following)


class RoundView(ProgramView):
    needs: ClassVar = {"GET": Scope.ROUNDS_READ, "PUT": Scope.ROUNDS_WRITE}
    answers: ClassVar = {"PUT": [Kind.CONFLICT]}

    @extend_schema(
        operation_id="read_round",
        summary="Read a round",
        tags=["Rounds"],
        parameters=[KEY],
        responses={200: OpenApiResponse(RoundSerializer, "The round.")},
    )
    def get(self, request: ProgramRequest, key: str) -> Response:
        return Response(_row(request.user, _find(request.user, key)))

    @extend_schema(
        operation_id="plan_round",
        summary="Plan a round",
        description="Under a UUID that you make. Send it as often as you like: the same content again is the same "
        "round (200); other content changes nothing (409). Rounds are changed on their pages.",
        tags=["Rounds"],
        parameters=[KEY, LOCATION],
        request=RoundBody,
        examples=[A_ROUND],
        responses={
            200: OpenApiResponse(RoundSerializer, "It is planned so already."),
            201: OpenApiResponse(RoundSerializer, "It is planned now."),
        },
    )
    def put(self, request: ProgramRequest, key: str) -> Response:
        user, uuid = request.user, uuid_in(key)
        if uuid is None:
            raise _otherwise(_find(user, key), "A round is planned under a UUID, and changed on its page.")
        try:
            made, is_new = plan_once(user, uuid, _read_plan(user, uuid, request.data).plan())
        except PlannedOtherwiseError as otherwise:
            raise _otherwise(_seen(user, otherwise.round)) from otherwise
        answer = Response(_row(user, _seen(user, made)), 201 if is_new else 200)
        answer["Location"] = reverse("api_round", args=[made.pk])
        return answer


def _read_plan(user: User, uuid: UUID, data: Any) -> RoundForm:
    """Judged by the form of the page. Under a UUID of a round that is planned, what is not right is other content."""
    said, faults = RoundBody().read(data)
    wanted = said.get("wanted", {})
    form = RoundForm(user, _typed(said, wanted), round_=planned_under(user, uuid))
    place_of = {field_of(slug): pointer("wanted", slug) for slug in wanted}
    for name, errors in form.errors.items():
        place = place_of.get(name, "/wanted" if name == "__all__" else pointer(name))
        faults.setdefault(place, [str(words) for words in errors])
    known = {field_of(script.slug) for script in form.scripts()}
    faults |= {place: ["There is no such script."] for name, place in place_of.items() if name not in known}
    faults |= {
        pointer("wanted", slug): [f"Ask for 1 to {MOST_RUNS} runs."] for slug, runs in wanted.items() if not runs
    }
    if any(place.startswith("/wanted/") for place in faults):
        faults.pop("/wanted", None)  # that nothing is asked for follows from those
    if faults:
        there = planned_under(user, uuid)
        raise _otherwise(_seen(user, there)) if there else not_right(faults)
    return form


def _typed(said: Mapping[str, Any], wanted: Mapping[str, int]) -> Row:
    """As the form has it: builds by their keys, and a field for each script."""
    name = said.get("build", "")
    build = build_called(name)
    typed = {"name": said.get("name", ""), "due_on": said.get("due_on") or "", "note": said.get("note", "")}
    runs = {field_of(slug): str(runs) for slug, runs in wanted.items()}
    return {**typed, "build": str(build.pk) if build else "none" if name else "", **runs}


def _otherwise(there: Round, detail: str = "This UUID was sent before, with other content.") -> ProblemError:
    return ProblemError(Kind.CONFLICT, detail, round=str(there.pk))


class RoundStateView(ProgramView):
    needs: ClassVar = {"PUT": Scope.ROUNDS_WRITE}

    @extend_schema(
        operation_id="close_round",
        summary="Close a round, or open it again",
        description="Once closed, testers are no longer asked for its runs. The same again changes nothing.",
        tags=["Rounds"],
        parameters=[KEY],
        request=StateBody,
        examples=[CLOSE_IT],
        responses={200: OpenApiResponse(RoundSerializer, "The round as it is now.")},
    )
    def put(self, request: ProgramRequest, key: str) -> Response:
        user = request.user
        found = _find(user, key)
        act = reopen_round if read_body(StateBody(), request)["is_open"] else close_round
        act(user, found)
        return Response(_row(user, _seen(user, found)))


# --- one round -----------------------------------------------------------------------------------------


def _known(user: User) -> RoundQuerySet:
    return Round.objects.visible_to(user).select_related("build", "begun_by")


def _find(user: User, key: str) -> Round:
    """By its number, or by the UUID under which this person planned it. What may not be known is not there."""
    uuid = uuid_in(key)
    asked = {"begun_by": user, "uuid": uuid} if uuid else {"pk": number_in(key)}
    found = _known(user).filter(**asked).first()
    if found is None:
        raise Http404
    return found


def _seen(user: User, there: Round) -> Round:
    return _find(user, str(there.pk))


def _row(user: User, found: Round) -> Row:
    return _tell(progress_of(user, [found])[0])


def _tell(progress: Progress) -> Row:
    found = progress.round
    return {
        "id": str(found.pk),
        "url": f"{settings.ORIGIN}{found.get_absolute_url()}",
        "name": found.name,
        "build": found.build.name,
        "due_on": found.due_on,
        "note": found.note,
        "planned_by": {"id": found.begun_by_id, "name": str(found.begun_by)},
        "planned_at": instant(found.begun_at),
        "closed_at": found.closed_at and instant(found.closed_at),
        "is_overdue": progress.is_overdue,
        "wanted": progress.wanted,
        "missing": progress.missing,
        "scripts": [_tell_line(line) for line in progress.lines],
    }


def _tell_line(line: Line) -> Row:
    return {
        "script": line.slug,
        "title": line.title,
        "wanted": line.wanted,
        "runs": line.done.runs,
        "people": line.done.people,
        "missing": line.missing,
        "last_called_at": line.done.last and instant(line.done.last),
    }


urlpatterns = [
    path("rounds/", RoundsView.as_view(), name="api_rounds"),
    path("rounds/<str:key>/", RoundView.as_view(), name="api_round"),
    path("rounds/<str:key>/state/", RoundStateView.as_view(), name="api_round_state"),
]
