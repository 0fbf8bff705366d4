"""What people write is shown as they wrote it, and never becomes markup: every payload in every text field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.urls import reverse
from pytest_django import Settings

from emma_eval.accounts import audit
from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from emma_eval.webhooks.models import Delivery, Endpoint, Try
from results.comments.comment_on import comment_on
from results.models import (
    MOST_MOMENT_CHARACTERS,
    Change,
    Draft,
    QueuedFor,
    Recording,
    RecordingNote,
    RecordingState,
    Result,
    SheetUpload,
    Upload,
)
from results.recordings.player.keep_captions import keep_captions
from results.recordings.removal.removal_reasons import Reason
from results.recordings.removal.remove_recording import remove_recording
from results.review.gold import set_gold
from results.tickets.link_ticket import About, link_ticket
from scripts_catalog.models import Build, Script, ScriptVersion
from tests import make
from tests.stores import use_folder

from .payloads import PAYLOADS, PROBE
from .test_safety_canary import addresses, links_of
from .world import WHEN, World

pytestmark = pytest.mark.django_db
A_LOT = 20


@pytest.fixture
def world(lasting_world: World, db: None) -> World:
    return deepcopy(lasting_world)


class Page(HTMLParser):
    """What a page says, and every piece of its markup that the probe has become part of."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if PROBE in tag or "<" in tag or tag in {"iframe", "object", "embed", "base", "marquee", "math", "style"}:
            self.wrong.append(f"<{tag}>")
        self.wrong += [f"<{tag} {name}={value!r}>" for name, value in attrs if _runs(tag, name, value or "", attrs)]
        if tag == "script" and not any(name in {"src", "type"} for name, _ in attrs):
            self.wrong.append("a script in the page")
        self.words += [value for _, value in attrs if value and PROBE in value]
        if tag in {"script", "style", "noscript"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and PROBE in data:
            self.wrong.append(f"inside <{self._open[-1]}>: {data!r}")
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        if PROBE in data:
            self.wrong.append(f"a comment: {data!r}")


def _runs(tag: str, name: str, value: str, attrs: list[tuple[str, str | None]]) -> bool:
    """Whether this attribute would make the browser do something of the writer's choice."""
    if PROBE in name or name.startswith(("on", "hx-on")) or name in {"style", "srcdoc", "formaction"}:
        return True
    is_address = name in {"href", "src", "action", "xlink:href", "data", "poster", "hx-get", "hx-post"}
    if is_address and re.match(r"[\s\x00-\x20]*(javascript|vbscript|data:text)", value, re.IGNORECASE):
        return True
    if tag == "meta" and PROBE in value:
        return True
    is_fetched = (tag, name) in {("script", "src"), ("img", "src"), ("link", "href")}
    return is_fetched and not value.startswith(("/static/", "data:image/"))


def plant(world: World, texts: list[str]) -> None:
    """One script, result, person and so on for each text, with that text in every one of its fields."""
    owner, tester = world.user(Role.EVAL_TEAM.value), world.user(Role.TESTER.value)
    for number, text in enumerate(texts):
        script = _script(number, text)
        result = make.result(
            tester,
            script,
            world.build,
            comment=text,
            camera_note=text,
            recording_link=f"https://recordings.example.test/{text}",
            sheet_worst_moment=text,
            sheet_minute_in_call=text,
            queued_for=QueuedFor.SAMPLE,
            sheet_digest="x" * 64,
            called_at=WHEN,
        )
        Change.objects.create(
            result=result, by=tester, version=2, fields={"comment": ["", text], "recording_link": [text, ""]}
        )
        comment_on(owner, result, text)
        link_ticket(owner, f"https://tracker.example.test/{text}", text, About.result_of(result, "cut_in"))
        set_gold(world.user(Role.EVAL_LEAD.value), result.pk, ("cut_in",), text)
        Draft.objects.create(tester=tester, uuid=result.call_uuid, script=script, fields=_fields(script, text))
        person = make.user(f"p{number}@example.test", Role.TESTER, name=text[:150])
        Training.objects.create(user=person, starts_on=WHEN.date(), note=text, granted_by=person)
        audit.record(person, text[:80], text, details=text, list=[text])
        make.build(f"{text[:50]} {number}", note=text, call_link=f"https://emma.example.test/{text}"[:500])
        SheetUpload.objects.create(owner=owner, name=text, imported_at=WHEN, report=_report(text))
        _endpoint(owner, text)


def _endpoint(owner: User, text: str) -> None:
    words = {"name": text[:80], "url": f"https://hooks.example.test/{text}", "kinds": [text], "why_paused": text[:200]}
    endpoint = Endpoint.objects.create(owner=owner, paused_at=WHEN, **words)
    delivery = Delivery.objects.create(endpoint=endpoint, event=text[:40], kind=text[:40], occurred_at=WHEN)
    Try.objects.create(delivery=delivery, at=WHEN, took_ms=1, why=text)


def _script(number: int, text: str) -> Script:
    words = {"summary": text, "what_to_do": text, "steps": [text], "change_note": text}
    script = make.script(
        f"planted-{number}",
        title=text[:120],
        anchors={"content": {"five": text, "one": text}},
        uses_camera=True,
        **words,
    )
    script.latest = ScriptVersion.objects.create(
        script=script,
        number=2,
        area="everyday",
        title=f"{text[:110]} again",
        main_dimension="content",
        **{**words, "steps": ["Another step.", text]},
    )
    script.save()
    return script


def _report(text: str) -> dict[str, Any]:
    counts = dict.fromkeys(("rows", "new", "here", "faulty", "conflicts", "new_testers", "new_builds"), 1)
    return {**counts, "faults": [{"line": 2, "column": text, "value": text, "reason": text, "result_pk": None}]}


def _fields(script: Script, text: str) -> dict[str, str]:
    return {
        "comment": text,
        "script_version": str(script.latest.pk),
        "camera_note": text,
        "recording_link": text,
        "build": text,
    }


def pages_of(world: World, number_of_results: int) -> Iterator[tuple[str, str]]:
    """Every page with something planted on it, as everybody who may see it."""
    for role in Role:
        client = world.client(role.value)
        seen: set[str] = set()
        waiting = [path for path in addresses(world) if "?" not in path]
        while waiting:
            path = waiting.pop()
            if path in seen or len(seen) > 60 * number_of_results:
                continue
            seen.add(path)
            answer = client.get(path)
            if answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming:
                yield f"{role} {path}", answer.text
                waiting += [link for link in links_of(path, answer.text) if "?" not in link]


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), A_LOT))
def test_no_payload_becomes_markup(world: World, start: int) -> None:
    texts = PAYLOADS[start : start + A_LOT]
    plant(world, texts)
    wrong, shown = [], set()
    for where, page in pages_of(world, len(texts)):
        parsed = Page(page)
        wrong += [f"{where}: {piece}" for piece in parsed.wrong]
        said = "\n".join(parsed.words)
        shown |= {text for text in texts if text in said or text.replace("\n", " ") in " ".join(said.split())}
    assert wrong == []
    assert shown == set(texts), "each payload is shown somewhere, as it was written"


def plant_beside_a_recording(tester: User, by: User, script: Script, build: Build) -> tuple[Result, Recording]:
    """All of them at once: as notes, moments and a transcript, and as names and faults of other files of the call."""
    moments = tuple(text[:MOST_MOMENT_CHARACTERS] for text in PAYLOADS)
    call = make.call(tester, script, build=build, moments=moments, ended_at_ms=9_000_000)
    result = make.result(tester, script, build, call_uuid=call.uuid, queued_for=QueuedFor.SAMPLE)
    made = make.recording(tester, call.uuid, name=PAYLOADS[0][:200], duration_ms=9_000_000)
    cues = []
    for at, text in enumerate(PAYLOADS):
        RecordingNote.objects.create(recording=made, by=by, at_ms=at * 1000, words=text)
        line = escape(" ".join(text.replace("\0", "").split()))
        cues.append(f"01:{at:02}:01.000 --> 01:{at:02}:02.000\n<v {line}>{line}")
        others = {"name": text[:200], "fault": text[:300], "key": "", "duration_ms": None}
        if at % 6 < 2:
            failed = make.recording(tester, call.uuid, state=RecordingState.FAILED, **others)
            if at % 6:
                remove_recording(failed, by, Reason.OTHER, text[:150])
        sent = make.recording(tester, call.uuid, state=RecordingState.RECEIVING, origin="uploaded", **others)
        Upload.objects.create(recording=sent, key="x", upload_id=f"{at}", size=9, part_size=9, fingerprint=f"{at}")
    keep_captions(by, made, "\n\n".join(["WEBVTT", *cues[:59]]).encode())
    return result, made


def test_nothing_beside_a_recording_becomes_markup(world: World, settings: Settings, tmp_path: Path) -> None:
    use_folder(settings, tmp_path / "recordings")
    tester, team = world.user(Role.TESTER.value), world.user(Role.EVAL_TEAM.value)
    result, made = plant_beside_a_recording(tester, team, world.script, world.build)
    of_call = f"?call={result.call_uuid}"
    gone, failed = (Recording.objects.filter(state=state)[:3] for state in (RecordingState.REMOVED, "failed"))
    paths = [
        *(made.get_absolute_url(), reverse("recording_captions", args=[made.pk])),
        *(result.get_absolute_url(), reverse("upload_new") + of_call, reverse("call", args=[result.call_uuid])),
        *(each.get_absolute_url() for each in (*gone, *failed)),
    ]
    said = ""
    for role in (Role.TESTER, Role.EVAL_TEAM, Role.EVAL_LEAD):
        for path in paths:
            answer = world.client(role.value).get(path)
            page = Page(answer.text)
            assert page.wrong == [], f"{role} {path}"
            said += "\n".join(page.words)
    assert [text for text in PAYLOADS if said.count(text) < 3] == [], "each is shown, as it was written"


@pytest.mark.parametrize("payload", PAYLOADS)
def test_what_is_typed_into_an_address_or_a_form_is_not_run_either(world: World, payload: str) -> None:
    """Reflected: what comes back at once, in searches, filters and forms with errors."""
    asked = {"q": payload, "script": payload, "who": payload, "action": payload, "build": payload, "next": payload}
    tester, eval_team, admin = (world.client(role) for role in ("tester", "eval team", "administrator"))
    answers = [
        tester.get(reverse("results"), asked),
        tester.get(reverse("scripts"), asked),
        eval_team.get(reverse("dashboard"), asked),
        admin.get(reverse("people"), {"q": payload}),
        admin.get(reverse("audit_trail"), asked),
        admin.post(reverse("invite"), {"email": payload, "name": payload, "starts_on": payload, "roles": payload}),
        eval_team.post(reverse("script_new"), dict.fromkeys(("title", "slug", "summary", "steps", "area"), payload)),
        eval_team.post(reverse("build_new"), {"name": payload, "call_link": payload, "released_on": payload}),
        world.client("anonymous").post(
            reverse("account_login"), {"login": payload, "password": payload, "next": payload}
        ),
    ]
    for answer in answers:
        assert answer.status_code in {200, 302, 404, 422}, answer.request["PATH_INFO"]
        assert Page(answer.text).wrong == [], answer.request["PATH_INFO"]


BY_ITSELF_HARMLESS = PAYLOADS[PAYLOADS.index("{{ xq9 }}{% load xq9 %}{{ 7|add:7 }}") :]


@pytest.mark.parametrize("payload", [payload for payload in PAYLOADS if payload not in BY_ITSELF_HARMLESS])
def test_a_payload_that_was_let_through_would_be_seen(payload: str) -> None:
    """So that the tests above can fail."""
    pages = (f"<p>{payload}</p>", f'<p title="{payload}">', f"<p title='{payload}'>", f"<p title=`{payload}`>")
    assert any(Page(page).wrong for page in pages)


# --- the sources themselves --------------------------------------------------------------------

# Looked at one by one.
REVIEWED = {
    "results/charts/bars.py": "one pattern stands in a line of its own just above its use",
    "results/listing/table.py": "a fixed badge, and patterns that stand in lines of their own above their use",
    "results/listing/filter_form.py": "a select around attributes and options that format_html wrote",
    "results/markup.py": "escapes what Django's format_html escapes, as test_markup.py shows",
    "templates/accounts/mail/invitation.txt": "plain text",
    "templates/accounts/mail/password_reset.txt": "plain text",
    "templates/webhooks/mail/paused.txt": "plain text",
}
# Markup is made by format_html with its pattern written on the spot, which escapes all that is put into it.
# An empty SafeString holds nothing, and a name in an annotation does nothing.
LETS_THROUGH = re.compile(
    r"mark_safe|SafeString\(\s*[^)\s]|SafeData|html_safe|\|\s*safe(seq)?\b|autoescape\s+off|__html__"
    r"|format_html(_join)?\(\s*(?![\"'\s])"
)


def sources() -> Iterator[tuple[str, str]]:
    for folder in ("emma_eval", "scripts_catalog", "results", "templates"):
        for path in sorted((site.BASE_DIR / folder).rglob("*")):
            if path.suffix in {".py", ".html", ".txt", ".svg"}:
                yield path.relative_to(site.BASE_DIR).as_posix(), path.read_text(encoding="utf-8")


def test_nothing_is_let_through_unescaped_outside_of_what_was_reviewed() -> None:
    found = {name for name, text in sources() if LETS_THROUGH.search(text)}
    assert sorted(found - set(REVIEWED)) == []
    assert sorted(set(REVIEWED) - found) == [], "reviewed, but no longer there"


INLINE = re.compile(
    r"<script(?![^>]*\bsrc=)(?![^>]*application/json)|<style|\sstyle=|\son\w+=[\"']|javascript:|hx-on", re.IGNORECASE
)


def test_pages_hold_no_script_and_no_style_of_their_own() -> None:
    pages = [(name, text) for name, text in sources() if name.endswith(".html")]
    assert {name: found.group() for name, text in pages if (found := INLINE.search(text))} == {}


@pytest.mark.parametrize(
    ("source", "lets_through"),
    [
        ("return mark_safe(text)", True),
        ("return SafeString(text)", True),
        ("{{ comment|safe }}", True),
        ("{% autoescape off %}", True),
        ("format_html(pattern, text)", True),
        ('format_html(f"<b>{text}</b>")', True),
        ('format_html("<b>{}</b>", text)', False),
        ("found = SafeString()", False),
        ("def bar() -> SafeString:", False),
    ],
)
def test_the_sources_are_read_rightly(source: str, lets_through: bool) -> None:
    assert bool(LETS_THROUGH.search(source)) == lets_through
