"""Out of the house: the compose file, the image, the units and the proxies, run as far as they run without Docker.

The commands and health checks of compose.yaml are read from it and run as they stand there, as processes, on
PostgreSQL, Redis and an S3 server of this machine; nginx runs with the file that is shipped.
"""

from __future__ import annotations

import configparser
import datetime
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from psycopg import sql

from emma_eval.backup import stranger
from emma_eval.knock import find_free

pytestmark = pytest.mark.xdist_group("deployment")  # one process starts the services for all of them
ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "docs" / "deploy"
UNITS = DEPLOY / "systemd"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("migrate", "web", "worker", "beat")

# What a service of ours may say, of all that the compose specification knows: a misspelt word is not among it.
WORDS = {
    "build", "cap_drop", "command", "depends_on", "entrypoint", "env_file", "environment", "healthcheck", "image",
    "init", "logging", "ports", "read_only", "restart", "security_opt", "shm_size", "stop_grace_period", "tmpfs",
    "volumes",
}  # fmt: skip
OF_A_CHECK = {"test", "interval", "timeout", "start_period", "retries", "disable"}


A_SESSION = """
import emma_eval.celery, django
django.setup()
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from importlib import import_module
from emma_eval.accounts.models import User
user, _ = User.objects.get_or_create(email="uploads@example.org")
session = import_module(settings.SESSION_ENGINE).SessionStore()
session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), settings.AUTHENTICATION_BACKENDS[0]
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.save()
print(session.session_key)
"""


# --- compose.yaml as it is written ----------------------------------------------------------------


def test_compose_has_every_process_of_the_site_as_its_own_service() -> None:
    assert set(SERVICES) == {*OURS, "postgres", "redis", "s3"}
    assert {name: set(said) - WORDS for name, said in SERVICES.items() if set(said) - WORDS} == {}
    assert len({SERVICES[name]["image"] for name in OURS}) == 1


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_comes_back_and_says_how_it_is(name: str) -> None:
    said = SERVICES[name]
    check = said["healthcheck"]
    assert set(check) <= OF_A_CHECK
    if name == "migrate":
        assert said["restart"] == "no"
    else:
        assert said["restart"] == "unless-stopped"
        assert check["test"][0] in {"CMD", "CMD-SHELL"}
        assert check["retries"] >= 3
    assert said["security_opt"] == ["no-new-privileges:true"]
    assert said["logging"]["options"]["max-size"]
    assert not said["image"].endswith(":latest")
    assert name in OURS or re.search(r":\d", said["image"])


@pytest.mark.parametrize("name", OURS)
def test_our_own_services_may_do_little(name: str) -> None:
    said = SERVICES[name]
    assert said["read_only"] is True
    assert said["cap_drop"] == ["ALL"]
    assert "user" not in said, "the image says who it runs as"
    assert said["volumes"] == ["files:/var/lib/emma"]


def test_services_wait_for_what_they_need() -> None:
    for name, said in SERVICES.items():
        for needed, how in said.get("depends_on", {}).items():
            assert set(how) == {"condition"}
            if how["condition"] == "service_healthy":
                assert "test" in SERVICES[needed]["healthcheck"], f"{name} waits for ever on {needed}"
    for name in ("web", "worker", "beat"):
        assert SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    assert SERVICES["migrate"]["depends_on"]["postgres"] == {"condition": "service_healthy"}


def test_what_is_kept_lies_in_volumes_and_doors_open_on_this_machine_alone() -> None:
    used = {volume.partition(":")[0] for said in SERVICES.values() for volume in said.get("volumes", [])}
    files = {name for name in used if name.startswith("./")}
    assert all((ROOT / name).is_file() for name in files)
    assert used - files == set(COMPOSE["volumes"])
    doors = [port for said in SERVICES.values() for port in said.get("ports", [])]
    assert len(doors) == 2
    assert [port for port in doors if not port.startswith("127.0.0.1:")] == []


def test_no_secret_stands_in_the_compose_file() -> None:
    text = (ROOT / "compose.yaml").read_text()
    said = [pair for service in SERVICES.values() for pair in service.get("environment", {}).items()]
    secrets = [(name, value) for name, value in said if re.search("PASSWORD|SECRET|KEY|DATABASE_URL", name)]
    assert len(secrets) >= 4
    assert [name for name, value in secrets if not re.search(r"\$\{[A-Z0-9_]+:\?set it in \.env\}", value)] == []
    example = set(re.findall(r"^([A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert set(re.findall(r"[^$]\$\{([A-Z0-9_]+)", text)) <= example


# --- the image ------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in text.splitlines() if line.strip()]


def test_the_image_is_small_locked_and_not_root() -> None:
    said = instructions()
    stages = [words for word, words in said if word == "FROM"]
    assert len(stages) == 2
    assert all(re.match(r"python:3\.11-slim-\w+( AS packages)?$", stage) for stage in stages)
    assert [word for word, _ in said if word in {"ADD", "MAINTAINER"}] == []
    users = [words for word, words in said if word == "USER"]
    assert users == ["emma"]
    assert "--uid 10001" in dict(said)["RUN"] or any("--uid 10001" in words for _, words in said)
    installs = next(words for _, words in said if "pip install" in words)
    assert "--require-hashes" in installs
    assert "requirements/base.txt" in dict(said[: said.index(("RUN", installs))])["COPY"]
    packages = next(words for _, words in said if "apt-get install" in words)
    assert "--no-install-recommends" in packages
    assert "rm -rf /var/lib/apt/lists/*" in packages
    assert [words for word, words in said if word == "ENV" and re.search("SECRET|PASSWORD", words)] == []
    after_user = said[said.index(("USER", "emma")) :]
    assert any("emma_eval.prepare --static" in words for _, words in after_user)
    assert any(word == "HEALTHCHECK" for word, _ in said)


def test_the_image_runs_what_compose_runs() -> None:
    said = dict(instructions())
    command = json.loads(re.sub(r",\s+", ", ", said["CMD"]))
    assert command == shlex.split(substituted(SERVICES["web"]["command"], {}))
    check = json.loads(said["HEALTHCHECK"].partition("CMD ")[2])[-1]
    assert check == SERVICES["web"]["healthcheck"]["test"][1].replace("$${GRANIAN_PORT}", "$GRANIAN_PORT")


def test_the_servers_backups_are_made_by_programs_of_its_own_version() -> None:
    server = re.search(r"postgres:(\d+)", SERVICES["postgres"]["image"])
    assert server is not None
    assert f"postgresql-client-{server[1]}" in (ROOT / "Dockerfile").read_text()


def test_nothing_private_gets_into_the_image() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"
    allowed = {rule[1:] for rule in rules if rule.startswith("!")}
    copied = [words.split()[:-1] for word, words in instructions() if word == "COPY" and "--from" not in words]
    assert {name.rstrip("/") for names in copied for name in names} == allowed
    assert all((ROOT / name).exists() for name in allowed)


def test_what_is_copied_into_the_image_is_enough_and_brings_its_static_files(tmp_path: Path) -> None:
    """The Dockerfile's steps in a folder: what it copies, its static files, then `migrate` as another container."""
    image, served = tmp_path / "image", tmp_path / "served"
    image.mkdir()
    for words in (words for word, words in instructions() if word == "COPY" and "--from" not in words):
        for name in words.split()[:-1]:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, image / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif name != "requirements/base.txt":
                shutil.copy(ROOT / name, image / name)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EMMA_")}
    environment = {
        **kept,
        "EMMA_VAR": str(tmp_path / "var"),
        "EMMA_STATIC": str(served),
        "EMMA_SECRET_KEY": "0123456789" * 5,
    }
    environment = {**environment, "DATABASE_URL": "", "REDIS_URL": ""}

    def run(*options: str) -> None:
        command = [sys.executable, "-P", "-m", "emma_eval.prepare", *options]
        told = subprocess.run(
            command,
            cwd=image,
            env={**environment, "PYTHONPATH": str(image)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, told.stderr

    run("--static")
    made = {path: path.stat().st_mtime_ns for path in served.rglob("*")}
    assert len(made) > 100
    assert not (tmp_path / "var" / "emma.sqlite3").exists()
    for path in (image / "static").rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))  # an image that was pulled has the times of its layers
    run("--no-demo")
    assert {path: path.stat().st_mtime_ns for path in served.rglob("*")} == made
    assert (tmp_path / "var" / "emma.sqlite3").exists()


def test_the_role_of_the_site_owns_its_database_and_nothing_else() -> None:
    """What the image of PostgreSQL runs at its first start, on a PostgreSQL of its own."""
    (mounted,) = [volume for volume in SERVICES["postgres"]["volumes"] if "/docker-entrypoint-initdb.d/" in volume]
    with stranger.room() as room:
        if room.database is None:
            pytest.skip(room.why_not)
        server = replace(room.database, name="postgres", user="postgres")
        password = "it's \\ a $word"
        said = {**server.environment(), "EMMA_POSTGRES_PASSWORD": password}
        told = subprocess.run([ROOT / mounted.split(":")[0]], env=said, capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stderr
        with replace(server, name="emma", user="emma").connect() as link:
            link.execute("CREATE TABLE ours (number integer)")
            rights = link.execute(
                "SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = 'emma'"
            ).fetchone()
            assert rights == (False, False, False)
        with server.connect() as link:
            kept = dict(
                link.execute("SELECT rolname, rolpassword FROM pg_authid WHERE rolname IN ('emma', 'postgres')")
            )
        assert kept["postgres"] is None
        assert kept["emma"].startswith("SCRAM-SHA-256$")


# --- the processes --------------------------------------------------------------------------------


def substituted(words: str, environment: dict[str, str]) -> str:
    """As compose reads it: variables with their defaults, and `$$` for a dollar."""

    def value(found: re.Match[str]) -> str:
        return environment.get(found[1]) or found[3] or ""

    return re.sub(r"(?<!\$)\$\{([A-Z0-9_]+)(:[-?]([^}]*))?\}", value, words).replace("$$", "$")


def example() -> dict[str, str]:
    """.env.example, as compose hands it to the services, with secrets where it says to replace them."""
    text = re.sub(r"=replace-?this.*", "=" + "0123456789abcdefghij" * 3, (ROOT / ".env.example").read_text())
    lines = re.findall(r"^([A-Z0-9_]+)=(.*)$", text, re.MULTILINE)
    return {name: value.strip('"') for name, value in lines}


class Stack:
    """The services of compose.yaml as processes of this machine, with other addresses."""

    def __init__(self, folder: Path, database_url: str, redis_url: str) -> None:
        self.folder = folder
        self.port, self.s3_port = find_free(), below_grpc()
        self.s3 = f"http://127.0.0.1:{self.s3_port}"
        (folder / "bin").mkdir()
        (folder / "bin" / "python").symlink_to(sys.executable)
        self.environment = {
            **{name: os.environ[name] for name in ("LANG", "HOME") if name in os.environ},
            "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "VIRTUAL_ENV": sys.prefix,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            **example(),
            "EMMA_VAR": str(folder / "var"),
            "EMMA_STATIC": "",
            "EMMA_S3_ENDPOINT": self.s3,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "GRANIAN_HOST": "127.0.0.1",
            "GRANIAN_PORT": str(self.port),
            "TMPDIR": str(folder),
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def words(self, said: str | list[str]) -> list[str]:
        """A command as it stands in compose.yaml; /tmp is the service's own there, and this folder here."""
        words = shlex.split(said) if isinstance(said, str) else said
        return [substituted(word, self.environment).replace("/tmp/", f"{self.folder}/tmp-") for word in words]

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def start(self, name: str, *more: str) -> None:
        command = [*SERVICES[name].get("entrypoint", []), *self.words(SERVICES[name]["command"]), *more]
        environment = {**self.environment, **self.of_service(name)}
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def of_service(self, name: str) -> dict[str, str]:
        """What compose.yaml says for this service alone. Of ours, the addresses are other ones here."""
        said = {} if name in OURS else SERVICES[name].get("environment", {})
        return {key: substituted(value, self.environment) for key, value in said.items()}

    def is_healthy(self, name: str) -> bool:
        kind, *check = SERVICES[name]["healthcheck"]["test"]
        words = self.words(check)
        command = ["sh", "-c", words[0]] if kind == "CMD-SHELL" else [self.moved(word) for word in words]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, check=False).returncode == 0

    def moved(self, word: str) -> str:
        return word.replace("127.0.0.1:8333", f"127.0.0.1:{self.s3_port}")

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)

    def stop(self) -> None:
        for name in ("beat", "worker", "web", "s3"):
            if name in self.running:
                self.running[name].terminate()
        for process in self.running.values():
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def below_grpc() -> int:
    """A free port: the S3 server takes the one 10,000 above it too."""
    return next(port for port in iter(find_free, 0) if port < 55_000)


def comes_true(claim: Callable[[], bool], within_s: float = 90) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if claim():
            return True
        time.sleep(0.2)
    return False


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    server, redis = os.environ.get("EMMA_TEST_POSTGRES_URL"), os.environ.get("EMMA_TEST_REDIS_URL")
    if not server or not redis:
        pytest.skip("no EMMA_TEST_POSTGRES_URL and EMMA_TEST_REDIS_URL: ./emma test sets them")
    name = f"deployed_{os.getpid()}"
    number = 8 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 8
    with psycopg.connect(server, autocommit=True) as link:
        link.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        address = urlsplit(server)._replace(path=f"/{name}").geturl()
        made = Stack(tmp_path_factory.mktemp("stack"), address, f"{redis.removesuffix('/0')}/{number}")
        try:
            yield made
        finally:
            made.stop()
            link.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def served(stack: Stack) -> Stack:
    """All of it started, in the order that `depends_on` gives."""
    data = stack.folder / "s3"
    data.mkdir()
    ports = [f"-{part}.port={below_grpc()}" for part in ("master", "volume", "filer", "admin")]
    stack.start("s3", f"-dir={data}", "-ip.bind=127.0.0.1", f"-s3.port={stack.s3_port}", *ports)
    migrated = stack.run(stack.words(SERVICES["migrate"]["command"]))
    assert migrated.returncode == 0, migrated.stderr
    for name in ("web", "worker", "beat"):
        stack.start(name)
    for name in ("s3", "web", "worker", "beat"):
        assert comes_true(lambda name=name: stack.is_healthy(name)), f"{name}: {stack.log(name)}"  # type: ignore[misc]
    return stack


def asked(port: int, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    link.request("GET", path, headers={"Host": "emma.example.org", **headers})
    answer = link.getresponse()
    answer.read()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}


def test_the_services_of_compose_run_and_are_found_healthy_by_their_own_checks(served: Stack) -> None:
    assert asked(served.port, "/healthz")[0] == 200
    assert asked(served.port, "/account/login/", **{"X-Forwarded-Proto": "https"})[0] == 200
    plain = asked(served.port, "/account/login/")
    assert (plain[0], plain[1]["location"]) == (301, "https://emma.example.org/account/login/")


def test_the_doctor_finds_the_whole_stack_well(served: Stack) -> None:
    told = served.run([sys.executable, "-m", "emma_eval.health"])
    assert told.returncode == 0, told.stdout
    assert "ok    database: PostgreSQL answers" in told.stdout
    assert "ok    broker: Redis can be reached" in told.stdout
    assert "ok    workers: 1 answer" in told.stdout
    assert "ok    bucket: emma-eval answers to our key" in told.stdout
    assert "ok    bucket's door: closed to strangers" in told.stdout
    assert "DOWN  sign-on: does not answer" in told.stdout  # its provider is at example.org, which nobody is


def test_a_check_finds_out_that_a_service_is_not_well(served: Stack) -> None:
    for written in served.folder.glob("tmp-beat*"):
        os.utime(written, (0, 0))
    assert not served.is_healthy("beat")
    elsewhere = {**served.environment, "GRANIAN_PORT": str(find_free())}
    served.environment, kept = elsewhere, served.environment
    assert not served.is_healthy("web")
    served.environment = kept


@pytest.mark.parametrize(("name", "port_option"), [("postgres", "--port"), ("redis", "-p")])
def test_the_checks_of_the_servers_ask_the_right_question(stack: Stack, name: str, port_option: str) -> None:
    program, *question = SERVICES[name]["healthcheck"]["test"][1:]
    url = stack.environment["DATABASE_URL" if name == "postgres" else "REDIS_URL"]

    def answers(port: int | None) -> bool:
        command = [program, port_option, str(port), *question]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    assert answers(urlsplit(url).port)
    assert not answers(find_free())


# --- the proxy ------------------------------------------------------------------------------------


def certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "emma.example.org")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("emma.example.org"), x509.DNSName("s3.example.org")]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "chain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return folder / "chain.pem", folder / "key.pem"


class Proxy:
    """A proxy on the shipped file; only ports and the paths of certificates are other ones."""

    def __init__(self, folder: Path, site_port: int, s3_port: int) -> None:
        self.port, self.plain_port, self.folder = find_free(), find_free(), folder
        self.site_port, self.s3_port = site_port, s3_port
        self.chain, self.key = certificate(folder)

    def moved(self, shipped: str, *changes: tuple[str, str]) -> str:
        bucket = ("127.0.0.1:8333", f"127.0.0.1:{self.s3_port}")
        for there, here in (*changes, ("127.0.0.1:8000", f"127.0.0.1:{self.site_port}"), bucket):
            assert there in shipped
            shipped = shipped.replace(there, here)
        return shipped

    def command(self) -> list[str]:
        raise NotImplementedError

    def check(self) -> list[str]:
        raise NotImplementedError

    @contextmanager
    def running(self) -> Iterator[None]:
        home = {**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
        tried = subprocess.run(self.check(), capture_output=True, text=True, check=False, env=home)
        assert tried.returncode == 0, tried.stderr
        with (self.folder / "log").open("wb") as log:
            process = subprocess.Popen(self.command(), stdout=log, stderr=log, env=home)
        try:
            assert comes_true(lambda: not is_closed(self.port)), (self.folder / "log").read_text()
            yield
        finally:
            process.terminate()
            process.wait(timeout=20)

    def said(self) -> str:
        """What it wrote of requests: of all that were answered, and of those that failed."""
        written = [self.folder / name for name in ("log", "access")]
        return "".join(path.read_text() for path in written if path.exists())

    def link(self, host: str = "emma.example.org") -> http.client.HTTPSConnection:
        stranger = ssl.create_default_context(cafile=str(self.folder / "chain.pem"))
        link = http.client.HTTPSConnection(host, self.port, timeout=30, context=stranger)
        link._create_connection = lambda address, *rest: http.client.socket.create_connection(  # type: ignore[attr-defined]
            ("127.0.0.1", address[1]), *rest
        )
        return link

    def ask(self, method: str, path: str, host: str = "emma.example.org", **more: Any) -> http.client.HTTPResponse:
        link = self.link(host)
        link.request(method, path, **more)
        return link.getresponse()


class Nginx(Proxy):
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")

    def command(self) -> list[str]:
        shipped = self.moved(
            (DEPLOY / "nginx.conf").read_text(),
            ("listen 443", f"listen 127.0.0.1:{self.port}"),
            ("listen 80;", f"listen 127.0.0.1:{self.plain_port};"),
        )
        shipped = re.sub(r"/etc/letsencrypt/\S+/fullchain.pem", str(self.chain), shipped)
        shipped = re.sub(r"/etc/letsencrypt/\S+/privkey.pem", str(self.key), shipped)
        kept = "".join(
            f"{part}_temp_path {self.folder}/{part};" for part in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.geteuid() == 0 else ""
        written = self.folder / "nginx.conf"
        written.write_text(
            f"{user} daemon off; pid {self.folder}/pid; error_log stderr; worker_processes 1;"
            f"events {{}} http {{ access_log {self.folder}/access; {kept} {shipped} }}"
        )
        return [str(self.program), "-e", "stderr", "-p", str(self.folder), "-c", str(written)]

    def check(self) -> list[str]:
        return [*self.command(), "-t"]


class Caddy(Proxy):
    program = shutil.which("caddy")

    def command(self) -> list[str]:
        here = f"{{\n\tbind 127.0.0.1\n\ttls {self.chain} {self.key}"
        shipped = self.moved(
            (DEPLOY / "Caddyfile").read_text(),
            ("\n\tservers {", "\n\tadmin off\n\tauto_https disable_redirects\n\tservers {"),
            ("\nemma.example.org {", f"\nemma.example.org:{self.port} {here}"),
            ("\ns3.example.org {", f"\ns3.example.org:{self.port} {here}"),
        )
        (self.folder / "Caddyfile").write_text(shipped)
        return [str(self.program), "run", "--config", str(self.folder / "Caddyfile"), "--adapter", "caddyfile"]

    def check(self) -> list[str]:
        return [str(self.program), "adapt", "--validate", *self.command()[2:]]


PROXIES = {"nginx": Nginx, "caddy": Caddy}


@contextmanager
def proxy_before(name: str, folder: Path, site_port: int, s3_port: int) -> Iterator[Proxy]:
    if PROXIES[name].program is None:
        pytest.skip(f"no {name} here: ./emma test installs it")
    made = PROXIES[name](folder, site_port, s3_port)
    with made.running():
        yield made


@pytest.fixture(scope="module")
def nginx(served: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxy_before("nginx", tmp_path_factory.mktemp("nginx"), served.port, served.s3_port) as made:
        yield made


@pytest.fixture(scope="module", params=PROXIES)
def proxy(request: pytest.FixtureRequest, served: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxy_before(request.param, tmp_path_factory.mktemp("proxy"), served.port, served.s3_port) as made:
        yield made


def is_closed(port: int) -> bool:
    try:
        http.client.socket.create_connection(("127.0.0.1", port), 2).close()  # type: ignore[attr-defined]
    except OSError:
        return True
    return False


def test_behind_nginx_the_site_knows_that_it_is_asked_over_https(nginx: Proxy) -> None:
    answer = nginx.ask("GET", "/account/login/", headers={"X-Forwarded-Proto": "http"})
    assert answer.status == 200
    assert "max-age=31536000" in (answer.getheader("Strict-Transport-Security") or "")
    assert "__Host-csrf" in (answer.getheader("Set-Cookie") or "")
    status, headers = asked(nginx.plain_port, "/scripts/", **{"X-Forwarded-Proto": "https"})
    assert (status, headers["location"]) == (301, "https://emma.example.org/scripts/")


def test_nginx_compresses_pages(nginx: Proxy) -> None:
    answer = nginx.ask("GET", "/account/login/", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"


def test_a_sheet_of_100_mb_gets_through(proxy: Proxy, served: Stack) -> None:
    """By somebody who is signed in: nobody else's is looked at."""
    made = served.run([sys.executable, "-c", A_SESSION])
    cookies = {"Cookie": f"__Host-session={made.stdout.strip()}; __Host-csrf={'t' * 32}"}
    cookies["Origin"] = "https://emma.example.org"  # else the site says no before it reads
    head = b'--x\r\nContent-Disposition: form-data; name="sheet"; filename="s.csv"\r\n\r\n'
    pieces = [head, *[b"x" * 1_000_000] * 101, b"\r\n--x--\r\n"]
    kind = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": str(sum(map(len, pieces)))}
    answer = proxy.ask("POST", "/account/login/", body=iter(pieces), headers={**cookies, **kind})
    assert answer.status == 403, made.stderr  # our own word, when all of it was read: it has no token


def test_a_larger_upload_is_refused_by_nginx_at_once_and_by_caddy_when_it_has_come(nginx: Proxy) -> None:
    assert nginx.ask("POST", "/account/login/", headers={"Content-Length": "120000000"}).status == 413
    assert "max_size 110MB" in (DEPLOY / "Caddyfile").read_text()


FORM = "POST {} HTTP/1.1\r\nHost: emma.example.org\r\nCookie: __Host-csrf={}\r\nContent-Length: {}\r\n"
FORM += "Content-Type: application/x-www-form-urlencoded\r\n\r\nlogin=a"


@pytest.mark.parametrize("length", [100_000, 1_900_000, 50_000_000])
def test_strangers_who_begin_forms_and_fall_silent_keep_nobody_from_the_site(length: int, proxy: Proxy) -> None:
    """More of them than the site has threads."""
    silent = []
    try:
        for _ in range(40):
            silent.append(proxy.link())
            silent[-1].connect()
            silent[-1].sock.sendall(FORM.format("/account/login/", "t" * 32, length).encode())
        time.sleep(1)
        for path in ("/healthz", "/account/login/"):
            before = time.monotonic()
            assert proxy.ask("GET", path).status == 200
            assert time.monotonic() - before < 5
    finally:
        for link in silent:
            link.close()


def test_a_large_body_of_a_stranger_is_not_waited_for(served: Stack) -> None:
    with http.client.socket.create_connection(("127.0.0.1", served.port), 10) as link:  # type: ignore[attr-defined]
        link.sendall(
            FORM.format("/scripts/", "t" * 32, 2_000_001)
            .replace("\r\n\r\n", "\r\nX-Forwarded-Proto: https\r\n\r\n")
            .encode()
        )
        assert link.recv(1000).startswith(b"HTTP/1.1 302 ")


class Echo(BaseHTTPRequestHandler):
    """In the site's place: it answers with the headers that came."""

    def do_GET(self) -> None:
        said = json.dumps([[name.lower(), value] for name, value in self.headers.items()]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *said: object) -> None:
        pass


@pytest.mark.parametrize("name", PROXIES)
def test_nobody_can_say_of_himself_where_he_comes_from(name: str, tmp_path: Path) -> None:
    """By no spelling that WSGI folds into the same name."""
    spellings = [f"X{a}Forwarded{b}{what}" for a in "-_" for b in "-_" for what in ("For", "Proto")]
    spoofed = {name: "http" if name.endswith("Proto") else "10.66.66.66" for name in spellings}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with proxy_before(name, tmp_path, server.server_port, 1) as proxy:
            came = json.loads(proxy.ask("GET", "/", headers={**spoofed, "Zz_Other": "x", "X-Kept": "y"}).read())
    finally:
        server.shutdown()
        server.server_close()
    folded = {header.replace("_", "-"): [] for header, _ in came}  # type: ignore[var-annotated]
    for header, value in came:
        folded[header.replace("_", "-")].append(value)
    assert (folded["x-forwarded-for"], folded["x-forwarded-proto"]) == (["127.0.0.1"], ["https"])
    assert folded["x-kept"] == ["y"]
    assert "zz-other" not in folded


def test_a_signed_link_into_the_bucket_opens_through_nginx_and_no_other_does(served: Stack, nginx: Proxy) -> None:
    import boto3
    from botocore.config import Config

    key = {"aws_access_key_id": served.environment["EMMA_S3_KEY"], "region_name": "us-east-1"}
    key["aws_secret_access_key"] = served.environment["EMMA_S3_SECRET"]
    shape = Config(s3={"addressing_style": "path"}, signature_version="s3v4")
    boto3.client("s3", endpoint_url=served.s3, config=shape, **key).put_object(
        Bucket="emma-eval", Key="exports/one", Body=b"row"
    )
    outside = boto3.client("s3", endpoint_url=f"https://s3.example.org:{nginx.port}", config=shape, **key)
    link = urlsplit(outside.generate_presigned_url("get_object", {"Bucket": "emma-eval", "Key": "exports/one"}))
    answer = nginx.ask("GET", f"{link.path}?{link.query}", host="s3.example.org")
    assert (answer.status, answer.read()) == (200, b"row")
    assert nginx.ask("GET", link.path, host="s3.example.org").status == 403


@pytest.mark.parametrize("name", PROXIES)
def test_no_link_to_a_recording_stands_in_a_log_of_the_proxy(name: str, tmp_path: Path) -> None:
    """Whoever reads logs could use it for some minutes: also where the site or the bucket is down or breaks off."""
    down = find_free()
    links = [("emma.example.org", "/kept/SECRET.SECRET/"), ("s3.example.org", "/emma-eval/x?X-Amz-Signature=SECRET")]
    with proxy_before(name, tmp_path, down, down) as proxy:
        for host, link in links:
            for method in ("GET", "PUT"):
                assert proxy.ask(method, link, host=host, headers={"Content-Length": "0"}).status == 502
        assert proxy.ask("GET", "/scripts/").status == 502
        assert comes_true(lambda: "/scripts/" in proxy.said())
        if name == "nginx":  # the other waits for what was announced
            assert proxy.ask("PUT", links[0][1], headers={"Content-Length": "120000000"}).status == 413
    assert "SECRET" not in proxy.said()
    assert "/scripts/" in proxy.said()


def test_exports_are_passed_on_as_they_come() -> None:
    block = re.search(r"location /results/export/ \{(.*?)\}", (DEPLOY / "nginx.conf").read_text(), re.DOTALL)
    assert block is not None
    assert "proxy_buffering off;" in block[1]


def test_caddy_takes_the_shipped_file() -> None:
    said = (DEPLOY / "Caddyfile").read_text()
    assert "reverse_proxy 127.0.0.1:8000" in said
    assert "header_up X-Forwarded" not in said  # it sets them itself
    if shutil.which("caddy") is None:
        pytest.skip("no caddy here: only read")
    command = ["caddy", "adapt", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile", "--validate"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "HOME": "/nowhere"})
    assert told.returncode == 0, told.stderr


# --- systemd --------------------------------------------------------------------------------------


def unit(name: str) -> dict[str, dict[str, str]]:
    read = configparser.RawConfigParser(strict=True, delimiters=("=",), comment_prefixes=("#",))
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string((UNITS / name).read_text())
    return {section: dict(read[section]) for section in read.sections()}


@pytest.mark.parametrize("name", sorted(path.name for path in UNITS.glob("*.service")))
def test_a_unit_is_not_root_and_keeps_to_its_folder(name: str) -> None:
    service = unit(name)["Service"]
    assert service["User"] == "emma"
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "yes"
    assert service["EnvironmentFile"] == "/etc/emma-eval.env"
    assert service["ExecStart"].startswith("/opt/emma-eval/.venv/bin/python -m ")


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_a_unit_runs_what_compose_runs(name: str) -> None:
    service = unit(f"emma-eval-{name}.service")["Service"]
    own = {"--host", "127.0.0.1", "--port", "${EMMA_PORT}", "--hostname", "worker@%%h"}
    defaults = dict(pair.split("=", 1) for pair in service["Environment"].split())
    started = [word for word in shlex.split(service["ExecStart"])[1:] if word not in own]
    command = " ".join(re.sub(r"\$\{([A-Z_]+)\}", lambda found: defaults[found[1]], word) for word in started)
    composed = (
        substituted(SERVICES[name]["command"], {})
        .removeprefix("python ")
        .replace("/tmp/beat", "/var/lib/emma-eval/beat")
    )
    assert command == composed
    assert service["Restart"] == "always"
    assert f"emma-eval-{name}.service" in unit("emma-eval.target")["Unit"]["Wants"]


def test_everything_starts_after_the_data_was_prepared() -> None:
    for name in ("web", "worker", "beat"):
        about = unit(f"emma-eval-{name}.service")["Unit"]
        assert about["Requires"] == "emma-eval-prepare.service"
        assert "emma-eval-prepare.service" in about["After"].split()
    prepare = unit("emma-eval-prepare.service")["Service"]["ExecStart"]
    assert prepare.endswith(SERVICES["migrate"]["command"].removeprefix("python"))


def test_systemd_itself_takes_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here: the units are only read")
    for path in UNITS.iterdir():
        here = path.read_text().replace("/opt/emma-eval/.venv/bin/python", sys.executable)
        (tmp_path / path.name).write_text(here.replace("/opt/emma-eval", str(ROOT)))
    command = ["systemd-analyze", "verify", *map(str, sorted(tmp_path.glob("emma-eval*")))]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    ours = [line for line in told.stderr.splitlines() if "emma-eval" in line]
    assert (told.returncode, ours) == (0, []), told.stderr
