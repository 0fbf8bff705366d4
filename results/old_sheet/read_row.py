"""Read one row of the old sheet into a filing, or say everything that is wrong with it.

The words for what is wrong are fixed, so that reports can be compared. The rules themselves are
those of `rules.py`; here stand only what a sheet adds (dates, lists of labels, yes and no) and its words.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache

from django.utils.crypto import salted_hmac
from django.utils.text import slugify

from emma_eval.accounts.addresses import address_of, is_address
from emma_eval.accounts.models import User
from results.filing.file_result import SheetRow
from results.filing.rules import (
    STUCK_START,
    Code,
    Fault,
    Filing,
    Ratings,
    faults_of,
    read_rating,
    without_control_characters,
)
from results.models import (
    DIMENSION_KEYS,
    MOST_NOTE_CHARACTERS,
    Browser,
    Connection,
    Device,
    ProblemOrder,
)
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, ScriptVersion, sort_key_of
from scripts_catalog.names import fault_of_build, look_of

from .labels import MOST_REMEMBERED_CHARACTERS, NOTHING, TAG_OF_LABEL, plain, tags_in
from .read_sheet import NAME_OF, PLACE_OF, Row, problems_key
from .times import time_of

# Names the results that come from sheets; changing it would import every old sheet a second time.
NAMESPACE = uuid.UUID("5f0a3a0e-6d0c-4f0b-9d3c-2f4b1c9be7a4")
CALL_SALT = "results.old_sheet.call"
MOST_VALUE_CHARACTERS = 200
MOST_OLD_TEXT_CHARACTERS = 5_000
MOST_EMAIL_CHARACTERS = 254
MOST_NAME_CHARACTERS = 1_000
RETIRED_TAGS = frozenset(tag.key for tag in taxonomy.TAG_BY_KEY.values() if tag.retired_in is not None)

NOT_AMONG_PICKED = "biggest problem not among the picked"
NOT_IN_ORDER = "not the picked problems in an order"
NOT_THE_BIGGEST_FIRST = "does not begin with the biggest problem"
CAMERA_AGAINST_VISION = "camera and Vision disagree"
WITHOUT_ITS_TAG = "call that never started without its tag"
IMPOSSIBLE_DATE = "impossible date"
UNKNOWN_SCRIPT = "unknown script"
UNKNOWN_TAG = "unknown tag"
# What the sheet's words are for each broken rule.
REASONS = {
    Code.MISSING: "missing score",
    Code.NOT_WHOLE: "score not whole",
    Code.OUT_OF_RANGE: "score out of range",
    Code.UNKNOWN_TAG: UNKNOWN_TAG,
    Code.DOUBLED_TAG: "tag picked twice",
    Code.NEEDS_A_NOTE: "Other without a note",
    Code.NOT_A_LINK: "not a link",
    Code.LINK_TOO_LONG: "not a link",
    Code.IN_THE_FUTURE: "date in the future",
    Code.LONG_AGO: IMPOSSIBLE_DATE,
    Code.TOO_LONG: "comment too long",
    Code.RETIRED_SCRIPT: "script retired before",
    Code.RATED_WITHOUT_CALL: "score on a call that never started",
    Code.CAMERA_WITHOUT_CALL: "camera on a call that never started",
}
COLUMN_OF_FIELD = {"called_at": "timestamp", "recording_link": "link", "problems": "biggest"}
YES = frozenset({"yes", "y", "true", "1", "1.0", "x"})
NO = frozenset({"no", "n", "false", "0", "0.0"})
VALUE_OF = {
    key: {plain(str(word)): value for value, label in choices.choices for word in (label, value)}
    for key, choices in (("browser", Browser), ("device", Device), ("connection", Connection))
}
MOST_OF = {"browser": 40, "device": 10, "connection": 20}  # as many characters as the columns of a result hold


@dataclass(frozen=True)
class RowFault:
    """One thing wrong with a row: where, what stands there, and why it can't be imported.

    Of a conflict also what was said before, and where: in the result `result_pk`, or in another row.
    """

    line: int
    column: str
    value: str
    reason: str
    result_pk: int | None = None
    before: str = ""
    before_is_in: str = ""


@dataclass(frozen=True)
class BadRow:
    line: int
    faults: tuple[RowFault, ...]
    is_covered: bool
    is_conflict: bool = False

    @property
    def reasons(self) -> list[str]:
        """Each kind of reason once, in the order of the columns."""
        return list(dict.fromkeys(fault.reason for fault in self.faults))


@dataclass(frozen=True)
class GoodRow:
    """A row that can be filed. `key` is the same for every row with this time, tester and script.

    `digest_as_written`: what its digest was before apostrophes were taken from its cells, if they were.
    """

    line: int
    key: uuid.UUID
    call: uuid.UUID
    email: str
    filing: Filing
    sheet_row: SheetRow
    digest_as_written: str = ""

    @property
    def is_covered(self) -> bool:
        return _is_covered(self.filing)


@dataclass
class Catalogue:
    """What rows are read against: the scripts the importer may know of, in all their versions, and the builds."""

    now: datetime
    versions: dict[str, list[ScriptVersion]]
    visible: frozenset[int]
    builds: dict[str, Build]
    looks: dict[str, Build] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for build in self.builds.values():
            self.looks.setdefault(look_of(build.name), build)

    @classmethod
    def seen_by(cls, importer: User | None, now: datetime) -> Catalogue:
        """Everything, as this person may know it. No person: an operator at the machine, who sees all."""
        everything = ScriptVersion.objects.select_related("script").defer("what_to_do", "steps", "anchors", "summary")
        seen = everything if importer is None else everything.visible_to(importer)
        versions: dict[str, list[ScriptVersion]] = {}
        for version in everything.order_by("number"):
            versions.setdefault(version.script.slug, []).append(version)
        visible = frozenset(seen.values_list("pk", flat=True))
        return cls(now, versions, visible, {build.sort_key: build for build in Build.objects.all()})

    def version(self, slug: str, called_at: datetime) -> ScriptVersion | None:
        """The version in force at the time of the call, else the first, among those the importer may know.

        A time when the script was Safety must not show: to the untrained the version before it goes on, or the
        first after it begins earlier, and the row is filed under that one as open. None where there is none.
        """
        versions = [version for version in self.versions.get(slug, ()) if version.pk in self.visible]
        in_force = [version for version in versions if version.created_at <= called_at]
        fitting = in_force or versions[:1]
        return fitting[-1] if fitting else None

    def build(self, name: str) -> Build:
        """The build of this name; 2026.9 and 2026.09 are one, and so are names that look alike. One that is not known
        yet is not saved here."""
        found = self.known_build(name)
        if found is None:
            key = sort_key_of(name)
            found = self.builds[key] = self.looks[look_of(name)] = Build(name=name, sort_key=key)
        return found

    def known_build(self, name: str) -> Build | None:
        return self.builds.get(sort_key_of(name)) or self.looks.get(look_of(name))


@dataclass
class _Reader:
    """One row being read: its text, and the faults found so far."""

    row: Row
    catalogue: Catalogue
    faults: list[RowFault] = field(default_factory=list)

    def wrong(self, key: str, reason: str) -> None:
        value = without_control_characters(self.row[key])[:MOST_VALUE_CHARACTERS]
        self.faults.append(RowFault(self.row.line, NAME_OF[key], value, reason))

    def is_wrong(self, key: str) -> bool:
        return any(fault.column == NAME_OF[key] for fault in self.faults)

    def time(self) -> datetime:
        """When the call was; now, where the row does not say it, so that the other columns can be read."""
        text = self.row["timestamp"].strip()
        found = time_of(text)
        if found is None:
            self.wrong("timestamp", IMPOSSIBLE_DATE if text else "missing date")
        return found or self.catalogue.now

    def email(self) -> str:
        email = address_of(self.row["tester"])
        if not email:
            self.wrong("tester", "missing tester")
        elif not _is_email(email):
            self.wrong("tester", "not an e-mail address")
        return email

    def version(self, called_at: datetime) -> ScriptVersion:
        """The script's version; one of nothing, where the script is not known."""
        found = self.catalogue.version(_slug_of(self.row["script"]), called_at)
        if found is None:
            self.wrong("script", UNKNOWN_SCRIPT)
        return found or ScriptVersion()

    def build(self) -> Build:
        name = " ".join(without_control_characters(self.row["build"]).split())
        if not name:
            self.wrong("build", "missing build")
        elif len(name) > 60 or len(sort_key_of(name)) > 160:
            self.wrong("build", "build name too long")
        elif self.catalogue.known_build(name) is None and fault_of_build(name):
            self.wrong("build", "no name for a build")
        else:
            return self.catalogue.build(name)
        return Build()

    def ratings(self) -> Ratings:
        return Ratings(**{key: self.rating(key) for key in DIMENSION_KEYS})

    def rating(self, key: str) -> int | None:
        found = rating_of(self.row[key])
        if isinstance(found, Code):
            self.wrong(key, REASONS[found])
            return None
        return found

    def problems(self) -> tuple[dict[str, tuple[str, ...]], set[str]]:
        """The tags that were picked, by their group, and the words that stand there but are no tag of it."""
        picked: dict[str, tuple[str, ...]] = {}
        strangers: set[str] = set()
        for group in taxonomy.TAG_GROUPS:
            found, unknown = tags_in(self.row[problems_key(group)])
            own = tuple(tag for tag in found if taxonomy.GROUP_OF_TAG[tag] is group)
            foreign = [tag for tag in found if taxonomy.GROUP_OF_TAG[tag] is not group]
            if unknown or foreign:
                self.wrong(problems_key(group), UNKNOWN_TAG)
            strangers.update(unknown, (plain(taxonomy.TAG_BY_KEY[tag].label) for tag in foreign))
            if own:
                picked[group.key] = own
        return picked, strangers

    def biggest(self, picked: dict[str, tuple[str, ...]], strangers: set[str]) -> str | None:
        """The tag that is named the biggest. Words that are picked but no tag are faulted where they are picked."""
        words = plain(self.row["biggest"])
        if words in NOTHING:
            return None
        tag = TAG_OF_LABEL.get(words)
        if any(tag in tags for tags in picked.values()):
            return tag
        if words not in strangers:
            self.wrong("biggest", NOT_AMONG_PICKED)
        return None

    def order(
        self, picked: dict[str, tuple[str, ...]], strangers: set[str], biggest: str | None
    ) -> tuple[tuple[str, ...], ProblemOrder]:
        """All tags in the order that the sheet names, else in the one that follows from groups and biggest."""
        named, unknown = tags_in(self.row["order"])
        if (named or unknown) and not strangers:
            if unknown or sorted(named) != sorted(tag for group in picked.values() for tag in group):
                self.wrong("order", NOT_IN_ORDER)
            elif biggest not in {None, named[0]}:
                self.wrong("order", NOT_THE_BIGGEST_FIRST)
            else:
                return named, ProblemOrder.OVERALL
        return in_order(picked, biggest)

    def answer(self, key: str) -> bool | None:
        """Yes or no; None for nothing."""
        answer = plain(self.row[key])
        if answer not in YES | NO | NOTHING:
            self.wrong(key, "not a yes or no")
        return None if answer in NOTHING else answer in YES

    def never_started(self, ratings: Ratings, problems: tuple[str, ...]) -> bool:
        """As the sheet says; where it does not, a row without any rating whose tags hold the stuck start."""
        said = self.answer("never_started")
        is_rated = bool(ratings.given()) or any(self.is_wrong(key) for key in DIMENSION_KEYS)
        return (not is_rated and STUCK_START in problems) if said is None else said

    def camera_used(self, vision: int | None, version: ScriptVersion, never_started: bool) -> bool:
        """Whether Vision is rated. What the sheet says of the camera itself may not be anything else."""
        said = self.answer("camera_used")
        if said is None:
            # On a camera script only the words N/A say that it was not used; an empty cell is a missing rating.
            return vision is not None or (version.uses_camera and not self.row["vision"].strip() and not never_started)
        if said is (vision is not None) or never_started or self.is_wrong("vision"):
            return said
        self.wrong("camera_used", CAMERA_AGAINST_VISION)
        return vision is not None

    def text(self, key: str, most: int) -> str:
        if not self.row[key]:
            return ""
        text = without_control_characters(self.row[key]).strip()
        if len(text) > most:
            self.wrong(key, "text too long")
        return text[:most]

    def machine(self, key: str) -> str:
        """What is said of the call's machine: a value to choose from, however spelled, or the words as they are."""
        text = self.text(key, MOST_OF[key])
        return VALUE_OF[key].get(plain(text), text)


def read_row(row: Row, catalogue: Catalogue) -> GoodRow | BadRow:
    """Read a row. Every fault is found, those of a row whose date or script is unreadable too."""
    read = _read(row, catalogue)
    if row.as_written is None or isinstance(read, BadRow):
        return read
    before = _read(Row(row.line, row.as_written), catalogue)
    return replace(read, digest_as_written=before.sheet_row.digest) if isinstance(before, GoodRow) else read


def _read(row: Row, catalogue: Catalogue) -> GoodRow | BadRow:
    reader = _Reader(row, catalogue)
    filing = _filing_of(reader)
    email = reader.email()
    told_beside = _told_beside(reader)
    for fault in faults_of(filing, catalogue.now, kept_tags=RETIRED_TAGS):
        _add_broken_rule(reader, fault)
    if reader.faults:
        faults = sorted(reader.faults, key=lambda fault: _PLACE_OF_NAME[fault.column])
        return BadRow(row.line, tuple(faults), _is_covered(filing))
    return GoodRow(
        line=row.line,
        key=key_of(filing, email),
        call=_call_of(filing, email),
        email=email,
        filing=filing,
        sheet_row=replace(told_beside, digest=_digest_of(filing, told_beside)),
    )


def _is_covered(filing: Filing) -> bool:
    """Whether only the trained may know of this row. A row of no known script tells nothing."""
    version = filing.script_version
    return version.is_safety or (version.script_id is not None and version.script.is_safety)


def _filing_of(reader: _Reader) -> Filing:
    called_at = reader.time()
    version = reader.version(called_at)
    build = reader.build()
    ratings = reader.ratings()
    picked, strangers = reader.problems()
    problems, order = reader.order(picked, strangers, reader.biggest(picked, strangers))
    never_started = reader.never_started(ratings, problems)
    return Filing(
        script_version=version,
        build=build,
        called_at=called_at,
        ratings=ratings,
        camera_used=reader.camera_used(ratings.vision, version, never_started),
        camera_note=reader.text("camera_note", MOST_NOTE_CHARACTERS),
        never_started=never_started,
        problems=problems,
        problem_order=order,
        comment=without_control_characters(reader.row["comment"]).strip(),
        met_emma_before=reader.answer("returning") or False,
        recording_link=reader.row["link"].strip(),
        needs_camera_note=False,
    )


def _told_beside(reader: _Reader) -> SheetRow:
    """What the row tells beside its filing. Its digest is made when all of it is known."""
    return SheetRow(
        digest="",
        worst_moment=reader.text("worst_moment", MOST_OLD_TEXT_CHARACTERS),
        minute_in_call=reader.text("minute_in_call", MOST_OLD_TEXT_CHARACTERS),
        browser=reader.machine("browser"),
        device=reader.machine("device"),
        connection=reader.machine("connection"),
    )


def in_order(picked: dict[str, tuple[str, ...]], biggest: str | None) -> tuple[tuple[str, ...], ProblemOrder]:
    """One list of tags, a named biggest first, and how much of its order the sheet really tells.

    Within a group the order of picking is kept. Between groups a sheet tells at most which tag is the biggest.
    """
    tags = [tag for group in picked.values() for tag in group]
    if biggest is not None:
        tags.remove(biggest)
        tags.insert(0, biggest)
    if len(picked) <= 1:
        return tuple(tags), ProblemOrder.OVERALL
    return tuple(tags), ProblemOrder.GROUPS if biggest is None else ProblemOrder.BIGGEST


def _add_broken_rule(reader: _Reader, fault: Fault) -> None:
    """Report a broken rule in its column, unless the column is only empty because its text could not be read."""
    key = COLUMN_OF_FIELD.get(fault.field, fault.field)
    if fault.field == "problems" and fault.about in taxonomy.GROUP_OF_TAG:
        key = problems_key(taxonomy.GROUP_OF_TAG[fault.about])
    if fault.field == "problems" and fault.code == Code.MISSING:
        reader.wrong(key, WITHOUT_ITS_TAG)
    elif fault.code != Code.MISSING or not reader.is_wrong(key):
        reader.wrong(key, REASONS.get(fault.code, fault.code.value))


_PLACE_OF_NAME = {NAME_OF[key]: place for key, place in PLACE_OF.items()}


# --- the key and the digest of a row -----------------------------------------------------------


def key_of(filing: Filing, email: str) -> uuid.UUID:
    """The same time, tester and script are the same row, in whatever sheet it stands and however it is spelled.

    To the second: keys were made of whole seconds before fractions were read.
    """
    time = filing.called_at.astimezone(UTC).replace(microsecond=0).isoformat()
    return uuid.uuid5(NAMESPACE, f"{time}|{email}|{filing.script_version.script.slug}")


def _call_of(filing: Filing, email: str) -> uuid.UUID:
    """One row per script, so rows of one tester with one recording are of one call.

    A call is named in addresses and forms, so unlike the key it must not follow from what anybody can look up:
    it is the same in every import here, and nowhere else.
    """
    said = f"{email}|{filing.recording_link}" if filing.recording_link else str(key_of(filing, email))
    return uuid.UUID(bytes=salted_hmac(CALL_SALT, said, algorithm="sha256").digest()[:16], version=4)


def _digest_of(filing: Filing, beside: SheetRow) -> str:
    """What the row says beyond its key, so that another spelling of the same (NA, N/A) is no other content.

    The columns that came with exports count only where they say something: the digest of an old sheet's row stays.
    """
    said: list[object] = [
        filing.build.sort_key,
        filing.recording_link,
        [filing.ratings[key] for key in DIMENSION_KEYS],
        filing.problems,
        filing.problem_order,
        filing.comment,
        filing.met_emma_before,
        beside.worst_moment,
        beside.minute_in_call,
    ]
    of_exports = [filing.camera_note, beside.browser, beside.device, beside.connection]
    return hashlib.sha256(json.dumps(said + of_exports if any(of_exports) else said).encode()).hexdigest()


# --- single cells ------------------------------------------------------------------------------


def _is_email(text: str) -> bool:
    return len(text) <= MOST_EMAIL_CHARACTERS and _has_form_of_email(text)


@lru_cache(maxsize=1024)
def _has_form_of_email(text: str) -> bool:
    return is_address(text)


def _slug_of(text: str) -> str:
    """Scripts are named by their slug; "Bad news day" is read as bad-news-day. No slug comes of endless words."""
    return _slugified(text) if len(text) <= MOST_NAME_CHARACTERS else ""


@lru_cache(maxsize=1024)
def _slugified(text: str) -> str:
    return slugify(text.replace("_", " "))


def rating_of(cell: str) -> int | Code | None:
    """A rating, None for nothing, or what is wrong with it. 4,0 is how half the world's spreadsheets write 4.0."""
    text = cell.strip()
    return _rating_of(text) if len(text) <= MOST_REMEMBERED_CHARACTERS else Code.NOT_WHOLE


@lru_cache(maxsize=1024)
def _rating_of(text: str) -> int | Code | None:
    if plain(text) in NOTHING:
        return None
    return read_rating(re.sub(r"^(\d+),(\d+)$", r"\1.\2", text))
