"""Scripts, builds and the taxonomy for programs: the same as on the pages, by the same forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.http import Http404, QueryDict
from django.urls import path, reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.asked import PAGE_SIZE, TEXT, asks, faults_of_names, faults_of_size, one_of, page_size
from emma_eval.accounts.programs.body import Body, Faults, Text, not_right, pointer, read_body
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.problems import ProblemError
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.view import ProgramRequest, ProgramView, page_of_items
from emma_eval.accounts.roles import Role

from . import taxonomy
from .find_scripts import find_scripts
from .forms import EditBuildForm, FilterForm, NewBuildForm, OneLine, Wanted, areas_for
from .models import DIMENSION_CHOICES, Build, Script, ScriptVersion, sort_key_of
from .names import build_like
from .register_build import BuildExistsError, Particulars, change_build, make_build_current, register_build

Row = dict[str, Any]
AREAS = [area for area, _ in taxonomy.AREAS]
DIMENSION_KEYS = [key for key, _ in DIMENSION_CHOICES]
AFTER = asks("after", TEXT, "The place in the list behind which it goes on, as `next` has it.")
SLUG = OpenApiParameter(
    *("slug", TEXT, OpenApiParameter.PATH),
    description="The slug of the script.",
    examples=[OpenApiExample("A slug", value="bad-news-day")],
)

# --- scripts -------------------------------------------------------------------------------------------


class AnchorSerializer(serializers.Serializer[Any]):
    """What 5 and 1 look like in this script."""

    dimension = serializers.ChoiceField(choices=DIMENSION_KEYS)
    five = serializers.CharField()
    one = serializers.CharField()


class WordingSerializer(serializers.Serializer[Any]):
    """What a version of a script says."""

    version = serializers.IntegerField(min_value=1)
    title = serializers.CharField()
    area = serializers.ChoiceField(choices=AREAS)
    main_dimension = serializers.ChoiceField(choices=DIMENSION_KEYS)
    uses_camera = serializers.BooleanField()
    summary = serializers.CharField()
    what_to_do = serializers.CharField()
    steps = serializers.ListField(child=serializers.CharField())
    anchors = AnchorSerializer(many=True)
    published_at = serializers.DateTimeField()


class ScriptSerializer(serializers.Serializer[Any]):
    """A script, with what its latest version says."""

    slug = serializers.SlugField()
    url = serializers.URLField(help_text="Its page, for people.")
    retired_at = serializers.DateTimeField(allow_null=True, help_text="Calls made after that can't be filed.")
    latest = WordingSerializer()


class ScriptPageSerializer(serializers.Serializer[Any]):
    """A page of scripts, by their slugs."""

    items = ScriptSerializer(many=True)
    next = serializers.URLField(allow_null=True, help_text="Where the list goes on.")
    previous = serializers.URLField(allow_null=True, help_text="Always null: this list is read forwards.")


class VersionPageSerializer(serializers.Serializer[Any]):
    """A page of versions, the newest first."""

    items = WordingSerializer(many=True)
    next = serializers.URLField(allow_null=True, help_text="Where the list goes on.")
    previous = serializers.URLField(allow_null=True, help_text="Always null: this list is read forwards.")


def _tell_script(user: User, script: Script, version: ScriptVersion) -> Row:
    return {
        "slug": script.slug,
        "url": settings.ORIGIN + script.get_absolute_url(),
        "retired_at": script.retired_at,
        "latest": _tell_version(user, version),
    }


def _tell_version(user: User, version: ScriptVersion) -> Row:
    words = version.wording
    anchors = [
        {"dimension": key, **asdict(words.anchors[key])} for key in taxonomy.DIMENSION_BY_KEY if key in words.anchors
    ]
    said = {**asdict(words), "steps": list(words.steps), "anchors": anchors}
    return {"version": version.number_for(user), **said, "published_at": version.created_at}


class ScriptsView(ProgramView):
    needs: ClassVar = {"GET": Scope.SCRIPTS_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="list_scripts",
        summary="List scripts",
        description="Those in use, by their slugs, with the filters of the Scripts tab.",
        tags=["Scripts"],
        parameters=[
            asks("q", {**TEXT, "maxLength": 100}, "Words of title, summary and steps."),
            asks("area", one_of(*AREAS), "An area of scripts."),
            asks("dimension", one_of(*DIMENSION_KEYS), "The main dimension."),
            asks("camera", one_of("yes", "no"), "Whether the camera is used."),
            asks("unrun", one_of("yes"), "Not yet run on the current build."),
            asks("retired", one_of("yes"), "The retired ones instead; for the eval team."),
            *(AFTER, PAGE_SIZE),
        ],
        responses={200: OpenApiResponse(ScriptPageSerializer, "A page of scripts.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        user, params = request.user, request.query_params
        shelves = find_scripts(user, _wanted(user, params), Build.objects.current_build())
        slugs = sorted(one.slug for shelf in shelves for one in shelf.scripts)
        behind = [slug for slug in slugs if slug > params.get("after", "")][: page_size(params) + 1]
        shown = Script.objects.visible_to(user).filter(slug__in=behind).select_related("latest").order_by("slug")
        rows = [_tell_script(user, script, script.latest) for script in shown if script.latest]
        return _page(request, rows, [script.slug for script in shown])


def _page(request: ProgramRequest, rows: list[Row], places: Sequence[object]) -> Response:
    """A page of rows that were read one further than it holds: the last one shown says where the next one begins."""
    size = page_size(request.query_params)
    following = f"after={places[size - 1]}" if len(rows) > size else ""
    return page_of_items(request, rows[:size], next=following)


def _wanted(user: User, params: QueryDict) -> Wanted:
    said = params.dict()
    form = FilterForm(said, areas=areas_for(user), may_see_retired=user.has_role(Role.EVAL_TEAM))
    wanted = form.wanted()
    faults: Faults = {name: [str(words) for words in errors] for name, errors in form.errors.items()}
    faults |= {name: ["Say yes, or leave it out."] for name in ("unrun", "retired") if said.get(name, "yes") != "yes"}
    faults |= faults_of_size(params) | faults_of_names(params, {*form.fields, "after", "page_size"})
    if faults:
        raise not_right(faults, at="parameter")
    return wanted


def _known_script(user: User, slug: str) -> tuple[Script, ScriptVersion]:
    """The script, or 404 for one that isn't there and for one that this person may not know of."""
    known = Script.objects.visible_to(user).exclude(latest=None).select_related("latest")
    script = known.filter(slug=slug).first()
    if script is None or script.latest is None:
        raise Http404
    return script, script.latest


class ScriptView(ProgramView):
    needs: ClassVar = {"GET": Scope.SCRIPTS_READ}

    @extend_schema(
        operation_id="read_script",
        summary="Read a script",
        description="What its latest version says. Retired scripts can be read, too.",
        tags=["Scripts"],
        parameters=[SLUG],
        responses={200: OpenApiResponse(ScriptSerializer, "The script.")},
    )
    def get(self, request: ProgramRequest, slug: str) -> Response:
        return Response(_tell_script(request.user, *_known_script(request.user, slug)))


class VersionsView(ProgramView):
    needs: ClassVar = {"GET": Scope.SCRIPTS_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="list_versions",
        summary="List the versions of a script",
        description="The newest first. A result keeps the version that was run.",
        tags=["Scripts"],
        parameters=[SLUG, asks("after", {"type": "integer", "minimum": 1}, "Go on behind this version."), PAGE_SIZE],
        responses={200: OpenApiResponse(VersionPageSerializer, "A page of versions.")},
    )
    def get(self, request: ProgramRequest, slug: str) -> Response:
        user, params = request.user, request.query_params
        script, _ = _known_script(user, slug)
        versions = ScriptVersion.objects.visible_to(user).filter(script=script)
        after = _number_after(params)
        if after is not None:
            versions = versions.filter(**{f"{'number' if user.is_trained else 'open_number'}__lt": after})
        shown = list(versions.order_by("-number")[: page_size(params) + 1])
        return _page(
            request, [_tell_version(user, version) for version in shown], [one.number_for(user) for one in shown]
        )


def _number_after(params: QueryDict) -> int | None:
    after = params.get("after")
    faults = faults_of_size(params) | faults_of_names(params, ("after", "page_size"))
    is_number = after is None or (after.isascii() and after.isdigit() and len(after) < 10 and int(after) >= 1)
    faults |= {} if is_number else {"after": ["This is no place in this list."]}
    if faults:
        raise not_right(faults, at="parameter")
    return None if after is None else int(after)


class VersionView(ProgramView):
    needs: ClassVar = {"GET": Scope.SCRIPTS_READ}

    @extend_schema(
        operation_id="read_version",
        summary="Read one version of a script",
        tags=["Scripts"],
        parameters=[
            SLUG,
            OpenApiParameter(
                *("number", {"type": "integer", "minimum": 1}, OpenApiParameter.PATH),
                description="The version.",
                examples=[OpenApiExample("The first", value=1)],
            ),
        ],
        responses={200: OpenApiResponse(WordingSerializer, "The version.")},
    )
    def get(self, request: ProgramRequest, slug: str, number: int) -> Response:
        script, _ = _known_script(request.user, slug)
        version = ScriptVersion.objects.known_as(number, request.user).filter(script=script).first()
        if version is None:
            raise Http404
        return Response(_tell_version(request.user, version))


# --- builds --------------------------------------------------------------------------------------------


class BuildSerializer(serializers.Serializer[Any]):
    """A version of Emma. What is said about it, the eval team alone reads, as on the page of builds."""

    name = serializers.CharField(max_length=60)
    is_current = serializers.BooleanField(help_text="Whether forms offer it first.")
    released_on = serializers.DateField(allow_null=True, required=False)
    note = serializers.CharField(allow_blank=True, required=False)
    call_link = serializers.CharField(allow_blank=True, required=False, help_text="Opens Emma; empty: the site's.")


class BuildPageSerializer(serializers.Serializer[Any]):
    """A page of builds, the newest first."""

    items = BuildSerializer(many=True)
    next = serializers.URLField(allow_null=True, help_text="Where the list goes on.")
    previous = serializers.URLField(allow_null=True, help_text="Always null: this list is read forwards.")


class BuildBody(Body):
    """What is said about a build. Of one that is registered, what is left out stays as it is."""

    released_on = Text(required=False, allow_null=True, help_text="A day, such as 2026-10-21; null for none.")
    note = Text(required=False, help_text="What is new in it, at most 2,000 characters.")
    call_link = Text(required=False, help_text="Opens Emma in this build; empty for the site's.")


class CurrentBuildBody(Body):
    """Which build is the current one from now on."""

    name = Text(help_text="The name of a build that is registered.")


NAME = OpenApiParameter(
    *("name", {**TEXT, "maxLength": 60}, OpenApiParameter.PATH),
    description="The name of the build.",
    examples=[OpenApiExample("A name", value="2026.43")],
)
LOCATION = OpenApiParameter(
    *("Location", OpenApiTypes.URI_REF, OpenApiParameter.HEADER),
    response=[200, 201],
    description="Where the build stands.",
)


def _tell_build(user: User, build: Build) -> Row:
    said: Row = {"name": build.name, "is_current": build.is_current}
    if user.has_role(Role.EVAL_TEAM):
        said |= {"released_on": build.released_on, "note": build.note, "call_link": build.call_link}
    return said


def _find_build(name: str) -> Build | None:
    return Build.objects.filter(name=_clean(name)).first()


def _clean(name: str) -> str:
    """A name as the form of builds keeps it."""
    return OneLine(required=False).to_python(name)


class BuildsView(ProgramView):
    needs: ClassVar = {"GET": Scope.BUILDS_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="list_builds",
        summary="List builds",
        description="The newest first, as their names sort: 2026.9 before 2026.10.",
        tags=["Builds"],
        parameters=[asks("after", TEXT, "The name of the build behind which it goes on."), PAGE_SIZE],
        responses={200: OpenApiResponse(BuildPageSerializer, "A page of builds.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        params, builds = request.query_params, Build.objects.order_by("-sort_key")
        faults = faults_of_size(params) | faults_of_names(params, ("after", "page_size"))
        if faults:
            raise not_right(faults, at="parameter")
        if "after" in params:
            builds = builds.filter(sort_key__lt=sort_key_of(params["after"]))
        shown = list(builds[: page_size(params) + 1])
        return _page(request, [_tell_build(request.user, build) for build in shown], [build.name for build in shown])


class BuildView(ProgramView):
    needs: ClassVar = {"GET": Scope.BUILDS_READ, "PUT": Scope.BUILDS_WRITE}
    answers: ClassVar = {"PUT": [Kind.CONFLICT]}

    @extend_schema(
        operation_id="read_build",
        summary="Read a build",
        tags=["Builds"],
        parameters=[NAME],
        responses={200: OpenApiResponse(BuildSerializer, "The build.")},
    )
    def get(self, request: ProgramRequest, name: str) -> Response:
        build = _find_build(name)
        if build is None:
            raise Http404
        return Response(_tell_build(request.user, build))

    @extend_schema(
        operation_id="register_build",
        summary="Register a build, or change what is said about it",
        description="Send it as often as you like: a build is registered once under its name. The very first one "
        "becomes the current one; of later ones you say so at `/api/v1/current-build/`.",
        tags=["Builds"],
        parameters=[NAME, LOCATION],
        request=BuildBody,
        examples=[OpenApiExample("A build", value={"released_on": "2026-10-21", "note": "Waits longer."})],
        responses={
            200: OpenApiResponse(BuildSerializer, "It is registered, and says so now."),
            201: OpenApiResponse(BuildSerializer, "It is registered now."),
        },
    )
    def put(self, request: ProgramRequest, name: str) -> Response:
        said = read_body(BuildBody(), request)
        build, status = _find_build(name), 200
        if build is None:
            build, status = _register(request.user, name, said)
        else:
            _change(request.user, build, said)
        build.refresh_from_db()
        answer = Response(_tell_build(request.user, build), status)
        answer["Location"] = reverse("api_build", args=[build.name])
        return answer


def _register(user: User, name: str, said: Mapping[str, Any]) -> tuple[Build, int]:
    twin = build_like(_clean(name))
    if twin is not None and twin.name != _clean(name):
        raise ProblemError(Kind.CONFLICT, f"A build looks or sorts like it: {twin}.", name=twin.name)
    form = NewBuildForm({**said, "name": name})
    try:
        particulars = _particulars(form)
        return register_build(form.cleaned_data["name"], particulars, make_current=False, by=user), 201
    except (ProblemError, BuildExistsError):
        build = _find_build(name)
        if build is None:
            raise
    # Registered at the same moment, by somebody else.
    _change(user, build, said)
    return build, 200


def _change(user: User, build: Build, said: Mapping[str, Any]) -> None:
    stands = {"released_on": build.released_on, "note": build.note, "call_link": build.call_link}
    change_build(build, _particulars(EditBuildForm({**stands, **said})), by=user)


def _particulars(form: forms.Form) -> Particulars:
    if not form.is_valid():
        raise not_right({pointer(name): [str(words) for words in errors] for name, errors in form.errors.items()})
    return Particulars(**{name: form.cleaned_data[name] for name in Particulars.__dataclass_fields__})


class CurrentBuildView(ProgramView):
    needs: ClassVar = {"GET": Scope.BUILDS_READ, "PUT": Scope.BUILDS_WRITE}
    answers: ClassVar = {"GET": [Kind.NOT_FOUND]}

    @extend_schema(
        operation_id="read_current_build",
        summary="Read the current build",
        description="The one that forms offer first. 404 until there is one.",
        tags=["Builds"],
        responses={200: OpenApiResponse(BuildSerializer, "The current build.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        build = Build.objects.current_build()
        if build is None:
            raise Http404
        return Response(_tell_build(request.user, build))

    @extend_schema(
        operation_id="make_build_current",
        summary="Make a build the current one",
        tags=["Builds"],
        request=CurrentBuildBody,
        examples=[OpenApiExample("A build", value={"name": "2026.43"})],
        responses={200: OpenApiResponse(BuildSerializer, "It is the current one.")},
    )
    def put(self, request: ProgramRequest) -> Response:
        build = _find_build(read_body(CurrentBuildBody(), request)["name"])
        if build is None:
            raise not_right({"/name": ["There is no build of this name. Register it first."]})
        make_build_current(build, request.user)
        build.refresh_from_db()
        return Response(_tell_build(request.user, build))


# --- the taxonomy --------------------------------------------------------------------------------------


class ScaleSerializer(serializers.Serializer[Any]):
    """A rating and what it means."""

    rating = serializers.IntegerField(min_value=1, max_value=5)
    meaning = serializers.CharField()


class DimensionSerializer(serializers.Serializer[Any]):
    """One of the six things that are rated, with what 1, 3 and 5 look like."""

    key = serializers.ChoiceField(choices=DIMENSION_KEYS)
    name = serializers.CharField()
    meaning = serializers.CharField()
    one = serializers.CharField()
    three = serializers.CharField()
    five = serializers.CharField()


class TagSerializer(serializers.Serializer[Any]):
    """A problem that can be tagged; one that is retired stays on old results alone."""

    key = serializers.CharField()
    # A field of every serializer goes by this name, too.
    label = serializers.CharField()  # type: ignore[assignment]
    needs_a_note = serializers.BooleanField(help_text="Whether the comment must say what it was.")
    retired_in = serializers.IntegerField(min_value=1, allow_null=True, help_text="The edition that retired it.")


class TagGroupSerializer(serializers.Serializer[Any]):
    """Problems of one area."""

    key = serializers.CharField()
    name = serializers.CharField()
    tags = TagSerializer(many=True)


class TaxonomySerializer(serializers.Serializer[Any]):
    """What is rated and what is tagged. A key never changes."""

    edition = serializers.IntegerField(min_value=1)
    scale = ScaleSerializer(many=True)
    dimensions = DimensionSerializer(many=True)
    groups = TagGroupSerializer(many=True)


class TaxonomyView(ProgramView):
    @extend_schema(
        operation_id="read_taxonomy",
        summary="Read the taxonomy",
        description="Dimensions, scale and problems, by the keys that results hold.",
        tags=["Scripts"],
        responses={200: OpenApiResponse(TaxonomySerializer, "The taxonomy.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        return Response(TAXONOMY)


TAXONOMY = {
    "edition": taxonomy.EDITION,
    "scale": [{"rating": rating, "meaning": meaning} for rating, meaning in taxonomy.SCALE],
    "dimensions": [asdict(dimension) for dimension in taxonomy.DIMENSIONS],
    "groups": [
        {
            "key": group.key,
            "name": group.name,
            "tags": [{**asdict(tag), "needs_a_note": tag.needs_a_note} for tag in group.tags],
        }
        for group in taxonomy.TAG_GROUPS
    ],
}


urlpatterns = [
    path("taxonomy/", TaxonomyView.as_view(), name="api_taxonomy"),
    path("scripts/", ScriptsView.as_view(), name="api_scripts"),
    path("scripts/<str:slug>/", ScriptView.as_view(), name="api_script"),
    path("scripts/<str:slug>/versions/", VersionsView.as_view(), name="api_versions"),
    path("scripts/<str:slug>/versions/<int:number>/", VersionView.as_view(), name="api_version"),
    path("builds/", BuildsView.as_view(), name="api_builds"),
    path("builds/<path:name>/", BuildView.as_view(), name="api_build"),
    path("current-build/", CurrentBuildView.as_view(), name="api_current_build"),
]
