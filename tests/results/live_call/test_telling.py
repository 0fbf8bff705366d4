"""Reading what a page tells: any shape is read or refused in words, and nothing ever falls over it."""

from __future__ import annotations

import contextlib
import json
import uuid
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emma_eval.accounts.models import User
from results.live_call.telling import Telling, ToldMoment, read_telling
from results.models import Call
from results.told import MalformedError
from tests import make

from .told import tell

UUID = uuid.UUID("0190b5a0-0000-4000-8000-000000000002")

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(["", "NaN", "\x00", "\ud800", str(UUID), "9" * 30, 2**63, 2**64, -1, 1e308]),
    st.sampled_from([10**400, -(10**400), 10**4_000, float("inf"), float("nan")]),  # beyond what a float holds
)
ANYTHING = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
HINTS = ("platform", "mobile", "touch_points", "connection_type", "effective_type", "round_trip_ms")
THING = st.fixed_dictionaries(
    {},
    optional={
        name: ANYTHING | st.just(str(UUID)) | st.integers(0, 1000) | st.just(10**400)
        for name in ("uuid", "at_ms", "words", "edition", "run", "step")
    },
)
BATCH = st.fixed_dictionaries(
    {},
    optional={
        "begun": ANYTHING | st.fixed_dictionaries({"age_ms": ANYTHING}),
        "moments": ANYTHING | st.lists(THING, max_size=4),
        "ticks": ANYTHING | st.lists(THING, max_size=4),
        "off_script": ANYTHING | st.lists(THING, max_size=4),
        "ended": ANYTHING | st.fixed_dictionaries({"at_ms": ANYTHING}),
        "build": ANYTHING,
        "machine": ANYTHING
        | st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(HINTS, ANYTHING),
        ),
    },
)


@given(BATCH | ANYTHING)
@settings(max_examples=150, deadline=None)
def test_any_shape_is_read_or_refused(said: Any) -> None:
    with contextlib.suppress(MalformedError):
        assert isinstance(read_telling(said), Telling)


@pytest.mark.django_db
@pytest.mark.data_layer
@given(BATCH)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_sent_is_answered_and_never_falls_over(tester: User, said: dict[str, Any]) -> None:
    call = Call.objects.filter(tester=tester).first() or make.call(tester, make.script())
    answer = tell(make.client_of(tester), call, said)
    assert answer.status_code in {200, 422}
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.status_code == 200 or answer.json()["message"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"NaN", b'"text"', b"1", b"null", b'{"moments": [1]}']
)
def test_a_body_that_is_no_batch_is_refused_in_words(tester: User, tester_client: Client, body: bytes) -> None:
    call = make.call(tester, make.script())
    answer = tester_client.post(f"/calls/{call.uuid}/tell/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (422, "malformed")


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        ({"moments": {}}, "moments must be a list of at most 1,000."),
        ({"moments": [{}] * 1_001}, "moments must be a list of at most 1,000."),
        ({"moments": [{"uuid": "x", "at_ms": 1}]}, "moments.uuid must be a UUID."),
        ({"moments": [{"uuid": str(UUID)}]}, "moments.at_ms must be a number."),
        ({"moments": [{"uuid": str(UUID), "at_ms": True}]}, "moments.at_ms must be a number."),
        ({"moments": [{"uuid": str(UUID), "at_ms": 1, "words": 5}]}, "moments.words must be text."),
        ({"ticks": [{"run": -1, "step": 1}]}, "ticks.run must be a whole number, 0 or more."),
        ({"begun": 5}, "begun must be an object."),
        ({"begun": {"age_ms": float("inf")}}, "begun.age_ms must be a number."),
        ({"machine": {"mobile": "yes"}}, "machine.mobile must be true or false."),
        ({"begun": {"age_ms": 5, "is_uncertain": 1}}, "begun.is_uncertain must be true or false."),
        (
            {"moments": [{"uuid": str(UUID), "at_ms": 5, "withdrawn": "no"}]},
            "moments.withdrawn must be true or false.",
        ),
        ({"build": 5}, "build must be a key, as text."),
    ],
)
def test_the_words_say_what_is_wrong(batch: Any, words: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read_telling(json.loads(json.dumps(batch)))
    assert str(caught.value) == words


@pytest.mark.django_db
@pytest.mark.parametrize("number", [10**400, -(10**400), 10**4_000, 2**53 + 1], ids=["400", "-400", "4000", "16"])
@pytest.mark.parametrize(
    ("name", "batch"),
    [
        ("begun.age_ms", {"begun": {"age_ms": "N"}}),
        ("ended.at_ms", {"ended": {"at_ms": "N"}}),
        ("ticks.at_ms", {"ticks": [{"run": 1, "step": 1, "at_ms": "N"}]}),
        ("off_script.at_ms", {"off_script": [{"run": 1, "at_ms": "N"}]}),
        ("moments.at_ms", {"moments": [{"uuid": str(UUID), "at_ms": "N"}]}),
    ],
)
def test_a_number_with_hundreds_of_digits_is_refused_in_words(
    tester: User, tester_client: Client, name: str, batch: Any, number: int
) -> None:
    call = make.call(tester, make.script())
    body = json.dumps(batch).replace('"N"', str(number))
    answer = tester_client.post(f"/calls/{call.uuid}/tell/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["message"]) == (422, f"{name} must be a number.")


def test_every_field_may_be_missing() -> None:
    assert read_telling({}) == Telling()
    assert read_telling({"build": "", "moments": None, "something else": 5}) == Telling()


def test_fractions_of_a_millisecond_are_rounded() -> None:
    said = {"moments": [{"uuid": str(UUID), "at_ms": 4_000.6}]}
    assert read_telling(said).moments == (ToldMoment(UUID, 4_001),)
