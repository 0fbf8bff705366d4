"""Is a link one that we may show and that people may follow? Judged by its form alone; nothing is looked up."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from functools import lru_cache
from urllib.parse import urlsplit

MOST_CHARACTERS = 2000
INNER_NAMES = (
    *(".localhost", ".local", ".localdomain", ".internal", ".intranet", ".private"),
    *(".lan", ".corp", ".home", ".home.arpa"),
)
# Letters by their category, and yet nothing to be seen; browsers drop some of them from a host.
BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
_V6_NETLOC = re.compile(r"\[[0-9a-f:.]+\](:[0-9]*)?", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_V4_INSIDE_V6 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_only_too_long(link: str) -> bool:
    """Whether the link would do if it were not for its length: what leads somewhere stands at its beginning."""
    return len(link) > MOST_CHARACTERS and is_public_link(link[:MOST_CHARACTERS])


def is_public_link(link: str) -> bool:
    """True for an http(s) address of a public host, without credentials and at most 2,000 characters long.

    Hosts are read as a browser would read them: compatibility characters folded, invisible ones dropped.
    A public address must be written in full; its decimal, octal and shortened spellings only serve to hide.
    """
    if len(link) > MOST_CHARACTERS or not _is_visible(link) or "\\" in link:
        return False
    try:
        parts = urlsplit(link)
        has_valid_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    if parts.scheme not in {"http", "https"} or "@" in parts.netloc or not has_valid_port:
        return False
    return _is_public_host(parts.netloc, parts.hostname or "")


def _is_visible(link: str) -> bool:
    """Without spaces, control characters and the invisible marks that make a link look like another."""
    return link.isprintable() and " " not in link


@lru_cache(maxsize=1024)
def _is_public_host(netloc: str, hostname: str) -> bool:
    if "[" in netloc:
        return bool(_V6_NETLOC.fullmatch(netloc)) and _is_public_address(hostname)
    folded = unicodedata.normalize("NFKC", hostname).replace("。", ".").rstrip(".").lower()
    if not all(_may_stand_in_a_host(character) for character in folded):
        return False
    host = "".join(c for c in folded if (c.isalnum() and c not in BLANK_LETTERS) or c in ".-_")
    return _is_public_address(host) or _is_public_name(host)


def _may_stand_in_a_host(character: str) -> bool:
    """Letters, digits and their marks: no sign that only looks like a slash."""
    return character in ".-_" or unicodedata.category(character)[0] in "LNM"


def _is_public_name(host: str) -> bool:
    """A name with at least two labels; one that ends in a number is an address to a browser, or nothing."""
    labels = host.split(".")
    if len(labels) < 2 or len(host) > 253 or any(not 1 <= len(label) <= 63 for label in labels):
        return False
    return not _NUMBER.fullmatch(labels[-1]) and not host.endswith(INNER_NAMES)


def _is_public_address(host: str) -> bool:
    try:
        address = _innermost(ipaddress.ip_address(host))
    except ValueError:
        return False
    is_old_inner = isinstance(address, ipaddress.IPv6Address) and address.is_site_local
    return address.is_global and not (address.is_multicast or address.is_reserved or is_old_inner)


def _innermost(address: Address) -> Address:
    """The IPv4 address that an IPv6 one carries for a translator, if it does."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in _V4_INSIDE_V6):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
