"""Who made a backup: told by a signature that only the secret of the site can make, and always said in words."""

from __future__ import annotations

from collections.abc import Sequence

from . import site
from .manifest import Manifest
from .refused import Refused

FORGED = (
    "This backup says that it was made with the secret of this site, and it was not: somebody changed it. "
    "Use another one."
)


def who_made(said: Manifest, secrets: Sequence[str]) -> str:
    """A sentence on what the secrets that are at hand prove; `Refused` when they prove that it was changed."""
    for secret in secrets:
        if said.is_signed_with(secret):
            return "It was made by somebody who knows the secret of this site: nobody else could have signed it."
        if said.secret_fingerprint == site.fingerprint(secret):
            raise Refused(FORGED)
    why = "made with another secret than this site's" if secrets else "there is no secret here to prove it by"
    return f"Who made it is NOT proven ({why}): trust it only as far as the place that it was kept in."
