"""Sign-in limits are counted in the cache; each test starts with none used up. And the provider of sign-on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from emma_eval.accounts.sign_on.configured import SignOn
from tests.accounts.provider.road import Provider, running


@pytest.fixture(autouse=True)
def _no_limit_is_used_up() -> None:
    cache.clear()


@pytest.fixture(scope="session")
def _provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with running(tmp_path_factory.mktemp("provider")) as provider:
        yield provider


@pytest.fixture
def provider(_provider: Provider) -> Provider:
    """The provider, which knows nobody yet and sends back to the site of Django's test client."""
    _provider.forgets_everybody()
    _provider.comes_back_to("http://testserver")
    return _provider


@pytest.fixture
def sign_on(provider: Provider, settings: Settings) -> SignOn:
    """Sign-on as it is configured in most tests: two groups that give roles, and a claim that gives training."""
    settings.ORIGIN = "http://testserver"
    settings.SIGN_ON = provider.configured()
    found: SignOn = settings.SIGN_ON
    return found
