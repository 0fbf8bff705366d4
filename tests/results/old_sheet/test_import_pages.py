"""The pages of the import: upload, look, all good rows or nothing, and who may see what."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from results.models import Result, SheetUpload
from results.old_sheet import keep_upload
from scripts_catalog import catalogue_file, taxonomy
from scripts_catalog.load_catalogue import load_catalogue
from scripts_catalog.management.commands.load_catalogue import SHIPPED
from scripts_catalog.models import Script
from tests import make
from tests.results.old_sheet.sheet import as_csv, as_xlsx, golden_rows, row

pytestmark = pytest.mark.django_db
GOOD, BAD = row(), row(time="3/3/2026 10:00", content="9", link="javascript:alert('x')")


@pytest.fixture(autouse=True)
def _folder(settings: Any, tmp_path: Path) -> None:
    settings.IMPORTS_DIR = tmp_path / "imports"


@pytest.fixture(autouse=True)
def _scripts(db: None) -> None:
    make.script("small-talk")


def upload(client: Client, tmp_path: Path, *rows: dict[str, Any], name: str = "old sheet.csv") -> HttpResponse:
    content = as_csv(tmp_path / "made.csv", rows).read_bytes()
    return send(client, content, name)


def send(client: Client, content: bytes, name: str = "old sheet.csv") -> HttpResponse:
    response: HttpResponse = client.post(reverse("import_sheet"), {"file": SimpleUploadedFile(name, content)})
    return response


def page_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def apply(client: Client, agreed: int | str = 1) -> HttpResponse:
    kept = SheetUpload.objects.get()
    response: HttpResponse = client.post(reverse("import_apply", args=[kept.pk]), {"agreed": agreed})
    return response


def kept_files(settings: Any) -> list[Path]:
    return list(Path(settings.IMPORTS_DIR).iterdir())


# --- words ---------------------------------------------------------------------------------------


def test_the_page_says_what_it_takes_and_what_of_an_export_does_not_come_along(eval_client: Client) -> None:
    page = " ".join(page_of(eval_client, reverse("import_sheet")).split())
    assert "<h1>Import results</h1>" in page
    assert "From the old results sheet, or from a file that was exported here." in page
    assert (
        "What does not come along: the moments of the call, the result's number, the tester's name, "
        "the version of the script, and when it was filed and reviewed." in page
    )
    for column in ("Call date", "Script title", "Area", "Order known"):  # those that are left without a word
        assert column in page


def test_the_preview_of_an_export_names_what_stays_behind(eval_client: Client, tmp_path: Path) -> None:
    exported = {**GOOD, "Number": "5", "Tester name": "Ana", "Call date": "2026-03-02", "Moments": "0:30 she froze"}
    content = as_csv(tmp_path / "made.csv", [exported], columns=list(exported)).read_bytes()
    said = page_of(eval_client, send(eval_client, content, "results.csv")["Location"])
    assert "These columns of an export are not imported: Number, Tester name, Moments." in said


# --- upload --------------------------------------------------------------------------------------


def test_an_upload_is_shown_before_anything_is_imported(eval_client: Client, tmp_path: Path) -> None:
    response = upload(eval_client, tmp_path, GOOD, BAD)
    assert response.status_code == 302
    page = page_of(eval_client, response["Location"])
    assert "Import the one good row" in page
    for words in ("old sheet.csv", "javascript:alert(&#x27;x&#x27;)", "not a link", "score out of range"):
        assert words in page
    assert "<strong>1 new tester</strong>" in page
    assert not Result.objects.exists()
    assert not User.objects.filter(email="ana@example.test").exists()


def test_the_file_is_kept_where_only_we_can_read_it_under_a_name_that_says_nothing(
    eval_client: Client, eval_member: User, tmp_path: Path, settings: Any
) -> None:
    upload(eval_client, tmp_path, GOOD, name="../../old sheet.csv")
    kept = SheetUpload.objects.get()
    assert (kept.owner, kept.name) == (eval_member, "old sheet.csv")
    (path,) = kept_files(settings)
    assert path.name == kept.pk.hex
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty."),
        (b"a,b\n1,2\n", "its first row names none of the columns"),
        (b"PK\x03\x04", "The workbook is damaged"),
        (b"\x00" * 100, "does not look like"),
    ],
    ids=["empty", "other columns", "no workbook", "noughts"],
)
def test_a_file_that_is_no_sheet_is_answered_beside_the_field_and_not_kept(
    eval_client: Client, settings: Any, content: bytes, words: str
) -> None:
    response = send(eval_client, content)
    assert response.status_code == 422
    page = response.content.decode()
    assert page.count(words) == 2  # in the summary and beside the field
    assert 'href="#id_file"' in page
    assert 'aria-invalid="true"' in page
    assert not SheetUpload.objects.exists()
    assert not kept_files(settings)


def test_no_file_is_answered_beside_the_field(eval_client: Client) -> None:
    response = eval_client.post(reverse("import_sheet"))
    assert response.status_code == 422
    assert "Choose the file of the sheet." in response.content.decode()


def test_an_upload_that_is_too_large_is_let_go(
    eval_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep_upload, "MOST_BYTES", 10)
    response = send(eval_client, b"x" * 200_000)
    assert response.status_code == 422
    assert "larger than 100 MB" in response.content.decode()
    assert not SheetUpload.objects.exists()


def test_the_upload_is_guarded_against_forged_requests(eval_member: User, tmp_path: Path) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(eval_member)
    assert upload(client, tmp_path, GOOD).status_code == 403
    assert not SheetUpload.objects.exists()


# --- the decision --------------------------------------------------------------------------------


def test_the_good_rows_are_imported_and_the_report_stays(
    eval_client: Client, tmp_path: Path, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    url = upload(eval_client, tmp_path, GOOD, BAD)["Location"]
    with django_capture_on_commit_callbacks(execute=True):
        assert apply(eval_client)["Location"] == url
    assert Result.objects.count() == 1
    page = page_of(eval_client, url)
    assert "1 result was added." in page
    assert "score out of range" in page
    assert "1 result added" in page_of(eval_client, reverse("import_sheet"))
    assert kept_files(settings) == []


def test_a_second_click_imports_nothing_more(eval_client: Client, tmp_path: Path) -> None:
    upload(eval_client, tmp_path, GOOD)
    first, second = apply(eval_client), apply(eval_client)
    assert first["Location"] == second["Location"]
    assert Result.objects.count() == 1


@pytest.mark.parametrize("agreed", [2, 0, -1, "", "many"])
def test_another_number_than_was_shown_imports_nothing_and_shows_again(
    eval_client: Client, tmp_path: Path, agreed: int | str
) -> None:
    upload(eval_client, tmp_path, GOOD)
    response = apply(eval_client, agreed)
    assert response.status_code == 409
    assert "has changed since you looked" in response.content.decode()
    assert not Result.objects.exists()


def test_a_conflict_shows_both_values_and_leads_to_the_result(eval_client: Client, tmp_path: Path) -> None:
    upload(eval_client, tmp_path, GOOD)
    apply(eval_client)
    filed = Result.objects.get()
    page = page_of(eval_client, upload(eval_client, tmp_path, row(comment="Other words.", content="1"))["Location"])
    table = page.split("<tbody")[1].split("</tbody>")[0]
    for words in ("Comment", "Other words.", "She waited for me.", "imported before"):
        assert words in table
    assert table.count("conflicts with a row filed before") == 1, "one reason, in two columns"
    assert table.count(f'href="{filed.get_absolute_url()}"') == 1
    assert f"result {filed.pk}" not in table


def test_a_report_forgets_the_words_of_a_result_that_became_safety(eval_client: Client, tmp_path: Path) -> None:
    upload(eval_client, tmp_path, GOOD)
    apply(eval_client)
    SheetUpload.objects.all().delete()
    changed = [row(comment="Other words."), row(time="3/3/2026 10:00"), row(time="3/3/2026 10:00", comment="Repeated.")]
    url = upload(eval_client, tmp_path, *changed)["Location"]
    apply(eval_client)
    path = Result.objects.earliest("called_at").get_absolute_url()
    assert path in page_of(eval_client, url)
    Result.objects.filter(comment="She waited for me.").update(filed_as_safety=True)
    page = page_of(eval_client, url)
    assert path not in page
    assert page.count("She waited for me.") == 1, "what the sheet itself says of two of its rows stays"


def test_a_script_that_became_unknown_meanwhile_is_found_when_importing(eval_client: Client, tmp_path: Path) -> None:
    make.script("second")
    upload(eval_client, tmp_path, GOOD, row(script="second"))
    Script.objects.filter(slug="second").update(area=taxonomy.SAFETY)
    response = apply(eval_client, 2)
    assert response.status_code == 409
    assert "unknown script" in response.content.decode()
    assert not Result.objects.exists()


def test_nothing_may_be_the_decision(eval_client: Client, tmp_path: Path, settings: Any) -> None:
    upload(eval_client, tmp_path, GOOD)
    response = eval_client.post(reverse("import_discard", args=[SheetUpload.objects.get().pk]), follow=True)
    assert "was thrown away. Nothing was imported." in response.content.decode()
    assert not SheetUpload.objects.exists()
    assert kept_files(settings) == []


def test_a_sheet_with_nothing_new_offers_nothing_to_import(eval_client: Client, tmp_path: Path) -> None:
    upload(eval_client, tmp_path, GOOD)
    apply(eval_client)
    page = page_of(eval_client, upload(eval_client, tmp_path, GOOD)["Location"])
    assert "There is nothing new in this sheet." in page
    assert 'name="agreed"' not in page


def test_an_empty_sheet_says_so(eval_client: Client, tmp_path: Path) -> None:
    assert "no row below it" in page_of(eval_client, upload(eval_client, tmp_path)["Location"])


def test_many_bad_rows_are_paged(eval_client: Client, tmp_path: Path) -> None:
    rows = [row(time=f"1/3/2026 {n // 60}:{n % 60:02}", content="9") for n in range(120)]
    url = upload(eval_client, tmp_path, *rows)["Location"]
    assert page_of(eval_client, url).count("score out of range") == 50
    last = page_of(eval_client, f"{url}?page=3")
    assert last.count("score out of range") == 20
    assert "Page 3 of 3" in last
    assert "Page 3 of 3" in page_of(eval_client, f"{url}?page=99")


# --- whose it is ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["import_preview", "import_apply", "import_discard"])
def test_an_upload_is_its_owner_s_alone(eval_client: Client, tmp_path: Path, name: str) -> None:
    upload(eval_client, tmp_path, GOOD)
    other = make.client_of(make.user("else@example.test", Role.EVAL_TEAM, is_trained=True))
    url = reverse(name, args=[SheetUpload.objects.get().pk])
    response = other.get(url) if name == "import_preview" else other.post(url, {"agreed": 1})
    assert response.status_code == 404
    assert "old sheet.csv" not in page_of(other, reverse("import_sheet"))


def test_it_is_for_the_eval_team_alone(tester_client: Client, manager_client: Client, tmp_path: Path) -> None:
    for client in (tester_client, manager_client):
        assert client.get(reverse("import_sheet")).status_code == 403
        assert upload(client, tmp_path, GOOD).status_code == 403
    assert not SheetUpload.objects.exists()


def test_a_safety_row_reads_the_same_as_a_script_that_is_not_there(eval_client: Client, tmp_path: Path) -> None:
    make.script("dark-hour", area=taxonomy.SAFETY)
    pages = []
    for slug in ("dark-hour", "hour-dark"):
        page = page_of(eval_client, upload(eval_client, tmp_path, row(script=slug))["Location"])
        body = page.split("<main")[1]
        tokens = [part.split('"')[0] for part in body.split('value="')[1:]] + [body.split("/import/")[2][:36]]
        for token in tokens:
            body = body.replace(token, "")
        pages.append(body.replace(slug, ""))
    assert pages[0] == pages[1]


def test_a_report_that_tells_of_safety_is_gone_with_the_training(trained_eval_member: User, tmp_path: Path) -> None:
    make.script("dark-hour", area=taxonomy.SAFETY)
    client = make.client_of(trained_eval_member)
    url = upload(client, tmp_path, row(script="dark-hour"))["Location"]
    apply(client)
    assert "1 result was added." in page_of(client, url)
    Training.objects.update(revoked_at=timezone.now())
    assert client.get(url).status_code == 404
    assert "old sheet.csv" not in page_of(client, reverse("import_sheet"))


# --- forgetting ----------------------------------------------------------------------------------


def test_after_a_day_an_upload_is_forgotten(eval_client: Client, tmp_path: Path, settings: Any) -> None:
    url = upload(eval_client, tmp_path, GOOD)["Location"]
    (path,) = kept_files(settings)
    long_ago = timezone.now() - timedelta(hours=25)
    os.utime(path, (long_ago.timestamp(), long_ago.timestamp()))
    SheetUpload.objects.update(uploaded_at=long_ago)
    keep_upload.forget_uploads()
    assert kept_files(settings) == []
    assert eval_client.get(url).status_code == 404


def test_what_is_younger_than_a_day_or_was_imported_stays(eval_client: Client, tmp_path: Path) -> None:
    upload(eval_client, tmp_path, GOOD)
    apply(eval_client)
    SheetUpload.objects.update(uploaded_at=timezone.now() - timedelta(days=3))
    upload(eval_client, tmp_path, GOOD)
    keep_upload.forget_uploads()
    assert SheetUpload.objects.count() == 2


def test_a_file_that_was_lost_sends_back_to_the_upload(eval_client: Client, tmp_path: Path, settings: Any) -> None:
    url = upload(eval_client, tmp_path, GOOD)["Location"]
    kept_files(settings)[0].unlink()
    response = eval_client.get(url, follow=True)
    assert "no longer kept" in response.content.decode()


def test_one_person_keeps_only_a_few_uploads(eval_client: Client, tmp_path: Path, settings: Any) -> None:
    for _ in range(7):
        upload(eval_client, tmp_path, GOOD)
    assert SheetUpload.objects.count() == len(kept_files(settings)) == 5


def test_a_workbook_goes_all_the_way_through_the_pages(trained_eval_member: User, tmp_path: Path) -> None:
    client = make.client_of(trained_eval_member)
    load_catalogue(catalogue_file.read(SHIPPED.read_text(encoding="utf-8")))
    rows = [{**said, "Comment": said["Comment"].replace("\x0b", "_x000B_")} for said in golden_rows()]
    content = as_xlsx(tmp_path / "made.xlsx", rows).read_bytes()
    response = send(client, content, "old sheet.xlsx")
    assert response.status_code == 302
    assert "Import the 215 good rows" in page_of(client, response["Location"])
    apply(client, agreed=215)
    assert Result.objects.count() == 215
