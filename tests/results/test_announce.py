"""Results as events: what is announced, what is said of it, and to whom it is not."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from emma_eval.adapters.addresses import Allowed
from emma_eval.webhooks.kinds import kinds_to_choose
from emma_eval.webhooks.models import Delivery, State
from results.announce import announce_reviewed
from results.filing.correct_result import correct_result
from results.filing.file_result import file_result
from results.filing.rules import Filing, Ratings
from results.models import QueuedFor, Result, Review, ReviewedProblem
from results.old_sheet.import_sheet import import_sheet
from results.review.file_review import Judged, file_review
from scripts_catalog.models import Build, Script
from tests import make
from tests.receivers import Receiver, answer, in_turn, serving
from tests.results.old_sheet.sheet import as_csv
from tests.results.old_sheet.sheet import row as sheet_row
from tests.webhooks.hooks import endpoint, work, work_to_the_end

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
CALLED = datetime(2026, 3, 2, 6, 36, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _loopback_is_named(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = Allowed.read(["127.0.0.1"])


@pytest.fixture
def receiver() -> Any:
    with serving(answer(204)) as there:
        yield there


def filing(script: Script, **changes: Any) -> Filing:
    assert script.latest is not None
    build = Build.objects.first() or make.build("2026.10", is_current=True)
    words = {"problems": ("too_fast", "cut_in"), "comment": "She sighed at me."}
    return replace(Filing(script.latest, build, CALLED, Ratings(4, 3, 4, 2, 4)), **{**words, **changes})


def file(tester: User, script: Script, **changes: Any) -> Result:
    return file_result(tester, uuid.uuid4(), filing(script, **changes)).result


def said(receiver: Receiver) -> list[Any]:
    return [json.loads(heard.body) for heard in receiver.heard]


def test_a_result_that_is_filed_is_told(tester: User, manager: User, receiver: Receiver, settings: Settings) -> None:
    settings.ORIGIN = "https://emma.example.test"
    User.objects.filter(pk=tester.pk).update(name="Tess")
    endpoint(manager, receiver.url)
    result = file(User.objects.get(pk=tester.pk), make.script("bad-news-day"))
    work()
    [told] = said(receiver)
    assert told["type"] == "result.filed"
    assert told["data"] == {
        "id": str(result.pk),
        "url": f"https://emma.example.test/results/{result.pk}/",
        "version": 1,
        "script": "bad-news-day",
        "build": "2026.10",
        "tester": "Tess",
        "called_at": "2026-03-02T06:36:00+00:00",
        "filed_at": result.filed_at.isoformat(),
        "never_started": False,
        "camera_used": False,
        "ratings": {
            "listening_timing": 4,
            "content": 3,
            "voice_audio": 4,
            "face_video": 2,
            "emotional_fit": 4,
            "vision": None,
        },
        "problem_order": "overall",
        "problems": [
            {"tag": "too_fast", "label": told["data"]["problems"][0]["label"], "place": 1},
            {"tag": "cut_in", "label": told["data"]["problems"][1]["label"], "place": 2},
        ],
    }
    assert "sighed" not in receiver.heard[0].body.decode()


def test_filing_the_same_draft_twice_tells_it_once(tester: User, manager: User, receiver: Receiver) -> None:
    endpoint(manager, receiver.url)
    script, draft = make.script("bad-news-day"), uuid.uuid4()
    for _ in range(2):
        file_result(tester, draft, filing(script))
    assert Delivery.objects.count() == 1


def test_a_correction_is_told_with_what_the_result_says_now(tester: User, manager: User, receiver: Receiver) -> None:
    result = file(tester, make.script("bad-news-day"))
    endpoint(manager, receiver.url)
    correct_result(tester, result, filing(result.script, problems=("cut_in",)), based_on=1)
    work()
    [told] = said(receiver)
    assert (told["type"], told["data"]["version"]) == ("result.corrected", 2)
    assert [problem["tag"] for problem in told["data"]["problems"]] == ["cut_in"]
    correct_result(tester, result, filing(result.script, problems=("cut_in",)), based_on=2)
    assert Delivery.objects.count() == 1


def test_a_review_is_told_with_the_tags_of_the_one_that_stands(
    tester: User, manager: User, eval_member: User, receiver: Receiver
) -> None:
    result = file(tester, make.script("bad-news-day"))
    endpoint(manager, receiver.url)
    judged = Judged(("cut_in",), "She was not too fast.")
    file_review(eval_member, result.pk, judged, based_on=1, now=timezone.now())
    work()
    [told] = said(receiver)
    assert told["type"] == "result.reviewed"
    assert [problem["tag"] for problem in told["data"]["problems"]] == ["too_fast", "cut_in"]
    assert [problem["tag"] for problem in told["data"]["problems_as_reviewed"]] == ["cut_in"]
    assert "not too fast" not in receiver.heard[0].body.decode()


def test_who_may_read_no_review_is_told_that_there_is_one_and_not_what_it_says(
    tester: User, administrator: User, eval_member: User, receiver: Receiver
) -> None:
    result = file(tester, make.script("bad-news-day"))
    endpoint(administrator, receiver.url)
    file_review(eval_member, result.pk, Judged(("too_slow",), "It dragged."), based_on=1, now=timezone.now())
    work()
    assert said(receiver)[0]["data"]["problems_as_reviewed"] is None
    assert b"too_slow" not in receiver.heard[0].body


def test_a_reviewer_who_is_still_to_review_it_is_not_told(
    tester: User, manager: User, eval_member: User, receiver: Receiver, settings: Settings
) -> None:
    """Two reviews are wanted and one is in: those who may be the second are blind to it, and to that it is there."""
    settings.REVIEWERS_PER_RESULT = 2
    result = file(tester, make.script("bad-news-day"))
    endpoint(eval_member, receiver.url)
    review = Review.objects.create(result=result, reviewer=make.user(), filed_at=timezone.now())
    ReviewedProblem.objects.create(review=review, tag="too_slow", position=1, rank=1)
    Result.objects.update(reviewed_at=timezone.now(), queued_for=QueuedFor.BY_HAND)
    announce_reviewed(result)
    work_to_the_end()
    assert receiver.heard == []
    assert Delivery.objects.get().state == State.WITHHELD


def test_an_imported_sheet_tells_nothing(manager: User, tmp_path: Path) -> None:
    make.script("small-talk")
    endpoint(manager)
    rows = [sheet_row(time="1/3/2026 10:00", script="small-talk")]
    import_sheet(as_csv(tmp_path / "s.csv", rows), None, "s.csv")
    assert Result.objects.count() == 1
    assert Delivery.objects.count() == 0


def test_the_kinds_of_results_can_be_chosen() -> None:
    assert {"result.filed", "result.corrected", "result.reviewed"} <= {kind.name for kind in kinds_to_choose()}


# --- Safety ------------------------------------------------------------------------------------


def test_what_is_safety_is_told_to_the_trained_alone(manager: User, trained_tester: User) -> None:
    trained = make.user("trained@example.test", Role.MANAGER, is_trained=True)
    with serving(answer(204)) as for_untrained, serving(answer(204)) as for_trained:
        endpoint(manager, for_untrained.url)
        endpoint(trained, for_trained.url)
        file(trained_tester, make.script("quiet-one", area="safety"))
        work_to_the_end()
        assert for_untrained.heard == []
        assert len(for_trained.heard) == 1
    by_owner = dict(Delivery.objects.values_list("endpoint__owner", "state"))
    assert by_owner == {manager.pk: State.WITHHELD, trained.pk: State.DELIVERED}


def test_a_training_that_lapses_between_two_tries_withholds_it(manager: User, trained_tester: User) -> None:
    training = Training.objects.create(user=manager, starts_on=date(2020, 1, 1))
    with serving(in_turn(answer(500), answer(204))) as there:
        endpoint(manager, there.url)
        file(trained_tester, make.script("quiet-one", area="safety"))
        work()
        assert len(there.heard) == 1
        training.ends_on = timezone.localdate() - timedelta(days=1)
        training.save()
        work_to_the_end()
        assert len(there.heard) == 1
    assert Delivery.objects.get().state == State.WITHHELD
    assert not Delivery.objects.visible_to(User.objects.get(pk=manager.pk)).exists()


def test_a_script_that_moved_into_safety_takes_its_events_along(tester: User, manager: User) -> None:
    with serving(in_turn(answer(500), answer(204))) as there:
        endpoint(manager, there.url)
        result = file(tester, make.script("bad-news-day"))
        work()
        Script.objects.filter(slug=result.script_id).update(area="safety")
        work_to_the_end()
        assert len(there.heard) == 1
    assert Delivery.objects.get().state == State.WITHHELD
    assert not Delivery.objects.visible_to(manager).exists()


def test_somebody_who_is_trained_by_the_time_of_the_try_is_told(manager: User, trained_tester: User) -> None:
    with serving(answer(204)) as there:
        endpoint(manager, there.url)
        file(trained_tester, make.script("quiet-one", area="safety"))
        Training.objects.create(user=manager, starts_on=date(2020, 1, 1))
        work()
        assert len(there.heard) == 1
