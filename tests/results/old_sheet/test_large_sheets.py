"""Sheets that are too large to wait for: a worker looks through them, and imports when the owner agreed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox.deliver import MOST_ATTEMPTS, deliver
from emma_eval.outbox.models import Row
from results import tasks  # noqa: F401  (registers the handlers)
from results.models import Result, SheetState, SheetUpload
from results.old_sheet import import_sheet, keep_upload, large_sheets
from scripts_catalog import taxonomy
from scripts_catalog.models import Script
from tests import make
from tests.results.old_sheet.sheet import as_csv, row

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
ROWS = [row(time=f"{day}/3/2026 10:00", content="9" if day == 3 else "4") for day in range(1, 9)]


@pytest.fixture(autouse=True)
def _folder(settings: Any, tmp_path: Path) -> None:
    settings.IMPORTS_DIR = tmp_path / "imports"


@pytest.fixture(autouse=True)
def _nearly_every_sheet_is_large(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_sheet, "ROWS_IN_A_BATCH", 2)
    monkeypatch.setattr(large_sheets, "ROWS_AT_ONCE", 2)
    make.script("small-talk")


def upload(client: Client, tmp_path: Path, rows: list[dict[str, Any]] = ROWS) -> SheetUpload:
    content = as_csv(tmp_path / "made.csv", rows).read_bytes()
    response = client.post(reverse("import_sheet"), {"file": SimpleUploadedFile("old sheet.csv", content)})
    assert response.status_code == 302, response.content.decode()
    return SheetUpload.objects.latest("uploaded_at")


def work(upload: SheetUpload) -> SheetUpload:
    """What a worker does when it is woken for it."""
    upload = read_again(upload)
    assert upload.work is not None
    Row.objects.filter(pk=upload.work.pk).update(next_try_at=timezone.now(), lease_until=None)
    assert deliver(upload.work.pk)
    return read_again(upload)


def read_again(upload: SheetUpload) -> SheetUpload:
    return SheetUpload.objects.select_related("work").get(pk=upload.pk)


def agree(client: Client, upload: SheetUpload, agreed: int = 7) -> Any:
    return client.post(reverse("import_apply", args=[upload.pk]), {"agreed": agreed})


def page_of(client: Client, upload: SheetUpload, status: int = 200) -> str:
    response = client.get(upload.get_absolute_url())
    assert response.status_code == status
    return response.content.decode()


def part_of(client: Client, upload: SheetUpload) -> Any:
    return client.get(upload.get_absolute_url(), headers={"HX-Request": "true"})


def test_a_large_sheet_is_looked_through_by_a_worker_and_imported_by_one(eval_client: Client, tmp_path: Path) -> None:
    kept = upload(eval_client, tmp_path)
    assert kept.state == SheetState.LOOKING
    page = page_of(eval_client, kept)
    assert "about to be looked through" in page
    assert 'hx-trigger="every 1s"' in page

    kept = work(kept)
    assert kept.state == SheetState.LOOKED
    page = page_of(eval_client, kept)
    for words in ("Import the 7 good rows", "score out of range", "1 new tester", "ana@example.test"):
        assert words in page
    assert not Result.objects.exists()

    assert agree(eval_client, kept).status_code == 302
    kept = read_again(kept)
    assert kept.state == SheetState.IMPORTING
    assert "are being imported" in page_of(eval_client, kept)
    kept = work(kept)
    assert kept.state is None
    assert Result.objects.count() == 7
    assert "7 results were added." in page_of(eval_client, kept)


def test_the_list_of_uploads_says_what_is_done_with_them(eval_client: Client, tmp_path: Path) -> None:
    kept = upload(eval_client, tmp_path)
    assert "being looked through" in eval_client.get(reverse("import_sheet")).content.decode()
    kept = work(kept)
    agree(eval_client, kept)
    assert "being imported" in eval_client.get(reverse("import_sheet")).content.decode()
    work(kept)
    assert "7 results added" in eval_client.get(reverse("import_sheet")).content.decode()


def test_a_small_sheet_is_looked_through_at_once(eval_client: Client, tmp_path: Path) -> None:
    kept = upload(eval_client, tmp_path, ROWS[:2])
    assert (kept.state, kept.work) == (None, None)
    assert "Import the 2 good rows" in page_of(eval_client, kept)


def test_a_sheet_is_large_by_its_bytes_too(
    eval_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_sheets, "BYTES_AT_ONCE", 100)
    assert upload(eval_client, tmp_path, ROWS[:1]).state == SheetState.LOOKING


def test_what_is_no_sheet_is_answered_at_once_however_large(
    eval_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_sheets, "BYTES_AT_ONCE", 100)
    file = SimpleUploadedFile("s.csv", b"Name,Age\n" + b"Ana,3\n" * 1000)
    response = eval_client.post(reverse("import_sheet"), {"file": file})
    assert response.status_code == 422
    assert "names none of the columns" in response.content.decode()


def test_how_far_it_is_is_told_in_a_part_that_ends_with_the_whole_page(
    eval_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_sheets, "TELL_EVERY_S", 0.0)
    kept, told = upload(eval_client, tmp_path), []
    monkeypatch.setattr(large_sheets, "hold_on", lambda: told.append(part_of(eval_client, kept).content.decode()))
    work(kept)
    figures = [re.findall(r"([\d,]+) rows? so far", part) for part in told]
    assert figures == [["0"], ["2"], ["4"], ["6"]]
    assert "<html" not in told[0]
    assert part_of(eval_client, kept)["HX-Refresh"] == "true"


def test_a_second_click_imports_nothing_more(eval_client: Client, tmp_path: Path) -> None:
    kept = work(upload(eval_client, tmp_path))
    agree(eval_client, kept)
    assert agree(eval_client, kept).status_code == 302
    assert Row.objects.filter(handler=large_sheets.IMPORT).count() == 1
    done = work(kept)
    large_sheets.import_large_sheet(str(done.pk))
    large_sheets.look_at_sheet(str(done.pk))
    assert Result.objects.count() == 7


@pytest.mark.parametrize("agreed", [6, 8])
def test_another_number_than_was_shown_imports_nothing(eval_client: Client, tmp_path: Path, agreed: int) -> None:
    kept = work(upload(eval_client, tmp_path))
    response = agree(eval_client, kept, agreed)
    assert response.status_code == 409
    assert read_again(kept).state == SheetState.LOOKED


def test_what_has_changed_since_the_look_is_looked_at_again(eval_client: Client, tmp_path: Path) -> None:
    kept = work(upload(eval_client, tmp_path))
    agree(eval_client, kept)
    import_sheet.import_sheet(as_csv(tmp_path / "other.csv", ROWS[:1]), None, "other.csv")
    kept = work(kept)
    assert kept.state == SheetState.LOOKING
    assert Result.objects.count() == 1
    kept = work(kept)
    page = page_of(eval_client, kept)
    assert "has changed since you looked" in page
    assert "Import the 6 good rows" in page


def test_a_sheet_that_can_t_be_read_to_its_end_says_so(eval_client: Client, tmp_path: Path) -> None:
    kept = upload(eval_client, tmp_path)
    with kept.path.open("a") as file:
        file.write('"never closed')
    kept = work(kept)
    assert kept.state == SheetState.FAILED
    assert "a quotation mark there is not closed" in page_of(eval_client, kept)
    assert eval_client.post(reverse("import_discard", args=[kept.pk])).status_code == 302
    assert not SheetUpload.objects.exists()


def test_a_file_that_is_gone_and_work_that_was_given_up_say_so(eval_client: Client, tmp_path: Path) -> None:
    kept = upload(eval_client, tmp_path)
    Row.objects.filter(pk=read_again(kept).work_id).update(attempts=MOST_ATTEMPTS)
    assert "was tried several times" in page_of(eval_client, work(kept))
    kept = upload(eval_client, tmp_path)
    kept.path.unlink()
    assert "no longer kept" in page_of(eval_client, work(kept))


def test_who_may_no_longer_import_imports_nothing(eval_client: Client, eval_member: User, tmp_path: Path) -> None:
    kept = work(upload(eval_client, tmp_path))
    agree(eval_client, kept)
    eval_member.groups.clear()
    assert work(kept).failed_because == large_sheets.NO_LONGER_ALLOWED
    assert not Result.objects.exists()


def test_what_is_being_imported_is_not_thrown_away(eval_client: Client, tmp_path: Path) -> None:
    kept = work(upload(eval_client, tmp_path))
    agree(eval_client, kept)
    eval_client.post(reverse("import_discard", args=[kept.pk]))
    for _ in range(keep_upload.KEPT_FOR_ONE + 1):
        upload(eval_client, tmp_path)
    assert read_again(kept).path.exists()


def test_a_look_that_tells_of_safety_is_gone_with_the_training(trained_eval_member: User, tmp_path: Path) -> None:
    client = make.client_of(trained_eval_member)
    Script.objects.update(area=taxonomy.SAFETY)
    kept = work(upload(client, tmp_path))
    page_of(client, kept)
    trained_eval_member.trainings.all().delete()
    page_of(client, kept, status=404)


def test_a_worker_looks_with_the_eyes_of_the_owner(eval_client: Client, tmp_path: Path) -> None:
    Script.objects.update(area=taxonomy.SAFETY)
    kept = work(upload(eval_client, tmp_path))
    page = page_of(eval_client, kept)
    assert page.count("unknown script") >= 8
    assert not kept.tells_of_safety
