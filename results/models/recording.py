"""What was recorded of a call: its file, how it came here, what was said about it, and what it says itself."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import User
from scripts_catalog import taxonomy

from .call import Run, as_clock
from .result import Result

MOST_RECORDING_BYTES = 4 * 1024**3
MOST_NOTE_ON_RECORDING_CHARACTERS = 500
MOST_FAULT_CHARACTERS = 300


class RecordingQuerySet(models.QuerySet["Recording"]):
    def visible_to(self, user: User | AnonymousUser) -> RecordingQuerySet:
        """One's own, and those of results that one may see. A call with anything of Safety is for the trained alone."""
        if not user.is_authenticated:
            return self.none()
        known = self.filter(Q(tester=user) | _of_the_call(Result.objects.visible_to(user)))
        return known.of_known_calls(is_trained=user.is_trained)

    def of_known_calls(self, *, is_trained: bool) -> RecordingQuerySet:
        """Of calls of which nothing is kept from somebody who is trained, or is not."""
        return self if is_trained else self.open_to_all()

    def open_to_all(self) -> RecordingQuerySet:
        """Recordings of calls of which nothing is for the trained alone: the whole call is heard in them."""
        covered = Q(is_safety=True) | Q(script__area=taxonomy.SAFETY)
        runs = Run.objects.filter(covered, call__tester=OuterRef("tester"), call__uuid=OuterRef("call_uuid"))
        return self.exclude(_of_the_call(Result.objects.covered())).exclude(Exists(runs))

    def covered(self) -> RecordingQuerySet:
        """What is for the trained alone."""
        return self.exclude(pk__in=Recording.objects.open_to_all().order_by().values("pk"))

    def standing(self) -> RecordingQuerySet:
        """Those that were not removed."""
        return self.exclude(state=RecordingState.REMOVED)

    def expected(self) -> RecordingQuerySet:
        """Those that can be played, or are on their way: their calls wait for no other."""
        return self.filter(state__in=[RecordingState.RECEIVING, RecordingState.WORKING, RecordingState.READY])

    def playable(self) -> RecordingQuerySet:
        return self.filter(state=RecordingState.READY)

    def of_result(self, result: Result) -> RecordingQuerySet:
        """Of the call of a result; the newest first."""
        return self.filter(tester=result.tester_id, call_uuid=result.call_uuid).order_by("-created_at")


def _of_the_call(results: models.QuerySet[Result]) -> Exists:
    return Exists(results.filter(tester=OuterRef("tester"), call_uuid=OuterRef("call_uuid")))


class Origin(models.TextChoices):
    """How a recording came here."""

    RECORDED = "recorded", "Recorded beside the call"
    UPLOADED = "uploaded", "Uploaded"
    COPIED = "copied", "Copied from a link"


class RecordingState(models.TextChoices):
    """How far it is. What is received or worked on is nobody's to play yet."""

    RECEIVING = "receiving", "Being received"
    WORKING = "working", "Being made ready"
    READY = "ready", "Ready"
    FAILED = "failed", "Can't be played"
    REMOVED = "removed", "Removed"


BEST_FIRST = (
    RecordingState.READY,
    RecordingState.WORKING,
    RecordingState.RECEIVING,
    RecordingState.FAILED,
    RecordingState.REMOVED,
)
"""Of several recordings of a call: the one that can be played, or what comes nearest to it."""


class Sides(models.TextChoices):
    """Who is heard where. Only with two sides can it be told who spoke when."""

    TWO = "two", "Tester left, Emma right"
    TWO_SWAPPED = "two_swapped", "Emma left, tester right"
    ONE = "one", "One side only"
    MIXED = "mixed", "Both sides in one track"
    NONE = "none", "No sound"
    UNKNOWN = "unknown", "Not known"


class Recording(models.Model):
    """The recording of one call of one tester, by the UUID that the call's results share.

    Its file and what is derived from it lie in the store under `<uuid>/`; an empty key says that there is none.
    Times within it are its own (`file_ms`); `segments` and `offset_ms` lead from the call clock to them: a recording
    that broke off has several segments, `{"file_ms", "call_ms", "lasts_ms"}`, joined without a gap.
    """

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tester = models.ForeignKey(User, on_delete=models.PROTECT, related_name="recordings")
    call_uuid = models.UUIDField()
    origin = models.CharField(max_length=10, choices=Origin.choices)
    state = models.CharField(max_length=10, choices=RecordingState.choices, default=RecordingState.RECEIVING)
    fault = models.CharField(
        max_length=MOST_FAULT_CHARACTERS, blank=True, help_text="Why it can't be played, in words."
    )

    name = models.CharField(max_length=200, blank=True, help_text="What its sender called the file, without a path.")
    link = models.CharField(max_length=2000, blank=True, help_text="Where it was copied from.")
    consented_at = models.DateTimeField(null=True, blank=True, help_text="When its tester agreed to being recorded.")

    key = models.CharField(max_length=200, blank=True, help_text="Of the file as it is played.")
    media_type = models.CharField(max_length=100, blank=True)
    size = models.PositiveBigIntegerField(null=True, blank=True, help_text="Bytes of the file as it is played.")
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the file as it is played, in hex.")
    sent_digest = models.CharField(
        max_length=100,
        blank=True,
        help_text="Of what was sent: SHA-256 over the SHA-256 of its parts, and their count.",
    )
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    has_video = models.BooleanField(default=False)
    sides = models.CharField(max_length=12, choices=Sides.choices, default=Sides.UNKNOWN)
    sides_because = models.CharField(max_length=300, blank=True, help_text="How that is known, or why it is not.")

    segments = models.JSONField(default=list, blank=True)
    offset_ms = models.IntegerField(default=0, help_text="What is added to a time of the call clock to find it here.")

    peaks_key = models.CharField(max_length=200, blank=True)
    thumbnail_key = models.CharField(max_length=200, blank=True)
    captions_key = models.CharField(max_length=200, blank=True)

    created_at = models.DateTimeField(auto_now_add=True)
    heard_at = models.DateTimeField(auto_now_add=True, help_text="When its page last gave a sign of life.")
    finished_at = models.DateTimeField(null=True, blank=True, help_text="When its tester said that this is all.")
    ready_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)
    removed_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    removed_because = models.CharField(max_length=200, blank=True)
    emptied_at = models.DateTimeField(
        null=True, blank=True, help_text="When the store was seen to hold nothing of it, and no link could bring more."
    )

    objects = RecordingQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state=RecordingState.READY) | (~Q(key="") & Q(duration_ms__isnull=False)),
                name="recording_ready_has_its_file",
            ),
            models.CheckConstraint(
                condition=~Q(state=RecordingState.REMOVED)
                | Q(key="", peaks_key="", thumbnail_key="", captions_key="", removed_at__isnull=False),
                name="recording_removed_has_no_file",
            ),
        ]
        indexes = [
            models.Index(fields=["call_uuid", "tester", "state"], name="recording_call"),
            models.Index(fields=["state", "heard_at"], name="recording_state"),
        ]

    def __str__(self) -> str:
        return f"recording {self.uuid}"

    def get_absolute_url(self) -> str:
        return reverse("recording", args=[self.uuid])

    @property
    def folder(self) -> str:
        """Under which all of its objects lie in the store."""
        return f"{self.uuid}/"

    @property
    def lasts(self) -> str:
        """How long it is, as people read it; empty until that is known."""
        return "" if self.duration_ms is None else as_clock(self.duration_ms)

    @property
    def is_covered(self) -> bool:
        """Whether only the trained may know of it now."""
        return not Recording.objects.filter(pk=self.pk).open_to_all().exists()

    @property
    def is_playable(self) -> bool:
        return self.state == RecordingState.READY

    @property
    def is_two_sided(self) -> bool:
        return self.sides in {Sides.TWO, Sides.TWO_SWAPPED}

    def file_ms(self, call_ms: int) -> int:
        """Where a time of the call clock is found here; what lies in a gap is found where the recording goes on."""
        return max(0, self.unaligned_ms(call_ms) + self.offset_ms)

    def unaligned_ms(self, call_ms: int) -> int:
        """Where it would be found if nobody had moved the moments."""
        if not self.segments:
            return call_ms
        before = [each for each in self.segments if each["call_ms"] <= call_ms] or self.segments[:1]
        within = min(max(0, call_ms - before[-1]["call_ms"]), before[-1]["lasts_ms"])
        return int(before[-1]["file_ms"]) + int(within)

    def call_ms(self, file_ms: int) -> int:
        """The time of the call clock of a place in the recording; never before the call began."""
        at = file_ms - self.offset_ms
        before = [each for each in self.segments if each["file_ms"] <= at] or self.segments[:1]
        return max(0, at if not before else int(before[-1]["call_ms"]) + at - int(before[-1]["file_ms"]))


class Take(models.Model):
    """One run of the browser's recorder, from its start until it was stopped or died; a call has more than one
    where its page was closed in between. Its chunks, in order and end to end, are one media file."""

    recording = models.ForeignKey(Recording, on_delete=models.CASCADE, related_name="takes", db_index=False)
    number = models.PositiveSmallIntegerField()
    media_type = models.CharField(max_length=100)
    began_at_ms = models.PositiveIntegerField(help_text="On the call clock.")
    has_tester = models.BooleanField(help_text="Whether the microphone was on the left.")
    has_emma = models.BooleanField(help_text="Whether the sound of the screen or tab was on the right.")
    chunk_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many it has; not known until it ends."
    )

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["recording", "number"], name="one_take_a_number")]

    def __str__(self) -> str:
        return f"take {self.number} of {self.recording_id}"


class Chunk(models.Model):
    """A few seconds of a take, an object of its own until all are joined."""

    take = models.ForeignKey(Take, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    number = models.PositiveIntegerField()
    size = models.PositiveIntegerField(help_text="Bytes.")
    sha256 = models.CharField(max_length=64, help_text="In hex.")
    arrived_at = models.DateTimeField(null=True, blank=True, help_text="When the store was seen to hold it.")

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["take", "number"], name="one_chunk_a_number")]

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.take}"

    @property
    def key(self) -> str:
        return f"{self.take.recording_id}/chunks/{self.take.number:03}-{self.number:06}"


class Upload(models.Model):
    """A file on its way here in parts, each signed for by its own SHA-256; it can be resumed by whoever began it."""

    recording = models.OneToOneField(Recording, primary_key=True, on_delete=models.CASCADE, related_name="upload")
    key = models.CharField(max_length=200)
    upload_id = models.CharField(max_length=500, help_text="The store's name for the parts on their way.")
    size = models.PositiveBigIntegerField(help_text="Bytes of the whole file.")
    part_size = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64, help_text="By which its page finds it again: of name, size and time.")

    def __str__(self) -> str:
        return f"upload of {self.recording_id}"

    @property
    def part_count(self) -> int:
        return -(-self.size // self.part_size)


class Part(models.Model):
    """A part of an upload, from when its link was asked for."""

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="parts", db_index=False)
    number = models.PositiveSmallIntegerField()
    size = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64, help_text="In hex.")
    etag = models.CharField(max_length=100, blank=True, help_text="Of the store; empty until it arrived.")

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["upload", "number"], name="one_part_a_number")]

    def __str__(self) -> str:
        return f"part {self.number} of {self.upload_id}"


class RecordingNote(models.Model):
    """What somebody noted while listening."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    recording = models.ForeignKey(Recording, on_delete=models.CASCADE, related_name="notes", db_index=False)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at_ms = models.PositiveIntegerField(help_text="In the recording.")
    words = models.CharField(max_length=MOST_NOTE_ON_RECORDING_CHARACTERS, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True, help_text="Its words are gone then.")

    class Meta:
        ordering = ["at_ms", "id"]
        indexes = [models.Index(fields=["recording", "at_ms"], name="note_on_recording")]

    def __str__(self) -> str:
        return f"note at {as_clock(self.at_ms)} on {self.recording_id}"


class Watch(models.Model):
    """Who was given a recording to watch, and when: one row for one sitting, however often its links are renewed."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    recording = models.ForeignKey(Recording, on_delete=models.CASCADE, related_name="watches", db_index=False)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    began_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField()

    class Meta:
        ordering = ["-began_at"]
        indexes = [models.Index(fields=["recording", "by", "last_at"], name="watch_of_recording")]

    def __str__(self) -> str:
        return f"{self.by_id} watched {self.recording_id}"


class Stray(models.Model):
    """A folder in the store that no recording has, and when that was first seen: it goes only if it still is one
    some days later, so that a backup that is put back finds its files."""

    folder = models.UUIDField(primary_key=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"stray {self.folder}"


class CallFigures(models.Model):
    """What a recording says by itself of how its call went, by one edition of the method; or why nothing is said.

    `events` are what the figures were made from, each with its two end points in milliseconds of the recording. `heard`
    is the evidence, from which the figures can be made again without the sound: where each side of the file speaks.
    """

    recording = models.OneToOneField(Recording, primary_key=True, on_delete=models.CASCADE, related_name="figures")
    edition = models.PositiveSmallIntegerField()
    measured_at = models.DateTimeField()
    unmeasured_because = models.CharField(max_length=300, blank=True)
    heard = models.JSONField(default=dict, blank=True)
    events = models.JSONField(default=list, blank=True)

    turn_count = models.PositiveIntegerField(null=True, blank=True)
    latency_median_ms = models.IntegerField(null=True, blank=True)
    latency_p95_ms = models.IntegerField(null=True, blank=True)
    silence_count = models.PositiveIntegerField(null=True, blank=True)
    silence_ms = models.PositiveIntegerField(null=True, blank=True)
    overlap_count = models.PositiveIntegerField(null=True, blank=True)
    yield_count = models.PositiveIntegerField(null=True, blank=True, help_text="Overlaps in which Emma yielded.")
    yield_median_ms = models.PositiveIntegerField(null=True, blank=True)
    emma_share = models.FloatField(null=True, blank=True, help_text="Of all talk, 0 to 1.")
    longest_monologue_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Emma's.")

    def __str__(self) -> str:
        return f"figures of {self.recording_id}"

    @property
    def is_measured(self) -> bool:
        return not self.unmeasured_because
