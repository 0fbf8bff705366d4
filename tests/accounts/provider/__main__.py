"""Serve the provider on a free port of loopback until the process is ended; see site.py."""

from __future__ import annotations

import sys
from pathlib import Path

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.core.management import call_command
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application

from . import CLIENT_ID, CLIENT_SECRET


def make_key() -> str:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    nobody = serialization.NoEncryption()
    return made.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, nobody).decode()


def configure(folder: Path) -> None:
    settings.configure(
        SECRET_KEY="of-the-provider" * 5,
        ALLOWED_HOSTS=["127.0.0.1"],
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "provider.sqlite3"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        ROOT_URLCONF="tests.accounts.provider.site",
        LOGIN_URL="/sign-in/",
        SESSION_COOKIE_NAME="provider",  # cookies don't know ports, and our own site is at the same host
        USE_TZ=True,
        PEOPLE=str(folder / "people.json"),
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": make_key(),
            "PKCE_REQUIRED": True,
            "OAUTH2_VALIDATOR_CLASS": "tests.accounts.provider.site.Validator",
            "SCOPES": {"openid": "who you are", "profile": "your name", "email": "your address"},
        },
    )
    django.setup()


def main(folder: Path) -> None:
    configure(folder)
    call_command("migrate", verbosity=0)
    from oauth2_provider.models import Application  # there only now

    Application.objects.create(
        name="Emma Eval",
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        client_type="confidential",
        authorization_grant_type="authorization-code",
        algorithm="RS256",
        skip_authorization=True,
    )
    server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
    server.set_app(get_wsgi_application())
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}/o\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
