"""Nothing of Safety shows to the untrained: no word of it, no figure, no gap, on no page.

The site is read twice by everybody who is not trained: once without anything of Safety, once with a secret word in
every text of it. The two readings must be the same to the letter.
"""

from __future__ import annotations

import itertools
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import pytest
from django.db import transaction
from django.db.models import Max
from django.test import Client
from django.urls import reverse

from emma_eval.accounts import audit
from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import AuditEntry
from emma_eval.accounts.roles import Role
from emma_eval.accounts.views import audit as audit_page
from emma_eval.webhooks.models import Delivery
from results.listing import choices, keyset, list_results
from results.models import (
    DIMENSION_KEYS,
    Call,
    Draft,
    Export,
    MonthCount,
    MonthTag,
    Recording,
    Result,
    Round,
    SheetUpload,
    Ticket,
    Wanted,
)
from results.old_sheet.import_sheet import import_sheet
from scripts_catalog import taxonomy
from scripts_catalog.models import RunCount, Script, ScriptVersion
from scripts_catalog.publish_version import publish_script
from tests import make
from tests.results.filing.sent import fields
from tests.results.old_sheet.sheet import as_csv
from tests.results.old_sheet.sheet import row as sheet_row
from tests.scripts_catalog.wordings import PLAIN

from .access import ACCESS, address
from .world import ANONYMOUS, NAMES, SECRET, WHEN, World, build_world, hide, hide_earlier

pytestmark = pytest.mark.django_db
MOST_PAGES = 500
# What differs from one reading to the next for other reasons: tokens, fresh keys, the clock.
RESTLESS = re.compile(
    r'csrfmiddlewaretoken" value="\w+"'
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?"
    r"|uploaded [\w\s]+,"
    r"|elapsed_ms&quot;: \d+"
    r"|/kept/[\w.-]+/"
    r'|src="data:image/svg\+xml;base64,[^"]+"|<code class="key">\w+</code>'
)


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "hx-get"} and value and not value.startswith("#"):
                self.found.append(value)


def filters(world: World) -> list[str]:
    """The lists, asked in every way they can be asked, with words and names of what is hidden among them."""
    slugs = [{"script": slug} for slug in (f"quiet-{SECRET}", "moved-out", "bad-news-day", "no-such-script")]
    areas = [{"area": key} for key, _ in taxonomy.AREAS]
    words = [{"q": words} for words in ("said", "Title", "Mine", "waited")]
    days = {"from": "2026-05-01", "to": "2026-05-31"}
    build = {"build": world.build.name}
    asked: dict[str, list[dict[str, Any]]] = {
        "todo_today": [{}],
        "results": [*slugs, *areas, *words, days, build, *_only_results(world)],
        "ticket_new": slugs,
        "tickets": [{"show": "closed"}],
        "export_new": [*slugs, *areas, *words, {"column": "none"}],
        "dashboard": [{}, *areas, days, build, {**days, **areas[0]}],
        "coverage": [{}, *areas, build, {"round": "none"}, {"round": world.round.pk}],
        "round_new": [{"like": world.round.pk}],
        "view_new": [{"page": "/results/", "query": f"script={slug['script']}"} for slug in slugs],
        "scripts": [*areas, *words, {"view": "retired"}, {"camera": "yes"}, {"dimension": "content"}],
        "result_new": [*slugs, {"call": str(world.result.call_uuid), "script": "bad-news-day"}],
        "people": [{"q": "tester"}, {"role": "tester"}],
        "audit_trail": [{"who": world.user(Role.TESTER.value, is_trained=True).email}, {"action": f"moved {SECRET}"}],
    }
    return [f"{reverse(name)}?{urlencode(query)}" for name, queries in asked.items() for query in queries]


def _only_results(world: World) -> list[dict[str, Any]]:
    people = [world.user(Role.TESTER.value, is_trained=is_trained) for is_trained in (False, True)]
    return [
        *({"tester": user.pk} for user in people),
        *({"sort": key, "direction": way} for key in ("date", "script", "build", "vision") for way in ("asc", "desc")),
        *({"dimension": key, "low": 4, "high": 4} for key in DIMENSION_KEYS),
        *({"problem": tag} for tag in list(taxonomy.TAG_BY_KEY)[:2]),
        {"returning": "no"},
        {"started": "yes"},
        {"camera": "yes"},
        *({"browser": "Chrome"}, {"device": "phone"}, {"connection": "wifi"}),
    ]


def addresses(world: World) -> list[str]:
    pages = [address(name, page.args, world) for name, page in ACCESS.items()]
    numbers = [
        *(reverse("script_version", args=["moved-out", number]) for number in (1, 2, 3)),
        *(reverse("script_changes", args=["moved-out"]) + f"?from={a}&to={b}" for a, b in ((1, 2), (2, 1))),
        reverse("script", args=["moved-out"]),
        *(
            reverse("script_dashboard", args=["moved-out"]) + f"?build=any{more}"
            for more in ("", "&over=week", "&tags=reviewed", "&from=2026-05-02")
        ),
        reverse("script", args=[f"quiet-{SECRET}"]),
        reverse("script_new") + f"?slug=quiet-{SECRET}",
    ]
    ids = [reverse(name, args=[pk]) for name in ("result", "result_edit") for pk in range(1, 6)]
    return [*pages, *numbers, *ids, *filters(world)]


def read(client: Client, world: World) -> dict[str, str]:
    """Every page this person can come to, and every list in every way it can be asked."""
    fragments = {
        f"{path} (htmx)": said_by(client.get(path, headers={"HX-Request": "true"})) for path in filters(world)[:60]
    }
    return read_from(client, addresses(world)) | fragments


def read_from(client: Client, waiting: list[str]) -> dict[str, str]:
    """These pages, and those that they link to."""
    pages: dict[str, str] = {}
    while waiting and len(pages) < MOST_PAGES:
        path = waiting.pop(0)
        if path in pages:
            continue
        answer = client.get(path)
        pages[path] = said_by(answer)
        # What a list links to when it is asked something is the same list, asked in one way more.
        if answer.headers.get("Content-Type", "").startswith("text/html") and "?" not in path:
            waiting += [link for link in links_of(path, answer.text) if link not in pages]
    assert not waiting, "more pages than this test reads"
    return pages


def links_of(path: str, page: str) -> list[str]:
    parser = Links()
    parser.feed(page)
    there = [urlsplit(urljoin(path, link)) for link in parser.found]
    return [
        link._replace(fragment="").geturl()
        for link in there
        if not link.netloc and not link.scheme and not link.path.startswith("/static/") and "logout" not in link.path
    ]


def said_by(answer: Any) -> str:
    headers = "\n".join(
        f"{name}: {answer.headers.get(name, '')}" for name in ("Location", "HX-Push-Url", "Content-Type")
    )
    body = answer.getvalue().decode() if answer.streaming else answer.text
    return RESTLESS.sub("~", f"{answer.status_code}\n{headers}\n{body}")


@pytest.mark.parametrize("name", NAMES)
def test_the_site_reads_the_same_with_and_without_anything_of_safety(world: World, name: str) -> None:
    client = world.client(name)
    without = read(client, world)
    hide(world)
    with_it = read(client, world)
    assert sorted(with_it) == sorted(without), "no link more, no link less"
    assert [path for path in with_it if with_it[path] != without[path]] == []
    # What one named oneself, in an address or a sheet, may be echoed; a word that was not asked for may not come.
    assert [path for path, page in with_it.items() if f"{SECRET} said" in page] == []
    assert [path for path, page in with_it.items() if SECRET in page and not is_own_word(path)] == []


def answers_of_the_form(client: Client, world: World) -> dict[str, str]:
    """What the results form says of versions where it is sent: an old one was run, two tabs name different ones."""
    old, new = (
        str(pk)
        for pk in world.moved.versions.exclude(area=taxonomy.SAFETY).order_by("number").values_list("pk", flat=True)
    )
    sent = fields(world.moved, world.build, script_version=old, newest=old)
    draft = Draft.objects.create(
        tester=world.user(Role.TESTER.value),
        uuid=uuid.uuid4(),
        script=world.moved,
        fields={**sent, "script_version": new},
        version=3,
    )
    asked = {
        "an old version": (reverse("draft_file", args=[uuid.uuid4()]), sent),
        "two tabs": (reverse("draft_merge", args=[draft.uuid]), sent),
    }
    said = {name: said_by(client.post(path, data)) for name, (path, data) in asked.items()}
    draft.delete()
    return said


def test_the_form_answers_the_same_with_and_without_anything_of_safety(world: World) -> None:
    client = world.client(Role.TESTER.value)
    without = answers_of_the_form(client, world)
    hide(world)
    assert answers_of_the_form(client, world) == without
    assert [answer[:3] for answer in without.values()] == ["422", "409"]


def test_a_bare_number_of_a_version_would_be_seen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the tests above can fail: with versions told by the number they have, each of these differs."""
    client = world.client(Role.TESTER.value)

    def read_them() -> dict[str, str]:
        path = reverse("result_new") + "?script=moved-out"
        return {path: said_by(client.get(path)), **answers_of_the_form(client, world)}

    without = read_them()
    hide(world)
    assert read_them() == without
    monkeypatch.setattr(ScriptVersion, "number_for", lambda version, user: version.number)
    with_it = read_them()
    assert [name for name in without if with_it[name] == without[name]] == []


def is_own_word(path: str) -> bool:
    return SECRET in path or path.startswith("/import/")


def test_the_trained_do_read_it(world: World) -> None:
    """So that the test above can fail: the secret is on the pages, for those whom it is for."""
    hide(world)
    for role in Role:
        pages = read_some(world.client(role.value, is_trained=True), world)
        assert any(f"{SECRET} said" in page for page in pages.values()), role


def read_some(client: Client, world: World) -> dict[str, str]:
    assert world.hidden
    paths = [reverse("script", args=[world.hidden.script.slug]), reverse("result", args=[world.hidden.result.pk])]
    return {path: said_by(client.get(path)) for path in paths}


def forget_what_is_put_together() -> None:
    """The queries that are put together once, by whether somebody is trained, guards and all."""
    choices._everything.cache_clear()
    list_results._with_what_is_worked_out.cache_clear()


@pytest.fixture
def put_together_anew() -> Iterator[None]:
    """What was put together without its guard is not there for the next test."""
    yield
    forget_what_is_put_together()


@pytest.mark.parametrize(
    ("rows", "name", "path"),
    [
        (Script, "tester", "/scripts/"),
        (RunCount, "tester", "/scripts/"),
        (ScriptVersion, "tester", "/scripts/moved-out/versions/1/"),
        (Result, "tester", "/results/"),
        (MonthCount, "manager", "/dashboard/"),
        (MonthTag, "eval team", "/dashboard/scripts/moved-out/"),
        (Script, "manager", "/dashboard/?build=any"),
        (Result, "manager", "/dashboard/?from=2026-05-02"),
        (Result, "manager", "/dashboard/?over=week"),
        (Result, "tester", "/comments/"),
        (Ticket, "manager", "/tickets/"),
        (Draft, "tester", "/todo/"),
        (Call, "tester", "/todo/"),
        (SheetUpload, "eval team", "/import/"),
        (Export, "eval team", "/results/export/"),
        (Result, "manager", "/results/export/"),
        (Result, "eval team", "/review/"),
        (Result, "eval lead", "/review/"),
        (Round, "manager", "/rounds/"),
        (Wanted, "manager", "/rounds/"),
        (Wanted, "tester", "/todo/"),
        (Result, "manager", "/dashboard/coverage/"),
        (Script, "manager", "/dashboard/coverage/"),
        (Script, "manager", "/rounds/new/"),
        (AuditEntry, "administrator", "/audit/"),
        (Delivery, "eval team", "/webhooks/"),
        (Recording, "tester", "/recordings/new/"),
        (Recording, "manager", lambda world: world.result.get_absolute_url()),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
@pytest.mark.usefixtures("put_together_anew")
def test_a_guard_that_lets_through_would_be_seen(
    world: World, rows: Any, name: str, path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the test above can fail: with any one guard gone, the pages of the two readings differ."""
    path = path(world) if callable(path) else path
    client = world.client(name)
    without = said_by(client.get(path))
    hide(world)
    assert said_by(client.get(path)) == without
    queryset = type(rows.objects.all())
    forget_what_is_put_together()
    monkeypatch.setattr(queryset, "visible_to", lambda found, user: found.all())
    monkeypatch.setattr(queryset, "known", lambda found, *, is_trained: found.all(), raising=False)
    monkeypatch.setattr(queryset, "known_as", lambda found, number, user: found.filter(number=number), raising=False)
    assert said_by(client.get(path)) != without


def test_a_training_that_ended_closes_what_was_ones_own(world: World) -> None:
    """A tester's own Safety result and draft are gone from every page, the to-do page too, once training ends."""
    hidden = hide(world)
    client = world.client(Role.TESTER.value)
    for path in (reverse("todo"), reverse("results"), reverse("result", args=[hidden.own_result.pk])):
        assert SECRET not in client.get(path).text, path
    assert SECRET not in client.get(reverse("draft", args=[hidden.draft.uuid])).text


def test_the_anonymous_learn_nothing_at_all(world: World) -> None:
    client = world.client(ANONYMOUS)
    hide(world)
    texts = [client.get(path, follow=True).text for path in ("/", f"/scripts/quiet-{SECRET}/", "/account/login/")]
    assert not any("said" in text for text in texts)


@pytest.mark.parametrize("name", [Role.EVAL_TEAM.value])
def test_the_export_leaves_it_out(world: World, name: str) -> None:
    hide(world)
    export = said_by(world.client(name).get(reverse("scripts_export")))
    assert "bad-news-day" in export
    assert SECRET not in export
    assert SECRET in said_by(world.client(name, is_trained=True).get(reverse("scripts_export")))


# --- what is numbered ------------------------------------------------------------------------------

# The keys that take no turns, and what a clock or chance writes: every other number must stay what it is.
KEY = re.compile(r"(?<!\d)\d{15}(?!\d)")
OF_THE_MOMENT = re.compile(
    RESTLESS.pattern + r"|[0-9a-f]{64}|[0-9a-f]{32}|\d\d:\d\d(:\d\d)?(\.\d+)?|\d{1,2} [A-Z][a-z]{2} \d{4}|(?<=~)\.\d+\+"
)


def numbers_of(client: Client, paths: list[str]) -> dict[str, str]:
    """These pages and those they link to, each key on them replaced by its place among all the keys there."""
    read = read_from(client, paths)
    pages = {OF_THE_MOMENT.sub("~", path): OF_THE_MOMENT.sub("~", page) for path, page in read.items()}
    found = {key for path, page in pages.items() for key in KEY.findall(f"{path} {page}")}
    place = {key: f"<key {place}>" for place, key in enumerate(sorted(found, key=int))}

    def steady(text: str) -> str:
        return KEY.sub(lambda key: place[key.group()], text)

    return {steady(path): steady(page) for path, page in pages.items()}


def read_a_site(name: str, *, is_hiding: bool, paths: Any = None) -> dict[str, str]:
    """A site from its first row on, with things of Safety before that row or not; read, and taken down again."""
    with transaction.atomic():
        world = build_world(hide_earlier) if is_hiding else build_world()
        _lengthen_the_lists(world)
        pages = numbers_of(world.client(name), paths(world) if paths else plain_addresses(world))
        world.upload.path.unlink()
        transaction.set_rollback(True)
    return pages


def plain_addresses(world: World) -> list[str]:
    return [path for path in addresses(world) if "?" not in path]


def _lengthen_the_lists(world: World) -> None:
    """So that pages of one row each have a next one, and its address a cursor."""
    tester = world.user(Role.TESTER.value)
    for number in range(3):
        result = make.result(tester, world.script, world.build, called_at=WHEN + timedelta(days=number))
        audit.record(tester, "filed a result", str(result.pk))


@pytest.fixture
def _pages_of_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_page, "A_PAGE", 1)
    monkeypatch.setattr(keyset.page_of, "__defaults__", (1,))


@pytest.mark.usefixtures("_pages_of_one_row")
@pytest.mark.parametrize("name", [role.value for role in Role])
def test_no_number_on_any_page_tells_how_many_hidden_things_there_are(name: str) -> None:
    """In addresses, cursors, hidden fields and the audit trail: with hidden things before them or not, all the same."""
    without, with_it = (read_a_site(name, is_hiding=is_hiding) for is_hiding in (False, True))
    assert sorted(with_it) == sorted(without)
    assert [path for path in with_it if with_it[path] != without[path]] == []
    assert any("<key" in path for path in without), "there are keys to look at"


@pytest.mark.usefixtures("_pages_of_one_row")
@pytest.mark.parametrize(
    ("rows", "name", "path"),
    [
        (Result, "manager", lambda world: reverse("results")),
        (ScriptVersion, "eval team", lambda world: reverse("script_edit", args=["bad-news-day"])),
        (ScriptVersion, "tester", lambda world: reverse("draft", args=[world.draft.uuid])),
        (AuditEntry, "administrator", lambda world: reverse("audit_trail")),
    ],
    ids=["Result", "ScriptVersion, edited", "ScriptVersion, run", "AuditEntry"],
)
def test_a_key_that_takes_its_turn_would_be_seen(
    rows: Any, name: str, path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the test above can fail: with the rows of any one of them numbered in turn, the page differs."""

    def pages(*, is_hiding: bool) -> set[str]:
        found = read_a_site(name, is_hiding=is_hiding, paths=lambda world: [f"{path(world)}?"])
        return set(found.values())

    assert pages(is_hiding=False) == pages(is_hiding=True)

    def next_in_turn() -> int:
        return int(rows.objects.aggregate(last=Max("pk"))["last"] or 0) + 1

    monkeypatch.setattr(rows._meta.pk, "get_default", next_in_turn)
    assert pages(is_hiding=False) != pages(is_hiding=True)


@pytest.mark.data_layer
def test_no_gap_between_the_results_of_a_sheet_tells_of_rows_that_are_hidden_between(tmp_path: Path) -> None:
    """Somebody bets, for each three visible rows, on which side of the middle one the hidden ones lie."""
    make.script("small-talk")
    make.script("quiet-talk", area=taxonomy.SAFETY)
    rows, minutes = [], itertools.count()
    for _ in range(60):
        for script in ("small-talk", "small-talk", *["quiet-talk"] * 5, "small-talk"):
            minute = next(minutes)
            rows.append(sheet_row(time=f"1/3/2026 {minute // 60:02}:{minute % 60:02}", script=script))
    import_sheet(as_csv(tmp_path / "s.csv", rows), None, "s.csv")
    visible = Result.objects.filter(filed_as_safety=False).order_by("called_at").values_list("pk", flat=True)
    assert len(visible) == 180
    assert is_a_guess(wins_of_a_bet(list(visible)))


@pytest.mark.data_layer
def test_no_gap_between_the_versions_of_a_file_tells_of_scripts_that_are_hidden_between() -> None:
    """The same bet, on scripts that are published one right after the other."""
    shown = []
    for number in range(40):
        for place in range(8):
            area = taxonomy.SAFETY if 2 <= place < 7 else "everyday"
            version = publish_script(f"script-{number}-{place}", replace(PLAIN, area=area), by=None)
            shown += [version.pk] if area != taxonomy.SAFETY else []
    assert is_a_guess(wins_of_a_bet(shown), of=40)


def wins_of_a_bet(keys: list[int]) -> int:
    """How often the wider gap is where something is hidden: between the second and the third of each three."""
    threes = [keys[start : start + 3] for start in range(0, len(keys), 3)]
    return sum(abs(third - second) > abs(second - first) for first, second, third in threes)


def is_a_guess(wins: int, of: int = 60) -> bool:
    """Whether chance alone wins so often: outside of this it would once in a hundred thousand tests."""
    return abs(wins - of / 2) < 4.5 * (of**0.5) / 2


def test_keys_in_order_would_lose_the_bet() -> None:
    """So that the tests above can fail."""
    shown = []
    for _ in range(60):
        made = [new_key() for _ in range(8)]
        shown += [made[0], made[1], made[7]]
    assert not is_a_guess(wins_of_a_bet(shown))
