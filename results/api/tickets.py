"""Tickets for programs: linked to a result or to a problem, read with the builds since, closed and opened again."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.asked import TEXT, asks, one_of
from emma_eval.accounts.programs.body import Body, Faults, Text, not_right, pointer, read_body
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.view import ProgramRequest, ProgramView, page_of_items
from scripts_catalog.models import Script

from ..filing.typed import number_in
from ..models import Result, Ticket
from ..tickets.came_back import CAME_BACK, CANT_TELL, NOT_RUN, NOT_SEEN, STILL_THERE, CameBack, OnBuild
from ..tickets.link_ticket import close_ticket, link_once, reopen_ticket
from ..tickets.show_tickets import ShownTicket, seen_ticket, show_tickets, tickets_of
from ..tickets.ticket_form import TicketForm
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
from .describe import HEADER, KEY, number_of
from .figure_shapes import ReadingSerializer, tell_share
from .read_filing import build_called, storable
from .results import find_result
from .rows import TAGS, PersonSerializer, Row, instant

NUMBER = number_of("ticket")
LOCATION = OpenApiParameter(
    *("Location", OpenApiTypes.URI_REF, HEADER), response=[200, 201], description="Where the ticket stands."
)


class OnBuildSerializer(serializers.Serializer[Any]):
    """How many calls of a build had the problem, as filed."""

    build = serializers.CharField()
    tagged = serializers.IntegerField(min_value=0)
    share = ReadingSerializer()


class CameBackSerializer(serializers.Serializer[Any]):
    """What the builds after its own show, of the results that the token's owner may see."""

    state = serializers.ChoiceField(
        choices=[CAME_BACK, STILL_THERE, NOT_SEEN, NOT_RUN, CANT_TELL],
        help_text="can't tell: too few calls, or no problem is tagged.",
    )
    words = serializers.CharField(help_text="The same as a sentence, with builds and calls.")
    own = OnBuildSerializer(allow_null=True, help_text="Its own build; null where the script was not run on that.")
    later = OnBuildSerializer(many=True, help_text="The later builds that were run, the newest first.")


class TicketSerializer(serializers.Serializer[Any]):
    """A ticket in somebody's tracker, and whether what it is about came back."""

    id = serializers.RegexField(r"^[0-9]{1,19}$")
    url = serializers.URLField(help_text="Its page here, for people.")
    link = serializers.CharField(help_text="The ticket itself, elsewhere.")
    title = serializers.CharField()
    result = serializers.RegexField(
        r"^[0-9]{1,19}$", allow_null=True, help_text="null: it is about a problem, not about one result."
    )
    problem = serializers.ChoiceField(
        choices=TAGS, allow_null=True, help_text="null: whatever problems its result has."
    )
    script = serializers.SlugField(allow_null=True, help_text="null: any script.")
    build = serializers.CharField(help_text="The build that it was seen on.")
    linked_by = PersonSerializer()
    linked_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True, help_text="null: it is open.")
    came_back = CameBackSerializer()


class TicketPageSerializer(ForwardPageSerializer):
    """A page of tickets, the newest first."""

    items = TicketSerializer(many=True)


class TicketsOfResultSerializer(serializers.Serializer[Any]):
    """The tickets of a result, open ones first."""

    items = TicketSerializer(many=True)


class Tag(Text):
    """The key of a problem; which there are, the form says."""


extend_schema_field({"type": "string", "enum": TAGS})(Tag)


class TicketOfResultBody(Body):
    """A ticket of a result, whose script and build it has."""

    link = Text(help_text="The address of the ticket. It begins with https://; people open it, the site never does.")
    title = Text(help_text="As it is called there, at most 200 characters. Whoever may see the result reads it.")
    problem = Tag(required=False, help_text="One of the result's problems; left out only where it has none.")


class TicketBody(Body):
    """A ticket of a problem, on one script or on any."""

    link = Text(help_text="The address of the ticket. It begins with https://; people open it, the site never does.")
    title = Text(help_text="As it is called there, at most 200 characters. Whoever may see the script reads it.")
    problem = Tag(help_text="The problem that it is about.")
    script = Text(required=False, allow_null=True, help_text="The slug of a script; null, or left out, for any.")
    build = Text(help_text="The name of the build that it was seen on. Those after it show whether it came back.")


class TicketsView(ProgramView):
    needs: ClassVar = {"GET": Scope.TICKETS_READ, "POST": Scope.TICKETS_WRITE}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="list_tickets",
        summary="List tickets",
        description="The newest first, with what the builds since show: those that are open, unless you ask for the "
        "closed ones.",
        tags=["Tickets"],
        parameters=[
            state_parameter(),
            asks("problem", one_of(*TAGS), "The key of the problem that they are about."),
            asks("script", TEXT, "The slug of a script: what is about it, and what is about any."),
            *list_parameters("ticket"),
        ],
        responses={200: OpenApiResponse(TicketPageSerializer, "A page of tickets.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        user, params = request.user, request.query_params
        faults = faults_of_state(params) | _faults_of_filters(user, params)
        place = read_place(params, "state", "problem", "script", faults=faults)
        found = seen_ticket(user).filter(closed_at__isnull=not asks_for_closed(params))
        if "problem" in params:
            found = found.filter(tag=params["problem"])
        if "script" in params:
            found = found.on_script(params["script"])
        shown, following = place.page_of(found)
        return page_of_items(request, [_tell(each) for each in show_tickets(user, shown)], next=following)

    @extend_schema(
        operation_id="link_ticket",
        summary="Link a ticket to a problem",
        description="On a script or on any. While it is open, the same again is the same ticket (200).",
        tags=["Tickets"],
        parameters=[LOCATION],
        request=TicketBody,
        examples=[
            OpenApiExample(
                "A problem on one script",
                value={
                    "link": "https://tracker.example.org/EMMA-17",
                    "title": "Cuts in when somebody cries",
                    "problem": "cut_in",
                    "script": "bad-news-day",
                    "build": "2026.43",
                },
                request_only=True,
            )
        ],
        responses={
            200: OpenApiResponse(TicketSerializer, "It is linked so already."),
            201: OpenApiResponse(TicketSerializer, "It is linked now."),
        },
    )
    def post(self, request: ProgramRequest) -> Response:
        said, faults = TicketBody().read(request.data)
        return _link(request.user, _judged(request.user, said, faults))


def _faults_of_filters(user: User, params: QueryDict) -> Faults:
    faults: Faults = {}
    if params.get("problem", TAGS[0]) not in TAGS:
        faults["problem"] = ["There is no such problem."]
    slug = storable(params.get("script", ""))
    if slug and not Script.objects.visible_to(user).filter(slug=slug).exists():
        faults["script"] = ["There is no such script."]
    return faults


class TicketsOfResultView(ProgramView):
    needs: ClassVar = {"GET": Scope.RESULTS_READ, "POST": Scope.TICKETS_WRITE}

    @extend_schema(
        operation_id="list_tickets_of_result",
        summary="List the tickets of a result",
        description="All of them, open ones first.",
        tags=["Results"],
        parameters=[KEY],
        responses={200: OpenApiResponse(TicketsOfResultSerializer, "The tickets.")},
    )
    def get(self, request: ProgramRequest, key: str) -> Response:
        found = tickets_of(request.user, find_result(request.user, key))
        return Response({"items": [_tell(each) for each in found]})

    @extend_schema(
        operation_id="link_ticket_of_result",
        summary="Link a ticket to a result",
        description="To one of its problems. While it is open, the same again is the same ticket (200).",
        tags=["Tickets"],
        parameters=[KEY, LOCATION],
        request=TicketOfResultBody,
        examples=[
            OpenApiExample(
                "One of its problems",
                value={
                    "link": "https://tracker.example.org/EMMA-17",
                    "title": "Cuts in when somebody cries",
                    "problem": "cut_in",
                },
                request_only=True,
            )
        ],
        responses={
            200: OpenApiResponse(TicketSerializer, "It is linked so already."),
            201: OpenApiResponse(TicketSerializer, "It is linked now."),
        },
    )
    def post(self, request: ProgramRequest, key: str) -> Response:
        result = find_result(request.user, key)
        said, faults = TicketOfResultBody().read(request.data)
        return _link(request.user, _judged(request.user, said, faults, result))


def _judged(user: User, said: Row, faults: Faults, result: Result | None = None) -> TicketForm:
    """Judged by the form of the page, with every fault at once."""
    build = build_called(said.get("build", ""))
    typed = {name: said.get(name) or "" for name in ("link", "title", "script")}
    typed |= {"tag": said.get("problem", ""), "build": build.sort_key if build else "none" if "build" in said else ""}
    form = TicketForm(typed, user=user, result=result)
    for name, errors in form.errors.items():
        faults.setdefault(pointer("problem" if name == "tag" else name), [str(words) for words in errors])
    if "problem" in said and "tag" not in form.fields:
        faults.setdefault("/problem", ["This result has no problem."])
    if faults:
        raise not_right(faults)
    return form


def _link(user: User, form: TicketForm) -> Response:
    ticket, is_new = link_once(user, form.cleaned_data["link"], form.cleaned_data["title"], form.about())
    answer = Response(_row(user, ticket.pk), 201 if is_new else 200)
    answer["Location"] = reverse("api_ticket", args=[ticket.pk])
    return answer


class TicketView(ProgramView):
    needs: ClassVar = {"GET": Scope.TICKETS_READ}

    @extend_schema(
        operation_id="read_ticket",
        summary="Read a ticket",
        description="With what the builds since show.",
        tags=["Tickets"],
        parameters=[NUMBER],
        responses={200: OpenApiResponse(TicketSerializer, "The ticket.")},
    )
    def get(self, request: ProgramRequest, key: str) -> Response:
        return Response(_row(request.user, number_in(key)))


class TicketStateView(ProgramView):
    needs: ClassVar = {"PUT": Scope.TICKETS_WRITE}

    @extend_schema(
        operation_id="close_ticket",
        summary="Close a ticket, or open it again",
        description="Here alone: its tracker is not told. The same again changes nothing.",
        tags=["Tickets"],
        parameters=[NUMBER],
        request=StateBody,
        examples=[CLOSE_IT],
        responses={200: OpenApiResponse(TicketSerializer, "The ticket as it is now.")},
    )
    def put(self, request: ProgramRequest, key: str) -> Response:
        user = request.user
        found = _find(user, number_in(key))
        act = reopen_ticket if read_body(StateBody(), request)["is_open"] else close_ticket
        act(user, found)
        return Response(_row(user, found.pk))


# --- one ticket ----------------------------------------------------------------------------------------


def _find(user: User, pk: int) -> Ticket:
    return get_object_or_404(seen_ticket(user), pk=pk)


def _row(user: User, pk: int) -> Row:
    return _tell(show_tickets(user, [_find(user, pk)])[0])


def _tell(shown: ShownTicket) -> Row:
    ticket = shown.ticket
    return {
        "id": str(ticket.pk),
        "url": f"{settings.ORIGIN}{ticket.get_absolute_url()}",
        "link": ticket.link,
        "title": ticket.title,
        "result": str(ticket.result_id) if ticket.result_id else None,
        "problem": ticket.tag or None,
        "script": ticket.script_id or None,
        "build": ticket.build.name,
        "linked_by": {"id": ticket.added_by_id, "name": str(ticket.added_by)},
        "linked_at": instant(ticket.added_at),
        "closed_at": ticket.closed_at and instant(ticket.closed_at),
        "came_back": _tell_whether(shown.went),
    }


def _tell_whether(went: CameBack) -> Row:
    return {
        "state": went.state,
        "words": went.verdict,
        "own": went.own and _tell_on_build(went.own),
        "later": [_tell_on_build(each) for each in went.later],
    }


def _tell_on_build(on: OnBuild) -> Row:
    return {"build": on.build.name, "tagged": on.share.part, "share": tell_share(on.share)}


urlpatterns = [
    path("tickets/", TicketsView.as_view(), name="api_tickets"),
    path("tickets/<str:key>/", TicketView.as_view(), name="api_ticket"),
    path("tickets/<str:key>/state/", TicketStateView.as_view(), name="api_ticket_state"),
    path("results/<str:key>/tickets/", TicketsOfResultView.as_view(), name="api_result_tickets"),
]
