"""Make what was sent or copied playable, in the child: by what it is, not by what it is called."""

from __future__ import annotations

from pathlib import Path

from .kinds import BadMediaError
from .looking import look
from .opening import DAMAGED, opened, packets_of, picture_track, seconds, sound_track, tracks_of
from .writing import Source, Stretch, plan_for, write

_PACKETS_LOOKED_AT = 5_000  # for the first of each track: some minutes
_CODECS_RUN_UP_S = 0.1


def take_in(path: Path, out_folder: Path) -> Path:
    """The playable file: re-muxed always, which drops all else that it held; encoded where no browser plays it."""
    media = look(path)
    lasts_s = media.duration_ms / 1000
    first_s = _first_s(path)
    with opened(path) as container:
        is_cut = first_s < -_CODECS_RUN_UP_S
        plan = plan_for(picture_track(container), sound_track(container), lasts_s, is_cut=is_cut)
    begins_s = max(0.0, first_s)
    out = out_folder / f"media.{plan.container}"
    write([Source(path, [Stretch(begins_s, begins_s + lasts_s, 0.0)])], out, plan)
    return out


def _first_s(path: Path) -> float:
    """When what it holds begins. Players count from there, or from zero: what lies before that is only decoded."""
    first: dict[str, float] = {}
    with opened(path) as container:
        tracks = tracks_of(container)
        for number, packet in enumerate(packets_of(container, *tracks)):
            if packet.pts is not None:
                first.setdefault(packet.stream.type, seconds(packet.pts, packet.time_base))
            if len(first) == len(tracks) or number > _PACKETS_LOOKED_AT:
                break
    if not first:
        raise BadMediaError(DAMAGED)
    return min(first.values())
