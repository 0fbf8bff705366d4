"""What can be configured, and what a wrong value says."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parent.parent
SECRET = "secret-of-these-tests-0123456789-abcdefghijklmnopqrstuvwxyz"


EXAMPLE = dict(re.findall(r"^([A-Z0-9_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))


def settings_with(monkeypatch: pytest.MonkeyPatch, **environment: str) -> dict[str, Any]:
    """The settings as a process with nothing but this environment reads them."""
    for name in list(os.environ):
        if name.startswith("EMMA_") or name in {"DATABASE_URL", "REDIS_URL"}:
            monkeypatch.delenv(name)
    for name, value in {"EMMA_SECRET_KEY": SECRET, **environment}.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(ROOT / "emma_eval" / "settings.py"))


WRONG = [
    ("EMMA_DEBUG", "perhaps"),
    ("EMMA_BEHIND_PROXY", "2"),
    ("EMMA_VAR", str(ROOT / "manage.py")),
    ("EMMA_SECRET_KEY", "short"),
    ("EMMA_SECRET_KEY", "a" * 60),
    ("EMMA_SECRET_KEY", "abcdefghi" * 7),
    ("EMMA_SECRET_KEY", EXAMPLE["EMMA_SECRET_KEY"]),
    ("EMMA_OLD_SECRET_KEYS", EXAMPLE["EMMA_SECRET_KEY"]),
    ("EMMA_OLD_SECRET_KEYS", f"{SECRET}," + "ab" * 30),
    ("EMMA_S3_KEY", EXAMPLE["EMMA_S3_KEY"]),
    ("EMMA_S3_SECRET", EXAMPLE["EMMA_S3_SECRET"]),
    ("EMMA_S3_ENDPOINT", "s3.example.org"),
    ("EMMA_S3_ENDPOINT", "https://s3.example.org/bucket"),
    ("EMMA_S3_ENDPOINT", "https://s3.example.org; script-src *"),
    ("EMMA_S3_ENCRYPTION", "aes"),
    ("EMMA_S3_ENCRYPTION", "aws:kms:"),
    ("EMMA_OIDC_CLIENT_SECRET", EXAMPLE["EMMA_OIDC_CLIENT_SECRET"]),
    ("EMMA_POSTGRES_PASSWORD", EXAMPLE["EMMA_POSTGRES_PASSWORD"]),
    ("EMMA_WEB_WORKERS", "0"),
    ("EMMA_WEB_WORKERS", "two"),
    ("EMMA_WEB_THREADS", "-16"),
    ("EMMA_WEB_THREADS", "1.5"),
    ("EMMA_WEB_THREADS", "9" * 5000),
    ("EMMA_WORKER_THREADS", "\u0664"),
    ("EMMA_OLD_SECRET_KEYS", f"{SECRET},short"),
    ("DATABASE_URL", "emma"),
    ("DATABASE_URL", "mysql://emma@127.0.0.1/emma"),
    ("DATABASE_URL", "postgres://127.0.0.1"),
    ("DATABASE_URL", "postgres://127.0.0.1:many/emma"),
    ("EMMA_ORIGIN", "emma.example.org"),
    ("EMMA_ORIGIN", "ftp://emma.example.org"),
    ("EMMA_ORIGIN", "https://"),
    ("EMMA_ORIGIN", "https://emma.example.org/site"),
    ("EMMA_ORIGIN", "https://me@emma.example.org"),
    ("EMMA_ORIGIN", "https://emma.example.org:many"),
    ("EMMA_ORIGIN", "https://[::1"),
    ("EMMA_HOSTS", "https://emma.example.org"),
    ("EMMA_HOSTS", "emma.example.org:8000"),
    ("EMMA_TIME_ZONE", "Hong Kong"),
    ("EMMA_REVIEWERS_PER_RESULT", "6"),
    ("EMMA_REVIEWERS_PER_RESULT", "0"),
    ("EMMA_REVIEW_HOLD_MINUTES", "a while"),
    ("EMMA_REVIEW_SHARE", "101"),
    ("EMMA_REVIEW_SHARE", "0.1"),
    ("EMMA_EMAIL_URL", "mail.example.org"),
    ("EMMA_EMAIL_URL", "pigeon://mail.example.org"),
    ("EMMA_EMAIL_URL", "smtp+tls://"),
    ("EMMA_EMAIL_URL", "smtp://mail.example.org:many"),
    ("EMMA_MAIL_FROM", "Emma Eval"),
    ("REDIS_URL", "127.0.0.1:6379"),
    ("REDIS_URL", "http://127.0.0.1"),
    ("REDIS_URL", "redis://127.0.0.1:many/0"),
    ("EMMA_OIDC_ISSUER", "id.example.org"),
    ("EMMA_OIDC_ISSUER", "http://id.example.org"),
    ("EMMA_OIDC_ISSUER", "https://"),
    ("EMMA_OIDC_ISSUER", "https://me@id.example.org"),
    ("EMMA_OIDC_ISSUER", "https://id.example.org/?realm=us"),
    ("EMMA_OIDC_ISSUER", "https://id.example.org:many"),
    ("EMMA_OIDC_ISSUER", "https://id.example.org/.well-known/openid-configuration"),
    ("EMMA_OIDC_ROLES", "emma-testers"),
    ("EMMA_OIDC_ROLES", "emma-testers=tester, emma-leads=boss"),
    ("EMMA_OIDC_ROLES", "=tester"),
    ("EMMA_OIDC_ONLY", "perhaps"),
    ("EMMA_OUTGOING_ALLOW", "https://hooks.internal/"),
    ("EMMA_OUTGOING_ALLOW", "10.1.2.3/24"),
    ("EMMA_OUTGOING_ALLOW", "0.0.0.0/0"),
    ("EMMA_OUTGOING_ALLOW", "hooks.internal, 169.254.169.254"),
    ("EMMA_RECORDING_HOSTS", "https://files.example.org/"),
    ("EMMA_RECORDING_HOSTS", "*.org"),
    ("EMMA_MFA_FOR_ADMINISTRATORS", "perhaps"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_value_is_told_in_a_sentence_that_says_what_to_set(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImproperlyConfigured) as told:
        settings_with(monkeypatch, **{name: value})
    assert re.fullmatch(rf"{name} is .+: set it to .+\.", str(told.value))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EMMA_SECRET_KEY", "hunter2"),
        ("DATABASE_URL", "mysql://emma:hunter2@127.0.0.1/emma"),
        ("REDIS_URL", "http://:hunter2@127.0.0.1"),
        ("EMMA_EMAIL_URL", "pigeon://emma:hunter2@mail.example.org"),
    ],
)
def test_the_sentence_keeps_secrets_to_itself(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured) as told:
        settings_with(monkeypatch, **{name: value})
    assert "hunter2" not in str(told.value)


OIDC = {
    "EMMA_OIDC_ISSUER": "https://id.example.org/realms/us/",
    "EMMA_OIDC_CLIENT_ID": "emma-eval",
    "EMMA_OIDC_CLIENT_SECRET": "hunter2",
}


@pytest.mark.parametrize("missing", OIDC)
def test_a_part_of_sign_on_that_is_missing_is_named_and_no_secret_is(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{missing} is .+: set it to .+") as told:
        settings_with(monkeypatch, **{name: value for name, value in OIDC.items() if name != missing})
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    "alone", [{"EMMA_OIDC_ONLY": "true"}, {"EMMA_OIDC_ROLES": "a=tester"}, {"EMMA_OIDC_TRAINING_CLAIM": "trained"}]
)
def test_what_makes_sense_with_sign_on_alone_asks_for_its_provider(
    alone: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^EMMA_OIDC_ISSUER is '': set it to"):
        settings_with(monkeypatch, **alone)


def test_emptying_the_provider_alone_says_that_its_other_values_have_to_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"or empty the other EMMA_OIDC_\*\.$"):
        settings_with(monkeypatch, **{**OIDC, "EMMA_OIDC_ISSUER": ""})


def test_sign_on_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    roles = "emma-testers=tester, Emma = leads=eval team,emma-testers=manager"
    found = settings_with(monkeypatch, **OIDC, EMMA_OIDC_ROLES=roles, EMMA_OIDC_ONLY="true")["SIGN_ON"]
    assert (found.issuer, found.name, found.groups_claim) == (
        "https://id.example.org/realms/us",
        "your organisation",
        "groups",
    )
    assert found.roles_of(frozenset({"emma-testers"})) == {"tester", "manager"}
    assert found.roles_of(frozenset({"Emma = leads", "canteen"})) == {"eval team"}
    assert found.only
    assert settings_with(monkeypatch)["SIGN_ON"] is None


BUCKET = {"EMMA_S3_BUCKET": "emma", "EMMA_S3_KEY": "key", "EMMA_S3_SECRET": "secret"}


@pytest.mark.parametrize(
    ("said", "origin"),
    [
        ({"EMMA_S3_ENDPOINT": "https://s3.example.org/"}, "https://s3.example.org"),
        ({"EMMA_S3_ENDPOINT": "http://127.0.0.1:8333"}, "http://127.0.0.1:8333"),
        ({}, "https://s3.us-east-1.amazonaws.com"),
        ({"EMMA_S3_REGION": "cn-north-1"}, "https://s3.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_pages_may_reach_the_bucket_for_media_and_nothing_else(
    said: dict[str, str], origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = settings_with(monkeypatch, **BUCKET, **said)
    policy = found["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]
    assert sorted(name for name in policy if origin in policy[name]) == ["connect-src", "img-src", "media-src"]
    assert found["STORAGES"]["recordings"]["OPTIONS"]["endpoint_url"] == origin
    without = settings_with(monkeypatch)["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]
    assert without["media-src"] == [found["SELF"], "blob:"]
    assert without["connect-src"] == [found["SELF"]]


@pytest.mark.parametrize(
    ("said", "written_with"),
    [
        ("", {}),
        ("AES256", {"ServerSideEncryption": "AES256"}),
        ("aws:kms", {"ServerSideEncryption": "aws:kms"}),
        (
            "aws:kms:arn:aws:kms:eu-west-1:1:key/2",
            {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "arn:aws:kms:eu-west-1:1:key/2"},
        ),
    ],
)
def test_files_in_the_bucket_are_encrypted_as_is_said(
    said: str, written_with: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = settings_with(monkeypatch, **BUCKET, EMMA_S3_ENCRYPTION=said)
    for kind in ("recordings", "exports"):
        assert found["STORAGES"][kind]["OPTIONS"]["object_parameters"] == written_with


def test_set_but_empty_is_the_same_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = settings_with(monkeypatch, **{name: "" for name, _ in WRONG if name != "EMMA_SECRET_KEY"})
    without = settings_with(monkeypatch)
    assert {key: empty[key] for key in empty if key.isupper()} == {
        key: without[key] for key in without if key.isupper()
    }


def test_with_nothing_set_the_house_is_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_with(monkeypatch)
    database = found["DATABASES"]["default"]
    assert database["NAME"] == str(ROOT / "var" / "emma.sqlite3")
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert database["OPTIONS"]["timeout"] == 20
    assert "journal_mode=WAL" in database["OPTIONS"]["init_command"]
    assert found["CELERY_BROKER_URL"].startswith("filesystem://")
    assert not found["DEBUG"]


def test_behind_a_proxy_over_https_everything_is_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_with(monkeypatch, EMMA_ORIGIN="https://emma.example.org", EMMA_BEHIND_PROXY="true")
    assert found["SECURE_HSTS_SECONDS"] >= 31_536_000
    assert found["SECURE_HSTS_INCLUDE_SUBDOMAINS"]
    assert found["SECURE_SSL_REDIRECT"]
    assert found["SESSION_COOKIE_SECURE"]
    assert found["CSRF_COOKIE_SECURE"]
    assert found["SESSION_COOKIE_NAME"].startswith("__Host-")
    assert found["SECURE_PROXY_SSL_HEADER"] == ("HTTP_X_FORWARDED_PROTO", "https")


def test_the_header_of_a_proxy_is_believed_only_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_with(monkeypatch, EMMA_ORIGIN="https://emma.example.org")
    assert found["SECURE_PROXY_SSL_HEADER"] is None
    assert not found["SECURE_SSL_REDIRECT"]


def test_with_redis_no_request_depends_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_with(monkeypatch, REDIS_URL="redis://127.0.0.1:6379/0")
    assert found["CELERY_BROKER_URL"] == "redis://127.0.0.1:6379/0"
    assert "redis" not in str(found["CACHES"]).lower()


def test_a_mail_server_is_read_from_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_with(monkeypatch, EMMA_EMAIL_URL="smtp+tls://emma:secret@mail.example.org:587")
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"], found["EMAIL_USE_TLS"]) == ("mail.example.org", 587, True)


def test_the_example_can_be_read_by_a_shell() -> None:
    """systemd and compose read it in ways of their own; a word without spaces is the same in all."""
    words = ("/bin/sh", "-euc", ". ./.env.example")
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")


def test_the_example_names_every_variable_and_no_other() -> None:
    source = (ROOT / "emma_eval" / "settings.py").read_text()
    read = set(re.findall(r"[^$]\$\{([A-Z0-9_]+)", (ROOT / "compose.yaml").read_text()))
    assert len(read) > 5
    read |= set(re.findall(r'_(?:said|claim|several|server|number)\("([A-Z0-9_]+)"', source))
    example = set(re.findall(r"^([A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert len(read) > 10
    assert example == read


def test_what_the_example_says_to_replace_is_every_secret_that_is_refused() -> None:
    """A secret that is added to the example says so too, so nobody starts with a value that everybody can read."""
    told = {name for name, value in EXAMPLE.items() if value.startswith(("replace-this", "replacethis"))}
    named = {name for name in EXAMPLE if re.search("SECRET|PASSWORD|_KEY$", name) and EXAMPLE[name]}
    assert told == named
    assert told <= {name for name, _ in WRONG}


def test_without_an_address_it_is_the_one_that_emma_up_serves_the_folder_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that manage.py beside it prints links that lead somewhere."""
    assert settings_with(monkeypatch, EMMA_VAR=str(tmp_path))["ORIGIN"] == "http://127.0.0.1:8000"
    (tmp_path / "running").write_text("http://127.0.0.1:8123 41 42\n")
    assert settings_with(monkeypatch, EMMA_VAR=str(tmp_path))["ORIGIN"] == "http://127.0.0.1:8123"
    said = settings_with(monkeypatch, EMMA_VAR=str(tmp_path), EMMA_ORIGIN="https://emma.example.org")
    assert said["ORIGIN"] == "https://emma.example.org"


DOORS = [
    [sys.executable, "manage.py", "check"],
    [sys.executable, "-m", "emma_eval.prepare"],
    [sys.executable, "-m", "emma_eval.health"],
    [sys.executable, "-m", "celery", "--app", "emma_eval.celery", "worker"],
    [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", "0", "emma_eval.wsgi:application"],
]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door[2] if door[1] == "-m" else door[1])
def test_every_door_says_the_sentence_and_stays_shut(door: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "EMMA_VAR": str(tmp_path), "EMMA_SECRET_KEY": SECRET, "EMMA_ORIGIN": "emma"}
    told = subprocess.run(door, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    said = told.stdout + told.stderr
    assert told.returncode != 0
    assert "EMMA_ORIGIN is 'emma': set it to the address people type" in said
    assert "Traceback" not in said


def test_manage_py_with_nothing_prepared_says_to_run_emma_up_first(tmp_path: Path) -> None:
    environment = {**os.environ, "EMMA_VAR": str(tmp_path)}
    environment.pop("EMMA_SECRET_KEY", None)
    told = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert told.returncode == 1
    assert "run ./emma up first" in told.stderr
    assert told.stderr.count("\n") == 1


def test_any_python_may_start_manage_py(tmp_path: Path) -> None:
    """One that lacks our packages goes on in .venv, or says what to do where there is none."""
    bare = getattr(sys, "_base_executable", sys.executable)
    environment = {**os.environ, "EMMA_VAR": str(tmp_path), "EMMA_SECRET_KEY": SECRET}
    start = [bare, "-S", "manage.py", "version"]
    if (ROOT / ".venv").exists():
        told = subprocess.run(start, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert told.stdout.startswith("5.2."), told.stderr

    alone = tmp_path / "manage.py"
    alone.write_text((ROOT / "manage.py").read_text())
    told = subprocess.run([bare, "-S", alone], env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert told.stderr == "Emma Eval can't start. Its packages are not installed: run ./emma up first.\n"
