"""Filing: one transaction, once for each draft, and never a row that breaks a rule."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.filing.file_result import (
    FiledOtherwiseError,
    ScriptFiledForCallError,
    SheetRow,
    file_result,
    unsaved_result,
)
from results.filing.forms import ResultForm
from results.filing.rules import Filing, Ratings
from results.filing.save_draft import ChangedElsewhereError, FiledAlreadyError, save_draft
from results.models import DIMENSION_KEYS, Draft, Problem, ProblemOrder, Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, RunCount, Script
from tests import make
from tests.results.filing.sent import fields, file

pytestmark = pytest.mark.data_layer

CALLED = datetime(2026, 3, 2, 6, 36, tzinfo=UTC)
FIVE = Ratings(4, 3, 4, 2, 4)


def filing(script: Script, build: Build, **changes: Any) -> Filing:
    assert script.latest is not None
    return replace(Filing(script.latest, build, CALLED, FIVE, problems=("too_fast", "cut_in")), **changes)


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10", is_current=True)


# --- one filing ---------------------------------------------------------------------------------


def test_it_writes_the_result_its_problems_its_count_and_the_trail(tester: User, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    save_draft(tester, key, script, {"comment": "x"}, based_on=0)
    filed = file_result(tester, key, filing(script, build))
    assert filed.is_new
    assert list(filed.result.problems.values_list("tag", "position", "rank")) == [("too_fast", 1, 1), ("cut_in", 2, 2)]
    assert RunCount.objects.get(script=script, build=build).runs == 1
    assert not Draft.objects.exists()
    assert AuditEntry.objects.filter(actor=tester, action="filed a result", target=filed.result.pk).exists()


@pytest.mark.parametrize(
    ("order", "ranks"),
    [(ProblemOrder.OVERALL, [1, 2]), (ProblemOrder.BIGGEST, [1, None]), (ProblemOrder.GROUPS, [None, None])],
)
def test_a_rank_is_written_only_where_the_order_is_known(
    tester: User, script: Script, build: Build, order: ProblemOrder, ranks: list[int | None]
) -> None:
    filed = file_result(tester, uuid.uuid4(), filing(script, build, problem_order=order))
    assert list(filed.result.problems.values_list("rank", flat=True)) == ranks


def test_a_call_that_never_started_is_no_run(tester: User, script: Script, build: Build) -> None:
    said = filing(script, build, never_started=True, ratings=Ratings(), problems=("stuck_start",))
    file_result(tester, uuid.uuid4(), said)
    assert not RunCount.objects.exists()
    assert list(Result.objects.rated()) == []


def test_the_same_draft_again_is_the_same_result(tester: User, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    first = file_result(tester, key, filing(script, build))
    second = file_result(tester, key, filing(script, build))
    assert (second.result.pk, second.is_new) == (first.result.pk, False)
    assert RunCount.objects.get().runs == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"comment": "Other."},
        {"problems": ("cut_in", "too_fast")},
        {"ratings": replace(FIVE, content=4)},
        {"met_emma_before": True},
        {"recording_link": "https://a.example/1"},
        {"problem_order": ProblemOrder.GROUPS},
    ],
)
def test_the_same_draft_with_other_content_changes_nothing(
    tester: User, script: Script, build: Build, changes: dict[str, Any]
) -> None:
    key = uuid.uuid4()
    file_result(tester, key, filing(script, build))
    with pytest.raises(FiledOtherwiseError):
        file_result(tester, key, filing(script, build, **changes))
    assert Result.objects.get().content == 3
    assert Problem.objects.count() == 2


def test_a_second_draft_of_a_script_for_one_call_is_refused(tester: User, script: Script, build: Build) -> None:
    call = uuid.uuid4()
    first = file_result(tester, uuid.uuid4(), filing(script, build), call_uuid=call)
    with pytest.raises(ScriptFiledForCallError) as refused:
        file_result(tester, uuid.uuid4(), filing(script, build), call_uuid=call)
    assert refused.value.result == first.result
    file_result(tester, uuid.uuid4(), filing(make.script("noisy-room"), build), call_uuid=call)
    assert Result.objects.count() == 2


def test_rows_of_a_sheet_may_share_a_call(tester: User, script: Script, build: Build) -> None:
    call = uuid.uuid4()
    for digest in "ab":
        unsaved_result(tester, uuid.uuid4(), call, filing(script, build), SheetRow(digest)).save()
    assert Result.objects.filter(call_uuid=call).count() == 2


def test_the_same_draft_of_another_script_is_other_content(tester: User, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    file_result(tester, key, filing(script, build))
    with pytest.raises(FiledOtherwiseError):
        file_result(tester, key, filing(make.script("noisy-room"), build))


def test_two_testers_may_have_one_uuid(tester: User, trained_tester: User, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    first = file_result(tester, key, filing(script, build))
    second = file_result(trained_tester, key, filing(script, build))
    assert first.result.pk != second.result.pk


def test_a_script_that_became_safety_meanwhile_is_filed_as_safety(tester: User, script: Script, build: Build) -> None:
    said = filing(script, build)
    Script.objects.update(area=taxonomy.SAFETY)
    assert file_result(tester, uuid.uuid4(), said).result.filed_as_safety


def test_a_row_of_a_sheet_keeps_its_old_words(tester: User, script: Script, build: Build) -> None:
    row = SheetRow("digest", worst_moment="at the end", minute_in_call="7")
    result = unsaved_result(tester, uuid.uuid4(), uuid.uuid4(), filing(script, build), row)
    result.save()
    result.refresh_from_db()
    assert (result.sheet_digest, result.sheet_worst_moment, result.sheet_minute_in_call) == (
        "digest",
        "at the end",
        "7",
    )


def test_a_filing_that_fails_leaves_nothing(
    tester: User, script: Script, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr("results.filing.file_result.count_result", broken)
    save_draft(tester, uuid.uuid4(), script, {"comment": "x"}, based_on=0)
    with pytest.raises(OSError):  # noqa: PT011
        file_result(tester, uuid.uuid4(), filing(script, build))
    assert (Result.objects.count(), Problem.objects.count(), Draft.objects.count()) == (0, 0, 1)


# --- what the database itself refuses ---------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        *[{key: 0} for key in DIMENSION_KEYS[:-1]],
        *[{key: 6} for key in DIMENSION_KEYS[:-1]],
        *[{key: None} for key in DIMENSION_KEYS[:-1]],
        {"vision": 3},
        {"camera_used": True},
        {"camera_used": True, "vision": 0},
        {"camera_used": True, "vision": 6},
        {"never_started": True},
        {"never_started": True, **dict.fromkeys(DIMENSION_KEYS), "vision": 3},
        {"never_started": True, **dict.fromkeys(DIMENSION_KEYS), "camera_used": True},
    ],
)
def test_the_database_refuses_a_wrong_result(
    tester: User, script: Script, build: Build, changes: dict[str, Any]
) -> None:
    result = make.result(tester, script, build)
    with pytest.raises(IntegrityError), transaction.atomic():
        Result.objects.filter(pk=result.pk).update(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"tag": "cut_in"},
        {"position": 1},
        {"position": 0, "rank": None},
        {"rank": 1},
        {"rank": 3},
    ],
)
def test_the_database_refuses_a_wrong_problem(
    tester: User, script: Script, build: Build, changes: dict[str, Any]
) -> None:
    result = make.result(tester, script, build, problems=("cut_in", "too_fast"))
    with pytest.raises(IntegrityError), transaction.atomic():
        result.problems.filter(tag="too_fast").update(**changes)


def test_the_database_refuses_a_second_result_of_a_draft(tester: User, script: Script, build: Build) -> None:
    result = make.result(tester, script, build)
    with pytest.raises(IntegrityError), transaction.atomic():
        make.result(tester, script, build, draft_uuid=result.draft_uuid)


# --- any payload -------------------------------------------------------------------------------------

RATING = st.sampled_from(["1", "3", "5", "4.0", "４", "0", "6", "4.5", "five", "1e0", "nan", "inf", "", "na", None])
TEXT = st.one_of(st.none(), st.text(max_size=30), st.sampled_from(["\x00\ud83d", "\u202eabc", "<b>x</b>", "x" * 201]))
PLACE = st.sampled_from(["1", "2", "3", "7", "0", "-1", "first", "1.5", "１", "", "99999"])
TAGS = st.sampled_from([*taxonomy.TAG_BY_KEY, "no_such_tag", "", "cut_in "])
LINK = st.sampled_from(
    ["", "https://a.example/1", "javascript:1", "http://10.0.0.1/", "https://u:p@a.example", "x" * 3000]
)
TIME = st.sampled_from(
    ["2026-03-02T14:36", "2026-03-02 14:36:07", "0001-01-01T00:00", "9999-12-31T23:59", "2026-02-30T00:00", "", "\x00"]
)


@st.composite
def payloads(draw: st.DrawFn) -> dict[str, str]:
    """Mostly right, so that a good share gets as far as the database."""
    sent: dict[str, Any] = {
        "called_at": "2026-03-02T14:36",
        "met_emma_before": "no",
        "camera_used": draw(st.sampled_from(["yes", "no", "no", "no", "", "perhaps"])),
        **dict.fromkeys(DIMENSION_KEYS[:-1], "4"),
        "vision": draw(st.sampled_from(["na", "", "3"])),
        **{f"place-{tag}": draw(PLACE) for tag in draw(st.lists(TAGS, max_size=4))},
        "comment": draw(TEXT),
        "camera_note": draw(TEXT),
    }
    odd = st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(DIMENSION_KEYS, RATING),
            "never_started": st.sampled_from(["on", ""]),
            "recording_link": LINK,
            "called_at": TIME,
            "met_emma_before": st.sampled_from(["yes", "no", "", "1"]),
            "build": st.sampled_from(["", "0", "x", "9" * 30]),
            "call": st.sampled_from(["", "x", str(uuid.UUID(int=1))]),
        },
    )
    if draw(st.booleans()):
        sent.update(draw(odd))
    if draw(st.integers(0, 4)) == 0:
        sent |= {"never_started": "on", **dict.fromkeys(DIMENSION_KEYS)}
    return {name: value for name, value in sent.items() if value is not None}


def assert_right(result: Result) -> None:
    """The rules once more, in other words than those of the code."""
    rated = [getattr(result, key) for key in DIMENSION_KEYS]
    if result.never_started:
        assert rated == [None] * 6
        assert not result.camera_used
    else:
        assert all(rating in range(1, 6) for rating in rated[:5])
        assert (rated[5] in range(1, 6)) if result.camera_used else rated[5] is None
    problems = list(result.problems.values_list("tag", "position", "rank"))
    assert [position for _, position, _ in problems] == list(range(1, len(problems) + 1))
    assert [rank for *_, rank in problems] == [position for _, position, _ in problems]
    assert {tag for tag, *_ in problems} <= set(taxonomy.TAG_BY_KEY)
    assert len(set(problems)) == len(problems)
    if any(tag.startswith("other_") for tag, *_ in problems):
        assert any(character.isalnum() for character in result.comment)
    assert result.recording_link in {"", "https://a.example/1"}
    assert len(result.camera_note) <= 200
    assert not set(result.comment) & {"\x00", "\r", "\x1b"}
    assert result.called_at.year in {2026}


@pytest.mark.django_db
def test_no_payload_puts_a_wrong_row_into_the_database(tester: User, build: Build) -> None:
    scripts = [make.script("without-camera"), make.script("with-camera", uses_camera=True)]
    outcomes: Counter[bool] = Counter()
    many = 2_000 if connection.vendor == "sqlite" else 400  # the form judges alike; the constraints are the database's

    @settings(max_examples=many, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(payload=payloads(), script=st.sampled_from(scripts))
    def try_one(payload: dict[str, str], script: Script) -> None:
        assert script.latest is not None
        form = ResultForm({"build": str(build.pk), **payload}, version_run=script.latest, tester=tester)
        is_right = form.is_valid()
        outcomes[is_right] += 1
        if is_right:
            assert_right(file_result(tester, uuid.uuid4(), form.filing).result)
        else:
            assert all(form.errors.values())

    try_one()
    assert Result.objects.count() == outcomes[True] > many // 10
    assert outcomes[False] > many // 10
    assert sum(RunCount.objects.values_list("runs", flat=True)) == Result.objects.rated().count()


# --- many at once -------------------------------------------------------------------------------------


def together(count: int, act: Any) -> list[Any]:
    """What each of `count` threads gets when all of them act at the same moment."""
    gate = threading.Barrier(count)

    def one(number: int) -> Any:
        gate.wait()
        try:
            return act(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_make_one_result_and_fifty_equal_answers() -> None:
    tester = make.user("tess@example.test", Role.TESTER)
    script, build, key = make.script("bad-news-day"), make.build("2026.10"), uuid.uuid4()
    sent = fields(script, build, problems=("too_fast", "cut_in"), comment="Once.")
    clients = [make.client_of(tester) for _ in range(50)]
    answers = together(50, lambda number: file(clients[number], sent, key))
    result = Result.objects.get()
    assert Counter((answer.status_code, answer.headers.get("Location")) for answer in answers) == {
        (303, f"/results/{result.pk}/"): 50
    }
    assert result.problems.count() == 2
    assert RunCount.objects.get().runs == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_contents_at_once_one_is_filed_and_the_other_told() -> None:
    tester = make.user("tess@example.test", Role.TESTER)
    script, build, key = make.script("bad-news-day"), make.build("2026.10"), uuid.uuid4()
    clients: list[Client] = [make.client_of(tester) for _ in range(20)]
    said = [fields(script, build, comment=f"Words {number % 2}.", call=str(uuid.UUID(int=7))) for number in range(20)]
    answers = together(20, lambda number: file(clients[number], said[number], key))
    kept = Result.objects.get().comment
    for number, answer in enumerate(answers):
        assert answer.status_code == (303 if said[number]["comment"] == kept else 409)


@pytest.mark.django_db(transaction=True)
def test_of_many_drafts_of_one_script_for_one_call_at_once_one_is_filed() -> None:
    tester = make.user("tess@example.test", Role.TESTER)
    said, call = filing(make.script("bad-news-day"), make.build("2026.10")), uuid.uuid4()

    def act(_: int) -> bool:
        try:
            return file_result(tester, uuid.uuid4(), said, call_uuid=call).is_new
        except ScriptFiledForCallError:
            return False

    assert sum(together(16, act)) == Result.objects.count() == RunCount.objects.get().runs == 1


@pytest.mark.django_db(transaction=True)
def test_many_testers_at_once_lose_no_count() -> None:
    testers = [make.user(None, Role.TESTER) for _ in range(16)]
    script, build = make.script("bad-news-day"), make.build("2026.10")
    said = filing(script, build)
    together(16, lambda number: file_result(testers[number], uuid.uuid4(), said))
    assert Result.objects.count() == 16
    assert RunCount.objects.get().runs == 16


@pytest.mark.django_db(transaction=True)
def test_a_save_that_races_the_filing_leaves_no_draft() -> None:
    tester = make.user("tess@example.test", Role.TESTER)
    script, build = make.script("bad-news-day"), make.build("2026.10")
    said = filing(script, build)
    for _ in range(10):
        key = uuid.uuid4()

        def act(number: int, key: uuid.UUID = key) -> None:
            if number:
                with contextlib.suppress(FiledAlreadyError, ChangedElsewhereError):
                    save_draft(tester, key, script, {"comment": str(number)}, based_on=0)
            else:
                file_result(tester, key, said)

        together(4, act)
        assert not Draft.objects.filter(uuid=key).exists()
    assert Result.objects.count() == 10
