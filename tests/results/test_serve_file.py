"""A file of ours: whole, or in parts of at most 2 MiB."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from results.serve_file import MOST_IN_A_PART, Served, serve_file

MODIFIED = datetime(2026, 3, 2, 7, 44, 5, 999, tzinfo=UTC)
IN_WORDS = "Mon, 02 Mar 2026 07:44:05 GMT"
SIZE = 5 * 1024 * 1024 + 7
DATA = random.Random(7).randbytes(SIZE)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served") / "file"
    made.write_bytes(DATA)
    return made


def ask(path: Path, method: str = "GET", name: str = "", **headers: str) -> Any:
    request = RequestFactory().generic(
        method, "/", headers={name.replace("_", "-"): said for name, said in headers.items()}
    )
    return serve_file(request, path.open("rb"), Served(SIZE, "video/webm", "v1", MODIFIED, name))


def test_without_a_range_it_is_the_whole_file(path: Path) -> None:
    answer = ask(path)
    assert (answer.status_code, answer.getvalue()) == (200, DATA)
    assert answer["Content-Length"] == str(SIZE)
    assert answer["Content-Type"] == "video/webm"
    assert (answer["Accept-Ranges"], answer["ETag"], answer["Last-Modified"]) == ("bytes", '"v1"', IN_WORDS)
    assert "Content-Disposition" not in answer


def test_a_file_with_a_name_is_saved_under_it(path: Path) -> None:
    assert ask(path, name="results-ä.xlsx")["Content-Disposition"] == "attachment; filename*=utf-8''results-%C3%A4.xlsx"


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=0-99", 0, 99),
        ("bytes=1000-1999", 1000, 1999),
        ("Bytes = 5-6", 5, 6),
        (f"bytes={SIZE - 1}-", SIZE - 1, SIZE - 1),
        (f"bytes={SIZE - 10}-{SIZE + 10}", SIZE - 10, SIZE - 1),
        ("bytes=-1", SIZE - 1, SIZE - 1),
        ("bytes=-500", SIZE - 500, SIZE - 1),
        # Longer than a part may be: its beginning.
        ("bytes=0-", 0, MOST_IN_A_PART - 1),
        ("bytes=10-", 10, MOST_IN_A_PART + 9),
        (f"bytes=0-{SIZE - 1}", 0, MOST_IN_A_PART - 1),
        (f"bytes=-{SIZE}", 0, MOST_IN_A_PART - 1),
        (f"bytes=-{SIZE * 2}", 0, MOST_IN_A_PART - 1),
        ("bytes=0-9999999999999999999", 0, MOST_IN_A_PART - 1),
        (f"bytes=-{MOST_IN_A_PART + 5}", SIZE - MOST_IN_A_PART - 5, SIZE - 6),
    ],
)
def test_a_range_is_answered_with_at_most_two_mebibytes_of_it(path: Path, asked: str, first: int, last: int) -> None:
    answer = ask(path, Range=asked)
    assert answer.status_code == 206
    assert answer["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
    assert answer["Content-Length"] == str(last - first + 1)
    assert answer.content == DATA[first : last + 1]
    assert len(answer.content) <= 2 * 1024 * 1024


def test_a_part_is_read_before_it_is_answered_so_that_a_slow_reader_holds_no_file(path: Path) -> None:
    file = path.open("rb")
    request = RequestFactory().get("/", headers={"Range": "bytes=0-"})
    answer = serve_file(request, file, Served(SIZE, "video/webm", "v1", MODIFIED))
    assert isinstance(answer, HttpResponse)
    assert not answer.streaming
    assert file.closed


def test_a_reader_who_asks_on_and_on_gets_the_whole_file(path: Path) -> None:
    found = b""
    while len(found) < SIZE:
        found += ask(path, Range=f"bytes={len(found)}-").content
    assert found == DATA


@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", f"bytes={SIZE + 5}-{SIZE + 9}", "bytes=-0"])
def test_a_range_beyond_the_end_is_not_satisfiable(path: Path, asked: str) -> None:
    answer = ask(path, Range=asked)
    assert (answer.status_code, answer["Content-Range"], answer.content) == (416, f"bytes */{SIZE}", b"")


@pytest.mark.parametrize(
    "asked",
    [
        "bytes=0-9,20-29",
        "bytes=9-5",
        "bytes=",
        "bytes=a-b",
        "bytes=--5",
        "lines=1-2",
        "bytes=1",
        "bytes=٣-٤",
        "x" * 9999,
    ],
)
def test_several_ranges_or_one_that_cannot_be_read_get_the_whole_file(path: Path, asked: str) -> None:
    answer = ask(path, Range=asked)
    assert (answer.status_code, answer.getvalue()) == (200, DATA)


def test_head_tells_of_the_whole_file_and_ignores_ranges(path: Path) -> None:
    answer = ask(path, "HEAD", Range="bytes=0-9")
    assert (answer.status_code, answer.content, answer["Content-Length"]) == (200, b"", str(SIZE))
    assert answer["Accept-Ranges"] == "bytes"


@pytest.mark.parametrize(
    ("named", "status"),
    [
        ('"v1"', 206),
        ('"v2"', 200),
        ('W/"v1"', 200),
        (IN_WORDS, 206),
        ("Mon, 02 Mar 2026 07:44:06 GMT", 200),
        ("Mon, 02 Mar 2026 07:44:04 GMT", 200),
        ("yesterday", 200),
    ],
)
def test_a_range_of_another_version_of_the_file_gets_the_whole(path: Path, named: str, status: int) -> None:
    assert ask(path, Range="bytes=5-9", If_Range=named).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If_None_Match": '"v1"'}, 304),
        ({"If_None_Match": '"v0"'}, 200),
        ({"If_Modified_Since": IN_WORDS}, 304),
        ({"If_Match": '"v0"'}, 412),
        ({"If_None_Match": '"v1"', "Range": "bytes=0-5"}, 304),
    ],
)
def test_what_somebody_has_already_is_not_sent_again(path: Path, headers: dict[str, str], status: int) -> None:
    assert ask(path, **headers).status_code == status


def test_an_empty_file_has_no_part(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for asked, status in (("bytes=0-", 416), ("bytes=-5", 416), ("", 200)):
        request = RequestFactory().get("/", headers={"Range": asked} if asked else {})
        answer = serve_file(request, (tmp_path / "empty").open("rb"), Served(0, "text/csv", "v1", MODIFIED))
        assert answer.status_code == status
