"""Everything that the player shows of a recording: its moments, notes, cuts, and what it says of the call itself."""

from __future__ import annotations

from dataclasses import dataclass

from emma_eval.accounts.models import User

from ...models import (
    BEST_FIRST,
    Call,
    CallFigures,
    Moment,
    Recording,
    RecordingNote,
    RecordingState,
    Result,
    Sides,
    as_clock,
)
from ..making.try_again import may_be_tried_again
from ..rights import may_change
from ..uploads.copy_again import may_be_copied_again
from .clocks import as_seconds, say_duration
from .give_links import Links, give_links
from .playing_forms import NoteForm
from .show_figures import Measured, show_figures
from .withhold_notes import notes_shown_to

MOST_GAP_MS = 500  # joined without a gap that anybody would hear
LATE_END_MS = 2_000  # people end the recording and the call with two presses


@dataclass(frozen=True)
class Place:
    """Somewhere in the recording."""

    at_ms: int

    @property
    def at(self) -> str:
        return as_clock(self.at_ms)

    @property
    def seconds(self) -> str:
        return as_seconds(self.at_ms)


@dataclass(frozen=True)
class ShownMoment(Place):
    """A moment where it is found. `is_recorded`: nothing was lost where it was marked."""

    moment: Moment
    is_recorded: bool


@dataclass(frozen=True)
class ShownNote(Place):
    note: RecordingNote
    is_own: bool


@dataclass(frozen=True)
class Cut(Place):
    """Here the recording lacks something of the call, from `call_ms` on; `is_end`: it does not go on after it."""

    lacks_ms: int
    call_ms: int
    is_end: bool = False

    @property
    def words(self) -> str:
        lacks = say_duration(self.lacks_ms)
        if self.is_end:
            return f"The last {lacks} of the call were not recorded"
        if not self.call_ms:
            return f"The first {lacks} of the call were not recorded"
        return f"{lacks} of the call were not recorded, from {as_clock(self.call_ms)} on the call clock"


@dataclass(frozen=True)
class Player:
    """A recording and what is on it. `links`: only where it can be played; `results`: of its call, those one may see.

    `has_call`: whether moments could have been marked. `note_form` holds what was typed and could not be kept.
    """

    recording: Recording
    links: Links | None
    moments: list[ShownMoment]
    notes: list[ShownNote]
    cuts: list[Cut]
    measured: Measured | None
    note_form: NoteForm
    may_change: bool
    is_own: bool
    may_try_again: bool
    align_fault: str = ""
    words: str = ""

    @property
    def offset_in_words(self) -> str:
        """How far the moments were moved."""
        offset_ms = self.recording.offset_ms
        if not offset_ms:
            return "Moments stand where the call clock has them."
        which = "later" if offset_ms > 0 else "earlier"
        return f"Moments stand {abs(offset_ms) / 1000:.1f} s {which} than the call clock has them."

    @property
    def latest_note(self) -> int:
        """The key of the note that came last: the form for the next one is another one then."""
        return max((each.note.pk for each in self.notes), default=0)

    @property
    def lanes(self) -> list[str]:
        """Who is heard in which lane of the waveform, the tester always above."""
        if self.recording.is_two_sided:
            return ["Tester", "Emma"]
        return [] if self.recording.sides == Sides.NONE else ["Sound"]

    @property
    def is_emma_first(self) -> bool:
        """Whether the first side of the file is Emma's."""
        return self.recording.sides == Sides.TWO_SWAPPED


@dataclass(frozen=True)
class Recordings:
    """Those of one call: the one that is played or worked on, and the others."""

    player: Player | None
    others: list[Recording]


def recordings_beside(user: User, result: Result) -> Recordings:
    """The recordings of the call of a result: the newest that can be played first, else the newest that stands."""
    found = list(Recording.objects.visible_to(user).of_result(result).select_related("tester"))
    if not found:
        return Recordings(None, [])
    by_use = sorted(found, key=lambda each: BEST_FIRST.index(RecordingState(each.state)))
    return Recordings(show_recording(user, by_use[0]), by_use[1:])


def show_recording(
    user: User, recording: Recording, *, note_form: NoteForm | None = None, align_fault: str = "", words: str = ""
) -> Player:
    """Gather what is shown; `recording` must be one that `user` may see. Whoever is shown the player has its links."""
    call = _call_of(user, recording)
    return Player(
        recording=recording,
        links=give_links(recording, user) if recording.is_playable else None,
        moments=_moments_on(recording, call),
        notes=[_shown(note, user) for note in notes_shown_to(user, recording)],
        cuts=_cuts_in(recording, call),
        measured=_measured(recording),
        note_form=note_form if note_form is not None else NoteForm(None, recording),
        may_change=may_change(user, recording),
        may_try_again=may_change(user, recording) and _may_help(recording),
        is_own=recording.tester_id == user.pk,
        align_fault=align_fault,
        words=words,
    )


def _may_help(recording: Recording) -> bool:
    """To try it again."""
    return may_be_tried_again(recording) or may_be_copied_again(recording)


def moments_of(user: User, recording: Recording) -> list[Moment]:
    """Those marked on its call that stand, for whoever may know all of the call."""
    call = _call_of(user, recording)
    return list(call.moments.standing()) if call else []


def _call_of(user: User, recording: Recording) -> Call | None:
    calls = Call.objects.visible_to(user).filter(tester=recording.tester_id, uuid=recording.call_uuid)
    return calls.first()


def _moments_on(recording: Recording, call: Call | None) -> list[ShownMoment]:
    if call is None or not recording.is_playable:
        return []
    lasts_ms = recording.duration_ms or 0
    return [
        ShownMoment(min(recording.file_ms(each.at_ms), lasts_ms), each, _is_recorded(recording, each.at_ms))
        for each in call.moments.standing()
    ]


def _is_recorded(recording: Recording, call_ms: int) -> bool:
    if not recording.segments:
        return 0 <= call_ms + recording.offset_ms <= (recording.duration_ms or 0)
    return any(each["call_ms"] <= call_ms <= each["call_ms"] + each["lasts_ms"] for each in recording.segments)


def _shown(note: RecordingNote, user: User) -> ShownNote:
    return ShownNote(note.at_ms, note, note.by_id == user.pk)


def _cuts_in(recording: Recording, call: Call | None) -> list[Cut]:
    """Where segments were joined, and what of the call clock lies between them; the first may begin late, and the last
    end before the call did."""
    cuts = []
    goes_on_at = 0
    for each in recording.segments:
        if each["call_ms"] - goes_on_at > MOST_GAP_MS:
            cuts.append(Cut(int(each["file_ms"]), int(each["call_ms"] - goes_on_at), int(goes_on_at)))
        goes_on_at = each["call_ms"] + each["lasts_ms"]
    lacks_ms = int((call.ended_at_ms or 0) - goes_on_at) if call and recording.segments else 0
    if lacks_ms > LATE_END_MS:
        cuts.append(Cut(recording.duration_ms or 0, lacks_ms, int(goes_on_at), is_end=True))
    return cuts


def _measured(recording: Recording) -> Measured | None:
    figures = CallFigures.objects.filter(recording=recording).first() if recording.is_playable else None
    return show_figures(figures) if figures else None
