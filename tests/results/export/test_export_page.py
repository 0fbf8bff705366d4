"""The page on which an export is chosen and asked for."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any, cast

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import Attempt, AuditEntry, User
from emma_eval.accounts.roles import Role
from results.export import order_file, read_rows
from results.export.columns import COLUMNS
from results.export.export_form import imported
from results.export.order_file import EXPORTS
from results.models import Export
from results.views import exports
from tests import make

from .asking import ALL, ask, exported, html_of, read_csv
from .conftest import Kinds

pytestmark = pytest.mark.django_db


def page(client: Client, query: str = "") -> Any:
    return client.get(reverse("export_new") + (f"?{query}" if query else ""))


def ticked(answer: Any) -> list[str]:
    return [choice.key for _, choices in answer.context["chosen"].groups() for choice in choices if choice.is_chosen]


def test_it_says_how_many_results_under_which_filters(client: Client, kinds: Kinds) -> None:
    said = html_of(page(client, "script=bad-news-day&started=yes&sort=content&direction=asc"))
    assert "3 results" in said
    assert "<bdi>Script: Bad news day</bdi>" in said
    assert "<bdi>The call took place</bdi>" in said
    assert "without a filter" in html_of(page(client))


def test_the_list_leads_to_it_with_its_filters_and_its_sort(client: Client, kinds: Kinds) -> None:
    listed = html_of(client.get("/results/?started=yes&sort=content&direction=asc"))
    assert 'href="/results/export/?started=yes&amp;sort=content&amp;direction=asc">Export</a>' in listed


def test_a_tester_is_offered_no_export(tester_client: Client, kinds: Kinds) -> None:
    assert "Export" not in tester_client.get("/results/").text
    assert page(tester_client).status_code == 403


def test_csv_and_all_columns_are_chosen_at_first(client: Client, kinds: Kinds) -> None:
    answer = page(client)
    assert ticked(answer) == ALL
    assert answer.context["chosen"].format == "csv"
    assert f"{len(COLUMNS)} of {len(COLUMNS)} columns" in html_of(answer)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("column=comment&column=id", ["id", "comment"]),
        ("column=none", []),
        ("column=none&column=id", ["id"]),
        ("column=no-such-column&column=id", ["id"]),
        ("without=id&without=comment&without=no-such-column", [key for key in ALL if key not in {"id", "comment"}]),
    ],
)
def test_the_address_remembers_the_columns(client: Client, kinds: Kinds, query: str, expected: list[str]) -> None:
    assert ticked(page(client, query)) == expected


def test_the_address_names_whichever_columns_are_fewer(client: Client, kinds: Kinds) -> None:
    assert page(client, "column=none&column=id").context["here"] == "column=id"
    most = "&".join(f"column={key}" for key in ALL if key != "id")
    assert page(client, most).context["here"] == "without=id"
    assert page(client, "without=id").context["here"] == "without=id"


def test_one_press_chooses_all_columns_none_or_those_that_can_be_imported(client: Client, kinds: Kinds) -> None:
    ways = page(client, "started=yes&format=xlsx&column=id").context
    assert ways["with_all"] == "started=yes&format=xlsx"
    assert ways["with_none"] == "started=yes&format=xlsx&column=none"
    assert ticked(page(client, ways["as_the_sheet"])) == [column.key for column in imported()]
    assert {"called_at", "script", "problems_in_order", "camera_note"} <= {column.key for column in imported()}
    assert "id" not in {column.key for column in imported()}


def test_htmx_gets_what_depends_on_the_boxes_and_puts_the_choice_into_the_address(client: Client, kinds: Kinds) -> None:
    path = reverse("export_new") + "?started=yes&format=jsonl&column=none&column=id&column=comment"
    answer = client.get(path, headers={"HX-Request": "true"})
    assert answer["HX-Replace-Url"] == "/results/export/?started=yes&format=jsonl&column=id&column=comment"
    assert f"2 of {len(COLUMNS)} columns" in answer.text
    assert "<h1>" not in answer.text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"format": "csv", "column": ["none"]}, "Pick at least one column."),
        ({"format": "csv"}, "Pick at least one column."),
        ({"format": "pdf", "column": ["id"]}, "Pick a format."),
        ({"column": ["id"]}, "Pick a format."),
        ({"format": "csv", "column": ["password"]}, "One of those columns is not there any more."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_exported(
    client: Client, kinds: Kinds, data: dict[str, Any], words: str
) -> None:
    answer = client.post(reverse("export_new"), data)
    assert answer.status_code == 422
    assert html_of(answer).count(words) == 2  # on top and beside the field
    assert not AuditEntry.objects.filter(action="exported results").exists()


def test_what_was_ticked_is_kept_when_something_else_is_wrong(client: Client, kinds: Kinds) -> None:
    answer = client.post(reverse("export_new"), {"format": "pdf", "column": ["none", "comment"]})
    assert ticked(answer) == ["comment"]


def test_a_filter_that_cannot_be_read_widens_no_export(client: Client, kinds: Kinds) -> None:
    answer = ask(client, "csv", "script=no-such-script")
    assert answer.status_code == 422
    assert "There is no such script." in html_of(answer)


def test_opening_the_page_exports_nothing(client: Client, kinds: Kinds) -> None:
    """So no link that somebody is made to follow writes a line of the audit trail."""
    page(client, "format=csv&column=id")
    assert not AuditEntry.objects.filter(action="exported results").exists()
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("cora@example.test", Role.EVAL_TEAM))
    assert ask(client, "csv").status_code == 403


@pytest.mark.parametrize("format", ["csv", "jsonl", "xlsx"])
def test_every_export_is_in_the_audit_trail_before_its_first_byte(
    client: Client, kinds: Kinds, owner: User, format: str
) -> None:
    answer = ask(client, format, "script=bad-news-day&started=yes", ["id", "comment"])
    entry = AuditEntry.objects.get(action="exported results")  # nothing was read of the answer yet
    assert entry.actor == owner
    assert entry.script == "bad-news-day"
    assert not entry.is_safety
    assert entry.details == {
        "format": {"csv": "CSV", "jsonl": "JSON lines", "xlsx": "XLSX"}[format],
        "rows": "3",
        "filters": ["Script: Bad news day", "The call took place"],
        "columns": ["Number", "Comment"],
    }
    answer.getvalue()


@pytest.mark.parametrize(
    ("query", "is_covered"),
    [
        ("", True),
        ("q=hush", True),
        ("script=quiet-hint", True),
        ("q=hush&started=no", True),  # no row at all, so its filters may be what tells
        ("script=bad-news-day", False),
        ("q=wait", True),  # words that somebody typed who knows of Safety
    ],
)
def test_the_audit_line_of_an_export_is_for_the_trained_where_it_holds_what_they_alone_may_see(
    kinds: Kinds, trained_eval_member: User, query: str, is_covered: bool
) -> None:
    make.result(kinds.full.tester, make.script("quiet-hint", area="safety"), kinds.full.build, comment="hush")
    exported(make.client_of(trained_eval_member), "csv", query)
    entry = AuditEntry.objects.get(action="exported results")
    assert entry.is_safety is is_covered
    untrained = AuditEntry.objects.visible_to(make.user("ada@example.test", Role.ADMINISTRATOR))
    assert untrained.filter(pk=entry.pk).exists() is not is_covered


def test_rows_filed_while_their_script_was_safety_are_covered_in_the_audit_trail(
    kinds: Kinds, trained_eval_member: User
) -> None:
    client = make.client_of(trained_eval_member)
    exported(client, "csv")
    kinds.full.__class__.objects.filter(pk=kinds.full.pk).update(filed_as_safety=True)
    exported(client, "csv")
    lines = AuditEntry.objects.filter(action="exported results").order_by("pk")
    assert [line.is_safety for line in lines] == [False, True]
    assert [line.details["filters"] for line in lines] == [[], []]


def test_a_stream_is_counted_no_further_than_the_list(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting a million rows would keep the first byte waiting."""
    monkeypatch.setattr(exports, "MOST_COUNTED", 2)
    assert len(read_csv(exported(client, "csv"))) == 4
    assert AuditEntry.objects.get(action="exported results").details["rows"] == "more than 2"


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_where_the_rows_were_not_counted_at_first_a_line_at_the_end_does(
    client: Client, kinds: Kinds, owner: User, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_COUNTED", 2)
    exported(client, format, "script=bad-news-day")
    entry = AuditEntry.objects.get(action="ended an export")
    assert (entry.actor, entry.script, entry.is_safety) == (owner, "bad-news-day", False)
    assert (entry.details["rows"], entry.details["whole"]) == ("4", True)


def test_that_line_says_where_an_export_was_broken_off(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_COUNTED", 2)
    monkeypatch.setattr(read_rows, "ROWS_AT_FIRST", 1)
    answer = ask(client, "jsonl")
    next(iter(answer.streaming_content))
    assert not AuditEntry.objects.filter(action="ended an export").exists()
    for close in answer._resource_closers:  # the reader went away
        close()
    details = AuditEntry.objects.get(action="ended an export").details
    assert (details["rows"], details["whole"]) == ("1", False)


def test_an_export_that_was_counted_at_first_has_one_line(client: Client, kinds: Kinds) -> None:
    exported(client, "csv")
    assert AuditEntry.objects.filter(action__contains="export").count() == 1


def test_files_that_were_made_are_told_apart_by_their_filters_and_columns(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_AT_ONCE", 0)
    ask(client, "xlsx")
    ask(client, "xlsx", "script=bad-news-day&started=yes", ["id", "comment"])
    said = html_of(page(client))
    assert "without a filter, all columns" in said
    assert "<bdi>Script: Bad news day</bdi>, <bdi>The call took place</bdi>, 2 columns" in said


def test_each_format_says_whether_it_can_be_imported_again(client: Client, kinds: Kinds) -> None:
    hints = {choice.name: choice.hint for choice in page(client).context["chosen"].formats()}
    assert [name for name, hint in hints.items() if "Can be imported again." in hint] == ["CSV", "XLSX"]


def test_a_spreadsheet_that_separates_by_semicolons_is_led_to_a_workbook(client: Client, kinds: Kinds) -> None:
    assert "separate by semicolons, as in much of Europe? Take XLSX." in html_of(page(client))


def test_nobody_asks_for_dozens_of_exports_at_once(client: Client, kinds: Kinds, owner: User) -> None:
    for _ in range(EXPORTS.most):
        ask(client, "csv", columns=["id"]).getvalue()
    answer = ask(client, "csv", "started=yes", ["id"])
    assert answer.status_code == 429
    assert "You asked for many exports just now." in html_of(answer)
    assert ticked(answer) == ["id"]
    assert AuditEntry.objects.filter(action="exported results").count() == EXPORTS.most
    Attempt.objects.update(at=timezone.now() - EXPORTS.within - timedelta(seconds=1))
    assert ask(client, "csv", columns=["id"]).status_code == 200


def test_somebody_else_is_not_held_up(client: Client, kinds: Kinds, manager_client: Client) -> None:
    for _ in range(EXPORTS.most):
        ask(client, "csv", columns=["id"]).getvalue()
    assert ask(manager_client, "csv", columns=["id"]).status_code == 200


def test_more_rows_than_a_workbook_holds_are_refused_in_words_that_name_csv(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_ROWS", 3)
    answer = ask(client, "xlsx")
    assert answer.status_code == 422
    assert "A workbook holds at most 1,048,575 rows. Choose CSV, or narrow the list." in html_of(answer)
    assert not Export.objects.exists()
    assert ask(client, "csv").status_code == 200


def test_above_fifty_thousand_rows_a_workbook_is_made_in_the_background(
    client: Client, kinds: Kinds, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert order_file.MOST_AT_ONCE == 50_000
    monkeypatch.setattr(exports, "MOST_AT_ONCE", 4)
    assert ask(client, "xlsx").streaming
    monkeypatch.setattr(exports, "MOST_AT_ONCE", 3)
    answer = ask(client, "xlsx", "sort=content&direction=asc", ["comment", "id"])
    export = Export.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/results/export/{export.pk}/")
    assert (export.owner, export.total, export.columns) == (owner, 4, ["id", "comment"])
    assert export.query == "sort=content&direction=asc"
    assert AuditEntry.objects.filter(action="exported results").count() == 2
    assert f'href="/results/export/{export.pk}/"' in page(client).text


def test_of_several_workbooks_one_is_worked_on_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise each would make every page of the site wait some more. The books stand for slow ones."""
    at_work: list[int] = []
    most: list[int] = []

    class Book:
        def add(self, lines: object) -> None:
            at_work.append(1)
            most.append(len(at_work))
            time.sleep(0.02)
            at_work.pop()

    def write() -> None:
        book, slices = cast("Any", Book()), iter([[], [], []])
        while exports._add_next(book, cast("Any", slices)):
            pass

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 9
