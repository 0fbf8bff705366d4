"""How figures are told to programs: unrounded, each with its n, and null where n is too small for one."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from emma_eval.scoring.intervals import FEWEST, Difference, Share
from scripts_catalog import taxonomy

from ..charts.svg import Reading
from ..counts.read_counts import TagCounts
from ..dashboards.asked import Rows
from ..dashboards.compared import Compared, LeftOut, Problem
from ..dashboards.dimensions import Cell, cells_of
from ..dashboards.grouped import Group
from ..dashboards.readings import share_reading
from ..models import DIMENSION_KEYS, Agreement, Source
from .rows import TAGS, Row, instant

NULLS = f"null where n is under {FEWEST}."
SOURCES = [source.value for source in Source]


# --- counts, means and shares --------------------------------------------------------------------------


def tell_group(group: Group) -> Row:
    counts = group.counts
    return {
        "runs": counts.runs,
        "never_started": counts.never_started,
        "reviewed": counts.reviewed,
        "dimensions": [_tell_cell(cell) for cell in cells_of(counts, Rows(""))],
        "tagged_n": group.tags.n,
        "problems": _tell_tags(group.tags),
    }


def _tell_cell(cell: Cell) -> Row:
    mean = cell.reading
    return {
        "dimension": cell.dimension.key,
        "counts": list(cell.counts),
        "n": mean.n,
        "not_applicable": cell.not_applicable.count,
        "mean": mean.value,
        "low": mean.low,
        "high": mean.high,
    }


def _tell_tags(counts: TagCounts) -> list[Row]:
    """The most frequent first, as the page ranks them."""
    found = [(counts.of(tag), taxonomy.TAG_BY_KEY[tag].label, tag) for tag in counts.tags]
    ranked = sorted(found, key=lambda each: (-each[0].tagged, -each[0].biggest, each[1]))
    return [
        {
            "tag": tag,
            "label": label,
            "tagged": count.tagged,
            "tagged_share": tell_share(counts.tagged(tag)),
            "biggest": count.biggest,
            "biggest_share": tell_share(counts.biggest(tag)),
        }
        for count, label, tag in ranked
    ]


def tell_share(share: Share | None) -> Row:
    return _tell_reading(share_reading(share, ""))


def _tell_reading(reading: Reading) -> Row:
    return {"value": reading.value, "low": reading.low, "high": reading.high, "n": reading.n}


class ReadingSerializer(serializers.Serializer[Any]):
    """A figure with its 95 % interval, which is null where it can't be told; the figure is where n is too small."""

    value = serializers.FloatField(allow_null=True, help_text=NULLS)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(min_value=0)


class RatedSerializer(serializers.Serializer[Any]):
    """How one dimension was rated. N/A is in no mean."""

    dimension = serializers.ChoiceField(choices=DIMENSION_KEYS)
    counts = serializers.ListField(
        child=serializers.IntegerField(min_value=0), help_text="How often it was rated 1, 2, 3, 4 and 5."
    )
    n = serializers.IntegerField(min_value=0, help_text="How many ratings those are.")
    not_applicable = serializers.IntegerField(min_value=0, help_text="Calls without the camera.")
    mean = serializers.FloatField(allow_null=True, help_text=NULLS)
    low = serializers.FloatField(allow_null=True, help_text="Of the 95 % interval (Student's t).")
    high = serializers.FloatField(allow_null=True)


class TaggedSerializer(serializers.Serializer[Any]):
    """How often a problem was tagged, and how often as the biggest; shares with their Wilson intervals."""

    tag = serializers.ChoiceField(choices=TAGS)
    # A field of every serializer goes by this name, too.
    label = serializers.CharField()  # type: ignore[assignment]
    tagged = serializers.IntegerField(min_value=0)
    tagged_share = ReadingSerializer()
    biggest = serializers.IntegerField(min_value=0)
    biggest_share = ReadingSerializer()


class CountedSerializer(serializers.Serializer[Any]):
    """Figures of some results."""

    runs = serializers.IntegerField(min_value=0, help_text="Calls that took place.")
    never_started = serializers.IntegerField(min_value=0)
    reviewed = serializers.IntegerField(min_value=0, help_text="Results of which a review stands.")
    dimensions = RatedSerializer(many=True)
    tagged_n = serializers.IntegerField(
        min_value=0, help_text="Of how many results the problems are: all as filed, those reviewed as reviewed."
    )
    problems = TaggedSerializer(many=True)


class GroupSerializer(CountedSerializer):
    """The same, of one group."""

    key = serializers.CharField(
        help_text="A slug, the name of a build, a Monday, the first day of a month, or yes and no for returning users."
    )
    label = serializers.CharField()  # type: ignore[assignment]


class FiguresSerializer(serializers.Serializer[Any]):
    """What the dashboard says."""

    tags = serializers.ChoiceField(choices=SOURCES, help_text="Whose tags the problems are.")
    fewest = serializers.IntegerField(min_value=1, help_text="The n under which there is no figure.")
    total = CountedSerializer()
    groups = GroupSerializer(many=True, help_text="Empty unless `by` was asked for.")


# --- two builds beside each other ----------------------------------------------------------------------


def tell_compared(each: Compared) -> Row:
    return {
        "dimension": each.dimension.key,
        "build": _tell_reading(each.build.reading),
        "other": _tell_reading(each.other.reading),
        "difference": _tell_difference(each.difference, is_sure=each.is_sure),
        "words": each.words,
    }


def tell_problem(each: Problem) -> Row:
    return {
        "tag": each.tag,
        "label": each.label,
        "build": {"tagged": each.build.part, **_tell_reading(each.build.reading)},
        "other": {"tagged": each.other.part, **_tell_reading(each.other.reading)},
        "difference": _tell_difference(each.difference, is_sure=each.is_sure),
        "words": each.words,
    }


def _tell_difference(found: Difference | None, *, is_sure: bool) -> Row | None:
    """None where there is nothing to compare; without a value where too little is."""
    if found is None:
        return None
    is_small = found.is_too_small
    return {
        "value": None if is_small else found.difference,
        "low": None if is_small else found.low,
        "high": None if is_small else found.high,
        "n_build": found.n_a,
        "n_other": found.n_b,
        "is_shown": found.shows_difference,
        "is_sure": is_sure,
    }


def tell_left_out(each: LeftOut) -> Row:
    return {"script": each.slug, "title": each.title, "runs": each.runs.n}


class DifferenceSerializer(serializers.Serializer[Any]):
    """What the build has more than the other one, compared within scripts that both ran."""

    value = serializers.FloatField(allow_null=True, help_text=NULLS)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_build = serializers.IntegerField(min_value=0)
    n_other = serializers.IntegerField(min_value=0)
    is_shown = serializers.BooleanField(help_text="Whether the data can tell the two apart.")
    is_sure = serializers.BooleanField(help_text="And still can, with all comparisons of its kind taken together.")


class ComparedSerializer(serializers.Serializer[Any]):
    """One dimension on both builds."""

    dimension = serializers.ChoiceField(choices=DIMENSION_KEYS)
    build = ReadingSerializer()
    other = ReadingSerializer()
    difference = DifferenceSerializer(allow_null=True)
    words = serializers.CharField()


class ComparedScriptSerializer(serializers.Serializer[Any]):
    """One script that both builds ran. Of a single script there are differences and n, and no means."""

    script = serializers.SlugField()
    title = serializers.CharField()
    runs_build = serializers.IntegerField(min_value=0)
    runs_other = serializers.IntegerField(min_value=0)
    dimensions = ComparedSerializer(many=True)


class TaggedReadingSerializer(ReadingSerializer):
    """How many of n have a problem, and their share."""

    tagged = serializers.IntegerField(min_value=0)


class ComparedProblemSerializer(serializers.Serializer[Any]):
    """One problem on both builds."""

    tag = serializers.ChoiceField(choices=TAGS)
    label = serializers.CharField()  # type: ignore[assignment]
    build = TaggedReadingSerializer()
    other = TaggedReadingSerializer()
    difference = DifferenceSerializer(allow_null=True)
    words = serializers.CharField()


class RunSerializer(serializers.Serializer[Any]):
    """A script, and how often it was run."""

    script = serializers.SlugField()
    title = serializers.CharField()
    runs = serializers.IntegerField(min_value=0)


class ChangedSerializer(serializers.Serializer[Any]):
    """A script that the two builds ran in other versions."""

    script = serializers.SlugField()
    title = serializers.CharField()
    versions_build = serializers.CharField()
    versions_other = serializers.CharField()


class ComparisonSerializer(serializers.Serializer[Any]):
    """One build against another one, in the scripts that both ran."""

    build = serializers.CharField()
    other = serializers.CharField()
    tags = serializers.ChoiceField(choices=SOURCES)
    answer = serializers.CharField(help_text="In words: is it better, and where?")
    dimensions = ComparedSerializer(many=True)
    scripts = ComparedScriptSerializer(many=True)
    problems = ComparedProblemSerializer(many=True)
    only_build = RunSerializer(many=True, help_text="Left out: the other one did not run them.")
    only_other = RunSerializer(many=True)
    changed = ChangedSerializer(many=True)


# --- agreement of testers ------------------------------------------------------------------------------


def tell_agreement_row(row: Agreement, build: str | None) -> Row:
    alpha, low, high = (None, None, None) if row.is_too_small else (row.alpha, row.low, row.high)
    return {
        "script": row.script or None,
        "build": build,
        "dimension": row.dimension,
        "alpha": alpha,
        "low": low,
        "high": high,
        "why": f"n is too small: under {FEWEST} units." if row.is_too_small else row.why,
        "units": row.units,
        "ratings": row.ratings,
        "testers": row.testers,
        "worked_out_at": instant(row.worked_out_at),
    }


class AlphaSerializer(serializers.Serializer[Any]):
    """Ordinal alpha of Krippendorff over testers who ran the same script on the same build."""

    script = serializers.SlugField(allow_null=True, help_text="null: all scripts.")
    build = serializers.CharField(allow_null=True, help_text="null: all builds.")
    dimension = serializers.ChoiceField(choices=DIMENSION_KEYS)
    alpha = serializers.FloatField(
        allow_null=True, help_text=f"null where it can't be told, or units are under {FEWEST}; `why` says why."
    )
    low = serializers.FloatField(allow_null=True, help_text="Of the 95 % interval (bootstrap).")
    high = serializers.FloatField(allow_null=True)
    why = serializers.CharField(allow_blank=True)
    units = serializers.IntegerField(min_value=0, help_text="Pairs of script and build that several testers rated.")
    ratings = serializers.IntegerField(min_value=0)
    testers = serializers.IntegerField(min_value=0)
    worked_out_at = serializers.DateTimeField()


class ApartSerializer(serializers.Serializer[Any]):
    """Ratings of several testers that lie far apart."""

    script = serializers.SlugField()
    title = serializers.CharField()
    dimension = serializers.ChoiceField(choices=DIMENSION_KEYS)
    counts = serializers.ListField(child=serializers.IntegerField(min_value=0))
    n = serializers.IntegerField(min_value=0)
    testers = serializers.IntegerField(min_value=0)


class AgreementSerializer(serializers.Serializer[Any]):
    """Do the testers agree?"""

    answer = serializers.CharField(help_text="In words.")
    worked_out_at = serializers.DateTimeField(allow_null=True)
    alphas = AlphaSerializer(many=True, help_text="Over everything, by build and by script.")
    build = serializers.CharField(allow_null=True, help_text="Of which `widest` is.")
    widest = ApartSerializer(many=True)


# --- coverage ------------------------------------------------------------------------------------------


class CoveredScriptSerializer(RunSerializer):
    """A script on the build: its runs, by how many people, and what the round wants of it."""

    area = serializers.CharField()
    is_retired = serializers.BooleanField()
    people = serializers.IntegerField(min_value=0)
    last_called_at = serializers.DateTimeField(allow_null=True)
    wanted = serializers.IntegerField(
        allow_null=True, help_text="null: the round does not ask for it, or none is named."
    )
    missing = serializers.IntegerField(min_value=0)


class CoveringTesterSerializer(serializers.Serializer[Any]):
    """What somebody ran."""

    name = serializers.CharField()
    runs = serializers.IntegerField(min_value=0)
    scripts = serializers.ListField(child=serializers.CharField(), help_text="Their titles, most runs first.")


class CoverageSerializer(serializers.Serializer[Any]):
    """What was run on a build, by whom, and what was not."""

    build = serializers.CharField()
    round = serializers.CharField(allow_null=True, help_text="The number of the round that it is held against.")
    runs = serializers.IntegerField(min_value=0)
    in_use = serializers.IntegerField(min_value=0, help_text="Scripts in use.")
    run_in_use = serializers.IntegerField(min_value=0, help_text="Of those, how many were run.")
    wanted = serializers.IntegerField(min_value=0)
    missing = serializers.IntegerField(min_value=0)
    scripts = CoveredScriptSerializer(many=True, help_text="Those that were not run come last.")
    testers = CoveringTesterSerializer(many=True)
