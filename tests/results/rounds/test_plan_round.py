"""Rounds are planned, changed, closed and opened again, each with its line in the audit trail."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from results.models import Round, Wanted
from results.rounds.plan_round import Plan, change_round, close_round, plan_round, reopen_round
from scripts_catalog.models import Build, Script
from tests import make

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


@pytest.fixture
def scripts(db: None) -> list[Script]:
    return [make.script("bad-news-day"), make.script("noisy-room"), make.script("quiet-talk", area="safety")]


@pytest.fixture
def plan(build: Build, scripts: list[Script]) -> Plan:
    return Plan("Before the release", build, date(2026, 11, 6), "Use headphones.", {"bad-news-day": 3, "noisy-room": 1})


def wanted(round_: Round) -> dict[str, int]:
    return dict(round_.wanted.values_list("script_id", "runs"))


def actions(user: User) -> list[tuple[str, str]]:
    return list(AuditEntry.objects.visible_to(user).order_by("at").values_list("action", "script"))


def test_a_round_keeps_what_was_planned(manager: User, plan: Plan) -> None:
    made = Round.objects.get(pk=plan_round(manager, plan).pk)
    assert (made.name, made.build, made.due_on, made.note) == (plan.name, plan.build, plan.due_on, plan.note)
    assert wanted(made) == plan.wanted
    assert (made.begun_by, made.closed_at) == (manager, None)


def test_a_change_says_what_was_before_and_after(manager: User, eval_member: User, plan: Plan) -> None:
    made = plan_round(manager, plan)
    after = replace(plan, due_on=None, wanted={"noisy-room": 4})
    assert change_round(eval_member, made, after)
    assert wanted(made) == {"noisy-room": 4}
    line = AuditEntry.objects.get(action="changed a round")
    assert (line.actor, line.details) == (eval_member, {"due_on": {"before": "2026-11-06", "after": ""}})
    of_scripts = AuditEntry.objects.filter(actor=eval_member, action="wanted runs of a script")
    assert {entry.script: entry.details["runs"] for entry in of_scripts} == {
        "bad-news-day": {"before": 3, "after": 0},
        "noisy-room": {"before": 1, "after": 4},
    }


def test_the_same_again_is_no_change(manager: User, plan: Plan) -> None:
    made = plan_round(manager, plan)
    before = AuditEntry.objects.count()
    assert not change_round(manager, made, plan)
    assert AuditEntry.objects.count() == before


def test_it_is_closed_once_and_opened_again(manager: User, plan: Plan) -> None:
    made = plan_round(manager, plan)
    assert close_round(manager, made)
    assert not close_round(manager, made)
    assert not Round.objects.open().exists()
    assert reopen_round(manager, made)
    assert not reopen_round(manager, made)
    said = [action for action, _ in actions(manager) if "wanted" not in action]
    assert said == ["planned a round", "closed a round", "opened a round again"]


def test_what_a_planner_may_not_know_of_stays_wanted(manager: User, plan: Plan, scripts: list[Script]) -> None:
    trained = make.user("tina@example.test", is_trained=True)
    made = plan_round(trained, replace(plan, wanted={"bad-news-day": 3, "quiet-talk": 5}))
    assert change_round(manager, made, replace(plan, wanted={"noisy-room": 2}))
    assert wanted(made) == {"noisy-room": 2, "quiet-talk": 5}


def test_the_trail_names_no_script_to_those_who_may_not_know_of_it(
    manager: User, administrator: User, plan: Plan
) -> None:
    trained = make.user("tina@example.test", is_trained=True)
    made = plan_round(trained, replace(plan, wanted={"bad-news-day": 3, "noisy-room": 1, "quiet-talk": 5}))
    plan_round(trained, replace(plan, name="Quiet ones", wanted={"quiet-talk": 5}))
    seen = AuditEntry.objects.visible_to(administrator)
    assert sorted(seen.values_list("target", "action", "script")) == [
        (str(made.pk), "planned a round", ""),
        (str(made.pk), "wanted runs of a script", "bad-news-day"),
        (str(made.pk), "wanted runs of a script", "noisy-room"),
    ]
    assert AuditEntry.objects.visible_to(trained).count() == 6


def test_a_round_of_nothing_but_safety_is_for_the_trained_alone(
    manager: User, trained_eval_member: User, plan: Plan, scripts: list[Script]
) -> None:
    mixed = plan_round(trained_eval_member, replace(plan, wanted={"bad-news-day": 3, "quiet-talk": 5}))
    alone = plan_round(trained_eval_member, replace(plan, wanted={"quiet-talk": 5}))
    assert list(Round.objects.visible_to(manager)) == [mixed]
    assert set(Round.objects.visible_to(trained_eval_member)) == {mixed, alone}
    assert list(Round.objects.covered()) == [alone]
    Script.objects.filter(slug="bad-news-day").update(area="safety")
    assert not Round.objects.visible_to(manager).exists()


# --- the form ----------------------------------------------------------------------------------


def typed(build: Build, **changes: object) -> dict[str, object]:
    return {
        "name": "Before the release",
        "build": build.pk,
        "due_on": f"{timezone.localdate() + timedelta(days=7)}",
        "runs-bad-news-day": "3",
        **changes,
    }


def test_the_form_plans_a_round(manager_client: Client, build: Build, scripts: list[Script]) -> None:
    answer = manager_client.post("/rounds/new/", typed(build, **{"runs-noisy-room": "0"}))
    made = Round.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/rounds/{made.pk}/")
    assert wanted(made) == {"bad-news-day": 3}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": " "}, "Give the round a name."),
        ({"build": "99999"}, "Choose a build from the list."),
        ({"due_on": "6 November"}, "Give the day as 2026-03-31."),
        ({"due_on": "2020-11-06"}, "That day is past. Give today or a later day."),
        ({"due_on": "1026-11-06"}, "Give a day between 2000 and 2100."),
        ({"runs-bad-news-day": "1001"}, "Ask for 1 to 1000 runs, as a whole number."),
        ({"runs-bad-news-day": "-1"}, "Ask for 1 to 1000 runs, as a whole number."),
        ({"runs-bad-news-day": "two"}, "Ask for 1 to 1000 runs, as a whole number."),
        ({"runs-bad-news-day": ""}, "Ask for at least one run of one script."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_typed_is_lost(
    manager_client: Client, build: Build, scripts: list[Script], changes: dict[str, str], words: str
) -> None:
    answer = manager_client.post("/rounds/new/", {**typed(build), "note": "Mind the echo.", **changes})
    assert answer.status_code == 422
    assert words in answer.text
    assert "Mind the echo." in answer.text
    assert not Round.objects.exists()


def test_nobody_asks_for_runs_of_what_they_may_not_know_of(
    manager_client: Client, build: Build, scripts: list[Script]
) -> None:
    manager_client.post("/rounds/new/", typed(build, **{"runs-quiet-talk": "4"}))
    assert not Wanted.objects.filter(script="quiet-talk").exists()


def test_a_press_fills_an_area_in_and_saves_nothing(
    manager_client: Client, build: Build, scripts: list[Script]
) -> None:
    make.script("retired-one", area="everyday")
    Script.objects.filter(slug="retired-one").update(retired_at="2026-01-01T00:00Z")
    answer = manager_client.post("/rounds/new/", typed(build, fill="everyday", each="4", note="Kept."))
    assert answer.status_code == 200
    assert 'name="runs-bad-news-day" value="3"' in answer.text, "what was typed stays"
    assert 'name="runs-noisy-room" value="4"' in answer.text
    assert "Kept." in answer.text
    assert "runs-retired-one" not in answer.text
    assert not Round.objects.exists()
    emptied = manager_client.post("/rounds/new/", typed(build, fill="nothing")).text
    assert 'name="runs-bad-news-day" value=' not in emptied


def test_the_numbers_of_an_earlier_round_are_copied(
    manager_client: Client, manager: User, plan: Plan, build: Build
) -> None:
    earlier = plan_round(make.user(is_trained=True), replace(plan, wanted={"noisy-room": 7, "quiet-talk": 5}))
    copied = manager_client.post("/rounds/new/", typed(build, copy="1", earlier=str(earlier.pk))).text
    assert 'name="runs-noisy-room" value="7"' in copied
    assert 'name="runs-bad-news-day" value=' not in copied
    assert "quiet-talk" not in copied
    like = manager_client.get("/rounds/new/", {"like": earlier.pk}).text
    assert 'name="runs-noisy-room" value="7"' in like


def test_a_round_is_changed_and_closed_on_its_page(manager_client: Client, manager: User, plan: Plan) -> None:
    made = plan_round(manager, plan)
    assert 'name="runs-bad-news-day" value="3"' in manager_client.get(f"/rounds/{made.pk}/edit/").text
    manager_client.post(f"/rounds/{made.pk}/edit/", typed(plan.build, name="Later", **{"runs-bad-news-day": "5"}))
    made.refresh_from_db()
    assert (made.name, wanted(made)) == ("Later", {"bad-news-day": 5})
    manager_client.post(f"/rounds/{made.pk}/close/", {"act": "close"})
    assert not Round.objects.open().exists()
    assert "Open again" in manager_client.get(f"/rounds/{made.pk}/").text
    manager_client.post(f"/rounds/{made.pk}/close/", {"act": "reopen"})
    assert Round.objects.open().exists()


def test_a_due_date_that_is_past_by_now_may_stay(manager_client: Client, manager: User, plan: Plan) -> None:
    made = plan_round(manager, replace(plan, due_on=date(2020, 11, 6)))
    edit = f"/rounds/{made.pk}/edit/"
    assert manager_client.post(edit, typed(plan.build, due_on="2020-11-06", name="Later")).status_code == 302
    assert manager_client.post(edit, typed(plan.build, due_on="2020-11-05")).status_code == 422
    made.refresh_from_db()
    assert (made.name, made.due_on) == ("Later", date(2020, 11, 6))


def test_of_two_who_change_a_round_at_the_same_time_the_second_is_told(
    manager_client: Client, eval_client: Client, manager: User, plan: Plan
) -> None:
    made = plan_round(manager, plan)
    edit = f"/rounds/{made.pk}/edit/"
    opened_as = str(manager_client.get(edit).context["opened_as"])
    eval_client.post(edit, typed(plan.build, name="Hers", opened_as=opened_as))
    mine = typed(plan.build, name="Mine", opened_as=opened_as)
    told = manager_client.post(edit, mine)
    assert told.status_code == 422
    assert "Somebody else changed this round while you did" in told.text
    assert 'value="Mine"' in told.text, "nothing typed is lost"
    made.refresh_from_db()
    assert made.name == "Hers"
    again = manager_client.post(edit, {**mine, "opened_as": str(told.context["opened_as"])})
    made.refresh_from_db()
    assert (again.status_code, made.name) == (302, "Mine")


def test_what_the_trained_change_of_safety_is_no_change_to_others(
    manager_client: Client, manager: User, plan: Plan, scripts: list[Script]
) -> None:
    made = plan_round(manager, plan)
    opened_as = str(manager_client.get(f"/rounds/{made.pk}/edit/").context["opened_as"])
    Wanted.objects.create(round=made, script=scripts[2], runs=2)
    answer = manager_client.post(f"/rounds/{made.pk}/edit/", typed(plan.build, opened_as=opened_as))
    assert answer.status_code == 302


@pytest.mark.parametrize("path", ["/rounds/new/", "/tickets/new/"])
def test_without_a_build_the_forms_say_where_one_is_registered(
    manager_client: Client, eval_client: Client, scripts: list[Script], path: str
) -> None:
    of_manager = manager_client.get(path).text
    assert "The eval team registers them on its Builds page" in of_manager
    assert "/builds/new/" not in of_manager
    assert 'href="/builds/new/"' in eval_client.get(path).text


def test_closed_rounds_are_paged(manager_client: Client, manager: User, plan: Plan) -> None:
    for number in range(35):
        close_round(manager, plan_round(manager, replace(plan, name=f"Round {number:02}")))
    page = manager_client.get("/rounds/").text
    assert "Round 34" in page
    assert "Round 04" not in page
    older = page.split('rel="next" href="')[1].split('"')[0]
    assert "Round 04" in manager_client.get(f"/rounds/{older}").text


# --- what the trail tells ----------------------------------------------------------------------


def trail_page(administrator: User) -> str:
    return str(make.client_of(administrator).get("/audit/").text)


def test_what_a_round_said_while_it_was_of_safety_alone_stays_hidden(
    trained_eval_member: User, administrator: User, plan: Plan
) -> None:
    secret = replace(plan, name="kq77 secret", note="kq77 note", wanted={"quiet-talk": 2})
    made = plan_round(trained_eval_member, secret)
    change_round(trained_eval_member, made, replace(plan, name="General", note="", wanted={"noisy-room": 1}))
    close_round(trained_eval_member, made)
    page = trail_page(administrator)
    assert "kq77" not in page
    assert "changed a round" not in page
    assert "closed a round" in page, "as of any round"


def test_a_round_becomes_a_secret_with_its_scripts_and_so_do_its_lines(
    manager: User, administrator: User, trained_eval_member: User, plan: Plan
) -> None:
    made = plan_round(manager, replace(plan, name="jx55 round", note="jx55 note"))
    close_round(manager, made)
    assert "planned a round" in trail_page(administrator)
    Script.objects.update(area="safety")
    page = trail_page(administrator)
    assert not any(words in page for words in ("jx55", "a round", "runs of a script"))
    assert ("planned a round", "") in actions(trained_eval_member)


def test_no_line_quotes_what_somebody_called_or_said_of_a_round(manager: User, plan: Plan) -> None:
    made = plan_round(manager, plan)
    assert change_round(manager, made, replace(plan, name="kq77 secret", note="kq77 note"))
    lines = AuditEntry.objects.all()
    assert not any("kq77" in f"{line.target} {line.details}" or plan.name in line.target for line in lines)
    assert lines.get(action="changed a round").details == {"words": "changed"}
