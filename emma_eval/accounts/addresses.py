"""E-mail addresses as accounts hold them. Everything that looks an account up by an address reads it here.

Only A to Z become small letters. Unicode knows other characters whose small letter is one of a to z (the Kelvin sign
is one), so with its rules an address that belongs to somebody else would become that of an account.
"""

from __future__ import annotations

import string

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def address_of(said: str) -> str:
    """The address as an account would hold it; whether it is one is not looked at."""
    return said.strip().translate(_SMALL)


def is_address(said: str) -> bool:
    """Whether an account may have this address: of ASCII alone, so a domain of other letters stands as xn--..."""
    if not said.isascii():
        return False
    try:
        validate_email(said)
    except ValidationError:
        return False
    return True
