"""What this room keeps: results, drafts, and sheets that wait to be imported."""

from .draft import Draft, DraftQuerySet
from .result import (
    ALWAYS_RATED,
    DIMENSION_KEYS,
    MOST_COMMENT_CHARACTERS,
    MOST_NOTE_CHARACTERS,
    Change,
    Problem,
    ProblemOrder,
    Result,
    ResultQuerySet,
)
from .sheet import SheetUpload, SheetUploadQuerySet

__all__ = [
    "ALWAYS_RATED",
    "DIMENSION_KEYS",
    "MOST_COMMENT_CHARACTERS",
    "MOST_NOTE_CHARACTERS",
    "Change",
    "Draft",
    "DraftQuerySet",
    "Problem",
    "ProblemOrder",
    "Result",
    "ResultQuerySet",
    "SheetUpload",
    "SheetUploadQuerySet",
]
