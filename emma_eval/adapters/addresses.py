"""Which addresses this site opens: how they may be written, and where they may lead.

Two looks are taken. `read_address` looks at how an address is written and takes one spelling of each thing alone, so
that nobody downstream can read it another way. `Allowed.why_not` looks at the IP address that is about to be connected
to, whatever name led there.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

from .errors import RefusedError

IP = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Kinds = tuple[tuple[Network, str], ...]

LONGEST = 2000
ONLY_HTTPS = "over http without TLS only what EMMA_OUTGOING_ALLOW names is opened"
NO_HOST = "its host is not written as a host is: a name, or an IP address, with a port at most"
AS_USUAL = "an IP address stands in its usual form: four plain numbers, or IPv6 in brackets"
PORTS = {"http": 80, "https": 443}
FIRST_FREE_PORT = 1024  # below are the ports of mail, name servers and the like, which a request could speak to
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_BEGINS = re.compile(r"(https?)://([^/?#]*)")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_LOOKS_LIKE_A_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def _kinds(*pairs: tuple[str, str]) -> Kinds:
    return tuple((ipaddress.ip_network(network), words) for network, words in pairs)


# What no setting opens: nothing that an organisation would want to tell of results answers there.
NEVER = _kinds(
    ("0.0.0.0/8", "no machine's address"),
    ("169.254.0.0/16", "a link-local address, where clouds keep their keys"),
    ("168.63.129.16/32", "a cloud's own server"),
    ("100.100.100.200/32", "a cloud's own server"),
    ("192.0.0.0/24", "an address reserved for protocols"),
    ("192.0.2.0/24", "an address for examples"),
    ("198.51.100.0/24", "an address for examples"),
    ("203.0.113.0/24", "an address for examples"),
    ("192.88.99.0/24", "a relay between address families"),
    ("224.0.0.0/4", "a multicast address"),
    ("240.0.0.0/4", "a reserved or broadcast address"),
    ("::/128", "no machine's address"),
    ("fd00:ec2::/32", "a cloud's own server"),
    ("fd20:ce::/32", "a cloud's own server"),
    ("fe80::/10", "a link-local address"),
    ("fec0::/10", "a site-local address of old"),
    ("ff00::/8", "a multicast address"),
    ("::ffff:0:0/96", "an IPv4 address written as IPv6"),
    ("::ffff:0:0:0/96", "an IPv4 address written as IPv6"),
    ("64:ff9b:1::/48", "an IPv4 address written as IPv6"),
    ("2002::/16", "a tunnel to an IPv4 address (6to4)"),
    ("2001::/32", "a tunnel to an IPv4 address (Teredo)"),
    ("2001::/23", "an address reserved for protocols"),
    ("2001:db8::/32", "an address for examples"),
    ("3fff::/20", "an address for examples"),
    ("100::/64", "an address that leads nowhere"),
    ("5f00::/16", "an address of routers"),
)
# What is closed unless the setting opens it.
INSIDE = _kinds(
    ("10.0.0.0/8", "a private address"),
    ("172.16.0.0/12", "a private address"),
    ("192.168.0.0/16", "a private address"),
    ("100.64.0.0/10", "an address inside a provider's network"),
    ("198.18.0.0/15", "an address inside a test network"),
    ("127.0.0.0/8", "this machine's own address"),
    ("::1/128", "this machine's own address"),
    ("fc00::/7", "a private address"),
)
_PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Address:
    """An address that is written as it should be. `ip` is the host, where that is no name."""

    scheme: str
    host: str
    port: int
    ip: IP | None

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def read_address(said: str) -> Address:
    """The parts of an http or https address. Raises RefusedError, in words, for any other and for any odd spelling."""
    for is_wrong, why in (
        (len(said) > LONGEST, f"an address has at most {LONGEST} characters"),
        (not _PRINTABLE.fullmatch(said), "an address has no spaces, control characters or letters beyond a to z"),
        ("\\" in said, "an address has no backslash"),
        ("#" in said, "an address has no part after a #"),
    ):
        if is_wrong:
            raise RefusedError(why)
    scheme, host, port = _parts_of(said)
    ip = _read_host(host)
    _check_as_others_read_it(said, scheme, host, port)
    return Address(scheme, host.strip("[]"), port, ip)


def _parts_of(said: str) -> tuple[str, str, int]:
    found = _BEGINS.match(said)
    if found is None:
        raise RefusedError("an address begins with https://, in small letters")
    if "@" in found[2]:
        raise RefusedError("an address holds no name or password")
    authority = _AUTHORITY.fullmatch(found[2].lower())
    if authority is None:
        raise RefusedError(NO_HOST)
    port = int(authority[2] or PORTS[found[1]])
    if port > 65_535:
        raise RefusedError("there is no such port")
    return found[1], authority[1], port


def _read_host(host: str) -> IP | None:
    """The IP address that a host is, if it is one. One spelling of each counts: others are refused."""
    if host.startswith("["):
        return _read_ip(host.strip("[]"), 6)
    labels = host.split(".")
    if _LOOKS_LIKE_A_NUMBER.fullmatch(labels[-1]):
        return _read_ip(host, 4)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise RefusedError(NO_HOST)
    return None


def _read_ip(host: str, version: int) -> IP:
    try:
        ip = ipaddress.ip_address(host)
    except ValueError as cause:
        raise RefusedError(AS_USUAL) from cause
    if ip.version != version:
        raise RefusedError(AS_USUAL)
    return ip


def _check_as_others_read_it(said: str, scheme: str, host: str, port: int) -> None:
    """A second reader must read the same, or one of the two would be looked at and the other opened."""
    try:
        parts = urlsplit(said)
        read = parts.scheme, parts.hostname, parts.port or PORTS[scheme], parts.username
    except ValueError as cause:
        raise RefusedError(NO_HOST) from cause
    if read != (scheme, host.strip("[]"), port, None):
        raise RefusedError("it can be read in two ways")


class UnreadableError(ValueError):
    """An entry of a list of what is allowed that can't be read, or that is never opened."""


@dataclass(frozen=True)
class Allowed:
    """What is opened though it lies inside: hosts by their names, and networks. Empty: only what is public."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def read(cls, entries: list[str]) -> Allowed:
        """From hosts, IP addresses and networks such as 10.1.2.0/24. Raises UnreadableError for any other."""
        found = [_read_entry(entry.lower()) for entry in entries]
        hosts = frozenset(entry for entry in found if isinstance(entry, str))
        return cls(hosts, tuple(entry for entry in found if not isinstance(entry, str)))

    def and_host(self, host: str) -> Allowed:
        """The same, with one more host."""
        return Allowed(self.hosts | {host.lower()}, self.networks)

    def names(self, host: str, ip: IP) -> bool:
        """Whether the list itself names this, by its host or by its network."""
        return host in self.hosts or any(ip in network for network in self.networks)

    def why_not(self, host: str, ip: IP) -> str:
        """Why this IP address is not connected to for this host, in words; empty where it is."""
        ip = _behind_nat64(ip)
        inside = _kind_of(ip, INSIDE)
        if inside:
            return _kind_of(ip, NEVER) or ("" if self.names(host, ip) else inside)
        return _kind_of(ip, NEVER) or ("" if _is_public(ip) else "an address of no known use")


@dataclass(frozen=True)
class Hosts:
    """Hosts that are named: each exactly, or by `*.` all that stand below one. Empty: none at all."""

    exactly: frozenset[str] = frozenset()
    below: tuple[str, ...] = ()

    @classmethod
    def read(cls, entries: list[str]) -> Hosts:
        """From host names, IP addresses and names such as *.example.org. Raises UnreadableError for any other."""
        said = [entry.lower() for entry in entries]
        below = tuple(_read_host_entry(entry[2:], is_above=True) for entry in said if entry.startswith("*."))
        exactly = frozenset(_read_host_entry(entry) for entry in said if not entry.startswith("*."))
        return cls(exactly, tuple(f".{host}" for host in below))

    def name(self, host: str) -> bool:
        host = host.lower()
        return host in self.exactly or host.endswith(self.below)


def _read_host_entry(entry: str, *, is_above: bool = False) -> str:
    """A host as addresses write it. What others are below has two labels at least: nobody means all of .org."""
    try:
        ip = _read_host(f"[{entry}]" if ":" in entry else entry)
    except RefusedError:
        raise UnreadableError(entry) from None
    if is_above and (ip or "." not in entry):
        raise UnreadableError(entry)
    return entry


def _read_entry(entry: str) -> str | Network:
    try:
        network = ipaddress.ip_network(entry)
    except ValueError:
        labels = entry.split(".")
        is_host = len(entry) <= 253 and all(_LABEL.fullmatch(label) for label in labels)
        if not is_host or _LOOKS_LIKE_A_NUMBER.fullmatch(labels[-1]):
            raise UnreadableError(entry) from None
        return entry
    if any(network.version == never.version and network.overlaps(never) for never, _ in NEVER):
        raise UnreadableError(entry)
    return network


def _behind_nat64(ip: IP) -> IP:
    """The IPv4 address that a translator would connect to, which is the one to look at."""
    if isinstance(ip, IPv6Address) and ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def _kind_of(ip: IP, kinds: Kinds) -> str:
    return next((words for network, words in kinds if ip in network), "")


def _is_public(ip: IP) -> bool:
    return isinstance(ip, IPv4Address) or ip in _PUBLIC_IPV6


def check(url: str, allow: Allowed) -> Address:
    """Look at an address without going there. Raises RefusedError for what would be refused by its writing alone."""
    address = read_address(url)
    is_named = allow.names(address.host, address.ip) if address.ip else address.host in allow.hosts
    if address.port < FIRST_FREE_PORT and address.port not in PORTS.values() and not is_named:
        raise RefusedError(f"port {address.port} belongs to another protocol than https")
    if address.ip:
        look_at(address.host, address.ip, allow, over_tls=address.scheme == "https")
    elif address.scheme == "http" and not (is_named or allow.networks):
        raise RefusedError(ONLY_HTTPS)
    return address


def look_at(host: str, ip: IP, allow: Allowed, *, over_tls: bool) -> None:
    """Look at the IP address that a host leads to. Raises RefusedError where it is not connected to."""
    why_not = allow.why_not(host, ip)
    if why_not:
        raise RefusedError(f"{host} is {why_not}, which this site does not open")
    if not over_tls and not allow.names(host, ip):
        raise RefusedError(ONLY_HTTPS)
