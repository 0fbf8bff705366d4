"""What a page tells of its call is kept: once, on the call's clock, in whatever order it comes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import IntegrityError, close_old_connections, connection, transaction
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import User
from results.live_call import keep_telling as room
from results.live_call.begin_call import add_script, take_off_script
from results.live_call.keep_telling import keep_telling
from results.live_call.telling import Telling, ToldMoment, read_telling
from results.models import MOST_CALL_MS, MOST_MOMENTS, MOST_ROUND_TRIPS, Call, Moment
from scripts_catalog.models import Script, Site
from tests import make

from .told import CHROME, moment, tell, told

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
MINUTE = 60_000


@pytest.fixture
def fresh(tester: User, script: Script) -> Call:
    """Not begun."""
    return make.call(tester, script, started_at=None)


def keep(call: Call, now: datetime = NOW, **batch: Any) -> Any:
    return keep_telling(call, read_telling(batch), now, CHROME)


def moments(call: Call) -> list[tuple[int, int, str]]:
    return list(call.moments.order_by("number").values_list("number", "at_ms", "words"))


# --- the clock ---------------------------------------------------------------------------------


def test_the_call_began_when_its_age_says(fresh: Call) -> None:
    keep(fresh, begun={"age_ms": 4_200})
    fresh.refresh_from_db()
    assert fresh.started_at == NOW - timedelta(milliseconds=4_200)


@pytest.mark.parametrize("delays_ms", [(0, 300, 9_000), (9_000, 0, 300)])
def test_a_telling_that_was_long_on_its_way_moves_no_beginning(fresh: Call, delays_ms: tuple[int, ...]) -> None:
    """The press is the same each time; what comes late makes it look later than it was."""
    for told_after_s, delay_ms in enumerate(delays_ms):
        received = NOW + timedelta(seconds=told_after_s, milliseconds=delay_ms)
        keep(fresh, received, begun={"age_ms": 4_200 + 1_000 * told_after_s})
    fresh.refresh_from_db()
    assert fresh.started_at == NOW - timedelta(milliseconds=4_200)


@pytest.mark.parametrize(
    ("tellings", "began", "is_uncertain"),
    [
        ([(19_000, True)], 19_000, True),
        ([(19_000, True), (25_000, False)], 25_000, False),
        ([(19_000, True), (12_000, False)], 19_000, True),
        ([(19_000, True), (22_000, True)], 22_000, True),
        ([(19_000, False), (22_000, True)], 19_000, False),
        ([(19_000, False), (25_000, True)], 25_000, True),
        ([(25_000, False), (19_000, True)], 25_000, False),
    ],
    ids=[
        "the press is lost",
        "an earlier press is known after all",
        "a press that came later explains nothing",
        "it began even earlier",
        "clocks differ",
        "it began before the press that is known",
        "the press is known",
    ],
)
def test_a_beginning_may_be_uncertain(
    tester_client: Client, fresh: Call, tellings: list[tuple[int, bool]], began: int, is_uncertain: bool
) -> None:
    for age_ms, guessed in tellings:
        keep(fresh, begun={"age_ms": age_ms, "is_uncertain": guessed})
    fresh.refresh_from_db()
    assert (fresh.started_at, fresh.start_is_uncertain) == (NOW - timedelta(milliseconds=began), is_uncertain)
    assert told(tester_client, fresh)["start_is_uncertain"] is is_uncertain


@pytest.mark.parametrize(("age_ms", "at"), [(-5, NOW), (10 * MOST_CALL_MS, NOW - timedelta(hours=24))])
def test_an_age_that_can_not_be_is_taken_for_the_nearest_that_can(fresh: Call, age_ms: int, at: datetime) -> None:
    keep(fresh, begun={"age_ms": age_ms})
    fresh.refresh_from_db()
    assert fresh.started_at == at


def test_no_clock_that_tells_the_time_of_day_is_asked(tester_client: Client, fresh: Call) -> None:
    """A machine that is a day wrong moves nothing: whatever it says of the day has no place in what is told."""
    yesterday = "Sun, 03 May 2026 09:30:00 GMT"
    before = timezone.now()
    batch = {"begun": {"age_ms": 0, "at": yesterday}, "moments": [moment(0, started_at=yesterday)], "now": yesterday}
    answer = tester_client.post(
        f"/calls/{fresh.uuid}/tell/",
        json.dumps(batch),
        content_type="application/json",
        headers={"Date": yesterday},
    )
    assert answer.status_code == 200
    fresh.refresh_from_db()
    assert fresh.started_at is not None
    assert before <= fresh.started_at <= timezone.now()
    assert before <= fresh.moments.get().received_at <= timezone.now()


def test_a_beginning_and_moments_may_come_together(fresh: Call) -> None:
    kept = keep(fresh, moments=[moment(4_000)], begun={"age_ms": 4_200})
    assert (len(kept.moments), kept.refused) == (1, [])


def test_moments_before_the_call_began_are_refused(fresh: Call) -> None:
    kept = keep(fresh, moments=[moment(0)])
    assert [refused.why for refused in kept.refused] == [room.NOT_BEGUN]
    assert moments(fresh) == []


@pytest.mark.parametrize(
    ("at_ms", "why"),
    [
        (0, ""),
        (10 * MINUTE + 4_900, ""),
        (10 * MINUTE + 5_100, room.NOT_YET),
        (-1, room.BEFORE_IT_BEGAN),
        (MOST_CALL_MS + 1, room.OVER_A_DAY),
    ],
)
def test_a_time_that_can_not_be_is_refused_in_words(fresh: Call, at_ms: int, why: str) -> None:
    keep(fresh, begun={"age_ms": 10 * MINUTE})
    marked = moment(at_ms)
    kept = keep(fresh, moments=[marked])
    assert [(str(refused.uuid), refused.why) for refused in kept.refused] == ([(marked["uuid"], why)] if why else [])
    assert len(moments(fresh)) == (0 if why else 1)


def test_an_hour_offline_loses_nothing(fresh: Call) -> None:
    """The page comes back after an hour with the beginning, the moments and the end of a call of ten minutes."""
    batch = {
        "begun": {"age_ms": 70 * MINUTE},
        "moments": [moment(MINUTE, "one"), moment(9 * MINUTE, "two")],
        "ended": {"at_ms": 10 * MINUTE},
    }
    kept = keep(fresh, **batch)
    assert kept.refused == []
    fresh.refresh_from_db()
    assert (fresh.started_at, fresh.lasted) == (NOW - timedelta(minutes=70), "10:00")
    assert moments(fresh) == [(1, MINUTE, "one"), (2, 9 * MINUTE, "two")]


# --- moments -----------------------------------------------------------------------------------


def test_a_batch_that_comes_twice_is_kept_once_and_answered_the_same(tester_client: Client, call: Call) -> None:
    batch = {"moments": [moment(4_000, "a laugh"), moment(9_000)]}
    first, second = told(tester_client, call, **batch), told(tester_client, call, **batch)
    assert first["kept"] == second["kept"] == [each["uuid"] for each in batch["moments"]]
    assert first["moments"] == second["moments"]
    assert [(each["number"], each["at_ms"], each["words"]) for each in first["moments"]] == [
        (1, 4_000, "a laugh"),
        (2, 9_000, ""),
    ]


def test_where_a_moment_stands_is_written_once(call: Call) -> None:
    marked = moment(4_000, "a laugh")
    keep_now = timezone.now()
    keep(call, keep_now, moments=[marked])
    kept = keep(call, keep_now, moments=[{**marked, "at_ms": 90_000}])
    assert (len(kept.moments), moments(call)) == (1, [(1, 4_000, "a laugh")])


def test_moments_are_numbered_as_they_come_and_told_in_the_order_of_the_clock(
    tester_client: Client, call: Call
) -> None:
    told(tester_client, call, moments=[moment(9_000)])
    found = told(tester_client, call, moments=[moment(4_000)])["moments"]
    assert [(each["at_ms"], each["number"]) for each in found] == [(4_000, 2), (9_000, 1)]


def test_words_may_be_mended_and_a_late_copy_of_the_first_takes_nothing_back(call: Call) -> None:
    marked = moment(4_000)
    for batch in (marked, {**marked, "words": "a laugh"}, marked):
        keep(call, timezone.now(), moments=[batch])
    assert moments(call) == [(1, 4_000, "a laugh")]


def test_changes_that_are_counted_come_in_any_order(call: Call) -> None:
    marked = moment(4_000, "a", edition=0)
    changes = [marked, {**marked, "words": "a loud laugh", "edition": 2}, {**marked, "words": "a laugh", "edition": 1}]
    for batch in changes:
        keep(call, timezone.now(), moments=[batch])
    assert moments(call) == [(1, 4_000, "a loud laugh")]
    keep(call, timezone.now(), moments=[{**marked, "words": "", "edition": 3}])
    assert moments(call) == [(1, 4_000, "")]


def test_a_moment_is_withdrawn_and_put_back_by_the_newest_edition(tester_client: Client, call: Call) -> None:
    marked = moment(4_000, "a laugh", edition=1)
    (kept,) = told(tester_client, call, moments=[marked])["moments"]
    assert kept["withdrawn"] is False
    withdrawn = {"uuid": marked["uuid"], "at_ms": 4_000, "edition": 2, "withdrawn": True}
    for late in (withdrawn, marked, {**marked, "edition": 2, "withdrawn": False}):
        (kept,) = told(tester_client, call, moments=[late])["moments"]
        assert (kept["withdrawn"], kept["words"], kept["edition"]) == (True, "a laugh", 2)
    (kept,) = told(tester_client, call, moments=[{**marked, "edition": 3, "withdrawn": False}])["moments"]
    assert (kept["withdrawn"], kept["edition"]) == (False, 3)


def test_words_of_a_page_that_knows_nothing_of_it_put_no_moment_back(call: Call) -> None:
    marked = moment(4_000, "a", edition=1)
    for batch in (marked, {**marked, "edition": 2, "withdrawn": True}, {**marked, "words": "b", "edition": 3}):
        keep(call, timezone.now(), moments=[batch])
    kept = call.moments.get()
    assert (kept.is_withdrawn, kept.words) == (True, "b")


def test_a_moment_that_was_withdrawn_offline_comes_so(call: Call) -> None:
    keep(call, timezone.now(), moments=[moment(4_000, edition=1, withdrawn=True)])
    assert call.moments.get().is_withdrawn
    assert not call.moments.standing().exists()


def test_a_withdrawn_moment_keeps_its_place_among_the_two_hundred(tester_client: Client, call: Call) -> None:
    marked = [moment(place, edition=0, withdrawn=place < 5) for place in range(MOST_MOMENTS)]
    told(tester_client, call, moments=marked)
    answer = told(tester_client, call, moments=[moment(5_000)])
    assert answer["refused"][0]["why"] == room.TOO_MANY


def test_words_are_one_line_of_what_there_is_room_for(call: Call) -> None:
    keep(call, timezone.now(), moments=[moment(0, " a\n\tlaugh\x00 " + "x" * 300)])
    (_, _, words) = moments(call)[0]
    assert words.startswith("a laugh xxx")
    assert len(words) == 200


def test_moments_that_come_after_the_end_are_kept(tester: User, call: Call) -> None:
    now = timezone.now()
    keep(call, now, ended={"at_ms": MINUTE})
    make.result(tester, call.runs.get().script, make.build(), call_uuid=call.uuid)
    assert len(keep(call, now + timedelta(hours=3), moments=[moment(2 * MINUTE)]).moments) == 1


def test_the_two_hundred_and_first_moment_is_refused_politely(tester_client: Client, call: Call) -> None:
    marked = [moment(place) for place in range(MOST_MOMENTS)]
    assert len(told(tester_client, call, moments=marked)["kept"]) == MOST_MOMENTS
    one_more = moment(5_000)
    answer = told(tester_client, call, moments=[one_more, marked[7]])
    assert answer["kept"] == [marked[7]["uuid"]], "one that is known is kept, however many there are"
    assert answer["refused"] == [{"uuid": one_more["uuid"], "why": room.TOO_MANY}]
    assert "200 moments" in room.TOO_MANY
    assert call.moments.count() == MOST_MOMENTS


def test_the_database_stands_behind_it(call: Call) -> None:
    for number, at_ms in ((MOST_MOMENTS + 1, 0), (0, 0), (1, MOST_CALL_MS + 1)):
        with pytest.raises(IntegrityError), transaction.atomic():
            call.moments.create(uuid=uuid.uuid4(), number=number, at_ms=at_ms)


# --- at once -----------------------------------------------------------------------------------


def at_once(jobs: list[Callable[[], None]]) -> None:
    def run(job: Callable[[], None]) -> None:
        try:
            job()
        finally:
            close_old_connections()
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, jobs))


@pytest.mark.django_db(transaction=True)
def test_two_hundred_and_one_moments_from_four_threads_leave_two_hundred() -> None:
    tester = make.user()
    call = make.call(tester, make.script())
    told_ones = [ToldMoment(uuid.uuid4(), place) for place in range(MOST_MOMENTS + 1)]
    batches = [told_ones[start : start + 10] for start in range(0, len(told_ones), 10)]
    kept: list[Any] = []

    def job(batch: list[ToldMoment]) -> Callable[[], None]:
        return lambda: kept.append(keep_telling(call, Telling(moments=tuple(batch)), timezone.now(), CHROME))

    at_once([job(batch) for batch in batches])
    numbers = list(call.moments.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, MOST_MOMENTS + 1))
    assert [refused.why for each in kept for refused in each.refused] == [room.TOO_MANY]
    assert sum(len(each.moments) for each in kept) == MOST_MOMENTS


@pytest.mark.django_db(transaction=True)
def test_one_batch_from_four_tabs_at_once_is_kept_once() -> None:
    call = make.call(make.user(), make.script())
    telling = Telling(moments=tuple(ToldMoment(uuid.uuid4(), place) for place in range(20)))
    kept: list[Any] = []
    at_once([lambda: kept.append(keep_telling(call, telling, timezone.now(), CHROME))] * 4)
    assert [len(each.moments) for each in kept] == [20] * 4
    assert Moment.objects.count() == 20


# --- steps, end, build -------------------------------------------------------------------------


def test_steps_are_ticked_and_taken_back(tester_client: Client, call: Call) -> None:
    run = call.runs.get().pk
    answer = told(tester_client, call, ticks=[{"run": run, "step": step, "at_ms": 1_000 * step} for step in (1, 2)])
    assert answer["runs"] == [
        {
            "id": run,
            "script": "bad-news-day",
            "title": "Bad news day",
            "steps_count": 2,
            "ticks": {"1": 1_000, "2": 2_000},
            "off_script_from_ms": None,
            "is_set_aside": False,
        }
    ]
    answer = told(tester_client, call, ticks=[{"run": run, "step": 1, "at_ms": None}])
    assert answer["runs"][0]["ticks"] == {"2": 2_000}


def test_a_step_that_two_tabs_tick_was_done_at_the_earlier_time(tester_client: Client, call: Call) -> None:
    run = call.runs.get().pk
    for at_ms in (5_000, 3_000, 9_000):
        answer = told(tester_client, call, ticks=[{"run": run, "step": 1, "at_ms": at_ms}])
    assert answer["runs"][0]["ticks"] == {"1": 3_000}


def test_the_stretch_without_a_script_begins_and_is_taken_back(tester_client: Client, call: Call) -> None:
    run = call.runs.get().pk
    answer = told(tester_client, call, off_script=[{"run": run, "at_ms": 90_000}])
    assert answer["runs"][0]["off_script_from_ms"] == 90_000
    answer = told(tester_client, call, off_script=[{"run": run, "at_ms": None}])
    assert answer["runs"][0]["off_script_from_ms"] is None


def test_what_is_not_on_the_call_is_refused_and_the_rest_is_kept(
    trained_tester: User, tester_client: Client, call: Call
) -> None:
    strange = make.call(trained_tester, make.script()).runs.get()
    answer = told(
        tester_client,
        call,
        ticks=[
            {"run": strange.pk, "step": 1, "at_ms": 5},
            {"run": call.runs.get().pk, "step": 3, "at_ms": 5},
            {"run": call.runs.get().pk, "step": 2, "at_ms": 24 * 60 * MINUTE},
        ],
        off_script=[{"run": strange.pk, "at_ms": 5}],
        build="987654321",
        moments=[moment(1_000)],
    )
    whys = [room.NO_SUCH_STEP, room.NO_SUCH_STEP, room.NOT_YET, room.NO_SUCH_RUN, room.NO_SUCH_BUILD]
    assert answer["refused"] == [{"uuid": None, "why": why} for why in whys]
    assert len(answer["kept"]) == 1
    strange.refresh_from_db()
    assert strange.ticks == {}


def test_the_first_end_stays_until_it_is_taken_back(tester_client: Client, call: Call) -> None:
    assert told(tester_client, call, ended={"at_ms": 5 * MINUTE})["ended_at_ms"] == 5 * MINUTE
    assert told(tester_client, call, ended={"at_ms": 9 * MINUTE})["ended_at_ms"] == 5 * MINUTE
    assert told(tester_client, call, ended={"at_ms": None})["ended_at_ms"] is None
    assert told(tester_client, call, ended={"at_ms": 9 * MINUTE})["ended_at_ms"] == 9 * MINUTE


def test_a_call_that_was_left_open_can_be_ended_after_days(fresh: Call) -> None:
    keep(fresh, begun={"age_ms": 0})
    keep(fresh, NOW + timedelta(days=3), ended={"at_ms": 3 * MOST_CALL_MS})
    fresh.refresh_from_db()
    assert fresh.lasted == "24:00:00"


def test_a_call_that_has_not_begun_has_no_end(tester_client: Client, fresh: Call) -> None:
    answer = told(tester_client, fresh, ended={"at_ms": 5})
    assert (answer["ended_at_ms"], answer["elapsed_ms"], answer["refused"][0]["why"]) == (None, None, room.NOT_BEGUN)


def test_the_build_can_be_chosen_until_a_result_says_it(tester: User, tester_client: Client, call: Call) -> None:
    Site.objects.create(pk=1, call_link="https://emma.test/site")
    old, new = make.build("2026.9"), make.build("2026.10", call_link="https://emma.test/new")
    answer = told(tester_client, call, build=str(new.pk))
    assert (answer["build"], answer["call_link"]) == (str(new.pk), "https://emma.test/new")
    answer = told(tester_client, call, build=str(old.pk))
    assert (answer["build"], answer["call_link"]) == (str(old.pk), "https://emma.test/site")
    make.result(tester, call.runs.get().script, old, call_uuid=call.uuid)
    answer = told(tester_client, call, build=str(new.pk))
    assert (answer["build"], answer["refused"][0]["why"]) == (str(old.pk), room.BUILD_IS_FILED)


# --- the heartbeat, and who may tell -----------------------------------------------------------


def test_an_empty_body_is_the_heartbeat(tester_client: Client, call: Call) -> None:
    answer = told(tester_client, call)
    assert 600_000 <= answer["elapsed_ms"] < 630_000
    assert set(answer) == {
        *("elapsed_ms", "kept", "refused", "moments", "runs", "ended_at_ms", "build", "call_link"),
        *("start_is_uncertain", "revision"),
    }


def test_each_answer_says_that_it_is_newer_than_the_one_before(tester_client: Client, call: Call) -> None:
    """Of two answers that a page hears in another order than they were given, it believes the newer one."""
    revisions = [told(tester_client, call)["revision"]]
    revisions.append(told(tester_client, call, moments=[])["revision"])
    run = add_script(call, make.script("noisy-room"))
    revisions.append(told(tester_client, call)["revision"])
    assert take_off_script(call, run.pk)
    revisions.append(told(tester_client, call)["revision"])
    steps = [later - earlier for earlier, later in pairwise(revisions)]
    assert steps == [1, 2, 2]  # putting a script on the call, and taking it off, count too


def test_round_trips_are_kept_as_their_median(tester_client: Client, call: Call) -> None:
    for round_trip in (40, 900, 50, 60.4, 45):
        told(tester_client, call, machine={"round_trip_ms": round_trip})
    call.refresh_from_db()
    assert (call.round_trips_ms, call.round_trip_ms) == ([40, 900, 50, 60, 45], 50)


def test_only_the_latest_round_trips_are_kept(call: Call) -> None:
    call.round_trips_ms = [5_000] * MOST_ROUND_TRIPS
    call.save()
    keep(call, machine={"round_trip_ms": 9_999_999})
    call.refresh_from_db()
    assert (len(call.round_trips_ms), call.round_trips_ms[-1]) == (MOST_ROUND_TRIPS, room.MOST_ROUND_TRIP_MS)


def test_the_machine_is_that_of_the_latest_page_and_silence_takes_nothing_back(
    tester_client: Client, call: Call
) -> None:
    told(tester_client, call, machine={"platform": "Linux x86_64", "effective_type": "4g"})
    call.refresh_from_db()
    assert (call.browser, call.browser_version, call.system, call.device) == ("Chrome", "126", "Linux", "computer")
    assert call.connection == "4g"
    told(tester_client, call, machine={"round_trip_ms": 4})
    call.refresh_from_db()
    assert call.connection == "4g"
    iphone = (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/17.5 Mobile/15E148 Safari/604.1"
    )
    tell(tester_client, call, {}, iphone + " " + "x" * 600)
    call.refresh_from_db()
    assert (call.browser, call.device, call.system, call.connection) == ("Mobile Safari", "phone", "iOS 17", "")
    assert len(call.user_agent) == 500


def test_a_call_is_told_of_by_its_tester_alone(trained_tester: User, eval_client: Client, call: Call) -> None:
    assert tell(make.client_of(trained_tester), call).status_code == 404
    assert make.client_of(trained_tester).get(f"/calls/{call.uuid}/").status_code == 404
    assert tell(eval_client, call).status_code == 403


def test_a_page_whose_sign_in_is_over_is_told_so(call: Call) -> None:
    answer = tell(Client(), call, {"moments": [moment(5)]})
    assert (answer.status_code, answer.json()["error"]) == (401, "signed_out")
    assert not Moment.objects.exists()


def test_a_call_is_closed_as_soon_as_its_script_is_safety(tester_client: Client, call: Call) -> None:
    Script.objects.update(area="safety")
    assert tell(tester_client, call).status_code == 404
    assert tester_client.get(f"/calls/{call.uuid}/").status_code == 404


def test_a_body_that_is_too_long_is_refused_before_it_is_read(tester_client: Client, call: Call) -> None:
    answer = tell(tester_client, call, {"moments": [moment(0, "x" * 600_000)]})
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")


def test_a_page_that_leaves_tells_without_a_header_of_its_own(tester_client: Client, call: Call) -> None:
    """A body of JSON may come as it is sent when a page is left: what counts is its type."""
    answer = tester_client.post(
        f"/calls/{call.uuid}/tell/",
        json.dumps({"moments": [moment(0)]}),
        content_type="application/json; charset=utf-8",
    )
    assert (answer.status_code, len(answer.json()["kept"])) == (200, 1)
