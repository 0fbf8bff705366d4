"""What was kept of a call that was held beside its page: how long it was, its moments, the steps of its script."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404
from django.urls import path
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.view import ProgramRequest, ProgramView

from ..live_call.show_call import steps_of
from ..models import Call, Run
from .describe import KEY
from .results import find_result
from .rows import instant


class MomentSerializer(serializers.Serializer[Any]):
    """A marker that the tester dropped during the call."""

    at_ms = serializers.IntegerField(min_value=0, help_text="On the clock of the call.")
    words = serializers.CharField(allow_blank=True)


class StepSerializer(serializers.Serializer[Any]):
    """A step of the script; `at_ms` is when it was ticked off, null where it was not."""

    number = serializers.IntegerField(min_value=1)
    words = serializers.CharField()
    at_ms = serializers.IntegerField(min_value=0, allow_null=True)


class CallSerializer(serializers.Serializer[Any]):
    """A call. Its clock begins with the press that began it."""

    call = serializers.UUIDField()
    started_at = serializers.DateTimeField(allow_null=True)
    start_is_uncertain = serializers.BooleanField(help_text="Whether it may have begun earlier.")
    ended_at_ms = serializers.IntegerField(min_value=0, allow_null=True)
    round_trip_ms = serializers.IntegerField(
        min_value=0, allow_null=True, help_text="Between the tester's page and the site."
    )
    moments = MomentSerializer(many=True)
    steps = StepSerializer(many=True)
    off_script_from_ms = serializers.IntegerField(
        min_value=0, allow_null=True, help_text="When the stretch without a script began."
    )


class CallView(ProgramView):
    needs: ClassVar = {"GET": Scope.RESULTS_READ}

    @extend_schema(
        operation_id="read_call",
        summary="Read what was kept of the call",
        description="Of calls that were held beside the live-call page. There is none of the others.",
        tags=["Results"],
        parameters=[KEY],
        responses={200: OpenApiResponse(CallSerializer, "The call.")},
    )
    def get(self, request: ProgramRequest, key: str) -> Response:
        result = find_result(request.user, key)
        calls = Call.objects.visible_to(request.user).filter(tester=result.tester_id, uuid=result.call_uuid)
        call = calls.first()
        if call is None:
            raise Http404
        run = call.runs.filter(script=result.script).select_related("script_version").first()
        return Response(_tell(call, run))


def _tell(call: Call, run: Run | None) -> dict[str, Any]:
    steps = steps_of(run) if run else ()
    return {
        "call": str(call.uuid),
        "started_at": call.started_at and instant(call.started_at),
        "start_is_uncertain": call.start_is_uncertain,
        "ended_at_ms": call.ended_at_ms,
        "round_trip_ms": call.round_trip_ms,
        "moments": [{"at_ms": moment.at_ms, "words": moment.words} for moment in call.moments.standing()],
        "steps": [{"number": step.number, "words": step.words, "at_ms": step.at_ms} for step in steps],
        "off_script_from_ms": run.off_script_from_ms if run else None,
    }


urlpatterns = [path("results/<str:key>/call/", CallView.as_view(), name="api_result_call")]
