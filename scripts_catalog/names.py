"""What a name may hold that people read and pick by, and when two names of builds are one.

One rule for the forms, for programs and for sheets. A name that was kept before the rule stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from .models import Build, sort_key_of

# Stands in addresses for every build, so no build can have this name.
ANY_BUILD = "any"
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Letters and marks that are drawn as nothing: fillers, a joiner, the blank of Braille, what picks a variant.
BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
# They shape letters of some scripts, and emoji: part of a title, but not of what is told apart by its letters.
SHAPING = {"\u200c", "\u200d", *map(chr, range(0xFE00, 0xFE10))}


def unseen_in(name: str, but: Iterable[str] = ()) -> str:
    """The first sign that can't be seen, as U+200B; empty where there is none."""
    allowed = set(but)
    found = (sign for sign in name if sign not in allowed and _is_unseen(sign))
    return next((f"U+{ord(sign):04X}" for sign in found), "")


def fault_of_title(name: str) -> str:
    """What is wrong with a name that people read; empty if nothing is."""
    sign = unseen_in(name, SHAPING)
    if sign:
        return f"It holds a character that can't be seen ({sign}). Type it anew."
    return "" if any(not _is_unseen(each) for each in name) else "It holds nothing that can be seen."


def fault_of_build(name: str) -> str:
    """What is wrong with the name of a new build; empty if nothing is."""
    sign = unseen_in(name)
    if sign:
        return f"The name holds a character that can't be seen ({sign}). Type it anew."
    if name != " ".join(name.split()):
        return "The name begins or ends with a space, or has two of them in a row."
    if look_of(name) == ANY_BUILD:
        return f"“{ANY_BUILD}” stands for every build, so no build can have this name."
    return "The name holds too many numbers." if len(sort_key_of(name)) > 160 else ""


def look_of(name: str) -> str:
    """The same for names that look alike: whatever the width of their letters, their case and their leading zeros."""
    return sort_key_of(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()))


def build_like(name: str) -> Build | None:
    """The build of this name, or else one that looks like it. Of builds there are few, so all are looked at."""
    look = look_of(name)
    alike = (build for build in Build.objects.all() if look_of(build.name) == look)
    return Build.objects.named(name) or next(alike, None)


def _is_unseen(sign: str) -> bool:
    return unicodedata.category(sign) in UNSEEN or bool(BLANK.match(sign))
