"""What a reviewer's tags differ in from the tester's: added, taken out, or in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scripts_catalog import taxonomy


@dataclass(frozen=True)
class Comparison:
    """Keys of tags. `is_reordered`: those that both have stand in another order."""

    added: tuple[str, ...]
    taken_out: tuple[str, ...]
    is_reordered: bool

    @property
    def is_same(self) -> bool:
        return not (self.added or self.taken_out or self.is_reordered)

    @property
    def in_words(self) -> str:
        """Such as "1 added, 2 taken out"; the page says the same while tags are changed (review.js)."""
        said = (
            f"{len(self.added)} added" if self.added else "",
            f"{len(self.taken_out)} taken out" if self.taken_out else "",
            "another order" if self.is_reordered else "",
        )
        return ", ".join(filter(None, said)) or "the same as the tester’s"


def compare_tags(filed: Sequence[str], reviewed: Sequence[str]) -> Comparison:
    kept_before = [tag for tag in filed if tag in reviewed]
    kept_after = [tag for tag in reviewed if tag in filed]
    return Comparison(
        added=tuple(tag for tag in reviewed if tag not in filed),
        taken_out=tuple(tag for tag in filed if tag not in reviewed),
        is_reordered=kept_before != kept_after,
    )


def label_of(tag: str) -> str:
    return taxonomy.TAG_BY_KEY[tag].label if tag in taxonomy.TAG_BY_KEY else tag
