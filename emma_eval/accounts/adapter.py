"""How allauth behaves in this house."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are by invitation: nobody signs up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
