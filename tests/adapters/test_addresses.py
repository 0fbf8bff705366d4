"""Which addresses are opened: how they may be written, and where they may lead."""

from __future__ import annotations

import ipaddress
import random

import pytest

from emma_eval.adapters.addresses import INSIDE, NEVER, Allowed, UnreadableError, check, look_at, read_address
from emma_eval.adapters.errors import RefusedError

# Each is refused by its writing alone, before any name is resolved.
HOSTILE = [
    # this machine, in every spelling
    "https://127.0.0.1/",
    "https://127.0.0.1:8443/",
    "https://127.1/",
    "https://127.0.1/",
    "https://127.255.255.254/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.0.0.01/",
    "https://127.0.0.1./",
    "https://0/",
    "https://0.0.0.0/",
    "https://0x0/",
    "https://[::1]/",
    "https://[::]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::127.0.0.1]/",
    "https://[::ffff:0:127.0.0.1]/",
    "https://[64:ff9b::127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b:1::1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/",
    "https://[::1%25lo]/",
    "https://[::1%lo]/",
    # inside
    "https://10.0.0.1/",
    "https://10.255.255.255/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://192.168.0.1/",
    "https://192.168.255.255/",
    "https://100.64.0.1/",
    "https://100.127.255.255/",
    "https://198.18.0.1/",
    "https://167772161/",
    "https://0x0a000001/",
    "https://012.0.0.1/",
    "https://[fc00::1]/",
    "https://[fd12:3456::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[2002:a00:1::]/",
    "https://[fe80::1]/",
    "https://[fe80::1%25eth0]/",
    "https://[fec0::1]/",
    # where clouds keep their keys
    "https://169.254.169.254/latest/meta-data/",
    "https://169.254.170.2/v2/credentials",
    "https://2852039166/",
    "https://0xa9fea9fe/",
    "https://0xA9.0xFE.0xA9.0xFE/",
    "https://0251.0376.0251.0376/",
    "https://169.254.43518/",
    "https://[::ffff:169.254.169.254]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[fd00:ec2::254]/",
    "https://[fd20:ce::254]/",
    "https://168.63.129.16/",
    "https://100.100.100.200/",
    "https://192.0.0.192/",
    # nobody's
    "https://224.0.0.1/",
    "https://239.255.255.255/",
    "https://240.0.0.1/",
    "https://255.255.255.255/",
    "https://192.0.2.1/",
    "https://203.0.113.9/",
    "https://192.88.99.1/",
    "https://[ff02::1]/",
    "https://[2001:db8::1]/",
    "https://[3fff::1]/",
    "https://[100::1]/",
    "https://[4000::1]/",
    "https://256.1.1.1/",
    "https://1.2.3.4.5/",
    "https://08.8.8.8/",
    # names and passwords, and what hides the host
    "https://me@example.org/",
    "https://me:word@example.org/",
    "https://example.org@127.0.0.1/",
    "https://@example.org/",
    "https://example.org%40127.0.0.1/",
    "https://example.org\\@127.0.0.1/",
    "https:\\\\127.0.0.1/",
    "https://example.org\\.evil.test/",
    "https://127.0.0.1#@example.org/",
    "https://example.org#.evil.test/",
    "https://example.org/#part",
    # other schemes
    "ftp://example.org/",
    "file:///etc/passwd",
    "gopher://example.org:70/_",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "dict://example.org:11211/",
    "ldap://example.org/",
    "//example.org/",
    "example.org/",
    "https:example.org/",
    "https:/example.org/",
    "https:///example.org/",
    "HTTPS://example.org/",
    "",
    # hosts that are none
    "https://",
    "https:///",
    "https://.example.org/",
    "https://example..org/",
    "https://example.org./",
    "https://example.org../",
    "https://-example.org/",
    "https://example-.org/",
    "https://exa_mple.org/",
    "https://exa%6dple.org/",
    "https://%31%32%37.0.0.1/",
    "https://*.example.org/",
    "https://a.123/",
    "https://a.0x7f/",
    f"https://{'a' * 64}.example.org/",
    f"https://{'a.' * 127}example.org/",
    "https://[::1/",
    "https://::1/",
    "https://[example.org]/",
    "https://[v1.a]/",
    # letters that look like others
    "https://ex\u0430mple.org/",
    "https://\uff11\uff12\uff17.0.0.1/",
    "https://\u2460\u2461\u2466.0.0.1/",
    "https://127\u30020\u30020\u30021/",
    "https://example\uff0eorg/",
    "https://b\u00fccher.example/",
    "https://example.org\u200b/",
    "https://\u202eexample.org/",
    # what no address holds
    " https://example.org/",
    "https://example.org/ ",
    "https://example.org/a b",
    "https://example.org/\r\nX-Injected: yes",
    "https://exam\tple.org/",
    "https://example.org\x00.evil.test/",
    "https://example.org/\x7f",
    "https://example.org/" + "a" * 2000,
    # ports
    "https://example.org:0/",
    "https://example.org:/",
    "https://example.org:65536/",
    "https://example.org:99999999/",
    "https://example.org:-1/",
    "https://example.org:+443/",
    "https://example.org:0443/",
    "https://example.org:80a/",
    "https://example.org:443:443/",
    "https://example.org:22/",
    "https://example.org:25/",
    "https://example.org:53/",
    # without TLS
    "http://example.org/",
    "http://93.184.215.14/",
]


def test_the_table_is_long_enough() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 90


@pytest.mark.parametrize("url", HOSTILE, ids=lambda url: ascii(url)[1:60])
def test_a_hostile_address_is_refused_in_words(url: str) -> None:
    with pytest.raises(RefusedError) as refused:
        check(url, Allowed())
    assert str(refused.value)
    assert not refused.value.may_retry


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("https://example.org", "example.org", 443),
        ("https://example.org/hook?key=a%20b&c=d", "example.org", 443),
        ("https://EXAMPLE.org/Hook", "example.org", 443),
        ("https://example.org:8443/", "example.org", 8443),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443),
        ("https://93.184.215.14/", "93.184.215.14", 443),
        ("https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", 443),
        ("https://intranet/", "intranet", 443),
        ("https://127.0.0.1.example.org/", "127.0.0.1.example.org", 443),
    ],
)
def test_a_plain_address_is_read(url: str, host: str, port: int) -> None:
    assert check(url, Allowed()).origin == ("https", host, port)


@pytest.mark.parametrize(("network", "words"), [*NEVER, *INSIDE], ids=str)
def test_each_closed_network_is_closed_from_its_first_to_its_last_address(network: object, words: str) -> None:
    assert isinstance(network, ipaddress.IPv4Network | ipaddress.IPv6Network)
    for ip in (network[0], network[-1], network[network.num_addresses // 2]):
        assert Allowed().why_not("example.org", ip)


def test_whatever_is_open_is_global_in_the_eyes_of_python_too() -> None:
    """Another table of the same registries: neither may call open what the other calls closed."""
    chance = random.Random(7)
    ips = [
        *(ipaddress.IPv4Address(chance.getrandbits(32)) for _ in range(20_000)),
        *(ipaddress.IPv6Address(chance.getrandbits(128)) for _ in range(5_000)),
        *(ipaddress.IPv6Address((0x2001 << 112) | chance.getrandbits(112)) for _ in range(5_000)),
    ]
    opened = [ip for ip in ips if not Allowed().why_not("example.org", ip)]
    assert len(opened) > 15_000
    assert [ip for ip in opened if not ip.is_global] == []


@pytest.mark.parametrize("entry", ["10.1.2.0/24", "10.1.2.3", "hooks.internal"])
def test_what_the_list_names_is_opened(entry: str) -> None:
    allow = Allowed.read([entry])
    look_at("hooks.internal", ipaddress.ip_address("10.1.2.3"), allow, over_tls=False)


@pytest.mark.parametrize("entry", ["10.1.3.0/24", "other.internal", "internal", "127.0.0.1"])
def test_what_it_does_not_name_stays_closed(entry: str) -> None:
    with pytest.raises(RefusedError, match="a private address"):
        look_at("hooks.internal", ipaddress.ip_address("10.1.2.3"), Allowed.read([entry]), over_tls=True)


@pytest.mark.parametrize(
    "ip", ["169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "fe80::1", "::ffff:10.1.2.3", "fd00:ec2::254"]
)
def test_a_named_host_never_leads_to_where_clouds_keep_their_keys(ip: str) -> None:
    with pytest.raises(RefusedError):
        look_at("hooks.internal", ipaddress.ip_address(ip), Allowed.read(["hooks.internal"]), over_tls=True)


@pytest.mark.parametrize(
    "entry",
    [
        *("0.0.0.0/0", "::/0", "169.254.169.254", "169.254.0.0/16", "224.0.0.0/4", "fc00::/7", "10.1.2.3/24"),
        *("https://a.b/", "a b", "a_b", "*.internal", "10.1", "a..b", "me@host", "host:80"),
    ],
)
def test_an_entry_that_can_not_be_read_or_is_never_opened_is_told(entry: str) -> None:
    with pytest.raises(UnreadableError, match=r".+"):
        Allowed.read([entry])


def test_an_operator_may_name_a_host_with_a_port_of_another_protocol() -> None:
    assert check("http://hooks.internal:81/", Allowed.read(["hooks.internal"])).port == 81
    assert read_address("https://example.org:81/").port == 81
