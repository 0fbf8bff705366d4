"""Give an upload up: its parts are forgotten by the store, and nothing of it remains here.

What nobody comes back to is removed by `forget_recordings.forget_unfinished`.
"""

from __future__ import annotations

from ...models import Recording, RecordingState, Upload
from ..store import recordings_store


def drop_upload(upload: Upload) -> bool:
    """True where it was dropped; False where it was finished in the meantime. Raises StoreError.

    The store is asked first: what it can't forget now is still known here, and can be tried again.
    """
    recordings_store().drop_parts(upload.key, upload.upload_id)
    receiving = Recording.objects.filter(pk=upload.recording_id, state=RecordingState.RECEIVING)
    dropped, _ = receiving.filter(upload__upload_id=upload.upload_id).delete()
    return bool(dropped)
