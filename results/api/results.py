"""Results for programs: the list, one, filing and correcting it, its link, and what was kept of its call."""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import path, reverse
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.response import Response

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.body import Body, Text, not_right, read_body
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.problems import ProblemError
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.view import ProgramRequest, ProgramView, page_of_items

from ..filing.correct_result import (
    CorrectedElsewhereError,
    NotALinkError,
    ReviewedError,
    add_recording_link,
    correct_result,
    give_link_to_mates,
)
from ..filing.file_result import (
    CallToldOtherwiseError,
    Filed,
    FiledOtherwiseError,
    ScriptFiledForCallError,
    file_result,
)
from ..filing.forms import sentence
from ..filing.rules import text_as_kept
from ..filing.typed import number_in
from ..listing.keyset import Cursor, Order, page_of
from ..models import Draft, Result
from .asked import read_list_asked
from .describe import A_FILING, A_RESULT, ETAG, IF_MATCH, KEY, LIST_PARAMETERS, LOCATION
from .read_filing import FilingBody, Sent, read_filing, uuid_in
from .rows import ResultPageSerializer, ResultSerializer, Row, columns_of, tell_rows

REVIEWED = "It was reviewed, so it stays as it is."
OTHER_CONTENT = "This UUID was filed before, with other content. To correct that, send If-Match with its ETag."


class ResultsView(ProgramView):
    needs: ClassVar = {"GET": Scope.RESULTS_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="list_results",
        summary="List results",
        description="The newest first, unless asked otherwise. The same filters as on the Results tab; a filter that "
        "can't be understood is refused.",
        tags=["Results"],
        parameters=LIST_PARAMETERS,
        responses={200: OpenApiResponse(ResultPageSerializer, "A page of results.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        asked, size = read_list_asked(request.user, request.query_params)
        order = asked.sort.order
        rows = asked.filters.narrow_in_order(Result.objects.visible_to(request.user), order.column)
        page = page_of(columns_of(rows), order, asked.place, size)
        places = {"next": _place("after", order, page.next), "previous": _place("before", order, page.previous)}
        return page_of_items(request, tell_rows(request.user, page.rows), **places)


def _place(name: str, order: Order, cursor: Cursor | None) -> str:
    return f"{name}={order.write(cursor)}" if cursor else ""


class ResultView(ProgramView):
    needs: ClassVar = {"GET": Scope.RESULTS_READ, "PUT": Scope.RESULTS_WRITE}
    answers: ClassVar = {"PUT": [Kind.CONFLICT, Kind.CHANGED_MEANWHILE, Kind.SAY_WHICH]}

    @extend_schema(
        operation_id="read_result",
        summary="Read a result",
        description="With its ETag, which a correction has to name.",
        tags=["Results"],
        parameters=[KEY, ETAG],
        responses={200: OpenApiResponse(ResultSerializer, "The result.", examples=[A_RESULT])},
    )
    def get(self, request: ProgramRequest, key: str) -> Response:
        return _answer(request.user, find_result(request.user, key))

    @extend_schema(
        operation_id="file_result",
        summary="File a result, or correct one",
        description="**Without If-Match** it files a result under a UUID that you make. Send it as often as you like: "
        "the same content again is the same result (200); other content changes nothing (409).\n\n"
        "**With If-Match** it corrects the result that has this ETag: by its tester alone, and until it is reviewed. "
        "Everything that can be said is sent again. What is said anew of the call is changed on the tester's other "
        "results of that call too.",
        tags=["Results"],
        parameters=[KEY, IF_MATCH, ETAG, LOCATION],
        request=FilingBody,
        examples=[A_FILING],
        responses={
            200: OpenApiResponse(ResultSerializer, "It is filed so: before, or corrected now.", examples=[A_RESULT]),
            201: OpenApiResponse(ResultSerializer, "It is filed now.", examples=[A_RESULT]),
        },
    )
    def put(self, request: ProgramRequest, key: str) -> Response:
        draft_uuid, if_match = uuid_in(key), request.headers.get("If-Match")
        if draft_uuid is not None and if_match is None:
            return _file(request.user, draft_uuid, request.data)
        return _correct(request, key, if_match)


def _file(user: User, draft_uuid: UUID, data: Any) -> Response:
    if Draft.objects.hidden_from(user).filter(uuid=draft_uuid).exists():
        raise Http404
    sent = _read_unless_filed(user, draft_uuid, data)
    try:
        filed = file_result(user, draft_uuid, sent.filing, call_uuid=sent.call)
    except FiledOtherwiseError as otherwise:
        raise _conflict(user, otherwise.result, OTHER_CONTENT) from otherwise
    except ScriptFiledForCallError as twin:
        detail = "This script is filed for this call already: one call has one of each."
        raise _conflict(user, twin.result, detail) from twin
    except CallToldOtherwiseError as odds:
        raise not_right({f"/{field}": [words] for field, words in odds.faults}) from odds
    return _answer_filed(user, filed)


def _read_unless_filed(user: User, draft_uuid: UUID, data: Any) -> Sent:
    """What is sent under a UUID that was filed before is judged by what stands there, whatever is wrong with it."""
    try:
        return read_filing(user, data)
    except ProblemError as faults:
        filed = Result.objects.filter(tester=user, draft_uuid=draft_uuid).first()
        if filed is None:
            raise
        raise _conflict(user, filed, OTHER_CONTENT) from faults


def _answer_filed(user: User, filed: Filed) -> Response:
    result = filed.result
    _check_it_may_be_known(user, result)
    give_link_to_mates(user, filed)
    answer = _answer(user, result, 201 if filed.is_new else 200)
    answer["Location"] = reverse("api_result", args=[result.pk])
    return answer


def _conflict(user: User, there: Result, detail: str) -> ProblemError:
    _check_it_may_be_known(user, there)
    return ProblemError(Kind.CONFLICT, detail, result=str(there.pk))


def _check_it_may_be_known(user: User, result: Result) -> None:
    if not Result.objects.visible_to(user).filter(pk=result.pk).exists():
        raise Http404


def _correct(request: ProgramRequest, key: str, if_match: str | None) -> Response:
    result = _own_result(request.user, key)
    if if_match is None:
        raise ProblemError(Kind.SAY_WHICH)
    if result is None or not _matches(if_match, _etag(_row(request.user, result))):
        raise ProblemError(Kind.CHANGED_MEANWHILE)
    sent = read_filing(request.user, request.data, as_filed=result)
    try:
        correct_result(request.user, result, sent.filing, based_on=result.version)
    except ReviewedError as reviewed:
        raise ProblemError(Kind.CONFLICT, REVIEWED, result=str(result.pk)) from reviewed
    except CorrectedElsewhereError as elsewhere:
        raise ProblemError(Kind.CHANGED_MEANWHILE) from elsewhere
    return _answer(request.user, result)


class LinkBody(Body):
    """Where the recording of the call is."""

    recording_link = Text(help_text="A link that others can open.")


class LinkView(ProgramView):
    needs: ClassVar = {"PUT": Scope.RESULTS_WRITE}
    answers: ClassVar = {"PUT": [Kind.CONFLICT]}

    @extend_schema(
        operation_id="add_recording_link",
        summary="Add the recording link",
        description="For a result that was filed before the recording had one; it is that of the whole call. The same "
        "link again changes nothing.",
        tags=["Results"],
        parameters=[KEY, ETAG],
        request=LinkBody,
        examples=[OpenApiExample("A link", value={"recording_link": "https://recordings.example.org/2026-03-02/7"})],
        responses={200: OpenApiResponse(ResultSerializer, "The result with its link.", examples=[A_RESULT])},
    )
    def put(self, request: ProgramRequest, key: str) -> Response:
        result = _own_result(request.user, key)
        if result is None:
            raise Http404
        link = text_as_kept(read_body(LinkBody(), request)["recording_link"])
        try:
            add_recording_link(request.user, result, link)
        except NotALinkError as wrong:
            words = sentence(wrong.fault) if link else "Send the link."
            raise not_right({"/recording_link": [words]}) from wrong
        except (ReviewedError, CorrectedElsewhereError) as refused:
            detail = REVIEWED if isinstance(refused, ReviewedError) else "It was changed at the same moment: ask again."
            raise ProblemError(Kind.CONFLICT, detail, result=str(result.pk)) from refused
        return _answer(request.user, result)


# --- one result ----------------------------------------------------------------------------------------


def _seen(user: User) -> Any:
    return Result.objects.visible_to(user).select_related("script", "script_version__script", "build")


def _find(user: User, key: str) -> Result | None:
    """By its number, or by the UUID under which this person filed it. What may not be known is not there."""
    draft_uuid = uuid_in(key)
    if draft_uuid is not None:
        found: Result | None = _seen(user).filter(tester=user, draft_uuid=draft_uuid).first()
        return found
    return _seen(user).filter(pk=number_in(key)).first() if number_in(key) else None


def find_result(user: User, key: str) -> Result:
    found = _find(user, key)
    if found is None:
        raise Http404
    return found


def _own_result(user: User, key: str) -> Result | None:
    """The result, if this person filed it: nobody else changes it. None for a UUID that was not filed yet."""
    found = _find(user, key)
    if found is None and uuid_in(key) is None:
        raise Http404
    if found is not None and found.tester_id != user.pk:
        raise PermissionDenied
    return found


def _row(user: User, result: Result) -> Row:
    return tell_rows(user, list(columns_of(Result.objects.filter(pk=result.pk))))[0]


def _answer(user: User, result: Result, status: int = 200) -> Response:
    row = _row(user, result)
    return Response(row, status, headers={"ETag": _etag(row)})


def _etag(row: Row) -> str:
    """Of all that is told, so that whatever changes it changes the ETag."""
    return f'"{hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:32]}"'


def _matches(if_match: str, etag: str) -> bool:
    named = parse_etags(if_match)
    return "*" in named or etag in named


urlpatterns = [
    path("results/", ResultsView.as_view(), name="api_results"),
    path("results/<str:key>/", ResultView.as_view(), name="api_result"),
    path("results/<str:key>/recording-link/", LinkView.as_view(), name="api_result_link"),
]
