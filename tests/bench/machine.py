"""The machine and the versions that figures hold for."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import psutil

from .server import ROOT

PACKAGES = ("Django", "granian", "psycopg", "whitenoise", "django-allauth")


def machine() -> str:
    """Processor, memory and system, in a line."""
    cores, memory = psutil.cpu_count(), psutil.virtual_memory().total / 2**30
    return f"{cores} cores ({_processor()}), {memory:.0f} GB, {_system()}"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _system() -> str:
    release = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    return f"{release}, Linux {platform.release().partition('-')[0]}"


def load() -> str:
    """How many processes wanted a processor in the last minute, and in the last quarter of an hour."""
    minute, _, quarter = os.getloadavg()
    return f"{minute:.1f} over a minute, {quarter:.1f} over fifteen"


def versions() -> str:
    """Of everything that a figure depends on, but the databases."""
    named = [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES)]
    chromium = shutil.which("chromium")
    if chromium:
        named.append(_said(chromium, "--version").partition(" built")[0])
    return ", ".join(named)


def commit() -> str:
    """The commit that was measured."""
    changed = " with changes" if _said("git", "status", "--porcelain", "-uno") else ""
    return (_said("git", "rev-parse", "--short", "HEAD") or "unknown") + changed


def database_version() -> str:
    """Asked of our Django: what the database calls itself."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT 'SQLite ' || sqlite_version()")
        else:
            cursor.execute("SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1)")
        found: str = cursor.fetchone()[0]
    return found


def _said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
