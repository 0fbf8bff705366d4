"""What was found, for the terminal and for docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from . import machine
from .figures import Figure
from .measures import Measure

HEAD = """# Benchmarks

What the site costs, written by `./emma bench`. Each cost is a ratio: ours to that of the plainest idiomatic Django
that does the same on the same rows (`tests/bench/floors.py`, one file). Ratios can be compared between machines and
between busy and quiet hours; times can't.

"""

NOISE = """
## How it is measured

- Both sides run under the same server with the same options as in `./emma up`: one worker of granian, WSGI.
- One client asks over loopback, one request after the other, on a connection that is kept.
- A cost is processor time, user and system, of the web server's processes, as the kernel counts it; on PostgreSQL that
  of the database's own processes is told apart and counts only where a line says so. SQLite works inside ours.
- Rounds are interleaved: floor, ours, floor, ours. Each round gives one ratio. The table shows the middle one, and in
  parentheses the least and the greatest: as wide as those lie apart, so far the figure can be trusted. A difference
  that is smaller than that is noise.
- Requests are of one kind, one at a time, with everything warm. Many people at once, a cold start and a slow disk are
  other questions.
- Waiting is shown where it helps to picture a page. It holds for this machine at that hour, and nothing is promised
  of it but where a limit in ms says so.
- The rows are the same each time (`tests/bench/data.py`): two hundred scripts of which some are run far more often than
  others, three hundred testers, twelve builds, about two and a half problems a result.

"""


@dataclass
class Section:
    """One measure on one database: its figures, or why there are none."""

    measure: Measure
    figures: list[Figure] = field(default_factory=list)
    fault: str = ""

    def missed(self) -> list[str]:
        """What is not as it should be, in words."""
        unmet = [figure.what for figure in self.figures if figure.is_met is False]
        return [*unmet, f"{self.measure.title} could not be measured"] if self.fault else unmet


@dataclass
class Report:
    """Everything of one run."""

    rows: int
    rounds: int
    command: str
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    load: str = field(default_factory=machine.load)
    databases: dict[str, str] = field(default_factory=dict)
    sections: dict[str, list[Section]] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        found = [section for sections in self.sections.values() for section in sections]
        return bool(found) and not any(section.missed() for section in found)

    def page(self) -> str:
        """The whole of docs/benchmarks.md."""
        facts = [
            ("Date", f"{self.began:%Y-%m-%d %H:%M} UTC"),
            ("Command", f"`{self.command}`, {self.rounds} rounds"),
            ("Commit", machine.commit()),
            ("Rows", f"{self.rows:,} results"),
            ("Machine", machine.machine()),
            ("Load", f"{self.load} minutes when it began; {machine.load()} when it ended"),
            ("Versions", ", ".join([machine.versions(), *self.databases.values()])),
        ]
        parts = [HEAD, *(f"- {name}: {words}\n" for name, words in facts), "\n", self._verdict()]
        for database, sections in self.sections.items():
            parts.append(f"\n## {self.databases[database]}\n\n" + table(sections))
        parts.append(NOISE + "## What each line is\n")
        measures = {
            section.measure.name: section.measure for sections in self.sections.values() for section in sections
        }
        parts += [f"\n### {measure.title}\n\n{measure.words}\n" for measure in measures.values()]
        return "".join(parts)

    def _verdict(self) -> str:
        missed = [
            f"{words} on {self.databases[database]}"
            for database, sections in self.sections.items()
            for section in sections
            for words in section.missed()
        ]
        return (
            "".join(["**Not met:**\n\n", *(f"- {words}\n" for words in missed)]) if missed else "Every limit is met.\n"
        )


def table(sections: Sequence[Section]) -> str:
    lines = ["| measure | floor | ours | ratio | limit | met |", "|---|---|---|---|---|---|"]
    for section in sections:
        lines += [line(figure) for figure in section.figures]
        if section.fault:
            lines.append(f"| {section.measure.title} | | | | | **could not be measured** |")
    return "\n".join(lines) + "\n"


def line(figure: Figure) -> str:
    met = {True: "yes", False: "**no**", None: ""}[figure.is_met]
    ours = f"{figure.ours} ({figure.aside})" if figure.aside else figure.ours
    cells = (figure.what, figure.floor, ours, figure.ratio, figure.limit, met)
    return f"| {' | '.join(cells)} |"


def said(figure: Figure) -> str:
    """A figure on a line of the terminal."""
    met = {True: "met", False: "NOT MET", None: ""}[figure.is_met]
    sides = " / ".join(part for part in (figure.floor, figure.ours) if part)
    found = f"  {figure.what:<52} {sides:<26} {figure.ratio or '':<22}"
    limit = f" {figure.limit}: {met}" if figure.limit else ""
    return f"{found}{limit}{f'  ({figure.aside})' if figure.aside else ''}"
