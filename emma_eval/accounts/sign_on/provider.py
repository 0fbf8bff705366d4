"""The road to the provider and back, over allauth's client for OpenID Connect.

Beyond what allauth does: a nonce that ties the token to this browser, the signature of the token looked at in any
case, and one kind of error for everything that a provider can answer amiss.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from requests import RequestException

from .claims import Claims, UnreadableError, joined, read_claims
from .configured import SignOn

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
CLOCKS_DIFFER_S = 60


class ProviderError(Exception):
    """The provider can't be reached, or what it answers can't be believed. Signing in again may help."""


@dataclass(frozen=True)
class Begun:
    """What was kept in the session when the browser was sent away."""

    nonce: str
    verifier: str
    came_from: str | None


class _Road(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """allauth's steps, with the one provider of our settings instead of rows or its registry."""

    def __init__(self, request: HttpRequest, sign_on: SignOn) -> None:
        super().__init__(request, sign_on.issuer)
        self.sign_on = sign_on

    def get_provider(self) -> OpenIDConnectProvider:
        app = SocialApp(
            provider="openid_connect",
            provider_id=self.sign_on.issuer,
            name=self.sign_on.name,
            client_id=self.sign_on.client_id,
            secret=self.sign_on.client_secret,
            settings={"server_url": self.sign_on.issuer, "oauth_pkce_enabled": True},
        )
        return OpenIDConnectProvider(self.request, app)

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """The one address that is registered with the provider, whichever host the visitor typed."""
        return settings.ORIGIN + reverse("sign_on_back")


def begin(request: HttpRequest, sign_on: SignOn, came_from: str | None) -> str:
    """Where to send the browser; what its return must match is kept in its session. Raises ProviderError."""
    road = _Road(request, sign_on)
    provider = road.get_provider()
    challenge, nonce = provider.get_pkce_params(), secrets.token_urlsafe(32)
    verifier = challenge.pop("code_verifier")
    with _in_our_words():
        _must_be(_issuer_of(road) == sign_on.issuer, "the provider goes by another name than EMMA_OIDC_ISSUER")
        authorize_url = str(road.authorize_url)
        _must_be(authorize_url.startswith(("https://", "http://")), "an address to sign in at that is none")
        client = road.get_client(request, provider.app)
        client.state = provider.stash_redirect_state(
            request, "login", came_from, nonce=nonce, pkce_code_verifier=verifier
        )
        asked: str = client.get_redirect_url(authorize_url, provider.get_scope(), {**challenge, "nonce": nonce})
    return asked


def begun(request: HttpRequest, sign_on: SignOn) -> Begun | None:
    """What this return belongs to, once; None where this browser was not sent away, or too long ago."""
    from allauth.socialaccount.internal.statekit import unstash_state

    kept = unstash_state(request, state_id=request.GET.get("state", ""), provider_id=sign_on.issuer)
    return Begun(kept["nonce"], kept["pkce_code_verifier"], kept.get("next")) if kept else None


def claims_of(request: HttpRequest, sign_on: SignOn, begun: Begun) -> Claims:
    """Who the provider says this is. Raises ProviderError."""
    road = _Road(request, sign_on)
    with _in_our_words():
        client = road.get_client(request, road.get_provider().app)
        answer = road.get_access_token_data(request, None, client, pkce_code_verifier=begun.verifier)
        said = _verified(road, str(answer["id_token"]), begun.nonce)
        more = _more(road, str(answer["access_token"]), said["sub"])
        return read_claims(joined(said, more), sign_on)


def _verified(road: _Road, token: str, nonce: str) -> dict[str, Any]:
    """The claims of an ID token that this provider signed, for us, for this browser, and not too long ago."""
    _must_be(_issuer_of(road) == road.sign_on.issuer, "the provider goes by another name than EMMA_OIDC_ISSUER")
    said: dict[str, Any] = jwt.decode(
        token,
        _key(road, token),
        algorithms=ALGORITHMS,
        audience=road.sign_on.client_id,
        issuer=road.openid_config["issuer"],
        leeway=CLOCKS_DIFFER_S,
        options={"require": ["iss", "aud", "exp", "iat", "sub"]},
    )
    _must_be(secrets.compare_digest(str(said.get("nonce", "")).encode(), nonce.encode()), "another nonce")
    _must_be(said.get("azp", road.sign_on.client_id) == road.sign_on.client_id, "a token for somebody else")
    return said


def _key(road: _Road, token: str) -> jwt.PyJWK:
    keys = jwt.PyJWKSet.from_dict(_json(road.openid_config["jwks_uri"])).keys
    wanted = jwt.get_unverified_header(token).get("kid")
    found = [key for key in keys if key.key_id == wanted] if wanted else keys
    _must_be(len(found) == 1, "a token signed with an unknown key")
    return found[0]


def _more(road: _Road, access_token: str, subject: str) -> Mapping[str, Any]:
    """What the provider says besides the token, where it does; many put groups and address only there."""
    address = road.openid_config.get("userinfo_endpoint")
    if not address:
        return {}
    said = _json(address, Authorization=f"Bearer {access_token}")
    _must_be(said.get("sub") == subject, "claims about somebody else")
    return said


def _json(address: str, **headers: str) -> dict[str, Any]:
    with get_adapter().get_requests_session() as session:
        answer = session.get(address, headers=headers)
    answer.raise_for_status()
    said: dict[str, Any] = answer.json()
    return said


def _issuer_of(road: _Road) -> str:
    return str(road.openid_config["issuer"]).rstrip("/")


def _must_be(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ProviderError(otherwise)


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Whatever shape a provider's answer has, it is an answer that can't be believed, and no error of ours."""
    try:
        yield
    except (OAuth2Error, RequestException, jwt.PyJWTError, UnreadableError) as cause:
        raise ProviderError(str(cause)[:300]) from cause
    except (AttributeError, KeyError, TypeError, ValueError) as cause:
        raise ProviderError(f"an answer of an unknown shape: {cause!r}"[:300]) from cause
