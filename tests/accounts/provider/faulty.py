"""A provider that is wrong in one way: for what the real one can't be brought to do.

It has the addresses of a provider and keys of its own. `faults` changes what it answers, and is read at each request.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from . import CLIENT_ID

Answer = Callable[["Faulty"], tuple[int, str, bytes]]


def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Faulty:
    """What it would say if nothing were wrong; a test changes one thing of it."""

    issuer: str = ""
    own_key: rsa.RSAPrivateKey = field(default_factory=_key)
    another_key: rsa.RSAPrivateKey = field(default_factory=_key)
    claims: dict[str, Any] = field(default_factory=dict)
    discovery: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[dict[str, Any], Faulty], str] | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def mend(self) -> None:
        for of in (self.claims, self.discovery, self.userinfo, self.header, self.answers, self.asked):
            of.clear()
        self.sign = None

    def nonce_of(self, address: str) -> str:
        return parse_qs(urlsplit(address).query)["nonce"][0]

    def state_of(self, address: str) -> str:
        return parse_qs(urlsplit(address).query)["state"][0]

    def id_token(self) -> str:
        now = int(time.time())
        said = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "subject",
            "iat": now,
            "exp": now + 300,
            "email": "ann@example.test",
            "email_verified": True,
            "groups": ["emma-testers"],
            **self.claims,
        }
        said = {name: claim for name, claim in said.items() if claim is not None}
        if self.sign:
            return self.sign(said, self)
        return jwt.encode(said, self.own_key, "RS256", headers={"kid": "own", **self.header})

    def page(self, path: str) -> tuple[int, str, bytes]:
        self.asked.append(path)
        if path in self.answers:
            return self.answers[path](self)
        return 200, "application/json", json.dumps(self._document(path)).encode()

    def _document(self, path: str) -> dict[str, Any]:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "jwks_uri": f"{self.issuer}/keys",
                **self.discovery,
            }
        if path == "/keys":
            public = jwt.algorithms.RSAAlgorithm.to_jwk(self.own_key.public_key(), as_dict=True)
            return {"keys": [{**public, "kid": "own", "alg": "RS256", "use": "sig"}]}
        if path == "/token":
            return {"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": self.id_token()}
        return {"sub": "subject", **self.userinfo}


@contextmanager
def serving() -> Iterator[Faulty]:
    faulty = Faulty()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, kind, body = faulty.page(urlsplit(self.path).path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                return  # nobody waits any more

        do_POST = do_GET  # noqa: N815  (the name that http.server looks for)

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    faulty.issuer = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield faulty
    finally:
        server.shutdown()
        server.server_close()
