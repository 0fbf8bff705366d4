"""One small site with something in every room, for the tests that look at the whole of it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.models import Invitation, Training, User
from emma_eval.accounts.roles import Role
from emma_eval.webhooks.models import Delivery, Endpoint, State, Try
from results.comments.comment_on import comment_on
from results.models import (
    Call,
    CallFigures,
    Change,
    Comment,
    Draft,
    Export,
    Hold,
    Origin,
    QueuedFor,
    Recording,
    RecordingNote,
    RecordingState,
    Result,
    Review,
    ReviewedProblem,
    Round,
    SavedView,
    SheetUpload,
    Ticket,
    Upload,
    Wanted,
    Watch,
)
from results.recordings.player.note_watch import note_watch
from results.tickets.link_ticket import About, link_ticket
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, RunCount, Script, ScriptVersion
from tests import make

ANONYMOUS, NO_ROLE = "anonymous", "no role"
NAMES = (ANONYMOUS, NO_ROLE, *(role.value for role in Role))
WHEN = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
SECRET = "zq17"
_CALL = "{when},tester@example.test,{script},2026.18,,4,4,4,4,4,n/a,,,,,,,,FALSE,,"
SHEET = "\n".join(
    [
        "Timestamp,Tester,Script,Emma build,Recording link,Listening & timing,Content,Voice & audio,Face & video,"
        "Emotional fit,Vision,Problems: Listening & timing,Problems: Content,Problems: Voice & audio,"
        "Problems: Face & video,Problems: Live call only,Biggest problem,Comment,Returning user?,Worst moment,"
        "Minute in call",
        # A sheet may name a hidden script; what is said of that row must not tell it from one that isn't there.
        *(
            _CALL.format(when=f"2026-03-0{day}T14:00:00+08:00", script=script)
            for day, script in enumerate(("bad-news-day", f"quiet-{SECRET}", "no-such-script"), 1)
        ),
    ]
)
FIXED = uuid.UUID("0190b5a0-0000-4000-8000-000000000001")
RECORDED = uuid.UUID("0190b5a0-0000-4000-8000-000000000002")

People = dict[tuple[str, bool], User | None]


@dataclass
class World:
    """The people by name and training, and the rows that addresses need."""

    people: People
    script: Script
    build: Build
    result: Result
    draft: Draft
    call: Call
    upload: SheetUpload
    export: Export
    delivery: Delivery
    invited: User
    invitation: Invitation
    target: User
    training: Training
    moved: Script
    comment: Comment
    ticket: Ticket
    round: Round
    view: SavedView
    mailed: SavedView
    recording: Recording
    note: RecordingNote
    receiving: Recording
    sending: Recording
    hidden: Hidden | None = None

    def client(self, name: str, *, is_trained: bool = False) -> Client:
        user = self.people[name, is_trained]
        return make.client_of(user) if user else Client()

    def user(self, name: str, *, is_trained: bool = False) -> User:
        user = self.people[name, is_trained]
        assert user is not None
        return user


@dataclass
class Hidden:
    """What only the trained may know of; every text of it carries `secret`."""

    secret: str
    script: Script
    result: Result
    result_of_moved: Result
    draft: Draft
    version_of_moved: ScriptVersion
    own_result: Result
    upload: SheetUpload
    call: Call
    export: Export
    comment: Comment
    ticket: Ticket
    recording: Recording = field(init=False)
    note: RecordingNote = field(init=False)
    receiving: Recording = field(init=False)
    sending: Recording = field(init=False)
    round: Round = field(init=False)
    view: SavedView = field(init=False)
    delivery: Delivery = field(init=False)


def build_world(before: Callable[[People, Build], None] = lambda people, build: None) -> World:
    """Everything that anybody may see. `before` is done first, when there are only people and a build."""
    people = _people()
    tester = people[Role.TESTER.value, False]
    assert tester is not None
    build = make.build("2026.18", is_current=True, note="Quicker answers.")
    before(people, build)
    script = make.script("bad-news-day", title="Bad news day", change_note="")
    moved = _moved_script()
    result = make.result(
        tester,
        script,
        build,
        problems=(taxonomy.TAG_GROUPS[0].tags[0].key,),
        comment="She waited for me.",
        called_at=WHEN,
        recording_link="https://recordings.example.test/1",
        call_uuid=FIXED,
        queued_for=QueuedFor.SAMPLE,
    )
    Change.objects.create(result=result, by=tester, version=2, fields={"comment": ["", "She waited for me."]})
    RunCount.objects.add(script, build, filed_as_safety=False, runs=2)
    recording = _recording(people, tester, script, build)
    call = make.call(tester, script, build=build, moments=("She waited.", ""), ended_at_ms=95_000)
    invited = User.objects.create_user("invited@example.test", name="Ivy Invited")
    invitation, _ = Invitation.make(invited, None)
    target = make.user("target@example.test", Role.TESTER, name="Theo Target")
    audit.record(tester, "filed a result", str(result.pk))
    upload = _upload(people[Role.EVAL_TEAM.value, False], "may.csv")
    upload.path.parent.mkdir(parents=True, exist_ok=True)
    upload.path.write_text(SHEET, encoding="utf-8")
    make.counts()
    return World(
        people=people,
        script=script,
        build=build,
        result=result,
        draft=_draft(tester, script, "My draft."),
        call=call,
        recording=recording,
        note=_note(recording, people[Role.MANAGER.value, False], "She is early."),
        receiving=_receiving(tester, call.uuid),
        sending=_sending(tester, call.uuid, "may.mp4"),
        upload=upload,
        export=_export(people[Role.EVAL_TEAM.value, False]),
        delivery=_delivery(_endpoint(people[Role.EVAL_TEAM.value, False]), str(result.pk), script="bad-news-day"),
        invited=invited,
        invitation=invitation,
        target=target,
        training=Training.objects.create(user=target, starts_on=WHEN.date()),
        moved=moved,
        round=_round(people[Role.MANAGER.value, False], "Before the release", build, script, moved),
        view=_view(tester, "Low content", "/results/", "dimension=content&high=2&low=1"),
        mailed=_view(people[Role.EVAL_TEAM.value, False], "Everyday", "/dashboard/", "area=everyday", is_mailed=True),
        ticket=_ticket(people[Role.EVAL_TEAM.value, False], result, "She talks too long"),
        comment=_comment(people[Role.MANAGER.value, False], result, "Which script was that?"),
    )


def _recording(people: People, tester: User, script: Script, build: Build) -> Recording:
    """Of a call with one result, which everybody has watched: so who looks at it again adds no line to the trail."""
    make.result(tester, script, build, called_at=WHEN, call_uuid=RECORDED, comment="She was recorded.")
    make.call(tester, script, uuid=RECORDED, build=build, moments=("Here.",), ended_at_ms=90_000)
    made = _dated(make.recording(tester, RECORDED, name="may.webm", ready_at=WHEN, consented_at=WHEN))
    _figures(made)
    for user in (user for (name, _), user in people.items() if name not in {ANONYMOUS, NO_ROLE}):
        assert user is not None
        _watched(made, user)
    return made


def _figures(recording: Recording) -> None:
    counts = {"turn_count": 12, "silence_count": 2, "silence_ms": 9_000, "overlap_count": 3, "yield_count": 1}
    times = {"latency_median_ms": 900, "latency_p95_ms": 1_900, "yield_median_ms": 400, "longest_monologue_ms": 20_000}
    CallFigures.objects.create(recording=recording, edition=1, measured_at=WHEN, emma_share=0.5, **counts, **times)


def _watched(recording: Recording, user: User) -> None:
    """Ends a little later than now, so that it is the same sitting throughout a test."""
    watch = note_watch(recording, user, timezone.now() + timedelta(minutes=20))
    Watch.objects.filter(pk=watch.pk).update(began_at=WHEN)


def _note(recording: Recording, by: User | None, words: str) -> RecordingNote:
    assert by is not None
    made = RecordingNote.objects.create(recording=recording, by=by, at_ms=4_000, words=words)
    RecordingNote.objects.filter(pk=made.pk).update(created_at=WHEN)
    return made


def _dated(recording: Recording) -> Recording:
    Recording.objects.filter(pk=recording.pk).update(created_at=WHEN, heard_at=WHEN)
    return recording


def _unready(tester: User, call: uuid.UUID, origin: Origin, **fields: object) -> Recording:
    state = {"state": RecordingState.RECEIVING, "key": "", "duration_ms": None, "ready_at": None}
    return _dated(make.recording(tester, call, origin=origin, **state, **fields))


def _receiving(tester: User, call: uuid.UUID) -> Recording:
    """A recording that its page has not finished yet."""
    made = _unready(tester, call, Origin.RECORDED, consented_at=WHEN)
    take = made.takes.create(number=0, media_type="video/webm", began_at_ms=0, has_tester=True, has_emma=True)
    take.chunks.create(number=0, size=5, sha256="ab" * 32, arrived_at=WHEN)
    return made


def _sending(tester: User, call: uuid.UUID, name: str) -> Recording:
    """An upload on its way."""
    made = _unready(tester, call, Origin.UPLOADED, name=name)
    Upload.objects.create(
        recording=made,
        key=f"{made.folder}sent",
        upload_id="ab" * 16,
        size=9_000_000,
        part_size=8_388_608,
        fingerprint="cd" * 32,
    )
    return made


def _people() -> People:
    people: People = {(ANONYMOUS, False): None}
    for name in NAMES[1:]:
        for is_trained in (False, True):
            roles = [Role(name)] if name in set(Role) else []
            address = f"{name.replace(' ', '-')}{'-trained' if is_trained else ''}@example.test"
            people[name, is_trained] = make.user(address, *roles, is_trained=is_trained)
    return people


def _moved_script() -> Script:
    """A script that is everyday now; what it said while it was Safety is part of what is hidden."""
    moved = Script.objects.create(slug="moved-out", area="everyday")
    for number in (1, 2):
        moved.latest = ScriptVersion.objects.create(
            script=moved,
            number=number,
            area="everyday",
            title="Moved out",
            main_dimension="content",
            summary="Harmless now.",
            what_to_do="Nothing special.",
            steps=["Say hello."][:number],
        )
    moved.save()
    return moved


def _draft(tester: User, script: Script, comment: str) -> Draft:
    fields = {"comment": comment, "script_version": str(script.latest.pk)}
    return Draft.objects.create(tester=tester, uuid=uuid.uuid4(), script=script, fields=fields)


def _upload(owner: User | None, name: str, **fields: object) -> SheetUpload:
    assert owner is not None
    return SheetUpload.objects.create(owner=owner, name=name, **fields)


def _comment(by: User | None, result: Result, text: str) -> Comment:
    assert by is not None
    said = comment_on(by, result, text)
    Comment.objects.filter(pk=said.pk).update(at=WHEN)
    return said


def _ticket(by: User | None, about: Result | Script, title: str, build: Build | None = None) -> Ticket:
    assert by is not None
    tag = taxonomy.TAG_GROUPS[0].tags[0].key
    if isinstance(about, Result):
        what = About.result_of(about, tag)
    else:
        assert build is not None
        what = About(build, tag, about)
    ticket = link_ticket(by, "https://tracker.example.test/EMMA-1", title, what)
    Ticket.objects.filter(pk=ticket.pk).update(added_at=WHEN)
    return ticket


def _export(owner: User | None, **fields: object) -> Export:
    assert owner is not None
    made = Export.objects.create(
        owner=owner,
        columns=["id", "comment"],
        **{"total": 1, "rows": 1, "made_at": WHEN, "file": "gone.xlsx", **fields},
    )
    Export.objects.filter(pk=made.pk).update(asked_at=WHEN)
    return made


def _endpoint(owner: User | None) -> Endpoint:
    assert owner is not None
    url = "https://hooks.example.test/emma"
    return Endpoint.objects.create(owner=owner, name="Team dashboard", url=url, kinds=["result.filed"], secret="whsec_")


def _delivery(endpoint: Endpoint, subject: str, **fields: object) -> Delivery:
    made = Delivery.objects.create(
        endpoint=endpoint,
        subject=subject,
        **{"event": "evt_1", "kind": "result.filed", "occurred_at": WHEN, "state": State.DELIVERED, **fields},
    )
    Try.objects.create(delivery=made, at=WHEN, status=200, took_ms=40)
    return made


def _round(by: User | None, name: str, build: Build, *scripts: Script, **fields: object) -> Round:
    assert by is not None
    made = Round.objects.create(name=name, build=build, begun_by=by, **fields)
    Wanted.objects.bulk_create(Wanted(round=made, script=script, runs=3) for script in scripts)
    return made


def _view(owner: User | None, name: str, path: str, query: str, **fields: object) -> SavedView:
    assert owner is not None
    return SavedView.objects.create(owner=owner, name=name, path=path, query=query, is_shared=True, **fields)


def hide(world: World, secret: str = SECRET) -> Hidden:
    """Add everything of Safety there can be, each text with the secret in it, to a world that stays as it is."""
    tester, trained = world.user(Role.TESTER.value), world.user(Role.TESTER.value, is_trained=True)
    said = f"{secret} said"
    script = make.script(
        f"quiet-{secret}",
        area="safety",
        title=f"Title {said}",
        summary=f"Summary {said}",
        what_to_do=f"Setup {said}",
        steps=[f"Step {said}"],
        anchors={"content": {"five": f"Five {said}", "one": f"One {said}"}},
        change_note=f"Note {said}",
        uses_camera=True,
    )
    _number_after_a_hidden_one(world.moved)
    version = ScriptVersion.objects.create(
        script=world.moved,
        number=1,
        area="safety",
        title=f"Once {said}",
        main_dimension="voice_audio",
        summary=f"Once {said}",
        what_to_do=f"Once {said}",
        steps=[f"Once {said}"],
    )
    texts = {"comment": f"Comment {said}", "recording_link": f"https://recordings.example.test/{secret}"}
    result = make.result(trained, script, world.build, camera_note=f"Why {said}", called_at=WHEN, **texts)
    of_moved = _result_of_moved(world, trained, version, texts)
    own = make.result(tester, script, world.build, called_at=WHEN, comment=f"Mine {said}", problems=("weird_gaze",))
    _hide_reviews(world, result, of_moved, own, said)
    make.counts()
    Change.objects.create(result=result, by=trained, version=2, fields={"comment": ["", f"Comment {said}"]})
    RunCount.objects.add(script, world.build, filed_as_safety=True, runs=3)
    RunCount.objects.add(world.moved, world.build, filed_as_safety=True, runs=2)
    audit.record(trained, f"moved {secret}", f"script {script.slug}", is_safety=True, title=f"Title {said}")
    eval_member = world.user(Role.EVAL_TEAM.value)
    upload = _upload(eval_member, f"{secret}.csv", imported_at=WHEN, tells_of_safety=True)
    draft = _draft(tester, script, f"Draft {said}")
    call = _hide_calls(world, script, said)
    export = _export(eval_member, query=f"q={secret}", tells_of_safety=True)
    comment = _comment(trained, own, f"Comment {said}")
    ticket = _ticket(trained, own, f"Ticket {said}")
    _ticket(trained, script, f"Problem {said}", build=world.build)
    world.hidden = Hidden(secret, script, result, of_moved, draft, version, own, upload, call, export, comment, ticket)
    _hide_rounds(world, world.hidden, said)
    _hide_recordings(world, world.hidden, said)
    hidden = str(result.pk)
    world.hidden.delivery = _delivery(world.delivery.endpoint, hidden, event=f"evt_{secret}", script=script.slug)
    _delivery(world.delivery.endpoint, hidden, event=f"evt_{secret}_once", is_safety=True, script="moved-out")
    return world.hidden


def _hide_reviews(world: World, result: Result, of_moved: Result, own: Result, said: str) -> None:
    """In the queue and out of it: one that waits, one that waits for a pick, one that stands; and what the untrained
    began and filed while they were trained."""
    eval_member, lead = world.user(Role.EVAL_TEAM.value), world.user(Role.EVAL_LEAD.value)
    trained = world.user(Role.EVAL_TEAM.value, is_trained=True)
    now, filed = timezone.now(), {"filed_at": WHEN, "reason": f"Reason {said}"}
    Result.objects.filter(pk=result.pk).update(queued_for=QueuedFor.VERY_LOW)
    Result.objects.filter(pk=of_moved.pk).update(queued_for=QueuedFor.PICK, reviewed_at=WHEN)
    Result.objects.filter(pk=own.pk).update(reviewed_at=WHEN)
    for reviewer in (eval_member, lead):
        fields = {"judged": "changed", "reason": f"Half {said}"}
        draft = {"fields": fields, "result_version": 1, "edition": 1, "saved_at": ""}
        Review.objects.create(result=result, reviewer=reviewer, draft=draft)
        Review.objects.create(result=of_moved, reviewer=reviewer, **filed)
    stands = Review.objects.create(result=own, reviewer=trained, stands=True, **filed)
    ReviewedProblem.objects.create(review=stands, tag="flat_delivery", position=1, rank=1)
    Hold.objects.create(result=result, reviewer=eval_member, taken_at=now, until=now + timedelta(minutes=15))


def _hide_rounds(world: World, hidden: Hidden, said: str) -> None:
    """A round of nothing else; in one that others know of, a script more; and a view about it."""
    Wanted.objects.create(round=world.round, script=hidden.script, runs=5)
    manager, eval_member = world.user(Role.MANAGER.value, is_trained=True), world.user(Role.EVAL_TEAM.value)
    hidden.round = _round(manager, f"Round {said}", world.build, hidden.script, note=f"Note {said}")
    hidden.view = _view(eval_member, f"View {said}", "/results/", f"script={hidden.script.slug}")
    _view(eval_member, f"Area {said}", "/dashboard/", "area=safety", is_mailed=True)
    _view(manager, f"Covered {said}", "/dashboard/coverage/", f"round={hidden.round.pk}")


def _hide_recordings(world: World, hidden: Hidden, said: str) -> None:
    """A tester's own, of a time when they were trained, also half done; one of somebody trained; and one of a call on
    which an everyday script was run, too. With all that may hang on them."""
    tester, trained = world.user(Role.TESTER.value), world.user(Role.TESTER.value, is_trained=True)
    hidden.recording = _dated(make.recording(tester, hidden.own_result.call_uuid, name=f"{said}.webm", ready_at=WHEN))
    others = make.recording(trained, hidden.result.call_uuid, name=f"{said}.webm", ready_at=WHEN)
    mixed = make.recording(tester, world.result.call_uuid, name=f"{said}.webm", ready_at=WHEN)
    hidden.receiving = _receiving(tester, hidden.call.uuid)
    hidden.sending = _sending(tester, hidden.call.uuid, f"{said}.mp4")
    for recording in (hidden.recording, others, mixed):
        hidden.note = _note(recording, world.user(Role.EVAL_TEAM.value), f"Note {said}")
        _figures(recording)
        for name in (Role.EVAL_TEAM, Role.MANAGER, Role.TESTER):
            note_watch(recording, world.user(name.value), timezone.now())
    hidden.note = RecordingNote.objects.get(recording=hidden.recording)


def _hide_calls(world: World, script: Script, said: str) -> Call:
    """A tester's own call of a time when they were trained; and one on which an everyday script was run too."""
    tester, trained = world.user(Role.TESTER.value), world.user(Role.TESTER.value, is_trained=True)
    moments = (f"Moment {said}",)
    own = make.call(tester, script, world.moved, build=world.build, moments=moments, ended_at_ms=95_000)
    make.call(tester, world.script, script, uuid=world.result.call_uuid, moments=moments, ended_at_ms=95_000)
    make.call(trained, script, uuid=FIXED, moments=moments)
    return own


def _number_after_a_hidden_one(moved: Script) -> None:
    """As if a version of Safety had been there before those that may be read: theirs alone is the bare number."""
    for version in moved.versions.order_by("-number"):
        ScriptVersion.objects.filter(pk=version.pk).update(number=version.number + 1)


def hide_earlier(people: People, build: Build) -> None:
    """Things of Safety that are older than everything else: whatever is numbered in turn is numbered after them."""
    trained, eval_member = people[Role.TESTER.value, True], people[Role.EVAL_TEAM.value, True]
    assert trained is not None
    for number in range(1, 4):
        script = make.script(f"older-{SECRET}-{number}", area="safety")
        result = make.result(trained, script, build, problems=(taxonomy.TAG_GROUPS[0].tags[0].key,))
        Change.objects.create(result=result, by=trained, version=2, fields={"comment": ["", SECRET]})
        RunCount.objects.add(script, build, filed_as_safety=True)
        _draft(trained, script, SECRET)
        _comment(trained, result, SECRET)
        _note(make.recording(trained, result.call_uuid, name=SECRET), trained, SECRET)
        _round(trained, SECRET, build, script)
        _view(eval_member, f"{SECRET} {number}", "/results/", f"script={script.slug}")
        _ticket(trained, result, SECRET)
        audit.record(trained, "filed a result", str(result.pk), is_safety=True)
        _upload(eval_member, f"{SECRET}.csv", imported_at=WHEN, tells_of_safety=True)
        _export(eval_member, query=f"q={SECRET}", tells_of_safety=True)


def _result_of_moved(world: World, tester: User, version: ScriptVersion, texts: dict[str, str]) -> Result:
    """As it was filed: on the version that was Safety then."""
    made = make.result(tester, world.moved, world.build, filed_as_safety=True, called_at=WHEN, **texts)
    Result.objects.filter(pk=made.pk).update(script_version=version)
    return made


def url_names() -> dict[str, str]:
    """Every address of the site by its name. An address without a name goes by its pattern."""
    found: dict[str, str] = {}
    _walk(get_resolver(), "", found)
    return found


def _walk(resolver: URLResolver, prefix: str, found: dict[str, str]) -> None:
    for pattern in resolver.url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            found[pattern.name or path] = path
        else:
            _walk(pattern, path, found)
