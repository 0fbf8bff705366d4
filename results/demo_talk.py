"""What the demo team says to each other, which tickets it follows, and the known answers that its lead has set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from emma_eval.accounts.models import User
from scripts_catalog.models import Script

from .comments.comment_on import comment_on
from .models import Comment, GoldAnswer, QueuedFor, Result, Ticket
from .review.file_review import Judged, file_review, tags_of
from .review.gold import set_gold
from .review.hold_result import begin_review
from .tickets.link_ticket import About, link_ticket

TRACKER = "https://tracker.example.org/browse/"
# Who says what of the latest result of a script, by the first part of the address; "" = the result's own tester.
THREADS = (
    (
        "bad-news-day",
        ("max", "Is this the one to show on Thursday? The silence after the first sentence would be worth hearing."),
        ("", "Yes. It starts at about half a minute in; the face is the only thing I would mention beside it."),
        ("eva", "I listened too. How we tag a face like this is in the notes: https://wiki.example.org/faces"),
    ),
    ("hello-again", ("eva", "Which joke was it last time? I would like to check that it is really another one.")),
)
# (number, title, tag, script of the result that it is about; empty = about the problem, in any script)
TICKETS = (
    ("EMMA-118", "Smile stays on while a caller is sad (demo)", "face_mismatch", "bad-news-day"),
    ("EMMA-121", "Cuts in during long pauses (demo)", "cut_in", ""),
    ("EMMA-133", "Says the same thing twice (demo)", "repeated_itself", ""),
)
# The script, what is true of its first result, and whether the reviewer finds the same; None = not answered yet.
GOLD: tuple[tuple[str, str, Callable[[tuple[str, ...]], tuple[str, ...]] | None], ...] = (
    ("kitchen-hands-full", "Both are plain to hear, and the half sentence costs more.", lambda tags: tags),
    (
        "paper-plane",
        "The pauses come from the length of her steps, so the length is what to mend.",
        lambda tags: tags[::-1],
    ),
    ("tongue-twisters", "The sound is nearly right; it is the mouth that everybody sees.", lambda tags: tags[:1]),
    ("remember-me", "What she remembers is wrong. That she says it twice is the lesser thing.", None),
    ("show-an-object", "A green cup that is a blue mug: she comments on what is not there.", None),
)


def talk(oldest_build: str, now: datetime) -> None:
    """Threads, tickets of what was seen on the oldest build, and gold; after the team has reviewed."""
    for script, *said in THREADS:
        _talk_about(Result.objects.filter(script_id=script).latest("called_at"), said, now)
    for ticket in TICKETS:
        _follow(ticket, oldest_build, now)
    for script, why, answer in GOLD:
        _make_gold(script, why, answer, now)


def _person(name: str) -> User:
    return User.objects.get(email=f"{name}@demo.example")


def _talk_about(result: Result, said: list[tuple[str, str]], now: datetime) -> None:
    for number, (name, text) in enumerate(said):
        comment = comment_on(_person(name) if name else result.tester, result, text)
        Comment.objects.filter(pk=comment.pk).update(at=now - timedelta(hours=20 - 3 * number))


def _follow(followed: tuple[str, str, str, str], build: str, now: datetime) -> None:
    number, title, tag, script = followed
    seen = Result.objects.filter(build__name=build, problems__tag=tag).order_by("called_at")
    result = (seen.filter(script_id=script) if script else seen).first()
    if result is None:
        raise ValueError(f"nobody tagged {tag} on {build}")
    about = About.result_of(result, tag) if script else About(result.build, tag)
    ticket = link_ticket(_person("eva"), f"{TRACKER}{number}", title, about)
    Ticket.objects.filter(pk=ticket.pk).update(added_at=now - timedelta(days=40))


def _make_gold(
    script: str, why: str, answer: Callable[[tuple[str, ...]], tuple[str, ...]] | None, now: datetime
) -> None:
    result = Result.objects.filter(script=Script.objects.get(slug=script)).earliest("called_at")
    if result.reviewed_at is not None or result.reviews.exists():
        return  # the reviewer took it by chance
    Result.objects.filter(pk=result.pk, queued_for=None).update(queued_for=QueuedFor.SAMPLE)
    tags, lead, reviewer = tags_of(result), _person("lea"), _person("eva")
    set_gold(lead, result.pk, tags, why)
    GoldAnswer.objects.filter(result=result).update(set_at=now - timedelta(days=6))
    if answer is not None:
        begin_review(reviewer, result, now - timedelta(days=2))
        judged = Judged(answer(tags), "As I hear it.")
        file_review(reviewer, result.pk, judged, based_on=result.version, now=now - timedelta(days=2))
