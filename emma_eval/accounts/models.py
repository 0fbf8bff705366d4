"""People: who they are, what they may do, who is trained, and what was done by whom."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, Group, PermissionsMixin
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.formats import date_format
from django.utils.functional import cached_property

from . import hidden
from .addresses import address_of
from .keys import new_key
from .roles import Role
from .session_store import Session  # noqa: F401  (a table of this room too)

INVITATION_LASTS = timedelta(hours=72)


def group_of(role: Role) -> Group:
    """The group that stands for a role."""
    return Group.objects.get_or_create(name=role.value)[0]


def roles_named(groups: set[str]) -> frozenset[Role]:
    """The roles that groups of these names stand for."""
    return frozenset(role for role in Role if role.value in groups)


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=address_of(username or ""))

    def shown_to(self, viewer: User) -> models.QuerySet[User]:
        """The people whose accounts this person looks after: administrators everybody, managers testers."""
        if viewer.has_role(Role.ADMINISTRATOR):
            return self.get_queryset()
        if viewer.has_role(Role.MANAGER):
            return self.filter(groups__name=Role.TESTER.value)
        return self.none()

    def with_rights(self, pk: int) -> User | None:
        """One person with their roles and training, in one query: a row for each group they are in."""
        rows = list(_people_with_rights(timezone.localdate()).filter(pk=pk))
        if not rows:
            return None
        user: User = rows[0]
        user.roles = roles_named({row.group for row in rows})
        user.is_trained = rows[0].trained
        return user

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """An account; without a password nobody can sign in to it until an invitation is accepted."""
        user = self.model(email=address_of(email), **fields)
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
    signed_on_at = models.DateTimeField(
        null=True, blank=True, help_text="When this person last came by the organisation's sign-on."
    )
    erased_at = models.DateTimeField(
        null=True, blank=True, help_text="When the identity was taken away; what they filed stays."
    )

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
        return roles_named(set(self.groups.values_list("name", flat=True)))

    @cached_property
    def is_trained(self) -> bool:
        """Whether a training grant is in force today; only the trained know that Safety scripts exist."""
        return self.trainings.in_force(timezone.localdate()).exists()

    def has_role(self, *roles: Role) -> bool:
        return not self.roles.isdisjoint(roles)

    @property
    def has_joined(self) -> bool:
        """Whether this person can sign in: with a password since an invitation was accepted, or by sign-on."""
        by_sign_on = settings.SIGN_ON is not None and self.signed_on_at is not None
        return by_sign_on or self.has_usable_password()

    @property
    def has_no_password_here(self) -> bool:
        """Whether this person signs in by sign-on alone, so that pages about passwords are not for them."""
        if settings.SIGN_ON is None:
            return False
        return settings.SIGN_ON.only or (self.signed_on_at is not None and not self.has_usable_password())

    @property
    def has_roles_by_sign_on(self) -> bool:
        """Whether the provider says which roles this person has, so that nobody else does."""
        return settings.SIGN_ON is not None and bool(settings.SIGN_ON.roles) and self.signed_on_at is not None


@lru_cache(maxsize=1)
def _people_with_rights(day: date) -> models.QuerySet[Any, Any]:
    """Put together once a day and run at each request: half of its cost is in putting it together."""
    trained = Training.objects.in_force(day).filter(user=OuterRef("pk"))
    return User.objects.annotate(group=F("groups__name"), trained=Exists(trained))


class TrainingQuerySet(models.QuerySet["Training"]):
    def in_force(self, day: date) -> TrainingQuerySet:
        open_ended = Q(ends_on=None) | Q(ends_on__gte=day)
        return self.filter(open_ended, starts_on__lte=day, revoked_at=None)


class Training(models.Model):
    """A dated grant: this person is trained for Safety scripts from one day to another (both included).

    By hand, or `from_claim`: then sign-on renews it and takes it back. What somebody revoked by hand (`revoked_by`)
    the same claim does not give again.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="trainings")
    starts_on = models.DateField()
    ends_on = models.DateField(null=True, blank=True)
    note = models.CharField(max_length=200, blank=True)
    granted_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    granted_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    from_claim = models.BooleanField(default=False, db_default=False)

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
        """Those whose link works now: not used, revoked or overtaken, and its person never signed in yet."""
        waiting = self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
        waiting = waiting.filter(user__is_active=True, user__signed_on_at=None)
        return waiting.filter(user__password__startswith=UNUSABLE_PASSWORD_PREFIX)


class Invitation(models.Model):
    """A link that lets one person set a password, once, within three days.

    The token of the link is made from the secret key and a nonce of this row, so the mail of the outbox can be
    written again at each try and says the same each time; who reads the database alone can't make it.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitations")
    nonce = models.CharField(max_length=43, unique=True, editable=False)
    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"invitation of {self.user}"

    @classmethod
    def make(cls, user: User, invited_by: User | None) -> tuple[Invitation, str]:
        """A new invitation and the token of its link."""
        made = cls(user=user, invited_by=invited_by, nonce=secrets.token_urlsafe(32))
        made.expires_at = timezone.now() + INVITATION_LASTS
        made.token_digest = digest_of(made.token)
        made.save()
        return made, made.token

    @property
    def token(self) -> str:
        """The token of the link; another one than was promised if the secret key changed meanwhile."""
        return salted_hmac("emma_eval.accounts.invitation", self.nonce, algorithm="sha256").hexdigest()

    @property
    def is_open(self) -> bool:
        return self.accepted_at is None and self.revoked_at is None and self.expires_at > timezone.now()


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def in_force(self) -> ApiTokenQuerySet:
        return self.filter(revoked_at=None, expires_at__gt=timezone.now(), owner__is_active=True)


class ApiToken(models.Model):
    """What a program signs in with in its owner's name: never more than its scopes, nor than the owner may now.

    Kept as a digest; the token itself is shown once, when it is made.
    """

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    begins_with = models.CharField(max_length=16, help_text="To tell tokens apart by.")
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True, help_text="About when it was last used.")
    expiry_told_at = models.DateTimeField(
        null=True, blank=True, help_text="When the audit trail was told that it had expired."
    )

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} of {self.owner}"


class Attempt(models.Model):
    """One try at something that is limited, such as a password. See throttle.py."""

    key = models.CharField(max_length=64, help_text="A digest of what is tried and by whom.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["key", "at"], name="attempt_key_at")]

    def __str__(self) -> str:
        return f"attempt at {self.at}"


class RequestCount(models.Model):
    """How many requests of one program, one person or one address without a token came in the minute that runs.

    One row that is written over, not one for each request as with `Attempt`. See by_the_minute.py.
    """

    key = models.CharField(max_length=64, primary_key=True, help_text="A digest of whose requests are counted.")
    began_ms = models.BigIntegerField(help_text="When the minute began, in milliseconds since 1970.")
    requests = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.requests} requests"


class AppendOnlyError(TypeError):
    """Somebody tried to change or remove what is written once."""


ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _in_words(value: object) -> str:
    """`before` and `after` of something that was changed, lists with commas, days as pages write them."""
    if isinstance(value, dict) and value.keys() == {"before", "after"}:
        return f"{_in_words(value['after'])}, before {_in_words(value['before'])}"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and ISO_DAY.fullmatch(value):
        return date_format(date.fromisoformat(value), "j M Y")
    return "none" if value is None or value == "" else str(value)


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    def visible_to(self, user: User) -> AuditEntryQuerySet:
        """Entries about Safety are for the trained alone, and so are those about what is Safety by now."""
        if user.is_trained:
            return self
        found = self.filter(is_safety=False)
        for slugs in hidden.hidden_scripts(user):
            found = found.exclude(script__in=slugs)
        for lines in hidden.hidden_lines(user):
            found = found.exclude(lines)
        return found

    def update(self, **kwargs: Any) -> int:
        raise AppendOnlyError("The audit trail is never changed.")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise AppendOnlyError("The audit trail is never shortened.")


ABOUT = "person"  # the name of the detail that holds the key of an account
ADDRESS_DIGEST = "address_digest"  # by which the address of an erased person is known again: erased_addresses.py


def details_in_words(details: dict[str, Any]) -> list[tuple[str, str]]:
    """Each detail as a person reads it: names without underscores, lists with commas."""
    said = ((name, value) for name, value in details.items() if name not in {ABOUT, ADDRESS_DIGEST})
    return [(name.replace("_", " "), _in_words(value)) for name, value in said]


class AuditEntry(models.Model):
    """Who did what, when, to which thing. Written once; never changed or removed."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    action = models.CharField(max_length=80)
    target = models.CharField(max_length=200, blank=True)
    details = models.JSONField(default=dict, blank=True)
    is_safety = models.BooleanField(default=False, help_text="Shown to trained people only.")
    script = models.SlugField(
        max_length=60, blank=True, help_text="The script that it is about: shown to those who may know of it."
    )

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["actor", "id"], name="audit_actor"),
            models.Index(fields=["action", "id"], name="audit_action"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"

    @property
    def about(self) -> int | None:
        """The key of the person that it is about; who that is, or was, says their account."""
        person: int | None = self.details.get(ABOUT)
        return person

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError("The audit trail is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise AppendOnlyError("The audit trail is never shortened.")


class AuditLinkQuerySet(models.QuerySet["AuditLink"]):
    def update(self, **kwargs: Any) -> int:
        raise AppendOnlyError("The chain of the audit trail is never changed.")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise AppendOnlyError("The chain of the audit trail is never shortened.")


class AuditLink(models.Model):
    """An entry's place in the chain of the audit trail, and what that chain says up to here. See audit_chain/.

    No foreign key: the chain has to tell of an entry that somebody took away.
    """

    entry = models.BigIntegerField(primary_key=True, help_text="The key of the entry.")
    place = models.PositiveBigIntegerField(unique=True, help_text="From 1, without a gap, in the order of linking.")
    digest = models.CharField(max_length=64, help_text="SHA-256 over the digest before and the entry.")

    objects = AuditLinkQuerySet.as_manager()

    def __str__(self) -> str:
        return f"link {self.place}"
