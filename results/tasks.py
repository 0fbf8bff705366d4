"""What is done beside the pages: forgetting uploads that nobody came back to."""

from __future__ import annotations

from celery import shared_task

from .old_sheet import keep_upload


@shared_task(name="results.forget_uploads")
def forget_uploads() -> None:
    """Remove sheets that waited for a day. May run at any time and twice."""
    keep_upload.forget_uploads()
