"""A provider that answers amiss signs nobody in, and nobody meets an error of ours.

The provider here is an imitation (provider/faulty.py): a real one can't be brought to sign with a foreign key. That
the road itself is right is shown against the real one, in test_sign_on.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from django.test import Client
from pytest_django import Settings

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.role import Role
from emma_eval.accounts.sign_on.configured import SignOn
from tests.accounts.provider import CLIENT_ID, CLIENT_SECRET
from tests.accounts.provider.faulty import Faulty, serving
from tests.accounts.provider.road import press_the_button

pytestmark = pytest.mark.django_db
DISCOVERY = "/.well-known/openid-configuration"
NOW = int(time.time())


@pytest.fixture(scope="module")
def _faulty() -> Iterator[Faulty]:
    with serving() as faulty:
        yield faulty


@pytest.fixture
def faulty(_faulty: Faulty, settings: Settings) -> Faulty:
    _faulty.mend()
    settings.ORIGIN = "http://testserver"
    roles = (("emma-testers", Role.TESTER),)
    settings.SIGN_ON = SignOn(_faulty.issuer, CLIENT_ID, CLIENT_SECRET, "the provider", roles=roles)
    return _faulty


def come_back(client: Client, faulty: Faulty, nonce: str | None = None) -> Any:
    address = press_the_button(client).context["address"]
    faulty.claims.setdefault("nonce", nonce or faulty.nonce_of(address))
    return client.get(f"/account/sign-on/back/?state={faulty.state_of(address)}&code=abc")


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def assert_refused(client: Client, answer: Any) -> None:
    assert answer.status_code == 502
    assert "at present" in answer.text
    assert "Traceback" not in answer.text
    assert not is_signed_in(client)
    assert not User.objects.exists()
    assert not AuditEntry.objects.exists()


def test_with_nothing_wrong_somebody_comes_in(client: Client, faulty: Faulty) -> None:
    """So that the tests below can't pass because nobody ever would."""
    assert come_back(client, faulty).status_code == 302
    assert is_signed_in(client)


CLAIMS: dict[str, dict[str, Any]] = {
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "a nonce that is a number": {"nonce": 7},
    "another issuer": {"iss": "https://elsewhere.example"},
    "no issuer": {"iss": None},
    "another audience": {"aud": "another-site"},
    "several audiences without ours": {"aud": ["another-site", "a-third"]},
    "no audience": {"aud": None},
    "made for another of its audiences": {"aud": [CLIENT_ID, "another-site"], "azp": "another-site"},
    "run out": {"iat": NOW - 900, "exp": NOW - 600},
    "without an end": {"exp": None},
    "without a beginning": {"iat": None},
    "from the future": {"iat": NOW + 3600, "nbf": NOW + 3600, "exp": NOW + 7200},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is a number": {"sub": 7},
    "a subject with a null character": {"sub": "a\x00b"},
}


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS)
def test_a_token_that_says_something_wrong(client: Client, faulty: Faulty, claims: dict[str, Any]) -> None:
    faulty.claims.update(claims)
    if "sub" in claims:
        faulty.userinfo["sub"] = claims["sub"]
    assert_refused(client, come_back(client, faulty))


def unsigned(said: dict[str, Any], faulty: Faulty) -> str:
    return jwt.encode(said, None, "none", headers={"kid": "own"})


def by_another_key(said: dict[str, Any], faulty: Faulty) -> str:
    return jwt.encode(said, faulty.another_key, "RS256", headers={"kid": "own"})


def by_the_public_key(said: dict[str, Any], faulty: Faulty) -> str:
    """The old trick: what everybody may know of the key, used as if it were a shared secret."""
    import hashlib
    import hmac

    public = faulty.own_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    head, body, _ = jwt.encode(said, "x" * 32, "HS256", headers={"kid": "own"}).split(".")
    mac = hmac.new(public, f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{jwt.utils.base64url_encode(mac).decode()}"


def by_the_client_secret(said: dict[str, Any], faulty: Faulty) -> str:
    return jwt.encode(said, CLIENT_SECRET.ljust(32, "x"), "HS256", headers={"kid": "own"})


def by_an_unknown_key(said: dict[str, Any], faulty: Faulty) -> str:
    return jwt.encode(said, faulty.own_key, "RS256", headers={"kid": "another"})


def changed_afterwards(said: dict[str, Any], faulty: Faulty) -> str:
    head, _, signature = jwt.encode(said, faulty.own_key, "RS256", headers={"kid": "own"}).split(".")
    _, body, _ = jwt.encode({**said, "groups": ["emma-admins"]}, faulty.own_key, "RS256").split(".")
    return f"{head}.{body}.{signature}"


def no_token_at_all(said: dict[str, Any], faulty: Faulty) -> str:
    return "not.a.token"


SIGNATURES = [
    unsigned,
    by_another_key,
    by_the_public_key,
    by_the_client_secret,
    by_an_unknown_key,
    changed_afterwards,
    no_token_at_all,
]


@pytest.mark.parametrize("sign", SIGNATURES, ids=lambda sign: sign.__name__)
def test_a_token_that_this_provider_did_not_sign(
    client: Client, faulty: Faulty, sign: Callable[[dict[str, Any], Faulty], str]
) -> None:
    faulty.sign = sign
    assert_refused(client, come_back(client, faulty))


def test_claims_about_somebody_else_are_not_mixed_in(client: Client, faulty: Faulty) -> None:
    faulty.userinfo.update(sub="another", groups=["emma-testers"])
    assert_refused(client, come_back(client, faulty))


PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "both in the token": ({"email_verified": True}, {"email": "own@evil.example"}, "ann@example.test"),
    "both in the other answer": ({"email": None, "email_verified": None}, {"email": "bo@x.test"}, "bo@x.test"),
    "verified in the other answer alone": ({"email_verified": None}, {"email": "own@evil.example"}, "own@evil.example"),
    "unverified in the token": ({"email_verified": False}, {"email": "ann@example.test"}, ""),
    "verified without an address": ({"email_verified": None}, {}, ""),
    "an address without a word": ({"email": None}, {"email": "bo@x.test", "email_verified": None}, ""),
}


@pytest.mark.parametrize(("token", "more", "comes_in_as"), PAIRS.values(), ids=PAIRS)
def test_an_address_and_the_word_that_it_is_verified_are_of_one_answer(
    client: Client, faulty: Faulty, token: dict[str, Any], more: dict[str, Any], comes_in_as: str
) -> None:
    faulty.claims.update(token)
    said = {"email_verified": True, **more}
    faulty.userinfo.update({name: claim for name, claim in said.items() if claim is not None})
    answer = come_back(client, faulty)
    assert answer.status_code == (302 if comes_in_as else 403)
    assert [user.email for user in User.objects.all()] == ([comes_in_as] if comes_in_as else [])


def test_what_is_signed_counts_before_what_is_not(client: Client, faulty: Faulty) -> None:
    faulty.claims["groups"] = []
    faulty.userinfo["groups"] = ["emma-testers"]
    assert come_back(client, faulty).status_code == 403


def html(faulty: Faulty) -> tuple[int, str, bytes]:
    return 200, "text/html", b"<h1>Maintenance</h1>"


def broken(faulty: Faulty) -> tuple[int, str, bytes]:
    return 500, "text/plain", b"oops"


def a_list(faulty: Faulty) -> tuple[int, str, bytes]:
    return 200, "application/json", b"[1, 2]"


def nothing(faulty: Faulty) -> tuple[int, str, bytes]:
    return 200, "application/json", b"{}"


def nulls(faulty: Faulty) -> tuple[int, str, bytes]:
    return 200, "application/json", b'{"keys": null, "id_token": null, "access_token": null, "issuer": null}'


def no_text(faulty: Faulty) -> tuple[int, str, bytes]:
    return 200, "application/json", b"\xff\xfe\x00{"


@pytest.mark.parametrize("path", ["/keys", "/token", "/userinfo"])
@pytest.mark.parametrize("answer", [html, broken, a_list, nothing, nulls, no_text], ids=lambda answer: answer.__name__)
def test_an_answer_of_an_unknown_shape_at_the_end(
    client: Client, faulty: Faulty, path: str, answer: Callable[[Faulty], tuple[int, str, bytes]]
) -> None:
    faulty.answers[path] = answer
    assert_refused(client, come_back(client, faulty))


@pytest.mark.parametrize("answer", [html, broken, a_list, nothing, nulls, no_text], ids=lambda answer: answer.__name__)
def test_an_answer_of_an_unknown_shape_at_the_beginning(
    client: Client, faulty: Faulty, answer: Callable[[Faulty], tuple[int, str, bytes]]
) -> None:
    faulty.answers[DISCOVERY] = answer
    assert_refused(client, press_the_button(client, "/scripts/"))


@pytest.mark.parametrize(
    "discovery",
    [{"issuer": "https://elsewhere.example"}, {"authorization_endpoint": "javascript:alert(1)"}],
    ids=["another name", "no address"],
)
def test_a_provider_that_goes_by_another_name(client: Client, faulty: Faulty, discovery: dict[str, Any]) -> None:
    faulty.discovery.update(discovery)
    assert_refused(client, press_the_button(client))


@pytest.mark.parametrize("path", [DISCOVERY, "/token"])
def test_a_provider_that_hangs_is_not_waited_for(client: Client, faulty: Faulty, settings: Settings, path: str) -> None:
    settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = 0.3

    def slow(faulty: Faulty) -> tuple[int, str, bytes]:
        time.sleep(2)
        return nothing(faulty)

    faulty.answers[path] = slow
    began = time.monotonic()
    answer = press_the_button(client) if path == DISCOVERY else come_back(client, faulty)
    assert time.monotonic() - began < 1.5
    assert_refused(client, answer)


def test_a_provider_that_is_gone_is_told_in_plain_words(client: Client, faulty: Faulty, settings: Settings) -> None:
    settings.SIGN_ON = SignOn("http://127.0.0.1:9", CLIENT_ID, CLIENT_SECRET, "Example & Co")
    answer = press_the_button(client, "/scripts/?q=news")
    assert_refused(client, answer)
    assert "Signing in with Example &amp; Co doesn" in answer.text
    assert 'href="/account/login/?next=%2Fscripts%2F%3Fq%3Dnews"' in answer.text


def test_requests_have_a_time_limit_unless_a_test_changes_it() -> None:
    from allauth.socialaccount import app_settings

    assert 0 < app_settings.REQUESTS_TIMEOUT <= 5
