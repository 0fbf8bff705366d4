"""Secrets and signatures, as Standard Webhooks has them: receivers verify with any library of that name."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(event: str, now: datetime, body: bytes, signing: Iterable[str]) -> dict[str, str]:
    """The headers that prove a body: its event, the time of this try, and a signature by each of the secrets.

    Each signature is the HMAC-SHA256 of `event.seconds.body` under the bytes that the secret stands for.
    """
    seconds = str(int(now.timestamp()))
    signed = b".".join((event.encode(), seconds.encode(), body))
    signatures = [f"v1,{_signature(secret, signed)}" for secret in signing]
    return {"webhook-id": event, "webhook-timestamp": seconds, "webhook-signature": " ".join(signatures)}


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
