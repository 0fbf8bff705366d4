"""Tell in which columns a row of the sheet says something else than what was filed, or imported, before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from results.filing.file_result import content_of_filing
from results.models import DIMENSION_KEYS, ProblemOrder, Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build

from .read_row import MOST_VALUE_CHARACTERS, GoodRow
from .read_sheet import COLUMNS, problems_key

Said = Mapping[str, str]
WORDS_BEFORE = 40


@dataclass(frozen=True)
class Difference:
    """One column, by its name: what the row says there, and what was said before."""

    column: str
    row: str
    before: str


def differences(before: Said, row: Said) -> list[Difference]:
    """The columns that differ, in the order of the sheet. What only one of both knows of is no difference."""
    return [
        Difference(column.name, *_in_short(row[column.key], before[column.key]))
        for column in COLUMNS
        if column.key in before and column.key in row and before[column.key] != row[column.key]
    ]


def said_by_row(row: GoodRow) -> Said:
    """What a row says, by column, as a sheet would spell it."""
    said = _told(content_of_filing(row.filing), row.filing.build.name)
    return {**said, **_old_words(row.sheet_row.worst_moment, row.sheet_row.minute_in_call)}


def said_before(result: Result, builds: Mapping[str, Build]) -> Said:
    """The same of a result. `problems` and `changes` may be prefetched.

    One that came from a sheet says what the sheet said then, whatever was corrected since. One that was filed here
    says what it says now, and nothing of the old columns, which no form asks for.
    """
    content: dict[str, object] = {name: getattr(result, name) for name in _READ}
    content["problems"] = [problem.tag for problem in result.problems.all()]
    if not result.sheet_digest:
        return _told(content, result.build.name)
    for change in sorted(result.changes.all(), key=lambda change: -change.version):
        content.update({name: values[0] for name, values in change.fields.items()})
    told = _told(content, builds[str(content["build_id"])].name)
    return {**told, **_old_words(result.sheet_worst_moment, result.sheet_minute_in_call)}


_READ = ("build_id", "recording_link", *DIMENSION_KEYS, "problem_order", "comment", "met_emma_before")


def _told(content: Mapping[str, object], build: str) -> dict[str, str]:
    tags = [str(tag) for tag in _listed(content["problems"])]
    return {
        "build": build,
        "link": str(content["recording_link"]),
        **{key: _rating(key, content[key]) for key in DIMENSION_KEYS},
        **{problems_key(group): _labels(tag for tag in tags if _is_of(tag, group)) for group in taxonomy.TAG_GROUPS},
        "biggest": _labels(tags[:1]) if _names_the_biggest(tags, content["problem_order"]) else "",
        "comment": str(content["comment"]),
        "returning": "yes" if content["met_emma_before"] else "no",
    }


def _old_words(worst_moment: str, minute_in_call: str) -> dict[str, str]:
    return {"worst_moment": worst_moment, "minute_in_call": minute_in_call}


def _listed(value: object) -> Iterable[object]:
    return value if isinstance(value, list | tuple) else ()


def _rating(key: str, value: object) -> str:
    if value is None:
        return "N/A" if key == "vision" else ""
    return str(value)


def _is_of(tag: str, group: taxonomy.TagGroup) -> bool:
    return taxonomy.GROUP_OF_TAG[tag] is group


def _names_the_biggest(tags: list[str], order: object) -> bool:
    """In one group the first tag is the biggest anyway, so a sheet need not name it."""
    return order != ProblemOrder.GROUPS and len({taxonomy.GROUP_OF_TAG[tag].key for tag in tags}) > 1


def _labels(tags: Iterable[str]) -> str:
    return ", ".join(taxonomy.TAG_BY_KEY[tag].label for tag in tags)


def _in_short(one: str, other: str) -> tuple[str, str]:
    """Both texts from shortly before they part, so that a difference late in a long comment is seen."""
    if max(len(one), len(other)) <= MOST_VALUE_CHARACTERS:
        return one, other
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    start = max(0, same - WORDS_BEFORE)
    return _cut(one, start), _cut(other, start)


def _cut(text: str, start: int) -> str:
    shown = text[start : start + MOST_VALUE_CHARACTERS]
    return f"{'…' if start else ''}{shown}{'…' if len(text) > start + MOST_VALUE_CHARACTERS else ''}"
