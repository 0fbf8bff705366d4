"""A stranger who is refused leaves one line in the log, whatever is in the address; a fault of ours its trace."""

from __future__ import annotations

import logging
import logging.config
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils.log import log_response

from emma_eval.accounts.models import User
from emma_eval.log_lines import RefusalsInOneLine
from results.recordings.store import folder_of_this_site
from tests import make


@pytest.fixture
def written() -> Any:
    """What the site's own handler writes of requests."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RefusalsInOneLine())
    log = logging.getLogger("django")
    log.addHandler(handler)
    yield stream
    log.removeHandler(handler)


def test_the_log_of_the_site_is_written_so() -> None:
    named = settings.LOGGING["handlers"]["console"]["filters"]
    assert [settings.LOGGING["filters"][name]["()"] for name in named] == ["emma_eval.log_lines.RefusalsInOneLine"]
    logging.config.DictConfigurator(settings.LOGGING).configure_filter(settings.LOGGING["filters"][named[0]])


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/audit/", "/audit/?x=%00", "/results/%00/", "/no%0Asuch%0D%0Apage%E2%80%AE/"])
def test_a_refusal_is_one_line(tester: User, written: StringIO, path: str) -> None:
    answer = make.client_of(tester).get(path)
    assert answer.status_code in {400, 403, 404}
    lines = written.getvalue().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].isprintable()


def test_a_link_to_a_recording_is_in_no_line(written: StringIO) -> None:
    """It is the right to what it leads to, for some minutes. This one leads to what is not there."""
    store = folder_of_this_site()
    assert store is not None
    link = store.get_link("gone/media.webm", media_type="video/webm", holds_s=60)
    assert Client().get(link).status_code == 404
    assert written.getvalue() == "Not Found: /kept/.../\n"


@pytest.mark.django_db
def test_an_unknown_host_is_one_line(written: StringIO) -> None:
    assert Client().get("/", headers={"Host": "elsewhere.example"}).status_code == 400
    assert "Traceback" not in written.getvalue()


def test_a_fault_of_ours_keeps_its_trace(written: StringIO) -> None:
    request = RequestFactory().get("/")
    try:
        raise KeyError("ours")
    except KeyError as fault:
        log_response("Fault: %s", "/", response=HttpResponse(status=500), request=request, exception=fault)
    assert "Traceback" in written.getvalue()
