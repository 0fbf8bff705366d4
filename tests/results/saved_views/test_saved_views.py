"""Views are saved, shared, changed and removed; no address but our own is ever kept or opened."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.models import Digest, SavedView
from results.rounds.plan_round import Plan, plan_round
from results.saved_views.addresses import PAGES, known_part, read_address
from results.saved_views.list_views import list_views, own_view
from results.saved_views.save_view import (
    MOST_VIEWS,
    CannotBeMailedError,
    NameTakenError,
    Said,
    TooManyViewsError,
    change_view,
    remove_view,
    save_view,
)
from scripts_catalog.models import Script
from tests import make

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
NOW = datetime(2026, 11, 25, 3, 0, tzinfo=UTC)


def save(owner: User, path: str = "/results/", query: str = "", **said: object) -> SavedView:
    address = read_address(path, query)
    assert address is not None
    return save_view(owner, address, Said(**{"name": "Low content", **said}), NOW)


# --- addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "query", "url"),
    [
        ("/results/", "", "/results/"),
        ("/results/", "script=bad-news-day&sort=content", "/results/?script=bad-news-day&sort=content"),
        ("/results/", "q=a%26b%3Dc&q=", "/results/?q=a%26b%3Dc"),
        ("/results/", "after=abc&next=//evil.example&build=1", "/results/?build=1"),
        ("/dashboard/", "build=any&tags=reviewed", "/dashboard/?build=any&tags=reviewed"),
        ("/dashboard/scripts/bad-news-day/", "over=week", "/dashboard/scripts/bad-news-day/?over=week"),
        ("/dashboard/coverage/", "build=1&round=5&x=1", "/dashboard/coverage/?build=1&round=5"),
        ("/dashboard/compare/", "build=2&with=1", "/dashboard/compare/?build=2&with=1"),
    ],
)
def test_an_address_of_ours_is_kept_with_the_keys_that_its_page_has(path: str, query: str, url: str) -> None:
    address = read_address(path, query)
    assert address is not None
    assert address.url == url
    again = read_address(address.path, address.query)
    assert again == address, "what is kept is read as it was written"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "results/",
        "//evil.example/results/",
        "https://evil.example/results/",
        "/\\evil.example/",
        "javascript:alert(1)",
        "/results/../people/",
        "/results/%2e%2e/",
        "/people/",
        "/account/logout/",
        "/results/1/",
        "/results/export/",
        "/dashboard/scripts/a%00/",
        "/results/" + "a" * 300,
        "/results/\r\nLocation: https://evil.example/",
    ],
)
def test_no_other_address_is_kept(path: str, tester: User, tester_client: Client) -> None:
    assert read_address(path, "") is None
    answer = tester_client.post("/views/new/", {"name": "x", "page": path, "query": ""})
    assert (answer.status_code, answer.url) == (302, "/views/")
    assert not SavedView.objects.exists()


def test_a_query_that_is_too_long_or_has_too_many_keys_is_none() -> None:
    assert read_address("/results/", "q=" + "a" * 3000) is None
    many = read_address("/results/", "&".join(f"{n}=1" for n in range(150)))
    assert many is not None
    assert many.params == ()


def test_a_row_that_came_about_otherwise_leads_nowhere_else(tester: User) -> None:
    SavedView.objects.create(owner=tester, name="bad", path="//evil.example/", query="")
    SavedView.objects.create(owner=tester, name="fine", path="/results/", query="next=https://evil.example&camera=yes")
    (shown,) = list_views(tester).own
    assert shown.address.url == "/results/?camera=yes"


def test_every_page_that_can_be_kept_is_there() -> None:
    paths = ["/results/", "/dashboard/", "/dashboard/scripts/a/", "/dashboard/compare/", "/dashboard/agreement/"]
    found = [read_address(path, "") for path in [*paths, "/dashboard/coverage/"]]
    assert {address.name for address in found if address} == set(PAGES)


# --- keeping -----------------------------------------------------------------------------------


def test_a_view_is_saved_changed_and_removed(tester: User) -> None:
    view = save(tester, query="high=2&dimension=content&low=1")
    assert (view.path, view.query, view.is_shared) == ("/results/", "dimension=content&high=2&low=1", False)
    assert change_view(view, Said("Low", is_shared=True), NOW)
    assert not change_view(view, Said("Low", is_shared=True), NOW)
    view.refresh_from_db()
    assert (view.name, view.is_shared) == ("Low", True)
    remove_view(view)
    assert not SavedView.objects.exists()


def test_a_name_is_taken_once_by_each_person(tester: User, manager: User) -> None:
    save(tester)
    save(manager)
    with pytest.raises(NameTakenError):
        save(tester)
    other = save(tester, name="Other")
    with pytest.raises(NameTakenError):
        change_view(other, Said("Low content"), NOW)
    assert SavedView.objects.get(pk=other.pk).name == "Other"


def test_nobody_has_more_views_than_there_may_be(tester: User) -> None:
    SavedView.objects.bulk_create(SavedView(owner=tester, name=f"{n}", path="/results/") for n in range(MOST_VIEWS))
    with pytest.raises(TooManyViewsError):
        save(tester)


def test_what_is_shared_or_mailed_stands_in_the_trail(manager: User) -> None:
    view = save(manager, "/dashboard/", is_mailed=True)
    change_view(view, Said("Low content", is_shared=True), NOW)
    change_view(view, Said("Low content"), NOW)
    said = list(AuditEntry.objects.order_by("at").values_list("action", flat=True))
    assert said == ["asked for a weekly digest", "shared a view", "stopped a weekly digest", "stopped sharing a view"]


def test_the_trail_names_no_view_and_hides_those_of_what_is_safety_by_now(
    manager: User, administrator: User, trained_eval_member: User
) -> None:
    build, scripts = make.build(), [make.script("one"), make.script("two")]
    round_ = plan_round(manager, Plan("jx55 round", build, None, "", {script.slug: 1 for script in scripts}))
    save(manager, "/dashboard/coverage/", f"build={build.sort_key}&round={round_.pk}", name="jx55 view", is_shared=True)
    save(manager, "/results/", "script=one", name="jx55 other", is_shared=True)
    save(manager, name="Everything", is_shared=True)
    seen = AuditEntry.objects.filter(action="shared a view")
    assert seen.visible_to(administrator).count() == 3
    assert not any("jx55" in f"{line.target} {line.details}" for line in seen)
    Script.objects.update(area="safety")
    everything = SavedView.objects.get(name="Everything")
    assert [line.target for line in seen.visible_to(administrator)] == [str(everything.pk)]
    assert seen.visible_to(trained_eval_member).count() == 3


def test_only_what_has_a_digest_is_mailed_and_never_what_is_about_safety(trained_eval_member: User) -> None:
    make.script("quiet", area="safety")
    for path, query in [("/results/", ""), ("/dashboard/", "area=safety"), ("/dashboard/scripts/quiet/", "")]:
        with pytest.raises(CannotBeMailedError):
            save(trained_eval_member, path, query, is_mailed=True)
    assert not SavedView.objects.exists()


def test_the_first_letter_is_that_of_the_next_monday(manager: User) -> None:
    view = save(manager, "/dashboard/", is_mailed=True)
    assert [str(digest.week) for digest in Digest.objects.filter(view=view)] == ["2026-11-23"]


# --- who sees which ----------------------------------------------------------------------------


def test_others_see_what_is_shared_and_may_be_opened_by_them(manager: User, tester: User, eval_member: User) -> None:
    save(manager, name="mine alone")
    save(manager, name="for all", is_shared=True)
    save(manager, "/dashboard/", name="figures", is_shared=True)
    assert [shown.view.name for shown in list_views(tester).shared] == ["for all"]
    assert [shown.view.name for shown in list_views(eval_member).shared] == ["figures", "for all"]
    manager.is_active = False
    manager.save()
    assert list_views(tester).shared == []


def test_a_shared_view_is_its_owners_to_change(manager: User, tester: User, tester_client: Client) -> None:
    view = save(manager, is_shared=True)
    for path in (f"/views/{view.pk}/", f"/views/{view.pk}/remove/"):
        assert tester_client.post(path, {"name": "taken over"}).status_code == 404
    assert SavedView.objects.get().name == "Low content"


def test_what_names_safety_is_for_the_trained_alone(
    trained_eval_member: User, eval_member: User, trained_tester: User
) -> None:
    script = make.script("quiet")
    for path, query in [
        ("/results/", "script=quiet"),
        ("/results/", "area=safety"),
        ("/dashboard/scripts/quiet/", ""),
    ]:
        save(trained_eval_member, path, query, name=path + query, is_shared=True)
    assert len(list_views(eval_member).shared) == 2, "the area alone is hidden"
    type(script).objects.update(area="safety")
    assert list_views(eval_member).shared == []
    assert len(list_views(trained_eval_member).own) == 3
    assert len(list_views(trained_tester).shared) == 2, "the third is no page of a tester"


def test_a_training_that_ended_closes_ones_own(trained_eval_member: User) -> None:
    make.script("quiet", area="safety")
    view = save(trained_eval_member, query="script=quiet")
    assert own_view(trained_eval_member, view.pk) is not None
    trained_eval_member.trainings.update(ends_on="2020-02-01")
    again = User.objects.get(pk=trained_eval_member.pk)
    assert own_view(again, view.pk) is None
    assert list_views(again).own == []


def test_what_is_hidden_and_what_is_not_there_are_left_out_alike(eval_member: User) -> None:
    make.script("quiet", area="safety")
    make.script("loud")
    kept = []
    for slug in ("quiet", "no-such-script", "loud"):
        address = read_address("/results/", f"script={slug}&area=safety&round=5&camera=yes")
        assert address is not None
        known = known_part(eval_member, address)
        assert known is not None
        kept.append(known.query)
    assert kept == ["camera=yes", "camera=yes", "camera=yes&script=loud"]
    pages = [read_address(f"/dashboard/scripts/{slug}/", "") for slug in ("quiet", "no-such-script")]
    assert [known_part(eval_member, page) for page in pages if page] == [None, None]


def test_a_list_of_many_views_asks_few_questions(tester: User, manager: User) -> None:
    for number in range(12):
        save(manager, query="camera=yes", name=f"{number}", is_shared=True)
    with CaptureQueriesContext(connection) as asked:
        assert len(list_views(tester).shared) == 12
    assert len(asked) <= 8


# --- pages -------------------------------------------------------------------------------------


def test_the_results_tab_offers_to_save_what_it_shows(tester_client: Client, db: None) -> None:
    make.script("bad-news-day", title="Bad news day")
    page = tester_client.get("/results/?script=bad-news-day&camera=yes").text
    link = "/views/new/?page=%2Fresults%2F&amp;query=script%3Dbad-news-day%26camera%3Dyes"
    assert link in page
    form = tester_client.get(link.replace("&amp;", "&")).text
    assert "Script: Bad news day · Camera used" in form
    tester_client.post(
        "/views/new/", {"page": "/results/", "query": "script=bad-news-day&camera=yes", "name": "Camera"}
    )
    assert (
        '<a href="/results/?camera=yes&amp;script=bad-news-day"><bdi>Camera</bdi></a>'
        in tester_client.get("/views/").text
    )


def test_the_link_follows_the_filters_that_htmx_swaps(tester_client: Client, db: None) -> None:
    part = tester_client.get("/results/?camera=yes", headers={"HX-Request": "true"}).text
    assert "query=camera%3Dyes" in part


@pytest.mark.parametrize("page", ["", "scripts/bad-news-day/", "coverage/", "compare/", "agreement/"])
def test_so_do_the_dashboards(manager_client: Client, page: str) -> None:
    make.result(make.user(), make.script("bad-news-day"), make.build("1", is_current=True))
    make.build("0")
    path = f"/dashboard/{page}"
    assert f"/views/new/?page={path.replace('/', '%2F')}&amp;query=" in manager_client.get(path).text


def test_a_tester_is_not_asked_about_letters(tester_client: Client, manager_client: Client) -> None:
    assert "Mondays" not in tester_client.get("/views/new/?page=/results/").text
    assert "Mondays" in manager_client.get("/views/new/?page=/dashboard/").text
    assert tester_client.get("/views/new/?page=/dashboard/").status_code == 302


@pytest.mark.parametrize(
    ("typed", "words"), [({"name": ""}, "Give the view a name."), ({"name": "Taken"}, "You have a view of this name.")]
)
def test_what_is_wrong_is_said(manager: User, manager_client: Client, typed: dict[str, str], words: str) -> None:
    save(manager, name="Taken")
    said = {"page": "/dashboard/", "query": "area=memory", "is_shared": "on", **typed}
    answer = manager_client.post("/views/new/", said)
    assert answer.status_code == 422
    assert words in answer.text
    assert 'name="is_shared" ' in answer.text
    assert "checked" in answer.text


def test_a_view_is_changed_and_removed_on_its_page(manager: User, manager_client: Client) -> None:
    view = save(manager, "/dashboard/")
    manager_client.post(f"/views/{view.pk}/", {"name": "New", "is_mailed": "on"})
    view.refresh_from_db()
    assert (view.name, view.is_mailed) == ("New", True)
    assert "mailed on Mondays" in manager_client.get("/views/").text
    manager_client.post(f"/views/{view.pk}/remove/")
    assert not SavedView.objects.exists()


def test_nobody_without_the_role_has_a_digest(tester: User, manager: User) -> None:
    view = save(manager, "/dashboard/")
    assert make.client_of(manager).get(f"/views/{view.pk}/digest/").status_code == 200
    manager.groups.clear()
    assert make.client_of(manager).get(f"/views/{view.pk}/digest/").status_code == 403
    assert make.client_of(make.user(None, Role.MANAGER)).get(f"/views/{view.pk}/digest/").status_code == 404
