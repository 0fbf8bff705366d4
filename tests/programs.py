"""Programs for tests: clients that speak by a token and by nothing else."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.scopes import Scope, scopes_for
from emma_eval.accounts.programs.tokens import make_token


class Program(Client):
    """A program of somebody's, with a token of its own: for all that their roles may do, unless said otherwise."""

    def __init__(self, owner: User, *scopes: Scope, days: int = 90, name: str = "Nightly run") -> None:
        self.token, self.sent = make_token(owner, name, scopes or scopes_for(owner.roles), days=days)
        super().__init__(headers={"Authorization": f"Bearer {self.sent}"}, raise_request_exception=False)

    def send(self, path: str, body: Any, **headers: str) -> Any:
        return self.put(path, json.dumps(body), content_type="application/json", headers=headers)

    def add(self, path: str, body: Any) -> Any:
        return self.post(path, json.dumps(body), content_type="application/json")
