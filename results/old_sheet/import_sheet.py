"""Import the old results sheet: look at all of it first, then write all good rows or nothing.

A sheet is gone through in batches, so its size costs time but hardly memory. Looking and importing take
the same way; an import is one transaction. The same row (time, tester, script) is filed once: seen again
with the same content it adds nothing, with other content it is a conflict and changes nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from pathlib import Path

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone
from django.utils.formats import date_format

from emma_eval.accounts import audit
from emma_eval.accounts.invite import invited_account
from emma_eval.accounts.keys import new_scattered_key
from emma_eval.accounts.models import User
from results.counts.keep_counts import Tally
from results.filing.file_result import problems_of, unsaved_result
from results.models import Problem, Result

from .read_row import UNKNOWN_SCRIPT, BadRow, Catalogue, GoodRow, RowFault, read_row
from .read_sheet import NAME_OF, Row, read_sheet
from .tell_conflict import Difference, differences, said_by_row, said_by_sheet, said_now

Tell = Callable[[int], None]
ROWS_IN_A_BATCH = 500
ATTEMPTS = 3
FILED_OTHERWISE = "conflicts with a row filed before"
REPEATED_OTHERWISE = "conflicts with an earlier row of this sheet"


class RowsAreBadError(Exception):
    """Only a sheet without bad rows was to be imported, and this one has some. Nothing was written."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(f"{len(findings.bad)} bad rows")
        self.findings = findings


class OtherThanShownError(Exception):
    """The sheet would by now add another number of results than was agreed to. Nothing was written."""


@dataclass
class Findings:
    """What a sheet holds for this importer. A good row is `new`, or `here` already; conflicts count as bad."""

    rows: int = 0
    new: int = 0
    here: int = 0
    bad: list[BadRow] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    new_testers: list[str] = field(default_factory=list)
    new_builds: list[str] = field(default_factory=list)
    tells_of_safety: bool = False

    @property
    def good(self) -> int:
        return self.new + self.here

    @property
    def conflicts(self) -> int:
        return sum(row.is_conflict for row in self.bad)

    @property
    def faulty(self) -> int:
        """Rows that are bad in themselves, whatever was filed before."""
        return len(self.bad) - self.conflicts


def look_through(path: Path, importer: User | None, tell: Tell = lambda rows: None) -> Findings:
    """What an import of this sheet would do. Writes nothing. No importer: an operator at the machine.

    `tell` is told after each batch how many rows were looked at; what it raises ends the look.
    """
    passage = _Passage(path, importer)
    while rows := passage.next_rows():
        passage.judge(rows)
        tell(passage.findings.rows)
    passage.tell_repeated()
    return passage.findings


def import_sheet(
    path: Path, importer: User | None, name: str, *, only_good: bool = False, agreed: int | None = None
) -> Findings:
    """Import the good rows of a sheet, all of them or none, and say what was found.

    With bad rows nothing is imported (RowsAreBadError), unless `only_good`. `agreed`: how many new results
    somebody was told of; should it be another number, nothing is imported (OtherThanShownError).
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic():
                return _import_at_once(path, importer, name, only_good, agreed)
        except (IntegrityError, OperationalError):  # somebody imported the same rows at the same moment: look again
            if attempt == ATTEMPTS:
                raise
    raise AssertionError("the last attempt returns or raises")


def _import_at_once(path: Path, importer: User | None, name: str, only_good: bool, agreed: int | None) -> Findings:
    passage = _Passage(path, importer)
    while rows := passage.next_rows():
        passage.write(passage.judge(rows))
    passage.tell_repeated()
    found = passage.findings
    if found.bad and not only_good:
        raise RowsAreBadError(found)
    if agreed is not None and agreed != found.new:
        raise OtherThanShownError
    audit.record(
        importer,
        "imported a sheet",
        name,
        is_safety=found.tells_of_safety,
        rows=found.rows,
        added=found.new,
        here_already=found.here,
        bad=len(found.bad),
        new_testers=found.new_testers,
        new_builds=found.new_builds,
    )
    passage.count()
    return found


class _Passage:
    """One way through a sheet, some hundred rows at a time."""

    def __init__(self, path: Path, importer: User | None) -> None:
        sheet = read_sheet(path)
        self.path = path
        self.rows = sheet.rows
        self.unsaid = sheet.unsaid
        self.findings = Findings(notices=sheet.notices())
        self.catalogue = Catalogue.seen_by(importer, timezone.now())
        self.sees_safety = importer is None or importer.is_trained
        self.people: dict[str, User | None] = {}
        self.added: dict[uuid.UUID, tuple[int, str]] = {}
        self.repeated: dict[int, tuple[GoodRow, int]] = {}
        self.tally = Tally()

    def next_rows(self) -> list[Row]:
        return list(islice(self.rows, ROWS_IN_A_BATCH))

    def judge(self, rows: list[Row]) -> list[GoodRow]:
        """Take these rows into the findings; those to be added come back."""
        read = [read_row(row, self.catalogue) for row in rows]
        good = [row for row in read if isinstance(row, GoodRow)]
        self._look_up_people(good)
        filed = _FiledBefore.of(good)
        new = []
        for row in read:
            verdict = self._verdict(row, filed) if isinstance(row, GoodRow) else row
            if isinstance(verdict, BadRow):
                self.findings.bad.append(verdict)
            elif verdict:
                self.added[verdict.key] = (verdict.line, verdict.sheet_row.digest)
                new.append(verdict)
            self.findings.tells_of_safety |= row.is_covered
        self.findings.rows += len(rows)
        self.findings.new += len(new)
        self.findings.here = self.findings.rows - self.findings.new - len(self.findings.bad)
        self._name_newcomers(new)
        return new

    def _verdict(self, row: GoodRow, filed: _FiledBefore) -> GoodRow | BadRow | None:
        """The row itself, if it is to be added; what is wrong with it; or None, if all it says is here already."""
        if row.key in self.added:
            line, digest = self.added[row.key]
            if digest == row.sheet_row.digest:
                return None
            self.repeated[row.line] = (row, line)
            return _repeated(row, line)
        found = filed.find(row)
        return self._verdict_beside(found, row) if found else row

    def _verdict_beside(self, found: list[Result], row: GoodRow) -> BadRow | None:
        """What is wrong with a row that these results were filed for before; None, if one of them says the same."""
        known = [result for result in found if self.sees_safety or not result.is_covered]
        if not known:
            return _refused(row, "script", row.filing.script_version.script.slug, UNKNOWN_SCRIPT)
        if any(self._is_said(result, row) for result in known):
            return None
        result = known[0]
        before = said_by_sheet(result, self.catalogue.builds) if result.sheet_digest else said_now(result)
        where = "imported before" if result.sheet_digest else "filed here"
        return _conflict(row, FILED_OTHERWISE, differences(before, said_by_row(row, self.unsaid)), where, result.pk)

    def _is_said(self, result: Result, row: GoodRow) -> bool:
        """Whether a result says what the row says: when it was imported (a correction since is no conflict), or now."""
        return _is_as_imported(result, row) or not differences(said_now(result), said_by_row(row, self.unsaid))

    def tell_repeated(self) -> None:
        """Name what differs between rows of this sheet. The earlier ones were let go of, so they are read again."""
        lines = {line for _, line in self.repeated.values()}
        rows = (row for row in read_sheet(self.path).rows if row.line in lines) if lines else ()
        earlier = {row.line: read_row(row, self.catalogue) for row in rows}
        self.findings.bad = [self._with_earlier(bad, earlier) for bad in self.findings.bad]

    def _with_earlier(self, bad: BadRow, earlier: dict[int, GoodRow | BadRow]) -> BadRow:
        if bad.line not in self.repeated:
            return bad
        row, line = self.repeated[bad.line]
        first = earlier.get(line)
        return _repeated(row, line, first) if isinstance(first, GoodRow) else bad

    def _look_up_people(self, rows: list[GoodRow]) -> None:
        emails = {row.email for row in rows} - self.people.keys()
        self.people.update(dict.fromkeys(emails))
        self.people.update({user.email: user for user in User.objects.filter(email__in=emails)})

    def _name_newcomers(self, rows: list[GoodRow]) -> None:
        testers = (row.email for row in rows if self.people[row.email] is None)
        builds = (row.filing.build.name for row in rows if row.filing.build.pk is None)
        self.findings.new_testers = list(dict.fromkeys([*self.findings.new_testers, *testers]))
        self.findings.new_builds = list(dict.fromkeys([*self.findings.new_builds, *builds]))

    def write(self, rows: list[GoodRow]) -> None:
        """Add these rows: people and builds that are new first, then the results and their problems in bulk."""
        for row in rows:
            if row.filing.build.pk is None:
                row.filing.build.save()
        results = [
            unsaved_result(self._person(row.email), row.key, row.call, row.filing, row.sheet_row) for row in rows
        ]
        _scatter(results)
        Result.objects.bulk_create(results)
        problems = [problems_of(result, row.filing) for result, row in zip(results, rows, strict=True)]
        Problem.objects.bulk_create(chain.from_iterable(problems))
        for result, of_result in zip(results, problems, strict=True):
            self.tally.count(result, of_result)

    def _person(self, email: str) -> User:
        person = self.people[email] or invited_account(email)
        self.people[email] = person
        return person

    def count(self) -> None:
        """Only when all rows are written: what everybody's filings count into is held for the shortest time."""
        self.tally.write()


def _scatter(results: list[Result]) -> None:
    """Give each a key that tells nothing of the rows beside it; some of them may be for few to see."""
    wanted = {new_scattered_key() for _ in results}
    taken = set(Result.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    free = wanted - taken
    while len(free) < len(results):
        free.add(new_scattered_key())
    for result, key in zip(results, free, strict=True):
        result.pk = key


@dataclass(frozen=True)
class _FiledBefore:
    """The results that rows may already be: imported from the same row once, or filed here for the same call."""

    by_key: dict[uuid.UUID, Result]
    by_call: dict[tuple[str, datetime, str], list[Result]]

    @classmethod
    def of(cls, rows: list[GoodRow]) -> _FiledBefore:
        results = Result.objects.select_related("script", "tester", "build")
        by_key = _by_key(results.filter(draft_uuid__in={row.key for row in rows}), rows)
        by_call: dict[tuple[str, datetime, str], list[Result]] = {}
        for result in results.filter(called_at__in={row.filing.called_at for row in rows}).order_by("pk"):
            by_call.setdefault((result.tester.email, result.called_at, result.script_id), []).append(result)
        found = cls(by_key, by_call)
        found._look_closer(rows)
        return found

    def _look_closer(self, rows: list[GoodRow]) -> None:
        """Fetch what rows are compared with, for results that are not known to say the same."""
        compared = {result.pk: result for row in rows for result in self.find(row) if not _is_as_imported(result, row)}
        prefetch_related_objects(list(compared.values()), "problems", "changes")

    def find(self, row: GoodRow) -> list[Result]:
        """The results that this row may be. More than one: its tester filed the script twice for the same time."""
        by_call = self.by_call.get((row.email, row.filing.called_at, row.filing.script_version.script.slug), [])
        by_key = self.by_key.get(row.key)
        return by_call if by_key is None else [by_key, *(result for result in by_call if result != by_key)]


def _is_as_imported(result: Result, row: GoodRow) -> bool:
    return result.sheet_digest in {row.sheet_row.digest, row.digest_as_written} - {""}


def _by_key(results: Iterable[Result], rows: list[GoodRow]) -> dict[uuid.UUID, Result]:
    """The results that were filed under the keys of these rows.

    Whoever files here chooses the UUID of the draft: one that is the key of a row counts for that row only where
    it is the row's own tester's. What came from a sheet goes first, whatever its tester's address is by now.
    """
    emails = {row.key: row.email for row in rows}
    found: dict[uuid.UUID, Result] = {}
    for result in results:
        key = result.draft_uuid
        if result.sheet_digest or (result.tester.email == emails[key] and key not in found):
            found[key] = result
    return found


def _repeated(row: GoodRow, line: int, earlier: GoodRow | None = None) -> BadRow:
    differing = differences(said_by_row(earlier), said_by_row(row)) if earlier else []
    return _conflict(row, REPEATED_OTHERWISE, differing, f"row {line}")


def _conflict(
    row: GoodRow, reason: str, differing: list[Difference], before_is_in: str, result_pk: int | None = None
) -> BadRow:
    """One fault for each column that differs; where none can be named, one that leads to what was said before."""
    faults = [RowFault(row.line, one.column, one.row, reason, result_pk, one.before, before_is_in) for one in differing]
    when = date_format(timezone.localtime(row.filing.called_at), "j M Y, H:i")
    alone = RowFault(row.line, NAME_OF["timestamp"], when, reason, result_pk, when, before_is_in)
    return BadRow(row.line, tuple(faults) or (alone,), row.is_covered, is_conflict=True)


def _refused(row: GoodRow, key: str, value: str, reason: str) -> BadRow:
    return BadRow(row.line, (RowFault(row.line, NAME_OF[key], value, reason),), row.is_covered)
