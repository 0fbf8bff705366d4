"""People who look at dashboards, with every result counted by month each time they do."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from tests import make


class CountedClient(Client):
    """Counts by month what tests made, right before each page: results that were filed are counted as they are."""

    def get(self, *args: Any, **kwargs: Any) -> Any:
        make.counts()
        return super().get(*args, **kwargs)


def counted_client_of(user: User) -> CountedClient:
    client = CountedClient()
    client.force_login(user)
    return client


@pytest.fixture
def manager_client(manager: User) -> CountedClient:
    return counted_client_of(manager)
