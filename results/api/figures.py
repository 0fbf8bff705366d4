"""Figures for programs: those of the dashboard, of a comparison, of agreement and of coverage, by the very counts that
the pages show."""

from __future__ import annotations

from collections.abc import Container
from datetime import date
from typing import ClassVar

from django.http import QueryDict
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.response import Response

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.asked import TEXT, asks, faults_of_names, one_of
from emma_eval.accounts.programs.body import Faults, not_right
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.view import ProgramRequest, ProgramView
from emma_eval.scoring.intervals import FEWEST
from scripts_catalog import taxonomy
from scripts_catalog.models import Build

from ..counts.read_agreement import read_every_agreement
from ..dashboards.agreement import tell_agreement
from ..dashboards.asked import ANY_BUILD
from ..dashboards.compared import Comparison
from ..dashboards.comparison import compare_builds
from ..dashboards.counting import Counting
from ..dashboards.grouped import By, Group, count_all, count_by
from ..dashboards.known import Known, read_known
from ..dashboards.pick_builds import ComparisonForm
from ..filing.typed import number_in
from ..listing.choices import Choices, choices_for
from ..listing.filter_form import FilterForm
from ..listing.periods import Period
from ..models import DIMENSION_KEYS, Round, Source
from ..rounds.coverage import Coverage, ScriptLine, read_coverage, rounds_on
from .asked import faults_of_form
from .figure_shapes import (
    SOURCES,
    AgreementSerializer,
    ComparisonSerializer,
    CoverageSerializer,
    FiguresSerializer,
    tell_agreement_row,
    tell_compared,
    tell_group,
    tell_left_out,
    tell_problem,
)
from .read_filing import build_called
from .rows import Row, instant

FIELDS = ("script", "build", "area", "returning", "period", "from", "to", "tags")
AREA = asks("area", one_of(*(area for area, _ in taxonomy.AREAS)), "An area of scripts.")
RETURNING = asks("returning", one_of("yes", "no"), "Whether the tester had talked to Emma before.")
SAYS_TAGS = asks("tags", one_of(*SOURCES), "Whose tags are counted: as filed if left out.")
NO_BUILD = "There is no such build."


class FiguresView(ProgramView):
    needs: ClassVar = {"GET": Scope.FIGURES_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="read_figures",
        summary="Read the dashboard",
        description="How the six dimensions were rated and which problems were tagged, with intervals and n, "
        "unrounded; of everything that the filters leave, and by one thing if you ask for it. Ratings are as filed in "
        "any case. Without `build`, of every build. Of weeks there are the last 26.",
        tags=["Figures"],
        parameters=[
            asks("by", one_of(*By), "What the figures are grouped by."),
            asks("script", TEXT, "The slug of a script."),
            asks("build", TEXT, f"The name of a build; `{ANY_BUILD}`, or left out: every build."),
            *(AREA, RETURNING),
            asks("period", one_of(*(period.value for period in Period)), "Days that move along, in place of two days."),
            asks("from", OpenApiTypes.DATE, "The first day of the call, in the time zone of the site."),
            asks("to", OpenApiTypes.DATE, "The last day."),
            SAYS_TAGS,
        ],
        responses={200: OpenApiResponse(FiguresSerializer, "The figures.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        known = read_known(request.user)
        form, by = _read_asked(request.query_params, known)
        filters = form.filters()
        counting, source = Counting(request.user, filters), Source(filters.tags)
        groups = count_by(counting, source, by) if by else []
        return Response(
            {
                "tags": source.value,
                "fewest": FEWEST,
                "total": tell_group(count_all(counting, source)),
                "groups": [{**_name(each, by, known), **tell_group(each)} for each in groups if by],
            }
        )


def _read_asked(params: QueryDict, known: Known) -> tuple[FilterForm, By | None]:
    form = FilterForm(_as_pages_say(params), known.choices(), only=FIELDS, any_build=ANY_BUILD)
    faults = _faults_of_form(form, params, {*form.fields, "by"})
    by = params.get("by", "")
    if by and by not in set(By):
        faults["by"] = [f"Group by one of {', '.join(By)}."]
    if faults:
        raise not_right(faults, at="parameter")
    return form, By(by) if by else None


def _as_pages_say(params: QueryDict) -> dict[str, str]:
    """Pages leave `tags` out where tags are as filed."""
    said = {name: str(params[name]) for name in params}
    if said.get("tags") == Source.FILED.value:
        del said["tags"]
    return said


def _faults_of_form(form: FilterForm, params: QueryDict, names: Container[str]) -> Faults:
    form.full_clean()
    return faults_of_form(form) | faults_of_names(params, names)


def _name(group: Group, by: By | None, known: Known) -> Row:
    key = group.key
    if by == By.SCRIPT:
        titles = {script.slug: script.title for script in known.scripts}
        return {"key": key, "label": titles.get(key, key)}
    if by == By.BUILD:
        return {"key": known.names[key], "label": known.names[key]}
    if by == By.RETURNING:
        return {"key": "yes" if key else "no", "label": "Returning users" if key else "First-time users"}
    day: date = key
    return {"key": day.isoformat(), "label": day.isoformat()}


# --- two builds beside each other ----------------------------------------------------------------------


class ComparisonView(ProgramView):
    needs: ClassVar = {"GET": Scope.FIGURES_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="compare_builds",
        summary="Compare two builds",
        description="Within the scripts that both ran; what only one ran is left out and named. Without names, the "
        "current build and the one before it.",
        tags=["Figures"],
        parameters=[
            asks("build", TEXT, "The name of the build that is asked about."),
            asks("with", TEXT, "The name of the one that it is compared with."),
            *(AREA, RETURNING, SAYS_TAGS),
            asks("unchanged", one_of("yes"), "Leave out scripts whose version changed."),
        ],
        responses={200: OpenApiResponse(ComparisonSerializer, "The comparison.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        user, params = request.user, request.query_params
        choices = choices_for(user)
        form = ComparisonForm(_as_pages_say(params), choices)
        faults = _faults_of_form(form, params, form.fields)
        if params.get("unchanged", "yes") != "yes":
            faults["unchanged"] = ["Say yes, or leave it out."]
        if faults:
            raise not_right(faults, at="parameter")
        two, filters = form.two(user), form.filters()
        if two is None:
            raise not_right({"with": ["There are no two builds to be compared."]}, at="parameter")
        compared = compare_builds(user, two, filters, choices.scripts, without_changed=form.is_unchanged_only)
        return Response(_tell_comparison(compared))


def _tell_comparison(compared: Comparison) -> Row:
    return {
        "build": compared.two.build.name,
        "other": compared.two.other.name,
        "tags": compared.source.value,
        "answer": compared.answer,
        "dimensions": [tell_compared(each) for each in compared.dimensions],
        "scripts": [
            {
                "script": line.slug,
                "title": line.title,
                "runs_build": line.runs.n,
                "runs_other": line.other_runs.n,
                "dimensions": [tell_compared(cell) for cell in line.cells],
            }
            for line in compared.lines
        ],
        "problems": [tell_problem(each) for each in compared.problems],
        "only_build": [tell_left_out(each) for each in compared.only_build],
        "only_other": [tell_left_out(each) for each in compared.only_other],
        "changed": [
            {
                "script": each.slug,
                "title": each.title,
                "versions_build": each.build,
                "versions_other": each.other,
            }
            for each in compared.changed
        ],
    }


# --- agreement of testers ------------------------------------------------------------------------------


class AgreementView(ProgramView):
    needs: ClassVar = {"GET": Scope.FIGURES_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="read_agreement",
        summary="Read how far testers agree",
        description="As it was last worked out, with its time; and where ratings lie the furthest apart on a build: "
        "the current one, unless you name another.",
        tags=["Figures"],
        parameters=[asks("build", TEXT, "The build that `widest` is of.")],
        responses={200: OpenApiResponse(AgreementSerializer, "The agreement.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        user, choices = request.user, choices_for(request.user)
        build = _build_asked(request.query_params, {"build"})
        agreed = tell_agreement(user, choices.scripts, build)
        return Response(
            {
                "answer": agreed.answer,
                "worked_out_at": agreed.worked_out_at and instant(agreed.worked_out_at),
                "alphas": _alphas(user, choices),
                "build": build.name if build else None,
                "widest": [
                    {
                        "script": each.slug,
                        "title": each.title,
                        "dimension": each.dimension.key,
                        "counts": list(each.counts),
                        "n": each.n,
                        "testers": each.testers,
                    }
                    for each in agreed.widest
                ],
            }
        )


def _alphas(user: User, choices: Choices) -> list[Row]:
    """Of the scripts that this person may know; over everything first, then builds, then scripts."""
    names = dict(Build.objects.values_list("sort_key", "name"))
    kept = [
        row for row in read_every_agreement(user) if row.script in {"", *choices.scripts} and row.build in {"", *names}
    ]
    in_order = sorted(kept, key=lambda row: (row.script, row.build, DIMENSION_KEYS.index(row.dimension)))
    return [tell_agreement_row(row, names[row.build] if row.build else None) for row in in_order]


def _build_asked(params: QueryDict, names: Container[str], faults: Faults | None = None) -> Build | None:
    """The build that is named; without a name the current one, else the newest."""
    faults = (faults or {}) | faults_of_names(params, names)
    name = params.get("build", "")
    named = build_called(name)
    if name and named is None:
        faults.setdefault("build", [NO_BUILD])
    if faults:
        raise not_right(faults, at="parameter")
    return named or Build.objects.current_build() or Build.objects.first()


# --- coverage ------------------------------------------------------------------------------------------


class CoverageView(ProgramView):
    needs: ClassVar = {"GET": Scope.FIGURES_READ}
    answers: ClassVar = {"GET": [Kind.NOT_RIGHT]}

    @extend_schema(
        operation_id="read_coverage",
        summary="Read what was run on a build",
        description="Which scripts were run, how often, by how many people, and which were not: on the current build, "
        "unless you name another; held against the round of it that you name, else, as on the page, against the open "
        "one that is due first. `round` says which; null: it has none.",
        tags=["Figures"],
        parameters=[
            asks("build", TEXT, "The name of the build."),
            AREA,
            asks(
                "round",
                {"type": "integer", "minimum": 1},
                "The number of a round of this build. Left out, its open round.",
            ),
        ],
        responses={200: OpenApiResponse(CoverageSerializer, "The coverage.")},
    )
    def get(self, request: ProgramRequest) -> Response:
        user, params = request.user, request.query_params
        area = params.get("area", "")
        faults = {} if area in {"", *choices_for(user).area_of.values()} else {"area": ["There is no such area."]}
        build = _build_asked(params, {"build", "area", "round"}, faults)
        if build is None:
            raise not_right({"build": ["No build is registered yet."]}, at="parameter")
        round_ = _round_asked(user, build, params)
        return Response(_tell_coverage(build, read_coverage(user, build, area, round_)))


def _round_asked(user: User, build: Build, params: QueryDict) -> Round | None:
    rounds = rounds_on(user, build)
    if "round" not in params:
        return next((each for each in rounds if each.closed_at is None), None)
    key = number_in(params["round"])
    found = next((each for each in rounds if each.pk == key), None)
    if found is None:
        raise not_right({"round": ["This build has no such round."]}, at="parameter")
    return found


def _tell_coverage(build: Build, found: Coverage) -> Row:
    return {
        "build": build.name,
        "round": str(found.round.pk) if found.round else None,
        "runs": found.total.count,
        "in_use": found.in_use,
        "run_in_use": found.run_in_use,
        "wanted": found.wanted,
        "missing": found.missing,
        "scripts": [_tell_covered(line) for line in (*found.run, *found.not_run)],
        "testers": [
            {"name": line.name, "runs": line.runs.count, "scripts": [each.title for each in line.ran]}
            for line in found.testers
        ],
    }


def _tell_covered(line: ScriptLine) -> Row:
    return {
        "script": line.slug,
        "title": line.title,
        "area": line.area_name,
        "is_retired": line.is_retired,
        "runs": line.runs.count,
        "people": line.people,
        "last_called_at": line.runs.last and instant(line.runs.last),
        "wanted": line.wanted,
        "missing": line.missing,
    }


urlpatterns = [
    path("figures/", FiguresView.as_view(), name="api_figures"),
    path("figures/comparison/", ComparisonView.as_view(), name="api_comparison"),
    path("figures/agreement/", AgreementView.as_view(), name="api_agreement"),
    path("figures/coverage/", CoverageView.as_view(), name="api_coverage"),
]
