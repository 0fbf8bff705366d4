"""A process that serves pages stays small: it works out intervals, and leaves alpha and bootstraps to the worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from emma_eval.accounts.roles import Role
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
    said = _served_by_a_process_of_its_own()
    assert said["answers"] == dict.fromkeys(ADDRESSES, 200)
    heavy = ("scipy", "numpy", "krippendorff")
    assert not [name for name in said["at_last"] if name.split(".")[0] in heavy]
    assert "emma_eval.scoring.quantiles" in said["at_last"]  # figures were worked out


def _served_by_a_process_of_its_own() -> dict[str, Any]:
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{database['NAME']}"
    else:
        url = f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    done = subprocess.run(
        [sys.executable, "-c", SERVE, *ADDRESSES],
        env={**os.environ, "DATABASE_URL": url},
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout.splitlines()[-1])
