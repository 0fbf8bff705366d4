"""What a digest says: the right numbers of the right days, and nothing of Safety, whoever its owner is."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.core import mail
from django.test import Client, override_settings

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.scoring.intervals import difference_of, mean_of_counts
from results.counts.rebuild_counts import rebuild_counts
from results.digest.due import Week
from results.digest.mail_digest import mail_digest
from results.digest.read_digest import Said, read_digest
from results.digest.tell_digest import tell_digest
from results.digest.write_letter import Letter, write_letter
from results.models import Digest, Result, Review, ReviewedProblem, Round, SavedView, Wanted
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script
from tests import make

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
MONDAY = date(2026, 11, 30)
WEEK = Week(date(2026, 11, 23))
HERE = ZoneInfo(settings.TIME_ZONE)
SECRET = "zq17"


def day(number: int, hour: int = 12) -> datetime:
    """A day of November 2026 in the site's time zone."""
    return datetime(2026, 11, number, hour, tzinfo=HERE)


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


@pytest.fixture
def scripts(db: None) -> list[Script]:
    return [make.script("bad-news-day", title="Bad news day"), make.script("noisy-room", area="memory")]


@pytest.fixture
def filed(tester: User, scripts: list[Script], build: Build) -> list[Result]:
    """Two weeks: the second was rated higher, and nobody can say so of the same scripts by chance."""
    made = []
    for place in range(12):
        script = scripts[place % 2]
        made.append(make.result(tester, script, build, ratings=2 + place // 2 % 2, called_at=day(17 + place % 5)))
        tags = ("cut_in", "too_long") if place < 7 else ("too_long",) if place < 9 else ()
        rated = 4 + place // 2 % 2
        made.append(make.result(tester, script, build, ratings=rated, problems=tags, called_at=day(23 + place % 5)))
    never = {"never_started": True, "camera_used": False}
    made.append(make.result(tester, scripts[0], build, called_at=day(24), **never))
    return made


def view_of(owner: User, path: str = "/dashboard/", query: str = "", name: str = "Mine") -> SavedView:
    return SavedView.objects.create(owner=owner, name=name, path=path, query=query, is_mailed=True)


def said_of(view: SavedView, week: Week = WEEK) -> Said:
    said = read_digest(view, week)
    assert said is not None
    return said


def letter_of(view: SavedView) -> Letter:
    return write_letter(said_of(view))


def counts(results: list[Result], key: str, week: Week, script: str = "") -> list[int]:
    """By hand: how often each rating was given in a week."""
    found = [0] * 5
    for result in results:
        in_week = week.first_day <= result.called_at.astimezone(HERE).date() <= week.last_day
        rating = getattr(result, key)
        if in_week and rating and script in {"", result.script_id}:
            found[rating - 1] += 1
    return found


def test_its_numbers_are_those_of_the_rows(manager: User, filed: list[Result]) -> None:
    said = said_of(view_of(manager))
    assert (said.now.runs, said.before.runs, said.now.never_started) == (12, 12, 1)
    for rated in said.rated[:-1]:
        key = rated.dimension.key
        assert rated.now == mean_of_counts(counts(filed, key, WEEK))
        assert rated.before == mean_of_counts(counts(filed, key, WEEK.before))
        slugs = ("bad-news-day", "noisy-room")
        pairs = [(counts(filed, key, WEEK, slug), counts(filed, key, WEEK.before, slug)) for slug in slugs]
        by_hand = difference_of(pairs)
        assert by_hand is not None
        assert rated.difference is not None
        assert rated.difference.difference == pytest.approx(by_hand.difference)
        assert rated.difference.shows_difference
    assert said.rated[-1].now is None, "no camera was used"
    assert [(each.tag.key, each.tagged.part, each.tagged.n) for each in said.often] == [
        ("too_long", 9, 13),
        ("cut_in", 7, 13),
    ]
    assert [(each.tag.key, each.biggest.part) for each in said.biggest] == [("cut_in", 7), ("too_long", 2)]


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_every_link_opens_as_many_rows_as_it_says(
    manager: User, tester: User, filed: list[Result], build: Build, is_trained: bool
) -> None:
    hide(tester, build, manager)
    owner = make.user("boss@example.test", Role.MANAGER, is_trained=is_trained)
    text = letter_of(view_of(owner)).as_text()
    assert "Safety is left out of letters." in text
    client = make.client_of(owner)
    said = re.findall(r"\* (.*)\n  (.*): (http\S+)", text)
    checked = 0
    for words, shows, link in said:
        path = link.removeprefix(settings.ORIGIN)
        if path.startswith("/results/"):
            told = re.search(r": (\d+) (?:run|call)|\(n (\d+)|on (\d+) of", words)
            assert told, words
            count = next(filter(None, told.groups()))
            assert shows.startswith(f"The {count} "), "the link is named after what it opens"
            assert f'<b class="figures">{count} result' in client.get(path).text, words
            checked += 1
        else:
            assert client.get(path).status_code == 200
    assert checked >= 2 + 5 + 4


def test_the_runs_of_the_week_before_are_linked_too(manager: User, tester: User, filed: list[Result]) -> None:
    never = {"never_started": True, "camera_used": False, "called_at": day(18)}
    make.result(tester, Script.objects.get(slug="bad-news-day"), filed[0].build, **never)
    text = letter_of(view_of(manager)).as_text()
    client = make.client_of(manager)
    found = re.findall(r"  The (\d+) (?:run|call)s? of the week before[^:]*: (http\S+)", text)
    assert [count for count, _ in found] == ["12", "1"]
    for count, link in found:
        assert f'<b class="figures">{count} result' in client.get(link.removeprefix(settings.ORIGIN)).text


def test_as_reviewed_it_counts_reviewed_results_and_says_so(
    manager: User, eval_member: User, filed: list[Result]
) -> None:
    result = next(each for each in filed if each.called_at >= day(23) and not each.never_started)
    review = Review.objects.create(result=result, reviewer=eval_member, filed_at=day(29), stands=True)
    ReviewedProblem.objects.create(review=review, tag="cut_in", position=1, rank=1)
    Result.objects.filter(pk=result.pk).update(reviewed_at=day(29))
    rebuild_counts()
    text = letter_of(view_of(manager, query="tags=reviewed")).as_text()
    assert "tagged on the only reviewed result (n too small" in text
    assert "The 1 reviewed result with" in text
    assert "the only result" not in text


def test_no_two_links_have_the_same_name(manager: User, manager_client: Client, filed: list[Result]) -> None:
    view = view_of(manager)
    page = manager_client.get(f"/views/{view.pk}/digest/").text
    names = re.findall(r"<a [^>]*>([^<]*)</a>", page[page.index('class="letter"') : page.index("</main>")])
    assert len(names) >= 2 + 5 + 4
    assert len(names) == len(set(names)), names


def test_where_there_is_no_interval_it_says_why(
    manager: User, tester: User, scripts: list[Script], build: Build
) -> None:
    for number in range(6):
        make.result(tester, scripts[0], build, called_at=day(23 + number % 5), content=5)
    assert "Content: mean 5.00 (n 6, all alike: no interval)." in letter_of(view_of(manager)).as_text()


def test_the_days_of_the_view_are_not_passed_over_in_silence(manager: User, build: Build) -> None:
    for place, (query, said) in enumerate(
        [("period=this-month", "this month"), ("from=2026-11-01&to=2026-11-30", "from 1 nov 2026, to 30 nov 2026")]
    ):
        greeting = letter_of(view_of(manager, name=str(place), query=query)).greeting
        assert f"narrowed to other days ({said}); a letter is always about one week." in greeting
    assert "other days" not in letter_of(view_of(manager, name="all")).greeting


def test_it_says_higher_only_where_the_data_can_tell(manager: User, filed: list[Result]) -> None:
    text = letter_of(view_of(manager)).as_text()
    assert re.search(
        r"Content: mean 4\.50 \(n 12, interval 4\.\d\d to 4\.\d\d\)\. \+2\.00 against the week before \(interval 1",
        text,
    )
    assert "12 and 12 ratings of the same scripts" in text
    assert "69 % (interval 42 % to 87 %)" in text, "shares are written as on pages"
    Result.objects.filter(called_at__gte=day(23)).exclude(never_started=True).update(content=3)
    Result.objects.filter(called_at__gte=day(23), called_at__lt=day(24)).exclude(never_started=True).update(content=2)
    assert "No difference shown: " in letter_of(view_of(manager, name="2")).as_text()


def test_with_few_ratings_it_says_so(manager: User, tester: User, scripts: list[Script], build: Build) -> None:
    for number in range(3):
        make.result(tester, scripts[0], build, called_at=day(23 + number), problems=("cut_in",))
    text = letter_of(view_of(manager)).as_text()
    assert "Content: n too small (n 3)." in text
    make.result(tester, scripts[0], build, called_at=day(26))
    make.result(tester, scripts[0], build, called_at=day(27))
    assert "No script was rated in both weeks" in letter_of(view_of(manager, name="2")).as_text()
    assert "tagged on 3 of 3 results (n too small for a share)" in text


def test_a_week_without_a_call_is_told_as_one(manager: User, build: Build) -> None:
    text = letter_of(view_of(manager)).as_text()
    assert "0 runs; 0 the week before." in text
    assert "Content: no ratings this week." in text
    assert "None this week." in text
    assert "No round is open." in text


@pytest.mark.parametrize(
    ("query", "runs", "about"),
    [
        ("", 12, "build 2026.43"),
        ("build=any", 13, "every build"),
        ("build=2026.42", 1, "build 2026.42"),
        ("area=memory&build=any", 6, "every build · Memory"),
        ("from=2020-01-01&to=2020-01-02", 12, "build 2026.43"),
        ("returning=yes", 0, "build 2026.43 · returning users"),
    ],
)
def test_it_is_about_what_the_view_is_narrowed_to_but_for_its_days(
    manager: User, tester: User, filed: list[Result], scripts: list[Script], query: str, runs: int, about: str
) -> None:
    make.result(tester, scripts[0], make.build("2026.42"), called_at=day(25))
    said = said_of(view_of(manager, query=query))
    assert (said.now.runs, said.about.replace(taxonomy.AREA_NAMES["memory"], "Memory")) == (runs, about)


def test_the_dashboard_of_a_script_has_one_too(manager: User, filed: list[Result]) -> None:
    said = said_of(view_of(manager, "/dashboard/scripts/bad-news-day/", "build=any"))
    assert (said.now.runs, said.about) == (6, "every build · Bad news day")


def test_days_begin_at_midnight_of_the_site(manager: User, tester: User, scripts: list[Script], build: Build) -> None:
    first, last = datetime(2026, 3, 23, tzinfo=ZoneInfo("Europe/Berlin")), ZoneInfo("Europe/Berlin")
    moments = {
        first - timedelta(seconds=1): False,
        first: True,
        datetime(2026, 3, 29, 1, 59, tzinfo=last): True,
        datetime(2026, 3, 29, 23, 59, 59, tzinfo=last): True,  # an hour earlier by UTC than a day before
        datetime(2026, 3, 30, 0, 0, tzinfo=last): False,
    }
    for moment in moments:
        make.result(tester, scripts[0], build, called_at=moment.astimezone(UTC))
    with override_settings(TIME_ZONE="Europe/Berlin"):
        said = said_of(view_of(manager), Week(date(2026, 3, 23)))
    assert said.now.runs == sum(moments.values())


def test_open_rounds_are_told_of(manager: User, filed: list[Result], build: Build) -> None:
    made = Round.objects.create(name="Before the release", build=build, due_on=date(2026, 12, 4), begun_by=manager)
    Wanted.objects.create(round=made, script_id="bad-news-day", runs=20)
    closed = Round.objects.create(name="Over", build=build, begun_by=manager, closed_at=day(1))
    Wanted.objects.create(round=closed, script_id="bad-news-day", runs=20)
    text = letter_of(view_of(manager)).as_text()
    assert "Before the release, build 2026.43: 12 of 20 wanted runs, 8 missing, due 4 Dec 2026." in text
    assert "Over" not in text


# --- Safety ------------------------------------------------------------------------------------


def hide(tester: User, build: Build, manager: User) -> Script:
    """Everything of Safety that a digest could tell of, in the same week, with a secret in every text of it."""
    script = make.script(f"quiet-{SECRET}", area="safety", title=f"Title {SECRET}")
    moved = make.script("moved-out", title="Moved out")
    for number in range(8):
        more = {"problems": ("flat",), "comment": f"Comment {SECRET}", "called_at": day(23 + number % 5)}
        make.result(tester, script, build, ratings=1, **more)
        make.result(tester, moved, build, ratings=1, filed_as_safety=True, **more)
        make.result(tester, script, build, never_started=True, camera_used=False, called_at=day(24))
    known = Round.objects.create(name="Before the release", build=build, begun_by=manager)
    Wanted.objects.create(round=known, script=Script.objects.get(slug="bad-news-day"), runs=20)
    alone = Round.objects.create(name=f"Round {SECRET}", build=build, begun_by=manager, note=SECRET)
    for round_ in (known, alone):
        Wanted.objects.create(round=round_, script=script, runs=9)
    return script


def everything(view: SavedView) -> str:
    """All that leaves the site of a digest: the mail with its heads, and the words of the webhook."""
    digest = Digest.objects.get_or_create(view=view, week=MONDAY)[0]
    mail.outbox.clear()
    assert mail_digest(digest.pk)
    sent = mail.outbox[0].message().as_string()
    parts = [
        part.get_payload(decode=True).decode() for part in mail.outbox[0].message().walk() if not part.is_multipart()
    ]
    return "\n".join([sent, *parts, json.dumps(tell_digest(view.owner, str(digest.pk)))])


def without_chance(text: str) -> str:
    return re.sub(r"={10,}\S+|^Date: .*$|\d{10,}", "~", text, flags=re.MULTILINE)


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_it_says_the_same_with_and_without_anything_of_safety(
    manager: User, tester: User, filed: list[Result], build: Build, is_trained: bool
) -> None:
    owner = make.user("boss@example.test", Role.MANAGER, is_trained=is_trained)
    view = view_of(owner, query="build=any", name=f"All but {SECRET}")
    round_ = Round.objects.create(name="Before the release", build=build, begun_by=manager)
    Wanted.objects.create(round=round_, script_id="bad-news-day", runs=20)
    without = without_chance(everything(view))
    round_.delete()
    hide(tester, build, manager)
    with_it = without_chance(everything(view))
    assert SECRET not in with_it
    assert with_it == without


@pytest.mark.parametrize(
    ("path", "query"),
    [(f"/dashboard/scripts/quiet-{SECRET}/", ""), ("/dashboard/", "area=safety"), ("/results/", ""), ("//evil/", "")],
)
def test_a_view_about_safety_or_of_another_page_has_no_digest(
    trained_eval_member: User, tester: User, filed: list[Result], build: Build, path: str, query: str
) -> None:
    hide(tester, build, trained_eval_member)
    view = view_of(trained_eval_member, path, query)
    assert read_digest(view, WEEK) is None
    digest = Digest.objects.create(view=view, week=MONDAY)
    assert not mail_digest(digest.pk)
    assert tell_digest(trained_eval_member, str(digest.pk)) is None
    assert mail.outbox == []


def test_a_script_that_is_safety_by_now_ends_its_digest(manager: User, filed: list[Result]) -> None:
    view = view_of(manager, "/dashboard/scripts/bad-news-day/")
    assert read_digest(view, WEEK) is not None
    Script.objects.filter(slug="bad-news-day").update(area="safety")
    assert read_digest(view, WEEK) is None


# --- the message -------------------------------------------------------------------------------


class Remote(HTMLParser):
    """Everything that a mail program would fetch, or a person could follow."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag in {"img", "script", "link", "style", "iframe", "object"} or {"src", "background", "style"} & set(said):
            self.fetched.append(tag)
        if tag == "a":
            self.links.append(said.get("href") or "")


def test_the_mail_is_plain_text_and_html_that_loads_nothing(manager: User, filed: list[Result]) -> None:
    view = view_of(manager, name="A <b>name</b>")
    assert mail_digest(Digest.objects.create(view=view, week=MONDAY).pk)
    (message,) = mail.outbox
    assert message.message().get_content_type() == "multipart/alternative"
    assert message.subject == "[Emma Eval] Emma in the week of 23 Nov to 29 Nov 2026: build 2026.43"
    ((html, kind),) = message.alternatives  # type: ignore[attr-defined]
    assert kind == "text/html"
    remote = Remote()
    remote.feed(str(html))
    assert remote.fetched == []
    assert len(remote.links) > 8
    assert all(link.startswith(f"{settings.ORIGIN}/") for link in remote.links)
    for link in re.findall(r"https?://\S+", message.body):
        assert link.startswith(f"{settings.ORIGIN}/")
    assert "<b>name" not in str(html) + message.body


def test_what_a_team_writes_is_no_markup_in_it(manager: User, filed: list[Result], build: Build) -> None:
    made = Round.objects.create(name="<img src=x onerror=alert(1)>", build=build, begun_by=manager)
    Wanted.objects.create(round=made, script_id="bad-news-day", runs=20)
    mail_digest(Digest.objects.create(view=view_of(manager), week=MONDAY).pk)
    ((html, _),) = mail.outbox[0].alternatives  # type: ignore[attr-defined]
    remote = Remote()
    remote.feed(str(html))
    assert remote.fetched == []


def test_it_can_be_stopped_from_the_page_that_it_leads_to(manager: User, filed: list[Result]) -> None:
    mail_digest(Digest.objects.create(view=view_of(manager), week=MONDAY).pk)
    (message,) = mail.outbox
    views = f"{settings.ORIGIN}/views/"
    assert message.extra_headers["List-Unsubscribe"] == f"<{views}>"
    assert views in message.body
    stranger = Client().get("/views/")
    assert (stranger.status_code, "/account/login/" in stranger.url) == (302, True)
    assert "mailed on Mondays" in make.client_of(manager).get("/views/").text


def test_the_webhook_says_the_same_numbers(manager: User, filed: list[Result]) -> None:
    view = view_of(manager)
    digest = Digest.objects.create(view=view, week=MONDAY)
    told: Any = json.loads(json.dumps(tell_digest(manager, str(digest.pk))))
    said = said_of(view)
    assert (told["from"], told["to"], told["about"]) == ("2026-11-23", "2026-11-29", said.about)
    assert told["runs"]["n"] == said.now.runs
    content = next(each for each in told["ratings"] if each["dimension"] == "content")
    assert content["this_week"]["n"] == 12
    assert content["difference"]["is_shown"] is True
    assert told["problems_by_count"][0]["count"] == 9
    assert "Mine" not in json.dumps(told)
    assert tell_digest(make.user(None, Role.MANAGER), str(digest.pk)) is None


def test_its_owner_reads_it_beforehand(manager: User, filed: list[Result]) -> None:
    view = view_of(manager)
    page = make.client_of(manager).get(f"/views/{view.pk}/digest/").text
    assert "How she was rated, as filed" in page
