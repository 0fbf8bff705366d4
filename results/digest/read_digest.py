"""What a digest says: a week's runs, ratings and problems beside the week before, and how far the open rounds are.

Nothing of Safety is ever in it, whoever its owner is: a letter lies in mailboxes and goes through other people's
machines. So everything is read as if the owner were not trained, and the view's name, which its owner typed, is left
out; a view that is about Safety has no digest at all. The links leave Safety out, too, so that a trained owner finds as
many rows as the letter counts. The owner's rights are those of the moment at which it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import Difference, Mean, Share, difference_of
from scripts_catalog import taxonomy
from scripts_catalog.models import Build
from scripts_catalog.names import ANY_BUILD

from ..counts.read_counts import Key, RatingCounts, TagCounts, read_rows, read_tags
from ..listing.chips import chips_of
from ..listing.choices import Choices, choices_for
from ..listing.filter_form import FilterForm
from ..listing.filters import Filters
from ..listing.list_results import Asked as Listed
from ..markup import apart
from ..models import Result, Round, SavedView, Source
from ..rounds.progress import Progress, progress_of
from ..saved_views.addresses import OF_DASHBOARDS, Address, read_address
from .due import Week

MOST_PROBLEMS = 5


@dataclass(frozen=True)
class Rated:
    """One dimension: its mean in the week and in the week before, and how far they differ, script by script."""

    dimension: taxonomy.Dimension
    now: Mean | None
    before: Mean | None
    difference: Difference | None
    filters: Filters


@dataclass(frozen=True)
class Tagged:
    """One problem: on how many of the week's results it was tagged, and on how many as the biggest."""

    tag: taxonomy.Tag
    tagged: Share
    biggest: Share
    filters: Filters


@dataclass(frozen=True)
class Said:
    """A digest of one week. `filters` find its rows, `earlier` those of the week before."""

    week: Week
    address: Address
    filters: Filters
    earlier: Filters
    now: RatingCounts
    before: RatingCounts
    rated: tuple[Rated, ...]
    often: tuple[Tagged, ...]
    biggest: tuple[Tagged, ...]
    source: Source
    rounds: tuple[Progress, ...]
    script: str
    days: str = ""

    @property
    def about(self) -> str:
        """What it is narrowed to, in words."""
        area = taxonomy.AREA_NAMES.get(self.filters.area, "")
        return " · ".join(filter(None, (self._build(), area, apart(self.script), self._users())))

    def _users(self) -> str:
        met = self.filters.met_emma_before
        return "" if met is None else "returning users" if met else "first-time users"

    def _build(self) -> str:
        return f"build {apart(self.filters.build)}" if self.filters.build else "every build"


def read_digest(view: SavedView, week: Week) -> Said | None:
    """The digest of a view; None where its owner may not have it (any more), or where the view has none."""
    reader = _as_untrained(view.owner_id)
    address = read_address(view.path, view.query)
    if reader is None or address is None or not address.page.can_be_mailed or address.names_safety():
        return None
    choices = choices_for(reader)
    narrowed = _filters(address, choices)
    of_runs = narrowed.but(tags=Source.FILED.value, with_safety=False)
    filters, earlier = _of(of_runs, week), _of(of_runs, week.before)
    now, before = _counts(reader, filters), _counts(reader, earlier)
    source = Source.REVIEWED if narrowed.is_as_reviewed else Source.FILED
    tags = read_tags(filters.narrow(Result.objects.visible_to(reader)), source).get((), TagCounts(source))
    of_tags = filters.but(tags=source.value)
    rounds = Round.objects.visible_to(reader).open().select_related("build").most_pressing_first()
    return Said(
        week=week,
        address=address,
        filters=filters,
        earlier=earlier,
        now=sum(now.values(), RatingCounts()),
        before=sum(before.values(), RatingCounts()),
        rated=tuple(_rated(dimension, now, before, filters) for dimension in taxonomy.DIMENSIONS),
        often=_ranked(tags, of_tags, "tagged"),
        biggest=_ranked(tags, of_tags, "biggest"),
        source=source,
        rounds=tuple(progress_of(reader, rounds)),
        script=choices.scripts.get(narrowed.script, ""),
        days=_days(address, choices),
    )


def _as_untrained(pk: int) -> User | None:
    """The owner with the rights of now, but for training; None for one who may not open dashboards."""
    owner = User.objects.with_rights(pk)
    if owner is None or not owner.is_active or not owner.has_role(*OF_DASHBOARDS):
        return None
    owner.is_trained = False
    return owner


def _filters(address: Address, choices: Choices) -> Filters:
    """What the page is narrowed to, but for its days; like the page, it counts the current build unless another is
    asked for."""
    said = dict(address.params)
    current = Build.objects.current_build()
    said["build"] = said.get("build") or (current.name if current else ANY_BUILD)
    if address.script:
        said["script"] = address.script
    form = FilterForm(said, choices, only=("build", "area", "script", "returning", "tags"), any_build=ANY_BUILD)
    return form.filters()


def _days(address: Address, choices: Choices) -> str:
    """In words, the days that the page is narrowed to: a letter has its own."""
    form = FilterForm(dict(address.params), choices, only=("period", "from", "to"))
    return ", ".join(chip.words for chip in chips_of(Listed(form.filters()), choices)).lower()


def _of(filters: Filters, week: Week) -> Filters:
    return filters.but(first_day=week.first_day, last_day=week.last_day)


def _counts(reader: User, filters: Filters) -> Mapping[Key, RatingCounts]:
    return read_rows(filters.narrow(Result.objects.visible_to(reader)), by=("script",))


def _rated(
    dimension: taxonomy.Dimension,
    now: Mapping[Key, RatingCounts],
    before: Mapping[Key, RatingCounts],
    filters: Filters,
) -> Rated:
    key = dimension.key
    none = RatingCounts()
    pairs = [(now.get(script, none).counts[key], before.get(script, none).counts[key]) for script in {*now, *before}]
    return Rated(
        dimension=dimension,
        now=_mean(now.values(), key),
        before=_mean(before.values(), key),
        difference=difference_of(pairs),
        filters=filters.but(started=True, dimension=key, low=1, high=5),
    )


def _mean(counts: Iterable[RatingCounts], key: str) -> Mean | None:
    return sum(counts, RatingCounts()).mean(key)


def _ranked(tags: TagCounts, filters: Filters, by: str) -> tuple[Tagged, ...]:
    """The most of them first; a problem that is nobody's biggest has no place among the biggest."""
    found = []
    for key, count in tags.tags.items():
        tagged, biggest = tags.tagged(key), tags.biggest(key)
        if tagged and biggest and getattr(count, by):
            narrowed = filters.but(problem=key, is_biggest=by == "biggest")
            found.append(Tagged(taxonomy.TAG_BY_KEY[key], tagged, biggest, narrowed))
    found.sort(key=lambda each: (-getattr(each, by).part, each.tag.label))
    return tuple(found[:MOST_PROBLEMS])
