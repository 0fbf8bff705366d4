"""A call with Emma as it was held beside the live-call page: evidence that is kept as it happens."""

from __future__ import annotations

import uuid
from datetime import datetime
from statistics import median

from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script, ScriptVersion

from .result import Result

MOST_MOMENTS = 200
MOST_MOMENT_CHARACTERS = 200
MOST_CALL_MS = 24 * 3_600_000
MOST_ROUND_TRIPS = 240


def as_clock(at_ms: int) -> str:
    """A time of the call clock as people read it: 1:04, or 1:01:04 after an hour."""
    minutes, seconds = divmod(max(0, at_ms) // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _on_the_call_clock(column: str) -> Q:
    """A time of the call clock: milliseconds since the call began, or not known."""
    within = Q(**{f"{column}__gte": 0, f"{column}__lte": MOST_CALL_MS})
    return Q(**{f"{column}__isnull": True}) | within


class CallQuerySet(models.QuerySet["Call"]):
    def visible_to(self, user: User | AnonymousUser) -> CallQuerySet:
        """A call on which anything of Safety was run, or is Safety now, is for the trained alone, moments and all."""
        if not user.is_authenticated:
            return self.none()
        return self if user.is_trained else self.open_to_all()

    def open_to_all(self) -> CallQuerySet:
        """Calls of which nothing is for the trained alone."""
        return self.exclude(_safety_runs()).exclude(_safety_results())

    def covered(self) -> CallQuerySet:
        """The others."""
        return self.filter(_safety_runs() | _safety_results())


def _safety_runs() -> Exists:
    covered = Q(is_safety=True) | Q(script__area=taxonomy.SAFETY)
    return Exists(Run.objects.filter(covered, call=OuterRef("pk")))


def _safety_results() -> Exists:
    of_the_call = Result.objects.filter(call_uuid=OuterRef("uuid"), tester=OuterRef("tester"))
    return Exists(of_the_call.filter(Q(filed_as_safety=True) | Q(script__area=taxonomy.SAFETY)))


class Browser(models.TextChoices):
    """The families that results are told apart by; the call itself keeps the browser's own name."""

    CHROME = "Chrome", "Chrome"
    EDGE = "Edge", "Edge"
    FIREFOX = "Firefox", "Firefox"
    OPERA = "Opera", "Opera"
    SAFARI = "Safari", "Safari"
    SAMSUNG = "Samsung Internet", "Samsung Internet"
    OTHER = "Other", "Other"


# Beginnings of the names by which browsers of one family go, on phones and inside of other programs too.
_FAMILIES = {
    "Chrome": Browser.CHROME,
    "HeadlessChrome": Browser.CHROME,
    "Chromium": Browser.CHROME,
    "Edge": Browser.EDGE,
    "Firefox": Browser.FIREFOX,
    "Opera": Browser.OPERA,
    "Mobile Safari": Browser.SAFARI,
    "Safari": Browser.SAFARI,
    "Samsung Internet": Browser.SAMSUNG,
}


def family_of(browser: str) -> str:
    """The family that a browser's name belongs to; empty for none."""
    if not browser:
        return ""
    return next((family for name, family in _FAMILIES.items() if browser.startswith(name)), Browser.OTHER).value


class Device(models.TextChoices):
    PHONE = "phone", "Phone"
    TABLET = "tablet", "Tablet"
    COMPUTER = "computer", "Computer"


class Connection(models.TextChoices):
    """What kind it was, where the browser tells; otherwise how quick it found it, which is all that most tell."""

    WIFI = "wifi", "Wi-Fi"
    CABLE = "ethernet", "Cable"
    MOBILE = "cellular", "Mobile network"
    FAST = "4g", "Not told, speed of 4G or better"
    SLOWER = "3g", "Not told, speed of 3G"
    SLOW = "2g", "Not told, speed of 2G or less"
    OTHER = "other", "Other"


class Call(models.Model):
    """One call. Its clock begins with the tester's press of the call button and is the browser's monotonic one.

    `started_at` is the server's time of that press: the time of receipt less the age that the browser's monotonic
    clock gave it. No clock on the tester's machine that tells the time of day is ever asked.
    """

    tester = models.ForeignKey(User, on_delete=models.PROTECT, related_name="calls", db_index=False)
    uuid = models.UUIDField(default=uuid.uuid4)
    build = models.ForeignKey(Build, to_field="sort_key", null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    start_is_uncertain = models.BooleanField(
        default=False, db_default=False, help_text="The press was lost with its browser: it may have been earlier."
    )
    ended_at_ms = models.PositiveIntegerField(null=True, blank=True, help_text="On the call clock.")

    revision = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Grows with every telling, so that a page knows which answer is newer."
    )

    user_agent = models.CharField(max_length=500, blank=True, help_text="As the browser names itself.")
    browser = models.CharField(max_length=40, blank=True, help_text="Its family, such as Chrome or Safari.")
    browser_version = models.CharField(max_length=20, blank=True)
    system = models.CharField(max_length=40, blank=True, help_text="Such as Windows 11 or Android 14.")
    device = models.CharField(max_length=10, choices=Device.choices, blank=True)
    connection = models.CharField(max_length=20, choices=Connection.choices, blank=True)
    round_trips_ms = models.JSONField(
        default=list, blank=True, help_text="The latest ones that the page measured between itself and the site."
    )

    objects = CallQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tester", "uuid"], name="one_call_a_uuid"),
            models.CheckConstraint(condition=_on_the_call_clock("ended_at_ms"), name="call_ends_on_its_clock"),
        ]

    def __str__(self) -> str:
        return f"call {self.uuid}"

    def get_absolute_url(self) -> str:
        return reverse("call", args=[self.uuid])

    def elapsed_ms(self, now: datetime) -> int | None:
        """What the call clock reads at `now`, wherever the call's end was put; None before the call began."""
        return None if self.started_at is None else max(0, round((now - self.started_at).total_seconds() * 1000))

    @property
    def lasted(self) -> str:
        """How long the call was, as people read it; empty until its end is told."""
        return "" if self.ended_at_ms is None else as_clock(self.ended_at_ms)

    @property
    def round_trip_ms(self) -> int | None:
        """The median of what was measured; the slowest of a call that once hung tells nothing of the others."""
        return round(median(self.round_trips_ms)) if self.round_trips_ms else None


class Run(models.Model):
    """One script on one call: the steps that were ticked off, and when the stretch without a script began."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    call = models.ForeignKey(Call, on_delete=models.CASCADE, related_name="runs")
    script = models.ForeignKey(Script, to_field="slug", on_delete=models.PROTECT, related_name="+")
    script_version = models.ForeignKey(ScriptVersion, on_delete=models.PROTECT, related_name="+")
    is_safety = models.BooleanField(default=False, help_text="Whether the script was Safety when it was run.")
    ticks = models.JSONField(default=dict, blank=True, help_text='{"1": ms of the call clock}, by the step\'s number.')
    off_script_from_ms = models.PositiveIntegerField(null=True, blank=True, help_text="On the call clock.")
    set_aside_at = models.DateTimeField(null=True, blank=True, help_text="When its tester said: no result of this.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["call", "script"], name="one_run_a_script"),
            models.CheckConstraint(condition=_on_the_call_clock("off_script_from_ms"), name="run_is_on_the_call_clock"),
        ]

    def __str__(self) -> str:
        return f"{self.script_id} on {self.call}"

    @property
    def is_untouched(self) -> bool:
        """Nothing of it was done on the call yet."""
        return not self.ticks and self.off_script_from_ms is None


class MomentQuerySet(models.QuerySet["Moment"]):
    def standing(self) -> MomentQuerySet:
        """Those that their tester did not withdraw: what is shown of a call beside its own page."""
        return self.filter(is_withdrawn=False)


class Moment(models.Model):
    """A marker dropped during a call. Where it stands is written once; its words may be mended.

    One that was marked by mistake is withdrawn, not deleted: a page that tells of it late must not bring it back.

    `at_ms` lies between the press that began the call and the press of Mark moment, on the browser's monotonic
    clock; `received_at` is the server's time when it was told.
    """

    call = models.ForeignKey(Call, on_delete=models.CASCADE, related_name="moments", db_index=False)
    uuid = models.UUIDField()
    number = models.PositiveSmallIntegerField(help_text="In the order in which they reached the site.")
    at_ms = models.PositiveIntegerField()
    words = models.CharField(max_length=MOST_MOMENT_CHARACTERS, blank=True)
    edition = models.PositiveIntegerField(default=0, help_text="How often it was changed, as the page counts.")
    is_withdrawn = models.BooleanField(default=False, db_default=False)
    received_at = models.DateTimeField(auto_now_add=True)

    objects = MomentQuerySet.as_manager()

    class Meta:
        ordering = ["at_ms", "number"]
        constraints = [
            models.UniqueConstraint(fields=["call", "uuid"], name="one_moment_a_uuid"),
            models.UniqueConstraint(fields=["call", "number"], name="one_moment_a_number"),
            models.CheckConstraint(
                condition=Q(number__gte=1) & Q(number__lte=MOST_MOMENTS), name="moments_of_a_call_are_few"
            ),
            models.CheckConstraint(condition=_on_the_call_clock("at_ms"), name="moment_is_on_the_call_clock"),
        ]

    def __str__(self) -> str:
        return f"moment {self.number} of {self.call}"

    @property
    def at(self) -> str:
        return as_clock(self.at_ms)
