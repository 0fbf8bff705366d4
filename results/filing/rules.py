"""What makes a filing right. One set of rules for the form, the import of sheets, and programs.

A filing is what a tester says of one script run on one call, already typed. Each broken rule is a Fault:
the field it belongs to and a code; form and import each have their own words for a code.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from scripts_catalog import taxonomy
from scripts_catalog.models import Build, ScriptVersion

from ..models import ALWAYS_RATED, MOST_COMMENT_CHARACTERS, MOST_NOTE_CHARACTERS, ProblemOrder
from .links import BLANK_LETTERS, is_only_too_long, is_public_link

STUCK_START = "stuck_start"
CLOCKS_MAY_DIFFER_BY = timedelta(minutes=5)
NOBODY_CALLED_BEFORE = datetime(2000, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"([+-]?[0-9]{1,20})(\.[0-9]{0,20})?")
# Unicode's categories Cc and Cs, which grow no more; tab and line end stay.
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class Ratings:
    """Six ratings of 1-5. None: not rated; for Vision, N/A."""

    listening_timing: int | None = None
    content: int | None = None
    voice_audio: int | None = None
    face_video: int | None = None
    emotional_fit: int | None = None
    vision: int | None = None

    def __getitem__(self, key: str) -> int | None:
        value: int | None = getattr(self, key)
        return value

    def given(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self) if self[field.name] is not None)


@dataclass(frozen=True)
class Filing:
    """Everything that is filed of one script on one call. `problems` are tag keys, the biggest first.

    `needs_camera_note` is off for sheets, which have no place for the word why.
    """

    script_version: ScriptVersion
    build: Build
    called_at: datetime
    ratings: Ratings
    camera_used: bool = False
    camera_note: str = ""
    never_started: bool = False
    problems: tuple[str, ...] = ()
    problem_order: ProblemOrder = ProblemOrder.OVERALL
    comment: str = ""
    met_emma_before: bool = False
    recording_link: str = ""
    needs_camera_note: bool = True


class Code(StrEnum):
    """Every way in which a filing can be wrong."""

    MISSING = "missing"
    NOT_WHOLE = "not whole"
    OUT_OF_RANGE = "out of range"
    RATED_WITHOUT_CALL = "rated without call"
    RATED_WITHOUT_CAMERA = "rated without camera"
    CAMERA_WITHOUT_CALL = "camera without call"
    NEEDS_CAMERA_NOTE = "needs camera note"
    UNKNOWN_TAG = "unknown tag"
    DOUBLED_TAG = "doubled tag"
    RETIRED_TAG = "retired tag"
    NEEDS_A_NOTE = "needs a note"
    NOT_A_LINK = "not a link"
    LINK_TOO_LONG = "link too long"
    IN_THE_FUTURE = "in the future"
    LONG_AGO = "long ago"
    TOO_LONG = "too long"
    RETIRED_SCRIPT = "retired script"


@dataclass(frozen=True)
class Fault:
    """One broken rule: which field, which rule, and the value or tag it is about."""

    field: str
    code: Code
    about: str = ""


def read_rating(text: str) -> int | Code | None:
    """A rating as typed: 1-5, None for empty, or what is wrong with it.

    A spreadsheet's 4.0 is 4, and so is the full-width digit of a Chinese keyboard; 1e0 or 0x4 is no rating.
    """
    text = unicodedata.normalize("NFKC", text).strip()
    if not text:
        return None
    number = _NUMBER.fullmatch(text)
    if number is None or (number[2] or "").strip(".0"):
        return Code.NOT_WHOLE
    return int(number[1]) if 1 <= int(number[1]) <= 5 else Code.OUT_OF_RANGE


def without_control_characters(text: str) -> str:
    """Text as it is kept: one kind of line end, and no control characters but tab and line end."""
    if text.isprintable():
        return text
    return _CONTROL_CHARACTERS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def text_as_kept(text: str) -> str:
    """A comment, a note or a link as it is kept: without control characters, and without spaces around it."""
    return without_control_characters(text).strip()


def as_kept(filing: Filing) -> Filing:
    """A filing without what can't be meant: what is kept of it is judged, and nothing else.

    Nothing could be shown on a call that never started, whatever the camera's default says, and such a call has its
    own problem first. Why the camera was not used is asked where a script uses it.
    """
    camera_used = filing.camera_used and not filing.never_started
    explains_camera = filing.script_version.uses_camera and not camera_used and not filing.never_started
    is_tag_missing = filing.never_started and STUCK_START not in filing.problems
    return replace(
        filing,
        camera_used=camera_used,
        camera_note=filing.camera_note if explains_camera else "",
        problems=(STUCK_START, *filing.problems) if is_tag_missing else filing.problems,
    )


def has_words(text: str) -> bool:
    """Whether there is at least one letter or digit: spaces, dots and invisible marks are no words."""
    return any(character.isalnum() and character not in BLANK_LETTERS for character in text)


def faults_of(filing: Filing, now: datetime, *, kept_tags: frozenset[str] = frozenset()) -> list[Fault]:
    """Every broken rule of a filing, in the order of the form. `kept_tags`: retired ones it already had."""
    return [
        *_faults_of_the_call(filing, now),
        *(_faults_without_a_call(filing) if filing.never_started else _faults_of_the_ratings(filing)),
        *_faults_of_the_problems(filing, kept_tags),
        *_faults_of_the_comment(filing),
    ]


def _faults_of_the_call(filing: Filing, now: datetime) -> list[Fault]:
    found = []
    if filing.called_at > now + CLOCKS_MAY_DIFFER_BY:
        found.append(Fault("called_at", Code.IN_THE_FUTURE))
    if filing.called_at < NOBODY_CALLED_BEFORE:
        found.append(Fault("called_at", Code.LONG_AGO))
    version = filing.script_version
    retired_at = version.script.retired_at if hasattr(version, "script") else None
    if retired_at is not None and filing.called_at > retired_at:
        found.append(Fault("called_at", Code.RETIRED_SCRIPT))
    wrong_link = fault_of_link(filing.recording_link)
    return found if wrong_link is None else [*found, wrong_link]


def fault_of_link(link: str) -> Fault | None:
    """What is wrong with a recording link; an empty one is only missing yet."""
    if not link or is_public_link(link):
        return None
    if is_only_too_long(link):
        return Fault("recording_link", Code.LINK_TOO_LONG, str(len(link)))
    return Fault("recording_link", Code.NOT_A_LINK)


def _faults_without_a_call(filing: Filing) -> list[Fault]:
    """A call that never started has its tag and a comment, and nothing that somebody could have seen or heard."""
    found = [Fault(key, Code.RATED_WITHOUT_CALL) for key in filing.ratings.given()]
    if filing.camera_used:
        found.append(Fault("camera_used", Code.CAMERA_WITHOUT_CALL))
    if STUCK_START not in filing.problems:
        found.append(Fault("problems", Code.MISSING, STUCK_START))
    return found


def _faults_of_the_ratings(filing: Filing) -> list[Fault]:
    expected = (*ALWAYS_RATED, "vision") if filing.camera_used else ALWAYS_RATED
    found = [Fault(key, Code.MISSING) for key in expected if filing.ratings[key] is None]
    for key in filing.ratings.given():
        if not 1 <= (filing.ratings[key] or 0) <= 5:
            found.append(Fault(key, Code.OUT_OF_RANGE))
    if not filing.camera_used and filing.ratings.vision is not None:
        found.append(Fault("vision", Code.RATED_WITHOUT_CAMERA))
    is_silent = filing.script_version.uses_camera and not filing.camera_used and not has_words(filing.camera_note)
    if is_silent and filing.needs_camera_note:
        found.append(Fault("camera_note", Code.NEEDS_CAMERA_NOTE))
    if len(filing.camera_note) > MOST_NOTE_CHARACTERS:
        found.append(Fault("camera_note", Code.TOO_LONG, str(len(filing.camera_note))))
    return found


def _faults_of_the_problems(filing: Filing, kept_tags: frozenset[str]) -> list[Fault]:
    found: list[Fault] = []
    had: set[str] = set()
    for key in filing.problems:
        tag = taxonomy.TAG_BY_KEY.get(key)
        if tag is None:
            found.append(Fault("problems", Code.UNKNOWN_TAG, key))
        elif key in had:
            found.append(Fault("problems", Code.DOUBLED_TAG, key))
        elif tag.retired_in is not None and key not in kept_tags:
            found.append(Fault("problems", Code.RETIRED_TAG, key))
        had.add(key)
    return found


def _faults_of_the_comment(filing: Filing) -> list[Fault]:
    if len(filing.comment) > MOST_COMMENT_CHARACTERS:
        return [Fault("comment", Code.TOO_LONG, str(len(filing.comment)))]
    others = [key for key in filing.problems if key in taxonomy.TAG_BY_KEY and taxonomy.TAG_BY_KEY[key].needs_a_note]
    if others and not has_words(filing.comment):
        return [Fault("comment", Code.NEEDS_A_NOTE, others[0])]
    return []
