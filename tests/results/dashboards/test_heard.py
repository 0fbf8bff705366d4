"""What recordings say beside the ratings: by build, with n and interval, never of what one may not know."""

from __future__ import annotations

import re
import uuid
from html import unescape
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.scoring.turns import EDITION
from results.counts.rebuild_counts import rebuild_counts
from results.dashboards import heard_rows
from results.dashboards.counting import Counting
from results.dashboards.heard import OLDER_EDITION, read_heard, reasons_of
from results.dashboards.heard_rows import list_calls
from results.listing.filters import Filters
from results.models import CallFigures, Recording, RecordingState, Result
from scripts_catalog.models import Build, Script
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

TEN_MINUTES_MS = 600_000


@pytest.fixture
def manager() -> User:
    return make.user(None, Role.MANAGER)


@pytest.fixture
def script() -> Script:
    return make.script("small-talk")


@pytest.fixture
def build() -> Build:
    return make.build("2026.42")


def recorded(result: Result, **columns: Any) -> CallFigures:
    recording = make.recording(result.tester, result.call_uuid, duration_ms=TEN_MINUTES_MS)
    values = {"turn_count": 30, "latency_median_ms": 800, "silence_count": 2, "overlap_count": 4, "emma_share": 0.5}
    given = {"edition": EDITION, "measured_at": timezone.now(), **values, **columns}
    return CallFigures.objects.create(recording=recording, **given)


def of(user: User, **filters: Any) -> Any:
    return read_heard(Counting(user, Filters(**filters)), filters.get("build", ""))


def test_each_build_has_the_median_of_its_calls_with_interval_and_n(
    manager: User, tester: User, script: Script, build: Build
) -> None:
    for latency_ms in (500, 600, 700, 800, 900, 1000, 1100):
        recorded(make.result(tester, script, build), latency_median_ms=latency_ms)
    (heard,) = of(manager).builds
    latency, silences, overlaps, share = heard.figures
    assert (latency.value, latency.interval, latency.n) == ("0.80 s", "0.50 to 1.10", 7)
    assert (silences.value, overlaps.value, share.value) == ("2.0", "4.0", "50 %")
    assert heard.unmeasured_count == 0


def test_the_rating_of_people_stands_beside(manager: User, tester: User, script: Script, build: Build) -> None:
    for rating in (3, 4, 5, 4, 4):
        recorded(make.result(tester, script, build, ratings=rating))
    rebuild_counts()
    (heard,) = of(manager).builds
    assert (heard.name, heard.rating.value, heard.rating.n) == ("2026.42", "4.00", 5)


def test_of_few_calls_n_is_too_small(manager: User, tester: User, script: Script, build: Build) -> None:
    for _ in range(4):
        recorded(make.result(tester, script, build))
    assert [(said.value, said.n) for said in of(manager).builds[0].figures] == [("", 4)] * 4


def test_what_is_unmeasured_is_counted_with_its_reason_and_never_zero(
    manager: User, tester: User, script: Script, build: Build
) -> None:
    nothing = dict.fromkeys(("turn_count", "latency_median_ms", "silence_count", "overlap_count", "emma_share"))
    for _ in range(5):
        recorded(make.result(tester, script, build))
    recorded(make.result(tester, script, build), unmeasured_because="Both sides are in one track.", **nothing)
    recorded(make.result(tester, script, build), edition=EDITION + 1)
    recorded(make.result(tester, script, make.build("2026.43")), edition=EDITION + 1)
    found = of(manager)
    assert [said.n for said in found.builds[1].figures] == [5, 5, 5, 5]
    older, one_track = reasons_of(found)
    assert (older.words, older.builds) == (OLDER_EDITION, (("2026.43", 1), ("2026.42", 1)))
    assert (one_track.words, one_track.builds) == ("Both sides are in one track.", (("2026.42", 1),))


def test_each_figure_leads_to_the_calls_that_it_is_made_of(
    manager: User, tester: User, script: Script, build: Build
) -> None:
    latencies = (500, 900, 700, 600, 800)
    figures = [recorded(make.result(tester, script, build, ratings=4), latency_median_ms=each) for each in latencies]
    lost = recorded(make.result(tester, script, build), unmeasured_because="Only one side is heard.")
    recorded(make.result(tester, script, make.build("2026.43")))
    rebuild_counts()
    client = make.client_of(manager)
    whole = client.get(f"{reverse('heard_calls')}?build=any&script={script.slug}").content.decode()
    links = [unescape(each) for each in re.findall(r'<td class="number"><a href="([^"]+)"', whole)]
    assert len([each for each in links if "calls=2026.42" in each]) == 5
    (rated,) = [each for each in links if each.startswith(f"{reverse('results')}?") and "2026.42" in each]
    assert re.search(r'role="status"><b class="figures">6 ', client.get(rated).content.decode())
    (slowest,) = [each for each in links if "calls=2026.42&by=latency" in each]
    listed = re.findall(r"/recordings/([0-9a-f-]{36})/", client.get(slowest).content.decode())
    by_latency = sorted(figures, key=lambda each: -(each.latency_median_ms or 0))
    assert listed == [str(each.recording.uuid) for each in by_latency]
    (unmeasured,) = [each for each in links if "calls=2026.42&by=unmeasured" in each]
    page = client.get(unmeasured).content.decode()
    assert re.findall(r"/recordings/([0-9a-f-]{36})/", page) == [str(lost.recording.uuid)]
    assert page.count("Only one side is heard.") == 2


def test_the_calls_of_a_build_are_those_that_one_may_know(
    manager: User, tester: User, script: Script, build: Build
) -> None:
    known = recorded(make.result(tester, script, build))
    recorded(make.result(tester, make.script(area="safety"), build))
    counting = Counting(manager, Filters())
    found = list_calls(counting, read_heard(counting, ""), build.name, "silences")
    assert found is not None
    assert ([row.recording for row in found.rows], found.page.paginator.count) == ([known.recording.uuid], 1)
    assert list_calls(counting, read_heard(counting, ""), "none of these", "silences") is None


def test_the_calls_of_a_build_are_listed_by_pages(
    manager: User, tester: User, script: Script, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heard_rows, "A_PAGE", 2)
    made = [
        recorded(make.result(tester, script, build), latency_median_ms=latency_ms)
        for latency_ms in (900, 500, 700, 600, 800)
    ]
    slowest_first = [str(made[place].recording.pk) for place in (0, 4, 2, 3, 1)]
    client, address = make.client_of(manager), f"{reverse('heard_calls')}?calls={build.name}&by=latency"
    found: list[str] = []
    while address:
        page = client.get(address).text
        assert "5 calls" in page
        found += re.findall(r"/recordings/([0-9a-f-]{36})/", page)
        following = re.search(r'rel="next" href="([^"#]+)', page)
        address = unescape(following[1]) if following else ""
    assert found == slowest_first
    assert "Page 3 of 3" in page
    assert client.get(f"{reverse('heard_calls')}?calls={build.name}&page=odd").status_code == 200


def test_a_call_counts_once_by_its_newest_recording(manager: User, tester: User, script: Script, build: Build) -> None:
    call = make.result(tester, script, build)
    for latency_ms in (100, 100, 100, 100, 100):
        recorded(call, latency_median_ms=latency_ms)
    assert of(manager).builds[0].figures[0].n == 1


def test_recordings_without_a_result_and_removed_ones_are_none(
    manager: User, tester: User, script: Script, build: Build
) -> None:
    lone = recorded(make.result(tester, script, build)).recording
    lone.call_uuid = uuid.uuid4()
    lone.save()
    removed = recorded(make.result(tester, script, build)).recording
    Recording.objects.filter(pk=removed.pk).update(
        state=RecordingState.REMOVED, key="", removed_at=timezone.now(), duration_ms=None
    )
    assert of(manager).builds == ()


def test_nothing_of_safety_is_counted_for_the_untrained(
    manager: User, tester: User, script: Script, build: Build
) -> None:
    hidden = make.script(area="safety")
    for _ in range(5):
        recorded(make.result(tester, hidden, build))
    assert of(manager).builds == ()
    trained = make.user(None, Role.MANAGER, is_trained=True)
    assert of(trained).builds[0].figures[0].n == 5
    page = make.client_of(manager).get(f"{reverse('heard_calls')}?script={hidden.slug}")
    assert page.status_code == 404


def test_the_number_of_queries_does_not_depend_on_the_number_of_recordings(
    manager: User, tester: User, script: Script, build: Build, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        recorded(make.result(tester, script, build))
    with django_assert_max_num_queries(4):
        found = of(manager)
    with django_assert_max_num_queries(2):
        list_calls(Counting(manager, Filters()), found, build.name, "latency")


def test_both_dashboards_fetch_it_and_it_is_a_page_without_a_script(
    manager: User, tester: User, script: Script, build: Build
) -> None:
    for _ in range(5):
        recorded(make.result(tester, script, build))
    rebuild_counts()
    client = make.client_of(manager)
    for address in (reverse("dashboard"), reverse("script_dashboard", args=[script.slug])):
        assert f'hx-get="{reverse("heard_calls")}?' in client.get(f"{address}?build=any").content.decode()
    whole = client.get(f"{reverse('heard_calls')}?build=any").content.decode()
    assert "<h1>What recordings say</h1>" in whole
    assert "0.80 s" in whole
    part = client.get(f"{reverse('heard_calls')}?build=any", headers={"HX-Request": "true"}).content.decode()
    assert "<h1>" not in part
    assert "0.80 s" in part


def test_where_there_is_none_it_says_what_will_be_here(manager: User) -> None:
    page = make.client_of(manager).get(f"{reverse('heard_calls')}?build=any").content.decode()
    assert "Once there are some" in page


def test_two_builds_that_are_compared_lead_to_their_figures(
    manager: User, tester: User, script: Script, build: Build
) -> None:
    for each in (build, make.build("2026.43")):
        for _ in range(5):
            recorded(make.result(tester, script, each, ratings=4))
    rebuild_counts()
    client = make.client_of(manager)
    page = client.get(f"/dashboard/compare/?build=2026.43&other=2026.42&area={script.area}").content.decode()
    (link,) = re.findall(rf'href="({reverse("heard_calls")}[^"]*)"', page)
    found = client.get(unescape(link)).content.decode()
    assert link.count("build=") == 1
    assert f"area={script.area}" in link
    assert 'aria-current="true"><th scope="row"><bdi>2026.43</bdi>' in found
    assert "<bdi>2026.42</bdi>" in found
