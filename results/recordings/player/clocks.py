"""Places in a recording, as people type and read them."""

from __future__ import annotations

import re

from ...models import as_clock

_CLOCK = re.compile(r"(?:(?:(\d{1,2}):)?(\d{1,4}):)?(\d{1,6}(?:[.,]\d{1,3})?)", re.ASCII)


def read_clock(text: str) -> int | None:
    """Milliseconds of "1:23", "1:02:03", "83" or "83.5"; None for anything else."""
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        return None
    hours, minutes, seconds = found[1] or "0", found[2] or "0", found[3].replace(",", ".")
    return (int(hours) * 60 + int(minutes)) * 60_000 + round(float(seconds) * 1000)


def as_fine_clock(at_ms: int) -> str:
    """To the tenth of a second, rounded down: 1:23.4."""
    return f"{as_clock(at_ms)}.{max(0, at_ms) // 100 % 10}"


def as_seconds(at_ms: int) -> str:
    """As it stands in an address: 83 or 83.5."""
    return f"{at_ms / 1000:.3f}".rstrip("0").rstrip(".")


def say_duration(lasts_ms: int) -> str:
    """How long something lasted, in the unit that suits it: 380 ms, 4.2 s, 1 min 5 s."""
    if lasts_ms < 1000:
        return f"{lasts_ms} ms"
    if lasts_ms < 59_950:
        return f"{lasts_ms / 1000:.1f} s"
    minutes, seconds = divmod(round(lasts_ms / 1000), 60)
    return f"{minutes} min {seconds} s"
