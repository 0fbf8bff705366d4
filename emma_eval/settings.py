"""Everything that can be configured, read from the environment.

With nothing set, this is the embedded default that `./emma up` prepares: SQLite, one folder for
recordings, a Celery worker on the filesystem broker. A wrong value stops the start with a sentence
that says what to set.
"""

from __future__ import annotations

import zoneinfo
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()


def _read(name: str, cast: Any, default: Any, expected: str) -> Any:
    """The value of one variable, or a sentence that says how to mend it."""
    try:
        return cast(name, default)
    except (ValueError, KeyError, TypeError, ImproperlyConfigured) as cause:
        raise ImproperlyConfigured(f"{name} is {env.str(name, '')!r}: set it to {expected}.") from cause


def _folder(name: str, default: Path) -> Path:
    return Path(_read(name, env.str, str(default), "a folder")).resolve()


# --- where things are kept -------------------------------------------------------------------

VAR_DIR = _folder("EMMA_VAR", BASE_DIR / "var")
RECORDINGS_DIR = VAR_DIR / "recordings"
DEBUG = _read("EMMA_DEBUG", env.bool, False, "true or false")


def _secret_key() -> str:
    """The secret of the environment, or the one that `./emma up` made for this folder."""
    given: str = env.str("EMMA_SECRET_KEY", "")
    if given:
        if len(given) < 50:
            raise ImproperlyConfigured("EMMA_SECRET_KEY is too short: set it to at least 50 random characters.")
        return given
    made = VAR_DIR / "secret_key"
    if not made.exists():
        raise ImproperlyConfigured("There is no secret yet: run ./emma up first, or set EMMA_SECRET_KEY.")
    return made.read_text().strip()


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = env.list("EMMA_OLD_SECRET_KEYS", default=[])


def _database() -> dict[str, Any]:
    """PostgreSQL by DATABASE_URL, else SQLite with write-ahead log and immediate transactions.

    IMMEDIATE: a transaction that will write takes the lock at once and waits its turn; a deferred one
    that upgrades later fails at once instead of waiting.
    """
    url = env.str("DATABASE_URL", "") or f"sqlite:///{VAR_DIR / 'emma.sqlite3'}"
    try:
        found: dict[str, Any] = env.db_url_config(url)
    except (ValueError, ImproperlyConfigured) as cause:
        raise ImproperlyConfigured(
            "DATABASE_URL is not a database: set it to postgres://user:password@host/name."
        ) from cause
    engine = found.get("ENGINE", "")
    if engine == "django.db.backends.sqlite3":
        found["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA busy_timeout=20000; PRAGMA cache_size=-16000;",
        }
    elif engine == "django.db.backends.postgresql":
        found["OPTIONS"] = {
            **found.get("OPTIONS", {}),
            "pool": {"min_size": 1, "max_size": 32, "timeout": 10},
            "options": "-c statement_timeout=30000 -c lock_timeout=10000",
        }
    else:
        raise ImproperlyConfigured("DATABASE_URL is not a database: set it to postgres://user:password@host/name.")
    return found


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- who may reach us ------------------------------------------------------------------------

ORIGIN = env.str("EMMA_ORIGIN", "http://127.0.0.1:8000").rstrip("/")
if urlsplit(ORIGIN).scheme not in {"http", "https"} or not urlsplit(ORIGIN).hostname:
    raise ImproperlyConfigured(
        f"EMMA_ORIGIN is {ORIGIN!r}: set it to the address people type, such as https://emma.example.org."
    )
SERVED_OVER_HTTPS = ORIGIN.startswith("https://")
ALLOWED_HOSTS = [str(urlsplit(ORIGIN).hostname), *env.list("EMMA_HOSTS", default=["127.0.0.1", "localhost"])]
CSRF_TRUSTED_ORIGINS = [ORIGIN]

SECURE_SSL_REDIRECT = False  # the proxy in front redirects; a health check inside the house stays plain
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("EMMA_BEHIND_PROXY", False) else None
SECURE_HSTS_SECONDS = 31_536_000 if SERVED_OVER_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SERVED_OVER_HTTPS
SECURE_HSTS_PRELOAD = SERVED_OVER_HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_HTTPS
SESSION_COOKIE_NAME = "__Host-session" if SERVED_OVER_HTTPS else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if SERVED_OVER_HTTPS else "csrf"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_SAVE_EVERY_REQUEST = False
CSRF_FAILURE_VIEW = "emma_eval.accounts.views.csrf_failure"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "media-src": [SELF],
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
    "csp",
    "django_htmx",
    "template_partials",
    "emma_eval.outbox",
    "emma_eval.accounts",
    "scripts_catalog",
    "results",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "emma_eval.accounts.middleware.permissions_policy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
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

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": RECORDINGS_DIR}},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# What a form may bring in one request: a comment is at most 20,000 characters, a sheet 100 MB (streamed to disk).
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 400

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = env.str("EMMA_TIME_ZONE", "Asia/Hong_Kong")
if TIME_ZONE not in zoneinfo.available_timezones():
    raise ImproperlyConfigured(f"EMMA_TIME_ZONE is {TIME_ZONE!r}: set it to a zone such as Asia/Hong_Kong.")

# --- people ----------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
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
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Emma Eval"

EMAIL_CONFIG = _read(
    "EMMA_EMAIL_URL", env.email_url, f"filemail:///{VAR_DIR / 'mail'}", "smtp+tls://user:password@host:587"
)
EMAIL_BACKEND = EMAIL_CONFIG["EMAIL_BACKEND"]
EMAIL_HOST = EMAIL_CONFIG.get("EMAIL_HOST") or "localhost"
EMAIL_PORT = EMAIL_CONFIG.get("EMAIL_PORT") or 25
EMAIL_HOST_USER = EMAIL_CONFIG.get("EMAIL_HOST_USER") or ""
EMAIL_HOST_PASSWORD = EMAIL_CONFIG.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS = EMAIL_CONFIG.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = EMAIL_CONFIG.get("EMAIL_USE_SSL", False)
EMAIL_FILE_PATH = VAR_DIR / "mail"
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.str("EMMA_MAIL_FROM", "Emma Eval <emma-eval@localhost>")

# --- work to be done outside the web process ---------------------------------------------------

REDIS_URL = env.str("REDIS_URL", "")
QUEUE_DIR, CONTROL_DIR = VAR_DIR / "queue", VAR_DIR / "control"
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}
else:
    CELERY_BROKER_URL = "filesystem://"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(QUEUE_DIR),
        "data_folder_out": str(QUEUE_DIR),
        "control_folder": str(CONTROL_DIR),
        "polling_interval": 0.1,
    }
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULE = {"sweep the outbox": {"task": "outbox.sweep", "schedule": 30.0}}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
}
