"""What the eval team says of a result's tags, beside what its tester filed: neither ever overwrites the other."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import F, Q

from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import User
from scripts_catalog import taxonomy

from .result import ProblemOrder, Result

MOST_REASON_CHARACTERS = 1_000


class ReviewQuerySet(models.QuerySet["Review"]):
    def filed(self) -> ReviewQuerySet:
        return self.exclude(filed_at=None)

    def under_way(self) -> ReviewQuerySet:
        return self.filter(filed_at=None)


class Review(models.Model):
    """One reviewer's account of a result's tags: work in progress until it is filed, then written once.

    `stands` marks the one review of a result whose tags count wherever tags are counted as reviewed.
    """

    id = models.BigAutoField(primary_key=True, default=new_key)
    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="reviews", db_index=False)
    reviewer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="reviews", db_index=False)
    begun_at = models.DateTimeField(auto_now_add=True)
    draft = models.JSONField(default=dict, blank=True, help_text="Work in progress; empty once it is filed.")
    filed_at = models.DateTimeField(null=True, blank=True)
    result_version = models.PositiveIntegerField(default=1, help_text="The version of the result that was judged.")
    problem_order = models.CharField(max_length=10, choices=ProblemOrder.choices, default=ProblemOrder.OVERALL)
    confirms = models.BooleanField(default=False, help_text="The tags are right as they were filed.")
    reason = models.CharField(max_length=MOST_REASON_CHARACTERS, blank=True)
    is_of_gold = models.BooleanField(default=False, help_text="Answers a gold result: counts for agreement alone.")
    stands = models.BooleanField(default=False)
    stood_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text="Who picked it of several."
    )

    objects = ReviewQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["result", "reviewer"], name="one_review_a_reviewer"),
            models.UniqueConstraint(fields=["result"], condition=Q(stands=True), name="one_review_stands"),
            models.CheckConstraint(
                condition=Q(stands=False) | Q(filed_at__isnull=False, is_of_gold=False), name="what_stands_is_filed"
            ),
        ]
        indexes = [models.Index(fields=["reviewer", "filed_at"], name="review_reviewer")]

    def __str__(self) -> str:
        return f"review of result {self.result_id}"


class ReviewedProblem(models.Model):
    """One tag of a review, placed and ranked as a `Problem` of a result is."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="problems", db_index=False)
    tag = models.CharField(max_length=40)
    position = models.PositiveSmallIntegerField()
    rank = models.PositiveSmallIntegerField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["review", "tag"], name="reviewed_problem_once"),
            models.UniqueConstraint(fields=["review", "position"], name="reviewed_position_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="reviewed_position_from_one"),
            models.CheckConstraint(
                condition=Q(rank__isnull=True) | Q(rank=F("position")), name="reviewed_rank_is_its_position"
            ),
        ]
        indexes = [models.Index(fields=["tag", "review", "rank"], name="reviewed_tag")]

    def __str__(self) -> str:
        return f"{self.tag} on {self.review}"

    @property
    def label(self) -> str:
        return taxonomy.TAG_BY_KEY[self.tag].label


class HoldQuerySet(models.QuerySet["Hold"]):
    def in_force(self, now: datetime) -> HoldQuerySet:
        return self.filter(until__gt=now)


class Hold(models.Model):
    """A result that one reviewer has in hand. It lapses by itself; the work that was begun stays in the review."""

    result = models.OneToOneField(Result, on_delete=models.CASCADE, primary_key=True, related_name="hold")
    reviewer = models.ForeignKey(User, on_delete=models.CASCADE, related_name="holds")
    taken_at = models.DateTimeField()
    until = models.DateTimeField()

    objects = HoldQuerySet.as_manager()

    def __str__(self) -> str:
        return f"result {self.result_id}, held until {self.until}"


class QueueWalk(models.Model):
    """How far the results of before were looked through for the queue. One row, which can be thrown away: then all
    of them are looked through again.
    """

    share = models.PositiveSmallIntegerField(help_text="The random share, in percent, that was looked for.")
    up_to = models.BigIntegerField(default=0, help_text="The key of the last result that was looked at.")
    ended_at = models.DateTimeField(null=True, blank=True)
    disagreement_until = models.DateTimeField(
        null=True, blank=True, help_text="What was filed or corrected before was compared."
    )

    def __str__(self) -> str:
        return f"walk up to result {self.up_to}"


class GoldAnswer(models.Model):
    """The known answer of a result that is mixed into the queue, to see how well reviewers agree with it."""

    result = models.OneToOneField(Result, on_delete=models.CASCADE, related_name="gold")
    tags = models.JSONField(help_text="Keys of tags, the biggest problem first.")
    why = models.CharField(max_length=MOST_REASON_CHARACTERS)
    set_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"gold answer of result {self.result_id}"


class Comment(models.Model):
    """Something that was said about a result, in the order it was said. Withdrawn, it leaves its place behind."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="comments", db_index=False)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    text = models.TextField(max_length=5_000)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["result", "id"], name="comment_result")]

    def __str__(self) -> str:
        return f"comment on result {self.result_id}"
