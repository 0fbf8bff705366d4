"""What testers file: results with their ordered problems, and the history of their changes."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script, ScriptVersion

DIMENSION_KEYS = tuple(dimension.key for dimension in taxonomy.DIMENSIONS)
ALWAYS_RATED = DIMENSION_KEYS[:-1]
MOST_COMMENT_CHARACTERS = 20_000
MOST_NOTE_CHARACTERS = 200


class ResultQuerySet(models.QuerySet["Result"]):
    def visible_to(self, user: User | AnonymousUser) -> ResultQuerySet:
        """The one Safety rule: filed as Safety, or of a script that is Safety now, is for the trained alone."""
        return self.known(is_trained=user.is_trained) if user.is_authenticated else self.none()

    def known(self, *, is_trained: bool) -> ResultQuerySet:
        """What anybody may know of who is signed in, and trained or not: the same for all of them."""
        return self if is_trained else self.open_to_all()

    def open_to_all(self) -> ResultQuerySet:
        """What everybody who is signed in may know of."""
        safety_now = Script.objects.filter(area=taxonomy.SAFETY).values("slug")
        return self.filter(filed_as_safety=False).exclude(script__in=safety_now)

    def covered(self) -> ResultQuerySet:
        """What is for the trained alone."""
        safety_now = Script.objects.filter(area=taxonomy.SAFETY).values("slug")
        return self.filter(Q(filed_as_safety=True) | Q(script__in=safety_now))

    def waiting_for_link_of(self, tester: User) -> ResultQuerySet:
        """Filed here by this tester, with neither a link nor a recording; a call that never started needs none."""
        from .recording import Recording  # which stands on results

        of_the_call = Recording.objects.expected().filter(tester=tester, call_uuid=OuterRef("call_uuid"))
        missing = self.filter(tester=tester, recording_link="", never_started=False).exclude(Exists(of_the_call))
        return missing.filter(sheet_digest="", reviewed_at=None)

    def rated(self) -> ResultQuerySet:
        """Results that count in means: the call took place."""
        return self.filter(never_started=False)


def _rating() -> Any:
    return models.PositiveSmallIntegerField(null=True, blank=True)


def _in_scale(column: str) -> Q:
    return Q(**{f"{column}__gte": 1, f"{column}__lte": 5})


def _ratings_are_whole() -> Q:
    """A call that never started has no rating. Any other has all of them, and Vision exactly with the camera."""
    none_at_all = Q(never_started=True, camera_used=False, **{f"{key}__isnull": True for key in DIMENSION_KEYS})
    all_five = Q(never_started=False, **{f"{key}__isnull": False for key in ALWAYS_RATED})
    vision = Q(camera_used=True, vision__isnull=False) | Q(camera_used=False, vision__isnull=True)
    return none_at_all | (all_five & vision)


_MAY_BE_SEEN = ("filed_as_safety", "script")
# Which versions of a script were run on a build and by whom is counted on its dashboard, without looking up a row.
_BESIDE = {"script_build": ("filed_as_safety", "never_started", "script_version", "taxonomy_edition", "tester")}


def _indexes_of_the_list() -> list[models.Index]:
    """For each way to sort the list an index, alone and under a script, a build or a tester.

    So a page of the list is read off an index, in order, from any depth (docs/decisions/0040-*). Those that rows are
    counted by hold what decides who may see a row, too, so that no row is looked up to be counted (0086).
    """
    alone = [
        models.Index(fields=["called_at", "id", *_MAY_BE_SEEN], name="result_called"),
        models.Index(fields=["script", "id", "filed_as_safety"], name="result_script"),
        models.Index(fields=["build", "called_at", "id", *_MAY_BE_SEEN], name="result_build_called"),
        models.Index(fields=["tester", "called_at", "id", *_MAY_BE_SEEN], name="result_tester_called"),
    ]
    for column in ("script", "build", *DIMENSION_KEYS):
        if column != "script":
            alone.append(models.Index(fields=[column, "id"], name=f"result_{column}"))
        alone += [
            models.Index(
                fields=[under, column, "id", *_BESIDE.get(f"{under}_{column}", ())], name=f"result_{under}_{column}"
            )
            for under in ("script", "build", "tester")
            if under != column
        ]
    return alone


def _indexes_of_the_machine() -> list[models.Index]:
    """What was noted of the call's device, by date; rows of which nothing was noted take no room in them."""
    return [
        models.Index(fields=[column, "called_at", "id"], name=f"result_{column}", condition=~Q(**{column: ""}))
        for column in ("browser", "device", "connection")
    ]


def _indexes_of_the_queue() -> list[models.Index]:
    """What waits, in the order in which it is taken: all of it, and what everybody may see (docs/decisions/0100-*).

    And by date, what waits and what was reviewed, for the list. Most results are in none of them.
    """
    waits = Q(queued_for__isnull=False)
    return [
        models.Index(fields=["queued_for", "id"], name="result_queued", condition=waits),
        models.Index(
            fields=["filed_as_safety", "queued_for", "id", "script"], name="result_queued_open", condition=waits
        ),
        models.Index(fields=["called_at", "id", *_MAY_BE_SEEN], name="result_waiting", condition=waits),
        models.Index(
            fields=["called_at", "id", *_MAY_BE_SEEN], name="result_reviewed", condition=Q(reviewed_at__isnull=False)
        ),
    ]


class ProblemOrder(models.TextChoices):
    """How much of the overall order of a result's problems is known."""

    OVERALL = "overall", "One order over all groups"
    BIGGEST = "biggest", "The biggest is named; the order between the other groups is unknown"
    GROUPS = "groups", "Order within each group only; the biggest is unknown"


class QueuedFor(models.IntegerChoices):
    """Why a result is to be looked at, the most pressing first; one that nothing speaks for is not in the queue.

    The last is no reason to review: all reviews are in, and one of them is to be picked.
    """

    DISAGREEMENT = 1, "Testers disagree"
    OTHER_TAG = 2, "An “Other” tag"
    VERY_LOW = 3, "A very low rating"
    SAMPLE = 4, "Picked at random"
    BY_HAND = 5, "Picked by hand"
    PICK = 6, "Reviewed, waits for a pick"


class Result(models.Model):
    """One script run on one call, as the tester filed it.

    Vision is N/A exactly when the camera was not used: the column is then NULL, and the constraint
    `result_ratings_are_whole` lets it be NULL for no other reason in a call that took place.
    Script and build are held by their sort keys, so that the list sorts by either on an index.
    """

    id = models.BigAutoField(primary_key=True, default=new_key)
    tester = models.ForeignKey(User, on_delete=models.PROTECT, related_name="results", db_index=False)
    draft_uuid = models.UUIDField()
    call_uuid = models.UUIDField(default=uuid.uuid4, help_text="Shared by the results of one call of one tester.")
    script = models.ForeignKey(
        Script, to_field="slug", on_delete=models.PROTECT, related_name="results", db_index=False
    )
    script_version = models.ForeignKey(ScriptVersion, on_delete=models.PROTECT, related_name="results")
    build = models.ForeignKey(
        Build, to_field="sort_key", on_delete=models.PROTECT, related_name="results", db_index=False
    )
    called_at = models.DateTimeField(help_text="When the call took place, as the tester or the sheet says.")
    filed_at = models.DateTimeField(auto_now_add=True)
    recording_link = models.CharField(max_length=2000, blank=True)

    listening_timing = _rating()
    content = _rating()
    voice_audio = _rating()
    face_video = _rating()
    emotional_fit = _rating()
    vision = _rating()
    camera_used = models.BooleanField(default=False)
    camera_note = models.CharField(
        max_length=MOST_NOTE_CHARACTERS, blank=True, help_text="Why a camera script was run without it."
    )
    never_started = models.BooleanField(default=False)
    problem_order = models.CharField(max_length=10, choices=ProblemOrder.choices, default=ProblemOrder.OVERALL)
    comment = models.TextField(blank=True, max_length=MOST_COMMENT_CHARACTERS)
    met_emma_before = models.BooleanField(default=False, help_text="Returning user?")

    filed_as_safety = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1, help_text="Grows with every correction.")
    reviewed_at = models.DateTimeField(
        null=True, blank=True, help_text="When its first review was filed; from then on it stays as it is."
    )
    queued_for = models.PositiveSmallIntegerField(
        null=True, blank=True, choices=QueuedFor.choices, help_text="Empty: nobody needs to look, or all have looked."
    )
    taxonomy_edition = models.PositiveSmallIntegerField(default=taxonomy.EDITION)

    # Of the call's device, as the live-call page noted them; kept with the row, so that the list filters by them
    # and the row's page says them whatever else was run on the call.
    browser = models.CharField(max_length=40, blank=True, help_text="Its family, one of `Browser`.")
    device = models.CharField(max_length=10, blank=True)
    connection = models.CharField(max_length=20, blank=True)
    system = models.CharField(max_length=40, blank=True)

    sheet_digest = models.CharField(
        max_length=64, blank=True, help_text="What the imported row said; empty = filed here."
    )
    sheet_worst_moment = models.TextField(blank=True)
    sheet_minute_in_call = models.TextField(blank=True)

    objects = ResultQuerySet.as_manager()

    class Meta:
        constraints = [
            # The draft first: rows of a sheet are looked up by it, whoever their tester is by now.
            models.UniqueConstraint(fields=["draft_uuid", "tester"], name="one_result_a_draft"),
            models.CheckConstraint(condition=_ratings_are_whole(), name="result_ratings_are_whole"),
            *[
                models.CheckConstraint(
                    condition=Q(**{f"{key}__isnull": True}) | _in_scale(key), name=f"result_{key}_in_scale"
                )
                for key in DIMENSION_KEYS
            ],
        ]
        indexes = [
            models.Index(fields=["script", "called_at", "id", *DIMENSION_KEYS], name="result_script_called"),
            models.Index(fields=["call_uuid"], name="result_call"),
            *_indexes_of_the_queue(),
            models.Index(fields=["called_at", "id"], name="result_not_started", condition=Q(never_started=True)),
            *_indexes_of_the_machine(),
            *_indexes_of_the_list(),
        ]

    def __str__(self) -> str:
        return f"result {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("result", args=[self.pk])

    @property
    def is_covered(self) -> bool:
        """Whether only the trained may know of it."""
        return self.filed_as_safety or self.script.is_safety

    @property
    def vision_off_script(self) -> bool:
        """The camera was used though the script has no use for it."""
        return self.camera_used and not self.script_version.uses_camera


class Problem(models.Model):
    """One tag on a result. `position` is its place as listed; `rank` its place in the overall order.

    `rank` is NULL where that order is not known (a sheet that names no biggest problem), so it never
    counts as biggest: biggest is rank 1 and nothing else.
    """

    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="problems", db_index=False)
    tag = models.CharField(max_length=40)
    position = models.PositiveSmallIntegerField()
    rank = models.PositiveSmallIntegerField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["result", "tag"], name="problem_once_a_result"),
            models.UniqueConstraint(fields=["result", "position"], name="problem_position_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="problem_position_from_one"),
            models.CheckConstraint(
                condition=Q(rank__isnull=True) | Q(rank=models.F("position")), name="problem_rank_is_its_position"
            ),
        ]
        indexes = [
            models.Index(fields=["tag", "result", "rank"], name="problem_tag"),
            models.Index(fields=["result", "position", "tag", "rank"], name="problem_result"),
        ]

    def __str__(self) -> str:
        return f"{self.tag} on result {self.result_id}"

    @property
    def label(self) -> str:
        return taxonomy.TAG_BY_KEY[self.tag].label

    @property
    def is_biggest(self) -> bool:
        return self.rank == 1


class Change(models.Model):
    """One correction of a filed result: what each changed field said before and after."""

    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="changes")
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    version = models.PositiveIntegerField(help_text="The version that this change made.")
    fields = models.JSONField(help_text="{field: [before, after]}")

    class Meta:
        ordering = ["version"]
        constraints = [models.UniqueConstraint(fields=["result", "version"], name="one_change_a_version")]

    def __str__(self) -> str:
        return f"change {self.version} of result {self.result_id}"
