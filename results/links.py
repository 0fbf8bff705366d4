"""Is a link one that we may show and that people may follow? Judged by its form alone; nothing is looked up."""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from urllib.parse import SplitResult, urlsplit

MOST_CHARACTERS = 2000
INNER_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


def is_public_link(link: str) -> bool:
    """True for an http(s) address of a public host, without credentials and at most 2,000 characters long.

    Hosts are read as a browser would read them: full-width and other compatibility characters folded, and
    addresses written as decimal, octal or hexadecimal numbers taken for what they are.
    """
    if len(link) > MOST_CHARACTERS or any(_is_hidden(character) for character in link) or "\\" in link:
        return False
    try:
        parts = urlsplit(link)
        has_valid_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    if parts.scheme not in {"http", "https"} or "@" in parts.netloc or not has_valid_port:
        return False
    return _is_public_host(parts)


def _is_hidden(character: str) -> bool:
    """Spaces, control characters and the invisible marks that make a link look like another."""
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf", "Cs"}


def _is_public_host(parts: SplitResult) -> bool:
    host = unicodedata.normalize("NFKC", parts.hostname or "").replace("。", ".").rstrip(".").lower()
    if not host or any(character in host for character in "%/?#@ "):
        return False
    address = _address_of(host)
    if address is not None:
        return address.is_global and not address.is_multicast
    return "." in host and not host.endswith(INNER_NAMES) and all(host.split("."))


def _address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host spells, in any notation a browser accepts; None for a name."""
    try:
        found = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return _number_as_address(host)
    if isinstance(found, ipaddress.IPv6Address):
        return found.ipv4_mapped or found.sixtofour or found
    return found


def _number_as_address(host: str) -> ipaddress.IPv4Address | None:
    """2130706433, 0x7f.1 and 0177.0.0.1 are all 127.0.0.1. inet_aton reads them so and asks nobody."""
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeEncodeError):
        return None
