"""What this room keeps: calls with their moments, drafts, results, and sheets that wait to be imported."""

from .call import (
    MOST_CALL_MS,
    MOST_MOMENT_CHARACTERS,
    MOST_MOMENTS,
    MOST_ROUND_TRIPS,
    Browser,
    Call,
    CallQuerySet,
    Connection,
    Device,
    Moment,
    Run,
    as_clock,
)
from .draft import Draft, DraftQuerySet
from .export import FILES_ARE_KEPT_FOR, Export, ExportQuerySet, State
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
from .sheet import SheetState, SheetUpload, SheetUploadQuerySet

__all__ = [
    "ALWAYS_RATED",
    "DIMENSION_KEYS",
    "FILES_ARE_KEPT_FOR",
    "MOST_CALL_MS",
    "MOST_COMMENT_CHARACTERS",
    "MOST_MOMENTS",
    "MOST_MOMENT_CHARACTERS",
    "MOST_NOTE_CHARACTERS",
    "MOST_ROUND_TRIPS",
    "Browser",
    "Call",
    "CallQuerySet",
    "Change",
    "Connection",
    "Device",
    "Draft",
    "DraftQuerySet",
    "Export",
    "ExportQuerySet",
    "Moment",
    "Problem",
    "ProblemOrder",
    "Result",
    "ResultQuerySet",
    "Run",
    "SheetState",
    "SheetUpload",
    "SheetUploadQuerySet",
    "State",
    "as_clock",
]
