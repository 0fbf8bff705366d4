"""Names that deceive: no build can have one, however it is registered, and what is kept stays readable."""

from __future__ import annotations

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from results.models import Round, SavedView, Wanted
from scripts_catalog.models import Build
from scripts_catalog.names import fault_of_build, look_of
from scripts_catalog.register_build import BuildExistsError, BuildNameError, Particulars, register_build
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
FOR_EVERY_BUILD = ["any", "ANY", "Any", "\uff41\uff4e\uff59"]
UNSEEN = [
    "2026.9\u200b",
    "2026.9\ufe0f",
    "\u2066\u202e2026.9",
    "2026\ufeff.9",
    "2026.9\ue000",
    "2026.9\u3164",
    "2026\u00ad.9",
    "\u2800",
]
OUT_OF_PLACE = [" 2026.9", "2026.9 ", "2026  9", "2026.9\u2028x", "2026\n9"]
ALIKE = ["2026.9-BETA", "\uff12026.9-beta", "2026.09-beta", "2026.9-bet\u1d43", "2026.9\uff0dbeta"]


@pytest.mark.parametrize("name", [*FOR_EVERY_BUILD, *UNSEEN, *OUT_OF_PLACE])
def test_no_build_is_registered_under_a_name_that_deceives(eval_member: User, name: str) -> None:
    assert fault_of_build(name)
    with pytest.raises(BuildNameError):
        register_build(name, Particulars(), make_current=False, by=eval_member)
    assert not Build.objects.exists()


@pytest.mark.parametrize("name", ALIKE)
def test_names_that_look_alike_are_of_one_build(eval_member: User, eval_client: Client, name: str) -> None:
    register_build("2026.9-beta", Particulars(), make_current=False, by=eval_member)
    with pytest.raises(BuildExistsError):
        register_build(name, Particulars(), make_current=False, by=eval_member)
    answer = eval_client.post("/builds/new/", {"name": name})
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["name"])
    assert Build.objects.count() == 1


@pytest.mark.parametrize("name", ["2026.48", "release/2026.43", "ビルド 1", "café 2", "any 2026", "Größe", "نسخة 3"])
def test_what_people_call_builds_is_taken(eval_client: Client, name: str) -> None:
    assert eval_client.post("/builds/new/", {"name": name}).status_code == 302
    assert Build.objects.get().name == name


@pytest.mark.parametrize("name", [*FOR_EVERY_BUILD, *UNSEEN])
def test_the_form_says_what_is_wrong(eval_client: Client, name: str) -> None:
    answer = eval_client.post("/builds/new/", {"name": name})
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["name"])
    assert not Build.objects.exists()


def test_a_build_that_has_such_a_name_stays_readable(eval_client: Client, eval_member: User) -> None:
    build = make.build("an\u200by")
    register_build("2026.9", Particulars(), make_current=True, by=eval_member)
    assert eval_client.get("/builds/").status_code == 200
    assert eval_client.post(f"/builds/{build.pk}/", {"note": "Named long ago."}).status_code == 302
    assert look_of(build.name) != look_of("any")


@pytest.mark.parametrize("name", ["\u200b", "Low\u202e content", "\u2066\u2069", "\u3164", "\u200d"])
def test_rounds_and_views_have_names_that_can_be_seen(manager: User, name: str) -> None:
    client = make.client_of(manager)
    build, script = make.build("2026.9"), make.script("bad-news-day")
    planned = {"name": name, "build": build.pk, f"runs-{script.slug}": "3"}
    kept = {"name": name, "page": "/dashboard/", "query": ""}
    for path, typed in (("/rounds/new/", planned), ("/views/new/", kept)):
        answer = client.post(path, typed)
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["name"]), path
    assert not Round.objects.exists()
    assert not SavedView.objects.exists()


@pytest.mark.parametrize("name", ["پیش\u200cنویس", "\U0001f469\u200d\U0001f680 week", "Low ❤\ufe0f"])
def test_what_shapes_letters_is_part_of_a_name(manager: User, name: str) -> None:
    build, script = make.build("2026.9"), make.script("bad-news-day")
    planned = {"name": name, "build": build.pk, f"runs-{script.slug}": "3"}
    assert make.client_of(manager).post("/rounds/new/", planned).status_code == 302
    assert Wanted.objects.get().round.name == name
