"""Everything that can be configured, read from the environment.

With nothing set, this is the embedded default that `./emma up` prepares: SQLite, one folder for
recordings, a Celery worker on the filesystem broker. A wrong value stops the start with a sentence
that says what to set.
"""

from __future__ import annotations

import os
import re
import zoneinfo
from email.utils import parseaddr
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from emma_eval.accounts.role import Role
from emma_eval.accounts.sign_on.configured import MappingError, SignOn, read_roles
from emma_eval.adapters.addresses import Allowed, Hosts, UnreadableError

BASE_DIR = Path(__file__).resolve().parent.parent
SECRETS = {
    "EMMA_SECRET_KEY",
    "EMMA_OLD_SECRET_KEYS",
    "DATABASE_URL",
    "REDIS_URL",
    "EMMA_EMAIL_URL",
    "EMMA_S3_SECRET",
    "EMMA_OIDC_CLIENT_SECRET",
    "EMMA_POSTGRES_PASSWORD",
}
OF_THE_EXAMPLE = ("replace-this", "replacethis")  # how the secrets of .env.example begin, which everybody can read
TRUE, FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


def _said(name: str, default: str = "") -> str:
    """The value of one variable; set but empty is the same as not set."""
    return os.environ.get(name, "").strip() or default


def _wrong(name: str, expected: str) -> ImproperlyConfigured:
    """The sentence that says how to mend a variable. Secrets stay out of it."""
    is_secret = name in SECRETS
    found = "not right" if is_secret else repr(_said(name))
    return ImproperlyConfigured(f"{name} is {found}: set it to {expected}.")


def _claim(name: str) -> bool:
    said = _said(name, "false").lower()
    if said not in TRUE | FALSE:
        raise _wrong(name, "true or false")
    return said in TRUE


def _several(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in _said(name, default).split(",") if part.strip()]


def _number(name: str, default: int, least: int, most: int) -> int:
    said = _said(name, str(default))
    if not (said.isascii() and said.isdigit() and least <= int(said[:9]) <= most):
        raise _wrong(name, f"a whole number from {least} to {most}")
    return int(said)


def _is_guessable(secret: str) -> bool:
    """Whether others can know it: too short, of a few characters again and again, or the one of the example."""
    return len(secret) < 50 or len(set(secret)) < 10 or secret.startswith(OF_THE_EXAMPLE)


for _name in ("EMMA_S3_KEY", "EMMA_S3_SECRET", "EMMA_OIDC_CLIENT_SECRET", "EMMA_POSTGRES_PASSWORD"):
    if _said(_name).startswith(OF_THE_EXAMPLE):
        raise _wrong(_name, "one of your own instead of the example's, or leave it out")


def _check_number(said: str, name: str, most: int) -> None:
    """For what the programs beside us are started with: the site says in words what they would say in theirs."""
    if said and not (said.isascii() and said.isdigit() and 1 <= int(said[:9]) <= most):
        raise _wrong(name, f"a whole number from 1 to {most}")


_check_number(_said("EMMA_WEB_WORKERS"), "EMMA_WEB_WORKERS", 256)
_check_number(_said("EMMA_WEB_THREADS"), "EMMA_WEB_THREADS", 1024)
_check_number(_said("EMMA_WORKER_THREADS"), "EMMA_WORKER_THREADS", 1024)
KEPT_AT_ONCE = max(1, int(_said("EMMA_WEB_THREADS") or 16) // 2)  # of a process's threads, see results/views/kept.py
WEBHOOKS_AT_ONCE = max(1, int(_said("EMMA_WORKER_THREADS") or 4) // 2)  # of a worker's threads, see webhooks/turns.py


# --- where things are kept -------------------------------------------------------------------


def _var_dir() -> Path:
    folder = Path(_said("EMMA_VAR", str(BASE_DIR / "var"))).expanduser().resolve()
    if folder.exists() and not folder.is_dir():
        raise _wrong("EMMA_VAR", "a folder that is ours to write to")
    return folder


VAR_DIR = _var_dir()
RECORDINGS_DIR = VAR_DIR / "recordings"
IMPORTS_DIR = VAR_DIR / "imports"  # uploaded sheets that wait to be imported
EXPORTS_DIR = VAR_DIR / "exports"  # files that somebody asked for and fetches later
DEBUG = _claim("EMMA_DEBUG")


def _secret_key() -> str:
    """The secret of the environment, or the one that `./emma up` made for this folder."""
    given = _said("EMMA_SECRET_KEY")
    if given:
        if _is_guessable(given):
            raise _wrong("EMMA_SECRET_KEY", "at least 50 random characters of your own")
        return given
    made = VAR_DIR / "secret_key"
    if not made.exists():
        raise ImproperlyConfigured(
            f"There is no secret in {VAR_DIR} yet: run ./emma up first, or set EMMA_SECRET_KEY "
            "(on a server: start this with the variables of the site, as docs/operations.md shows)."
        )
    return made.read_text().strip()


def _server(name: str, kept: str, default: str = "") -> str:
    """The address of a server: of the environment, or of the one that `./emma up` runs for this folder."""
    made = VAR_DIR / kept
    return _said(name) or (made.read_text().strip() if made.exists() else default)


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = _several("EMMA_OLD_SECRET_KEYS")
if any(map(_is_guessable, SECRET_KEY_FALLBACKS)):
    raise _wrong("EMMA_OLD_SECRET_KEYS", "secrets of at least 50 random characters, separated by commas")


def _database() -> dict[str, Any]:
    """PostgreSQL by DATABASE_URL, else SQLite with write-ahead log and immediate transactions.

    IMMEDIATE: a transaction that will write takes the lock at once and waits its turn; a deferred one
    that upgrades later fails at once instead of waiting. Each thread keeps its connection, and with it the pages
    that it has read, up to 2 MB; what is committed is on the disk (docs/decisions/0084-*).
    """
    expected = "postgres://user:password@host/name, or leave it out for SQLite"
    url = _server("DATABASE_URL", "database_url", f"sqlite:///{VAR_DIR / 'emma.sqlite3'}")
    if url.partition("://")[0] not in {"sqlite", "postgres", "postgresql"}:
        raise _wrong("DATABASE_URL", expected)
    try:
        found: dict[str, Any] = environ.Env.db_url_config(url)
    except (ValueError, KeyError, ImproperlyConfigured) as cause:
        raise _wrong("DATABASE_URL", expected) from cause
    if not found.get("NAME"):
        raise _wrong("DATABASE_URL", expected)
    if found["ENGINE"] == "django.db.backends.sqlite3":
        found["CONN_MAX_AGE"] = None
        found["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA busy_timeout=20000;",
        }
    else:
        found["OPTIONS"] = {
            **found.get("OPTIONS", {}),
            "pool": {"min_size": 1, "max_size": 32, "timeout": 4},
            "options": "-c statement_timeout=30000 -c lock_timeout=10000",
        }
    return found


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- who may reach us ------------------------------------------------------------------------


def _running_at() -> str:
    """Where `./emma up` serves this folder now, as it wrote down: for manage.py beside it, which prints links."""
    running = VAR_DIR / "running"
    words = running.read_text().split() if running.exists() else []
    return words[0] if words else "http://127.0.0.1:8000"


def _origin() -> str:
    """Scheme and host, as the browser sends them: no path, no credentials."""
    said = _said("EMMA_ORIGIN", _running_at()).rstrip("/")
    try:
        parts = urlsplit(said)
        is_origin = parts.scheme in {"http", "https"} and parts.hostname and said == f"{parts.scheme}://{parts.netloc}"
        is_whole = is_origin and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise _wrong("EMMA_ORIGIN", "the address people type, such as https://emma.example.org")
    return said


ORIGIN = _origin()
SERVED_OVER_HTTPS = ORIGIN.startswith("https://")
BEHIND_PROXY = _claim("EMMA_BEHIND_PROXY")
ALLOWED_HOSTS = [str(urlsplit(ORIGIN).hostname), *_several("EMMA_HOSTS", "127.0.0.1,localhost")]
if any("/" in host or ":" in host for host in ALLOWED_HOSTS[1:]):
    raise _wrong("EMMA_HOSTS", "host names alone, separated by commas")
CSRF_TRUSTED_ORIGINS = [ORIGIN]

# Only a proxy's header tells whether the visitor came over HTTPS; without it a redirect would go in circles.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_SSL_REDIRECT = SERVED_OVER_HTTPS and BEHIND_PROXY
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if SERVED_OVER_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SERVED_OVER_HTTPS
SECURE_HSTS_PRELOAD = SERVED_OVER_HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_HTTPS
SESSION_COOKIE_NAME = "__Host-session" if SERVED_OVER_HTTPS else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if SERVED_OVER_HTTPS else "csrf"
SESSION_ENGINE = "emma_eval.accounts.session_store"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_SAVE_EVERY_REQUEST = False
CSRF_FAILURE_VIEW = "emma_eval.accounts.views.front.csrf_failure"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "media-src": [SELF, "blob:"],  # blob: what is being recorded is heard before it is sent
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}

# --- the house -------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",  # its table of who is whom at a provider; its pages and providers stay out
    "csp",
    "django_htmx",
    "template_partials",
    "drf_spectacular",
    "emma_eval.outbox",
    "emma_eval.accounts",
    "emma_eval.webhooks",
    "scripts_catalog",
    "results",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "emma_eval.accounts.middleware.permissions_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",  # below the three above, so that files carry what pages carry
    "emma_eval.accounts.middleware.no_null_characters",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "emma_eval.accounts.middleware.no_large_body_of_strangers",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "emma_eval.accounts.sessions.end_old_sessions",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "emma_eval.urls"
WSGI_APPLICATION = "emma_eval.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "emma_eval.accounts.navigation.navigation",
            ],
            "builtins": ["template_partials.templatetags.partials"],
        },
    }
]

# --- files ------------------------------------------------------------------------------------

S3_BUCKET = _said("EMMA_S3_BUCKET")
S3_REGION = _said("EMMA_S3_REGION", "us-east-1")
LINKS_HOLD_S = 900  # how long a signed link to a file, or for sending one, opens it
UNFINISHED_UPLOADS_ARE_KEPT_DAYS = 21  # longer than the site itself waits for whoever began one
OLD_VERSIONS_ARE_KEPT_DAYS = 30  # of removed recordings, in a bucket that keeps versions


def _s3_endpoint() -> str:
    """Where the bucket is: at the address that was said, else at Amazon's of its region."""
    said = _said("EMMA_S3_ENDPOINT")
    parts = urlsplit(said)
    is_origin = said.rstrip("/") == f"{parts.scheme}://{parts.netloc}" and re.fullmatch(r"[\w.:\[\]-]+", parts.netloc)
    if said and not (parts.scheme in {"http", "https"} and parts.hostname and is_origin):
        raise _wrong("EMMA_S3_ENDPOINT", "an address such as https://s3.example.org, or leave it out for Amazon's")
    amazons = f"https://s3.{S3_REGION}.amazonaws.com{'.cn' if S3_REGION.startswith('cn-') else ''}"
    return said.rstrip("/") or amazons


S3_ENDPOINT = _s3_endpoint()


def _s3_encryption() -> dict[str, str]:
    """What goes with each file that is written to the bucket; nothing where the bucket's own default is enough."""
    said = _said("EMMA_S3_ENCRYPTION")
    if said in {"", "AES256", "aws:kms"}:
        return {"ServerSideEncryption": said} if said else {}
    before, _, key = said.partition("aws:kms:")
    if before or not key:
        raise _wrong("EMMA_S3_ENCRYPTION", "AES256, aws:kms, aws:kms:ID-OF-THE-KEY, or leave it out")
    return {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": key}


S3_ENCRYPTION = _s3_encryption()


def _s3(folder: str) -> dict[str, Any]:
    """A folder of the bucket; every link to a file in it is signed and soon over."""
    if not (_said("EMMA_S3_KEY") and _said("EMMA_S3_SECRET")):
        raise _wrong("EMMA_S3_KEY" if not _said("EMMA_S3_KEY") else "EMMA_S3_SECRET", "the key of EMMA_S3_BUCKET")
    return {
        "bucket_name": S3_BUCKET,
        "endpoint_url": S3_ENDPOINT,
        "region_name": S3_REGION,
        "access_key": _said("EMMA_S3_KEY"),
        "secret_key": _said("EMMA_S3_SECRET"),
        "addressing_style": "path",
        "signature_version": "s3v4",
        "location": folder,
        "querystring_expire": LINKS_HOLD_S,
        "default_acl": None,
        "object_parameters": S3_ENCRYPTION,
        "file_overwrite": True,
    }


def _store(folder: str, here: Path) -> dict[str, Any]:
    """Where one kind of file is kept: in the bucket of EMMA_S3_BUCKET, else in a folder of EMMA_VAR."""
    if S3_BUCKET:
        return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": _s3(folder)}
    return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": here}}


STATIC_URL = "static/"
STATIC_ROOT = Path(_said("EMMA_STATIC", str(VAR_DIR / "static"))).expanduser().resolve()
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": RECORDINGS_DIR}},
    "exports": _store("exports", EXPORTS_DIR),
    "recordings": _store("recordings", RECORDINGS_DIR),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
if S3_BUCKET:  # the browser brings recordings there and plays them from there, by signed links
    for _directive in ("img-src", "media-src", "connect-src"):
        CONTENT_SECURITY_POLICY["DIRECTIVES"][_directive].append(S3_ENDPOINT)
# What a form may bring in one request: a comment is at most 20,000 characters, a sheet 100 MB (streamed to disk).
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 400

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = _said("EMMA_TIME_ZONE", "Asia/Hong_Kong")
if TIME_ZONE not in zoneinfo.available_timezones():
    raise _wrong("EMMA_TIME_ZONE", "a zone such as Asia/Hong_Kong")

# --- reviews ---------------------------------------------------------------------------------

REVIEW_SHARE = _number("EMMA_REVIEW_SHARE", 10, 0, 100)  # percent of what nothing else speaks for
REVIEW_HOLD_MINUTES = _number("EMMA_REVIEW_HOLD_MINUTES", 15, 1, 240)
REVIEWERS_PER_RESULT = _number("EMMA_REVIEWERS_PER_RESULT", 1, 1, 5)
GOLD_SHARE = _number("EMMA_GOLD_SHARE", 10, 0, 50)  # percent of what waits

# --- people ----------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["emma_eval.accounts.backend.Backend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "emma_eval.accounts.adapter.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # an invitation link that was opened proves the address
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Emma Eval] "
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_RATE_LIMITS = {"login": "60/m/ip", "login_failed": "30/m/ip,10/10m/key"}
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # nobody gets mail from us because a stranger typed an address
ACCOUNT_FORMS = {
    "login": "emma_eval.accounts.forms.SignInForm",
    "reauthenticate": "emma_eval.accounts.forms.ReauthenticateForm",
    "change_password": "emma_eval.accounts.forms.ChangePasswordForm",
    "set_password": "emma_eval.accounts.forms.SetPasswordForm",
    "reset_password": "emma_eval.accounts.forms.ResetPasswordForm",
    "reset_password_from_key": "emma_eval.accounts.forms.ResetPasswordKeyForm",
}
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if SECURE_PROXY_SSL_HEADER else 0
MFA_FORMS = {
    "authenticate": "emma_eval.accounts.forms.CodeForm",
    "reauthenticate": "emma_eval.accounts.forms.ReauthenticateCodeForm",
    "activate_totp": "emma_eval.accounts.forms.ActivateForm",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_ALLOW_UNVERIFIED_EMAIL = True  # every account began with a link that was mailed or handed over
MFA_TOTP_ISSUER = "Emma Eval"
MFA_FOR_ADMINISTRATORS = _claim("EMMA_MFA_FOR_ADMINISTRATORS")

# --- sign-on ----------------------------------------------------------------------------------


def _issuer() -> str:
    """Whom the tokens must come from. Over http only on this machine: whoever stands between reads them."""
    said = _said("EMMA_OIDC_ISSUER").rstrip("/")
    try:
        parts = urlsplit(said)
        is_address = parts.hostname and parts.port != 0 and not (parts.query or parts.fragment or "@" in parts.netloc)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost"})
    except ValueError:
        is_address = is_safe = False
    if not (is_address and is_safe) or len(said) > 200 or "/.well-known" in said:
        example = "the https address of the provider, such as https://id.example.org/realms/us"
        raise _wrong("EMMA_OIDC_ISSUER", example if said else f"{example}, or empty the other EMMA_OIDC_*")
    return said


def _key_of_ours(name: str, said: str) -> str:
    if not said:
        raise _wrong(name, "what the provider of EMMA_OIDC_ISSUER knows this site by")
    return said


def _roles_of_groups() -> tuple[tuple[str, Role], ...]:
    try:
        return read_roles(_several("EMMA_OIDC_ROLES"))
    except MappingError as cause:
        roles = ", ".join(Role)
        raise _wrong("EMMA_OIDC_ROLES", f"group=role, group=role, with the roles {roles}") from cause


def _sign_on() -> SignOn | None:
    """The provider of the environment; None where none is named."""
    client_id, client_secret = _said("EMMA_OIDC_CLIENT_ID"), _said("EMMA_OIDC_CLIENT_SECRET")
    roles, training_claim, only = _roles_of_groups(), _said("EMMA_OIDC_TRAINING_CLAIM"), _claim("EMMA_OIDC_ONLY")
    if not any((_said("EMMA_OIDC_ISSUER"), client_id, client_secret, roles, training_claim, only)):
        return None
    return SignOn(
        issuer=_issuer(),
        client_id=_key_of_ours("EMMA_OIDC_CLIENT_ID", client_id),
        client_secret=_key_of_ours("EMMA_OIDC_CLIENT_SECRET", client_secret),
        name=_said("EMMA_OIDC_NAME", "your organisation"),
        groups_claim=_said("EMMA_OIDC_GROUPS_CLAIM", "groups"),
        roles=roles,
        training_claim=training_claim,
        only=only,
    )


SIGN_ON = _sign_on()
SOCIALACCOUNT_ADAPTER = "emma_eval.accounts.sign_on.adapter.SignOnAdapter"
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5  # seconds; somebody waits for the page


def _mail() -> dict[str, Any]:
    """A mail server by EMMA_EMAIL_URL, else one file for each mail in var/mail."""
    said = _said("EMMA_EMAIL_URL")
    if not said:
        return {"EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend"}
    try:
        found: dict[str, Any] = environ.Env.email_url_config(said)
    except (ValueError, KeyError, ImproperlyConfigured) as cause:
        raise _wrong("EMMA_EMAIL_URL", "smtp+tls://user:password@host:587") from cause
    if found["EMAIL_BACKEND"].endswith("smtp.EmailBackend") and not found.get("EMAIL_HOST"):
        raise _wrong("EMMA_EMAIL_URL", "smtp+tls://user:password@host:587")
    return found


MAIL = _mail()
EMAIL_BACKEND = MAIL["EMAIL_BACKEND"]
EMAIL_HOST = MAIL.get("EMAIL_HOST") or "localhost"
EMAIL_PORT = MAIL.get("EMAIL_PORT") or 25
EMAIL_HOST_USER = MAIL.get("EMAIL_HOST_USER") or ""
EMAIL_HOST_PASSWORD = MAIL.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS = MAIL.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = MAIL.get("EMAIL_USE_SSL", False)
EMAIL_FILE_PATH = VAR_DIR / "mail"
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = SERVER_EMAIL = _said("EMMA_MAIL_FROM", "Emma Eval <emma-eval@localhost>")
if "@" not in parseaddr(DEFAULT_FROM_EMAIL)[1]:
    raise _wrong("EMMA_MAIL_FROM", "a sender such as Emma Eval <emma-eval@example.org>")

# --- where this site may go --------------------------------------------------------------------


def _outgoing_allow() -> Allowed:
    """What is opened though it lies inside. Never what is link-local, multicast or reserved, whatever is said."""
    try:
        return Allowed.read(_several("EMMA_OUTGOING_ALLOW"))
    except UnreadableError as cause:
        expected = "hosts and networks such as hooks.internal, 10.1.2.0/24, none of them link-local or reserved"
        raise _wrong("EMMA_OUTGOING_ALLOW", expected) from cause


OUTGOING_ALLOW = _outgoing_allow()


def _recording_hosts() -> Hosts:
    """From where recordings are copied when somebody pastes their link."""
    try:
        return Hosts.read(_several("EMMA_RECORDING_HOSTS"))
    except UnreadableError as cause:
        expected = "hosts such as files.example.org, *.example.org, or leave it out"
        raise _wrong("EMMA_RECORDING_HOSTS", expected) from cause


RECORDING_HOSTS = _recording_hosts()

# --- programs: the interface under /api/v1/ -----------------------------------------------------

API_REQUESTS_A_MINUTE = _number("EMMA_API_REQUESTS_A_MINUTE", 60, 1, 1_000_000)  # of one token
# How long drafts, and calls of which no result was filed, are kept after nobody came back to them; 0: for ever.
DRAFTS_ARE_KEPT_DAYS = _number("EMMA_DRAFTS_ARE_KEPT_DAYS", 0, 0, 36_500)
CALLS_ARE_KEPT_DAYS = _number("EMMA_CALLS_ARE_KEPT_DAYS", 0, 0, 36_500)
RECORDINGS_KEPT_DAYS = _number("EMMA_RECORDINGS_KEPT_DAYS", 0, 0, 36_500)  # since they were begun; 0: for ever
AUTOSAVES_A_MINUTE = 120  # of one person; a page that is typed on without a pause saves forty times
RECORDER_ASKS_A_MINUTE = 600  # of one person, beside calls: two for each chunk of four seconds, more to catch up
TELLINGS_A_MINUTE = 300  # of one person, beside calls: a press of a button is told at once
PARTS_ASKED_A_MINUTE = 1200  # of one person, beside uploads: at 8 MiB a part that is 160 MB a second
LINKS_A_MINUTE = 120  # of one person, to recordings: they are renewed once in some minutes, and after a fault
API_REFUSALS_A_MINUTE = 60  # of one address, without a token that opens something
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["emma_eval.accounts.programs.authenticate.Bearer"],
    "DEFAULT_PERMISSION_CLASSES": ["emma_eval.accounts.programs.authenticate.HoldsScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["emma_eval.accounts.programs.body.BoundedJSON"],
    "DEFAULT_SCHEMA_CLASS": "emma_eval.accounts.programs.describe.ProgramSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "emma_eval.accounts.programs.problems.answer_problem",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Emma Eval",
    "DESCRIPTION": "Scripts, builds, results, reviews, figures and rounds of calls with Emma, for programs. A program "
    "acts in the name of the member who made its token, and may never do more than that member may at this moment.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVERS": [{"url": ORIGIN}],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "POSTPROCESSING_HOOKS": ["emma_eval.accounts.programs.describe.closed"],
}

# --- work to be done outside the web process ---------------------------------------------------


def _redis_url() -> str:
    url = _server("REDIS_URL", "redis_url")
    try:
        parts = urlsplit(url)
        is_redis = parts.scheme in {"redis", "rediss"} and parts.hostname and parts.port != 0
    except ValueError:
        is_redis = False
    if url and not is_redis:
        raise _wrong("REDIS_URL", "redis://host:6379/0, or leave it out for the filesystem broker")
    return url


REDIS_URL = _redis_url()
QUEUE_DIR, CONTROL_DIR = VAR_DIR / "queue", VAR_DIR / "control"
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    # A request that has work to hand over waits a moment for a lost broker, not for ever: the sweep finds the row.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "max_retries": 0,
        "interval_start": 0,
        "socket_connect_timeout": 2,
        "socket_timeout": 5,
        "socket_keepalive": True,
    }
else:
    CELERY_BROKER_URL = "filesystem://localhost"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(QUEUE_DIR),
        "data_folder_out": str(QUEUE_DIR),
        "control_folder": str(CONTROL_DIR),
        "polling_interval": 0.1,
    }
# Holds nothing but counts of requests per minute, each web process its own: no request needs Redis.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker for as long as it takes
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULE = {
    "sweep the outbox": {"task": "outbox.sweep", "schedule": 30.0, "options": {"expires": 30}},
    "link the audit trail": {"task": "accounts.link_audit", "schedule": 60.0, "options": {"expires": 60}},
    "link all of the audit trail": {
        "task": "accounts.link_audit",
        "schedule": crontab(hour="2", minute="40"),
        "kwargs": {"is_everything": True},
    },
    "verify the audit trail": {
        "task": "accounts.verify_audit",
        "schedule": crontab(day_of_week="mon", hour="2", minute="50"),
    },
    "clear away old sessions": {"task": "accounts.clear_away", "schedule": 3600.0},
    "forget uploaded sheets": {"task": "results.forget_uploads", "schedule": 3600.0},
    "look for what to review": {"task": "results.look_for_reviews", "schedule": 3600.0},
    "forget what nobody came back to": {"task": "results.forget_old", "schedule": crontab(hour="4", minute="10")},
    "forget old recordings": {"task": "results.forget_recordings", "schedule": crontab(hour="4", minute="25")},
    "sweep the store of recordings": {
        "task": "results.sweep_recordings",
        "schedule": crontab(day_of_week="sun", hour="4", minute="50"),
    },
    "forget old exports": {"task": "results.forget_exports", "schedule": 3600.0},
    "look after recordings": {"task": "results.look_after_recordings", "schedule": crontab(hour="5", minute="15")},
    "finish abandoned recordings": {"task": "results.finish_abandoned_recordings", "schedule": 3600.0},
    "forget old deliveries": {"task": "webhooks.forget_deliveries", "schedule": 3600.0},
    "work out agreement": {"task": "results.work_out_agreement", "schedule": 300.0, "options": {"expires": 300}},
    "count by month anew": {"task": "results.rebuild_counts", "schedule": crontab(hour="3", minute="20")},
    "send weekly digests": {"task": "results.send_digests", "schedule": 300.0, "options": {"expires": 300}},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"refusals in one line": {"()": "emma_eval.log_lines.RefusalsInOneLine"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["refusals in one line"]}
    },
    "root": {"handlers": ["console"], "level": "INFO"},
    # They write each address that is opened, and an address of a webhook may hold a key.
    "loggers": {"httpx": {"level": "WARNING"}, "httpcore": {"level": "WARNING"}},
}
