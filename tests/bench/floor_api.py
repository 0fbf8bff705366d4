"""The floor of the API: the list of results as Django REST framework's tutorial would write it, on the floors' site.

python -m granian --interface wsgi tests.bench.floor_api:application
"""

from __future__ import annotations

from . import floors  # first: it says what the settings are

# isort: split
from django.urls import path
from rest_framework.generics import ListAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import CharField, ModelSerializer

application = floors.application


class ProblemSerializer(ModelSerializer):
    class Meta:
        model = floors.Problem
        fields = ["tag", "position", "rank"]


class ResultSerializer(ModelSerializer):
    tester = CharField(source="tester.name")
    title = CharField(source="script_version.title")
    build = CharField(source="build.name")
    problems = ProblemSerializer(many=True)

    class Meta:
        model = floors.Result
        fields = [
            *("id", "call_uuid", "tester", "script", "title", "build", "called_at", "filed_at", "recording_link"),
            *(*floors.RATINGS, "camera_used", "camera_note", "never_started", "comment", "met_emma_before", "version"),
            *("reviewed_at", "taxonomy_edition", "browser", "device", "system", "connection", "problem_order"),
            "problems",
        ]


class NewestFirst(CursorPagination):
    page_size = 50
    ordering = ("-called_at", "-id")


class ResultList(ListAPIView):
    authentication_classes = ()
    permission_classes = ()
    renderer_classes = (JSONRenderer,)
    pagination_class = NewestFirst
    serializer_class = ResultSerializer

    def get_queryset(self):
        results = floors.Result.objects.select_related("script_version", "build", "tester").prefetch_related("problems")
        return results.filter(script=self.request.GET["script"]) if "script" in self.request.GET else results


floors.urlpatterns.append(path("api/results/", ResultList.as_view()))
