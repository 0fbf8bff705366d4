"""Did it come back? What a ticket is about, counted on its own build and on each later one, as filed.

Counted like the problems of the dashboards: of all results that the viewer may see, those that have the tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import Share, share_of
from scripts_catalog.models import Build

from ..counts.read_counts import TagCounts, read_month_tags
from ..figures import say_share
from ..listing.filters import Filters
from ..models import Problem, Result, Source, Ticket

CAME_BACK, STILL_THERE, NOT_SEEN = "came back", "still there", "not seen"
NOT_RUN, CANT_TELL = "not run", "can't tell"
MOST_NAMED = 3


@dataclass(frozen=True)
class OnBuild:
    """How many of a build's calls had the problem; `calls` and `tagged` are the queries of those rows."""

    build: Build
    share: Share
    calls: str
    tagged: str

    @property
    def words(self) -> str:
        """What a build says by itself, beside what others say."""
        n = f"{self.share.n} call{'' if self.share.n == 1 else 's'}"
        if self.is_seen:
            return f"{self.share.part} of {n} on {self.build}{', too few to say how often' * self.share.is_too_small}"
        if self.share.is_too_small:
            return f"not seen in {n} on {self.build}, too few to tell"
        return f"not seen in {n} on {self.build} (up to {say_share(self.share.high)} could still have it)"

    @property
    def is_seen(self) -> bool:
        return self.share.part > 0

    @property
    def is_gone(self) -> bool:
        """Not seen, in enough calls to tell."""
        return not self.is_seen and not self.share.is_too_small

    @property
    def counted(self) -> str:
        return f"{self.share.part} of {self.share.n}"


@dataclass(frozen=True)
class CameBack:
    """A ticket's own build, if it was run there, and the later ones that were run, the newest first."""

    own: OnBuild | None
    later: list[OnBuild]
    is_tagged: bool = True

    @property
    def state(self) -> str:
        if not self.is_tagged:
            return CANT_TELL
        if not self.later:
            return NOT_RUN
        if self._back:
            return CAME_BACK
        if self._still:
            return STILL_THERE
        return CANT_TELL if all(each.share.is_too_small for each in self.later) else NOT_SEEN

    @property
    def _still(self) -> list[OnBuild]:
        """The builds that had it before one had it no more, the oldest first; only those with enough calls, if any."""
        return _strongest(self._seen(lambda key: not self._gone or key < self._gone))

    @property
    def _back(self) -> list[OnBuild]:
        """Those that had it after one had it no more: only then did it come back."""
        return _strongest(self._seen(lambda key: bool(self._gone) and key > self._gone))

    @property
    def _gone(self) -> str:
        """The sort key of the oldest build that shows that it was gone; empty if none does."""
        return min((each.build.sort_key for each in self.later if each.is_gone), default="")

    def _seen(self, is_wanted: Callable[[str], bool]) -> list[OnBuild]:
        return [each for each in reversed(self.later) if each.is_seen and is_wanted(each.build.sort_key)]

    @property
    def _beside(self) -> list[OnBuild]:
        """What is newer than all that had it: the newest build with enough calls, and the newest, if it has fewer."""
        named = max((each.build.sort_key for each in (*self._still, *self._back)), default="")
        newer = [each for each in self.later if each.build.sort_key > named]
        enough = [each for each in newer if not each.share.is_too_small]
        return [*enough[:1], *(each for each in newer[:1] if each.share.is_too_small)]

    @property
    def verdict(self) -> str:
        """All later builds have a say, so that a call or two on the newest hide nothing: first where it was seen."""
        if not self.is_tagged:
            return "no problem is tagged, so there is nothing to look for"
        if not self.later:
            return "not run yet on a later build"
        seen = [_on("still there", self._still), _on("came back", self._back)]
        told = [", ".join(filter(None, seen)), *(each.words for each in self._beside)]
        return "; ".join(filter(None, told))


def _strongest(builds: list[OnBuild]) -> list[OnBuild]:
    """Those with enough calls to say how often; all of them where none has."""
    return [each for each in builds if not each.share.is_too_small] or builds


def _on(what: str, builds: list[OnBuild]) -> str:
    """Of each build how many of its calls; where they are all too few to say how often it is so, that too."""
    if not builds:
        return ""
    listed = builds[-MOST_NAMED:]
    names = _listed([str(each.build) for each in listed])
    calls = f"{_listed([each.counted for each in listed])} call{'' if builds[-1].share.n == 1 else 's'}"
    few = ", too few to say how often" if all(each.share.is_too_small for each in listed) else ""
    return f"{what} on {names} ({calls}{few})"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


Kept = Mapping[str, TagCounts]


@dataclass(frozen=True)
class _Looked:
    """What is looked for: a tag (or any of those of a result), on one script or on all."""

    script: str
    tags: tuple[str, ...]


def came_back(user: User, tickets: Iterable[Ticket]) -> dict[int, CameBack]:
    """For each ticket, by its key, what this person may know of the builds since."""
    builds = list(Build.objects.order_by("-sort_key"))
    kept: dict[str, Kept] = {}
    found = {}
    for ticket in tickets:
        looked = _looked_for(ticket)
        if looked.script not in kept:
            kept[looked.script] = _kept_by_build(user, looked.script)
        found[ticket.pk] = _of_ticket(ticket, looked, _shares(user, looked, kept[looked.script]), builds)
    return found


def _kept_by_build(user: User, script: str) -> Kept:
    """By the sort key of each build: one question for all tickets of a script."""
    kept = read_month_tags(user, Source.FILED, script=script or None, by=("build",))
    return {str(build): counts for (build,), counts in kept.items()}


def _looked_for(ticket: Ticket) -> _Looked:
    script = ticket.script_id or (ticket.result.script_id if ticket.result else "")
    if ticket.tag or ticket.result is None:
        return _Looked(script, (ticket.tag,))
    return _Looked(script, tuple(problem.tag for problem in ticket.result.problems.all()))


def _shares(user: User, looked: _Looked, kept: Kept) -> dict[str, Share]:
    """By the sort key of each build that was run at all."""
    if not looked.tags:
        return {}
    if len(looked.tags) == 1:
        counts = {build: (tags.of(looked.tags[0]).tagged, tags.n) for build, tags in kept.items()}
    else:
        counts = _counted_in_rows(user, looked)
    shares = {build: share_of(part, n) for build, (part, n) in counts.items()}
    return {build: share for build, share in shares.items() if share is not None}


def _counted_in_rows(user: User, looked: _Looked) -> dict[str, tuple[int, int]]:
    """Kept months know single tags alone; which results have any of several, only the results know."""
    has_one = Exists(Problem.objects.filter(result=OuterRef("pk"), tag__in=looked.tags))
    rows = Result.objects.visible_to(user).filter(script_id=looked.script).alias(has_one=has_one)
    counted = rows.order_by().values("build").annotate(n=Count("id"), part=Count("id", filter=Q(has_one=True)))
    return {row["build"]: (row["part"], row["n"]) for row in counted}


def _of_ticket(ticket: Ticket, looked: _Looked, shares: Mapping[str, Share], builds: list[Build]) -> CameBack:
    run = [_on_build(build, looked, shares[build.sort_key]) for build in builds if build.sort_key in shares]
    own = next((each for each in run if each.build.sort_key == ticket.build_id), None)
    later = [each for each in run if each.build.sort_key > ticket.build_id]
    return CameBack(own, later, is_tagged=bool(looked.tags))


def _on_build(build: Build, looked: _Looked, share: Share) -> OnBuild:
    calls = Filters(build=build.name, script=looked.script)
    tagged = calls.but(problem=looked.tags[0]) if len(looked.tags) == 1 else calls
    return OnBuild(build, share, calls.query(), tagged.query())
