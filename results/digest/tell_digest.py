"""A digest as an event: the figures of the letter, for programs, told to the endpoints of its owner alone."""

from __future__ import annotations

from django.conf import settings

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import Difference, Mean, Share
from emma_eval.webhooks import kinds

from ..models import Digest
from ..rounds.progress import Progress
from .due import week_told_of
from .read_digest import Rated, Said, Tagged, read_digest
from .write_letter import rows

WEEKLY = "digest.weekly"


@kinds.tells(WEEKLY, "A weekly digest", "Of each of your views that comes by mail each week, on Mondays.")
def tell_digest(owner: User, subject: str) -> kinds.Said | None:
    """The figures of a digest; None for somebody else's, and where its owner may not have it any more."""
    digest = Digest.objects.filter(pk=int(subject), view__owner=owner).select_related("view").first()
    said = read_digest(digest.view, week_told_of(digest.week)) if digest else None
    return _told(said) if said else None


def _told(said: Said) -> kinds.Said:
    return {
        "from": said.week.first_day.isoformat(),
        "to": said.week.last_day.isoformat(),
        "about": said.about,
        "url": settings.ORIGIN + said.address.url,
        "runs": {"n": said.now.runs, "week_before": said.before.runs, "rows": rows(said.filters.but(started=True))},
        "never_started": {"n": said.now.never_started, "week_before": said.before.never_started},
        "ratings": [_rated(rated) for rated in said.rated],
        "tags": said.source.value,
        "problems_by_count": [_tagged(each, each.tagged) for each in said.often],
        "problems_by_biggest": [_tagged(each, each.biggest) for each in said.biggest],
        "rounds": [_round(progress) for progress in said.rounds],
    }


def _rated(rated: Rated) -> kinds.Said:
    return {
        "dimension": rated.dimension.key,
        "this_week": _mean(rated.now),
        "week_before": _mean(rated.before),
        "difference": _difference(rated.difference),
        "rows": rows(rated.filters),
    }


def _mean(mean: Mean | None) -> kinds.Said | None:
    """No figure stands where n is too small for one."""
    if mean is None:
        return None
    shown = None if mean.is_too_small else mean
    return {
        "n": mean.n,
        "mean": shown and shown.mean,
        "low": shown and shown.low,
        "high": shown and shown.high,
    }


def _difference(difference: Difference | None) -> kinds.Said | None:
    if difference is None or difference.is_too_small:
        return None
    return {
        "difference": difference.difference,
        "low": difference.low,
        "high": difference.high,
        "n": [difference.n_a, difference.n_b],
        "is_shown": difference.shows_difference,
    }


def _tagged(each: Tagged, share: Share) -> kinds.Said:
    told = {"tag": each.tag.key, "label": each.tag.label, "count": share.part, "n": share.n, "rows": rows(each.filters)}
    if share.is_too_small:
        return told
    return {**told, "share": share.share, "low": share.low, "high": share.high}


def _round(progress: Progress) -> kinds.Said:
    round_ = progress.round
    return {
        "name": round_.name,
        "build": round_.build.name,
        "due_on": round_.due_on and round_.due_on.isoformat(),
        "wanted": progress.wanted,
        "done": progress.counted,
        "missing": progress.missing,
        "url": settings.ORIGIN + round_.get_absolute_url(),
    }
