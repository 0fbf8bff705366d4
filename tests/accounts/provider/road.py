"""The way to the provider and back: its process, and somebody who walks it without a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from django.conf import settings
from django.test import Client

from emma_eval.accounts.role import Role
from emma_eval.accounts.sign_on.configured import SignOn

from . import CLIENT_ID, CLIENT_SECRET, PASSWORD

ROLES = (("emma-testers", Role.TESTER), ("emma-admins", Role.ADMINISTRATOR))
WAIT_S = 10


@dataclass(frozen=True)
class Provider:
    """The provider, running. `says` makes it know a person; without more it vouches for a tester's address."""

    issuer: str
    folder: Path

    def says(self, of: str, /, **claims: Any) -> None:
        people = json.loads((self.folder / "people.json").read_text())
        people[of] = {
            "sub": f"subject-of-{of}",
            "email": f"{of}@example.test",
            "email_verified": True,
            "name": of.capitalize(),
            "groups": ["emma-testers"],
            **claims,
        }
        (self.folder / "people.new").write_text(json.dumps(people))
        (self.folder / "people.new").rename(self.folder / "people.json")

    def forgets_everybody(self) -> None:
        (self.folder / "people.json").write_text("{}")

    def comes_back_to(self, origin: str) -> None:
        address = self.issuer.removesuffix("/o") + "/register/"
        requests.post(address, {"redirect_uri": f"{origin}/account/sign-on/back/"}, timeout=WAIT_S).raise_for_status()

    def configured(self, **more: Any) -> SignOn:
        fields: dict[str, Any] = {
            "issuer": self.issuer,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "name": "the provider",
            "roles": ROLES,
            "training_claim": "emma_trained",
        }
        return SignOn(**{**fields, **more})

    def signs_in(self, address: str, name: str) -> str:
        """Follow the browser's way from there as this person; the address of our site that it comes back to."""
        with requests.Session() as browser:
            form = browser.get(address, timeout=WAIT_S)
            form.raise_for_status()
            answer = browser.post(form.url, {"name": name, "password": PASSWORD}, allow_redirects=False, timeout=WAIT_S)
            while not answer.headers["Location"].startswith(settings.ORIGIN):
                at = requests.compat.urljoin(answer.url, answer.headers["Location"])
                answer = browser.get(at, allow_redirects=False, timeout=WAIT_S)
            return str(answer.headers["Location"])


@contextmanager
def running(folder: Path) -> Iterator[Provider]:
    (folder / "people.json").write_text("{}")
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.accounts.provider", str(folder)],
            cwd=settings.BASE_DIR,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout is not None
        issuer = process.stdout.readline().strip()
        assert issuer, (folder / "log").read_text()
        yield Provider(issuer, folder)
    finally:
        process.terminate()
        process.wait()


def press_the_button(client: Client, came_from: str = "", **more: Any) -> Any:
    return client.post("/account/sign-on/", {"next": came_from} if came_from else {}, **more)


def go(client: Client, provider: Provider, name: str, came_from: str = "") -> str:
    """Press the button and sign in there; the address that the provider sends the browser back to."""
    return provider.signs_in(press_the_button(client, came_from).context["address"], name)


def come_in(client: Client, provider: Provider, name: str, came_from: str = "") -> Any:
    """The whole road; what our site answers at its end."""
    return client.get(go(client, provider, name, came_from))
