"""What the environment says of the organisation's sign-on. Read by the settings, so nothing of Django is here."""

from __future__ import annotations

from dataclasses import dataclass

from emma_eval.accounts.role import Role


class MappingError(ValueError):
    """A mapping of groups to roles that can't be read."""


@dataclass(frozen=True)
class SignOn:
    """One OpenID Connect provider, and what its claims mean here.

    `roles` empty: roles are given by hand and the provider says only who somebody is. `training_claim` empty:
    training is given by hand. `only`: nobody signs in with a password.
    """

    issuer: str
    client_id: str
    client_secret: str
    name: str
    groups_claim: str = "groups"
    roles: tuple[tuple[str, Role], ...] = ()
    training_claim: str = ""
    only: bool = False

    def roles_of(self, groups: frozenset[str]) -> frozenset[Role]:
        return frozenset(role for group, role in self.roles if group in groups)


def read_roles(pairs: list[str]) -> tuple[tuple[str, Role], ...]:
    """`group=role` for each; the last `=` divides, since names of groups may hold some. Raises MappingError."""
    read = []
    for pair in pairs:
        group, _, role = (part.strip() for part in pair.rpartition("="))
        if not group or role not in set(Role):
            raise MappingError(pair)
        read.append((group, Role(role)))
    return tuple(read)
