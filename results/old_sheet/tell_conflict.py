"""Tell in which columns a row of the sheet says something else than what was filed, or imported, before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from results.filing.file_result import SheetRow, content_of_filing
from results.filing.rules import without_control_characters
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


def said_by_row(row: GoodRow, unsaid: frozenset[str] = frozenset()) -> Said:
    """What a row says, by column, as a sheet would spell it. `unsaid`: columns that its sheet does not have."""
    said = _told(content_of_filing(row.filing), row.filing.build.name, row.sheet_row)
    return {key: words for key, words in said.items() if key not in unsaid}


def said_now(result: Result) -> Said:
    """The same of a result as it is. `problems` may be prefetched.

    One that was filed here says nothing of the old columns, which no form asks for.
    """
    told = _told(_content_now(result), result.build.name, _beside(result))
    return told if result.sheet_digest else {key: told[key] for key in told if key not in _OLD_WORDS}


def said_by_sheet(result: Result, builds: Mapping[str, Build]) -> Said:
    """What the sheet said of a result then, whatever was corrected since. `problems`, `changes` may be prefetched."""
    content = _content_now(result)
    for change in sorted(result.changes.all(), key=lambda change: -change.version):
        content.update({name: values[0] for name, values in change.fields.items()})
    return _told(content, builds[str(content["build_id"])].name, _beside(result))


_OLD_WORDS = frozenset({"worst_moment", "minute_in_call"})
_READ = (
    *("build_id", "recording_link", *DIMENSION_KEYS, "problem_order"),
    *("comment", "met_emma_before", "camera_note"),
)


def _content_now(result: Result) -> dict[str, object]:
    content: dict[str, object] = {name: getattr(result, name) for name in _READ}
    content["problems"] = [problem.tag for problem in result.problems.all()]
    return content


def _beside(result: Result) -> SheetRow:
    return SheetRow(
        digest=result.sheet_digest,
        worst_moment=result.sheet_worst_moment,
        minute_in_call=result.sheet_minute_in_call,
        browser=result.browser,
        device=result.device,
        connection=result.connection,
    )


def _told(content: Mapping[str, object], build: str, beside: SheetRow) -> dict[str, str]:
    tags = [str(tag) for tag in _listed(content["problems"])]
    order = content["problem_order"] if _are_of_several_groups(tags) else None
    return {
        "build": build,
        "link": str(content["recording_link"]),
        **{key: _rating(key, content[key]) for key in DIMENSION_KEYS},
        "camera_note": _as_read(content["camera_note"]),
        **{problems_key(group): _labels(tag for tag in tags if _is_of(tag, group)) for group in taxonomy.TAG_GROUPS},
        "biggest": _labels(tags[:1]) if order in {ProblemOrder.OVERALL, ProblemOrder.BIGGEST} else "",
        "order": _labels(tags) if order == ProblemOrder.OVERALL else "",
        "comment": _as_read(content["comment"]),
        "returning": "yes" if content["met_emma_before"] else "no",
        "worst_moment": beside.worst_moment,
        "minute_in_call": beside.minute_in_call,
        "browser": beside.browser,
        "device": beside.device,
        "connection": beside.connection,
    }


def _as_read(text: object) -> str:
    """A text as it comes back from a sheet."""
    return without_control_characters(str(text)).strip()


def _listed(value: object) -> Iterable[object]:
    return value if isinstance(value, list | tuple) else ()


def _rating(key: str, value: object) -> str:
    if value is None:
        return "N/A" if key == "vision" else ""
    return str(value)


def _is_of(tag: str, group: taxonomy.TagGroup) -> bool:
    return taxonomy.GROUP_OF_TAG[tag] is group


def _are_of_several_groups(tags: list[str]) -> bool:
    """In one group the first tag is the biggest anyway, and the order is known: a sheet need not name them."""
    return len({taxonomy.GROUP_OF_TAG[tag].key for tag in tags}) > 1


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
