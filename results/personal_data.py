"""What this room keeps about a person, and what it forgets of somebody who is erased."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.core.files.storage import storages
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.personal_data.rooms import Row, columns, forgets, in_slices, tells

from .export.make_file import STORAGE
from .models import (
    Call,
    CallFigures,
    Comment,
    Draft,
    Export,
    Follower,
    Hold,
    Recording,
    RecordingNote,
    Result,
    Review,
    SavedView,
    SheetUpload,
    Watch,
)
from .recordings.removal.forget_recordings import forget_recordings_of
from .recordings.removal.removal_reasons import without_words
from .saved_views.list_views import list_views


@tells("results")
def _results(user: User) -> Iterator[Row]:
    found = Result.objects.visible_to(user).filter(tester=user).prefetch_related("problems", "changes")
    for result in in_slices(found):
        problems = [columns(problem, "id", "result") for problem in result.problems.all()]
        changes = [columns(change, "id", "result") for change in result.changes.all()]
        # Whether and when somebody looked at it is the reviewers' matter.
        yield columns(result, "tester", "queued_for", "reviewed_at") | {"problems": problems, "corrections": changes}


@tells("drafts")
def _drafts(user: User) -> Iterator[Row]:
    return (columns(row, "tester") for row in in_slices(Draft.objects.visible_to(user)))


@tells("calls")
def _calls(user: User) -> Iterator[Row]:
    for call in in_slices(Call.objects.visible_to(user).filter(tester=user).prefetch_related("runs", "moments")):
        runs = [columns(run, "call") for run in call.runs.all()]
        yield columns(call, "tester") | {"runs": runs, "moments": [columns(one, "call") for one in call.moments.all()]}


@tells("recordings")
def _recordings(user: User) -> Iterator[Row]:
    """What was measured on each is about its tester too. Where it lies is nobody's to know."""
    inner = ("tester", "key", "peaks_key", "thumbnail_key", "captions_key", "removed_by")
    for recording in in_slices(Recording.objects.visible_to(user).filter(tester=user)):
        measured = [columns(row, "recording") for row in CallFigures.objects.filter(recording=recording)]
        yield columns(recording, *inner) | {"figures": measured}


@tells("recording_notes")
def _recording_notes(user: User) -> Iterator[Row]:
    found = RecordingNote.objects.filter(by=user, recording__in=_known_recordings(user))
    return (columns(row, "by") for row in in_slices(found))


@tells("watches")
def _watches(user: User) -> Iterator[Row]:
    """What one watched oneself; who watched one's own is for leads and administrators to know."""
    found = Watch.objects.filter(by=user, recording__in=_known_recordings(user))
    return (columns(row, "by") for row in in_slices(found))


@tells("reviews")
def _reviews(user: User) -> Iterator[Row]:
    """Which of them answer gold is for leads to know."""
    found = Review.objects.filter(reviewer=user, result__in=_known(user)).prefetch_related("problems")
    for review in in_slices(found):
        tags = [columns(problem, "id", "review") for problem in review.problems.all()]
        yield columns(review, "reviewer", "is_of_gold", "stands", "stood_by") | {"problems": tags}


@tells("comments")
def _comments(user: User) -> Iterator[Row]:
    return (columns(row, "by") for row in in_slices(Comment.objects.filter(by=user, result__in=_known(user))))


@tells("saved_views")
def _saved_views(user: User) -> Iterator[Row]:
    """Those that the page of views shows: what one may not know of at present is in neither."""
    return (columns(shown.view, "owner") for shown in list_views(user).own)


@tells("exports")
def _exports(user: User) -> Iterator[Row]:
    return (columns(row, "owner", "work", "file") for row in in_slices(Export.objects.visible_to(user)))


@tells("sheet_uploads")
def _sheet_uploads(user: User) -> Iterator[Row]:
    found = SheetUpload.objects.visible_to(user)
    return ({"name": row.name, "uploaded_at": row.uploaded_at, "imported_at": row.imported_at} for row in found)


def _known_recordings(user: User) -> QuerySet[Recording]:
    return Recording.objects.visible_to(user)


def _known(user: User) -> QuerySet[Result]:
    return Result.objects.visible_to(user)


@forgets
def forget_person(user: User) -> None:
    """Work in progress goes, and so do words said in talk, and recordings, which are that person's voice and screen.
    Other evidence stays: results, calls, reviews that are filed."""
    _forget_recordings(user)
    Comment.objects.filter(by=user, withdrawn_at=None).update(withdrawn_at=timezone.now(), text="")
    Review.objects.filter(reviewer=user, filed_at=None).delete()
    Call.objects.filter(tester=user).update(user_agent="")
    _forget_files(user)
    for rows in (
        Draft.objects.filter(tester=user),
        Hold.objects.filter(reviewer=user),
        Follower.objects.filter(person=user),
        SavedView.objects.filter(owner=user),
    ):
        rows.delete()


def _forget_recordings(user: User) -> None:
    forget_recordings_of(user)
    RecordingNote.objects.filter(by=user, withdrawn_at=None).update(withdrawn_at=timezone.now(), words="")
    for removed in Recording.objects.filter(removed_by=user, removed_because__contains=":"):
        removed.removed_because = without_words(removed.removed_because)
        removed.save(update_fields=["removed_because"])


def _forget_files(user: User) -> None:
    """Only once the rows are gone for good: a file whose row came back could not be fetched."""
    exports, uploads = Export.objects.filter(owner=user), SheetUpload.objects.filter(owner=user)
    files = [export.file for export in exports if export.file]
    paths = [upload.path for upload in uploads]
    exports.delete()
    uploads.delete()
    transaction.on_commit(lambda: _remove(files, paths))


def _remove(files: list[str], paths: list[Path]) -> None:
    for file in files:
        storages[STORAGE].delete(file)
    for path in paths:
        path.unlink(missing_ok=True)
