"""People: who they are, what they may do, who is trained, and what was done by whom."""

from __future__ import annotations

import hashlib
import secrets
from datetime import date, timedelta
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.functional import cached_property

from .roles import Role

INVITATION_LASTS = timedelta(hours=72)


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__iexact=username)

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """An account; without a password nobody can sign in to it until an invitation is accepted."""
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """A person, known by e-mail address. An account nobody has accepted yet has no usable password."""

    email = models.EmailField("e-mail address", max_length=254, unique=True)
    name = models.CharField(max_length=150, blank=True)
    is_active = models.BooleanField(default=True)
    is_demo = models.BooleanField(default=False, help_text="Part of the demo team that ./emma up loads.")
    date_joined = models.DateTimeField(default=timezone.now)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_once")]

    def __str__(self) -> str:
        return self.name or self.email

    def get_full_name(self) -> str:
        return str(self)

    @cached_property
    def roles(self) -> frozenset[Role]:
        """Read once a request: a role that was taken away is gone on the next one."""
        names = set(self.groups.values_list("name", flat=True))
        return frozenset(role for role in Role if role.value in names)

    @cached_property
    def is_trained(self) -> bool:
        """Whether a training grant is in force today; only the trained know that Safety scripts exist."""
        return self.trainings.in_force(timezone.localdate()).exists()

    def has_role(self, *roles: Role) -> bool:
        return not self.roles.isdisjoint(roles)


class TrainingQuerySet(models.QuerySet["Training"]):
    def in_force(self, day: date) -> TrainingQuerySet:
        open_ended = Q(ends_on=None) | Q(ends_on__gte=day)
        return self.filter(open_ended, starts_on__lte=day, revoked_at=None)


class Training(models.Model):
    """A dated grant: this person is trained for Safety scripts from one day to another (both included)."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="trainings")
    starts_on = models.DateField()
    ends_on = models.DateField(null=True, blank=True)
    note = models.CharField(max_length=200, blank=True)
    granted_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    granted_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = TrainingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_on=None) | Q(ends_on__gte=F("starts_on")), name="training_ends_after_it_starts"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} from {self.starts_on} to {self.ends_on or 'further notice'}"


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> InvitationQuerySet:
        return self.filter(accepted_at=None, expires_at__gt=timezone.now(), user__is_active=True)


class Invitation(models.Model):
    """A link that lets one person set a password, once, within three days. Only its digest is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitations")
    token_digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"invitation of {self.user}"

    @classmethod
    def make(cls, user: User, invited_by: User | None) -> tuple[Invitation, str]:
        """A new invitation and its token, which is shown or mailed now and can't be read again."""
        token = secrets.token_urlsafe(32)
        made = cls.objects.create(
            user=user,
            invited_by=invited_by,
            token_digest=digest_of(token),
            expires_at=timezone.now() + INVITATION_LASTS,
        )
        return made, token


class AuditEntry(models.Model):
    """Who did what, when, to which thing. Written once; never changed or removed."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=80)
    target = models.CharField(max_length=200, blank=True)
    details = models.JSONField(default=dict, blank=True)
    is_safety = models.BooleanField(default=False, help_text="Shown to trained people only.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"
