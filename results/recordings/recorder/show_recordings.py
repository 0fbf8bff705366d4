"""The recordings of a call, as its own page shows them: how far each is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ...models import Call, Recording, RecordingState
from .begin_recording import IS_ALIVE_FOR


@dataclass(frozen=True)
class ShownRecording:
    """`is_heard_of`: its page gave a sign of life just now."""

    recording: Recording
    is_heard_of: bool

    @property
    def is_waiting(self) -> bool:
        """It was neither finished nor heard of: its page was closed, or is offline."""
        return self.recording.state == RecordingState.RECEIVING and not self.is_heard_of


@dataclass(frozen=True)
class ShownRecordings:
    """Those of one call, the oldest first."""

    recordings: tuple[ShownRecording, ...]

    @property
    def may_change(self) -> bool:
        """Whether it is worth asking again soon."""
        on_the_way = {RecordingState.RECEIVING, RecordingState.WORKING}
        return any(each.recording.state in on_the_way for each in self.recordings)


def show_recordings(call: Call, now: datetime) -> ShownRecordings:
    """`call` must be one of the tester's own that they may see."""
    known = Recording.objects.filter(tester=call.tester, call_uuid=call.uuid).order_by("created_at")
    return ShownRecordings(tuple(ShownRecording(each, each.heard_at > now - IS_ALIVE_FOR) for each in known))
