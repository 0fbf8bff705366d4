"""What the document says of the endpoints of results beside their shapes: parameters, headers, examples."""

from __future__ import annotations

from typing import Literal

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter

from emma_eval.accounts.programs.asked import PAGE_SIZE, TEXT, asks, one_of
from scripts_catalog import taxonomy

from ..listing.filter_form import MOST_TEXT
from ..listing.list_results import COLUMN_OF
from ..listing.periods import Period
from ..listing.reviewed import REVIEW_STATES
from ..models import DIMENSION_KEYS, Browser, Connection, Device, Source
from .rows import TAGS

A_UUID = "0190b5a0-0000-4000-8000-000000000001"
A_NUMBER = "251658240123456"
KEY_IS = r"^([0-9]{1,19}|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$"
HEADER: Literal["header"] = OpenApiParameter.HEADER

KEY = OpenApiParameter(
    *("key", {"type": "string", "pattern": KEY_IS}, OpenApiParameter.PATH),
    description="The number of a result, or the UUID under which the token's owner filed it.",
    examples=[OpenApiExample("A UUID", value=A_UUID), OpenApiExample("A number", value=A_NUMBER)],
)


def number_of(what: str) -> OpenApiParameter:
    """The number of such a thing, in an address."""
    return OpenApiParameter(
        *("key", {"type": "string", "pattern": "^[0-9]{1,19}$"}, OpenApiParameter.PATH),
        description=f"The number of a {what}.",
        examples=[OpenApiExample("A number", value=A_NUMBER)],
    )


IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    HEADER,
    description="The ETag of the result that this corrects. Left out, the request files a result.",
)
ETAG = OpenApiParameter(
    "ETag", str, HEADER, required=True, response=[200, 201], description="Changes with whatever is told here."
)
LOCATION = OpenApiParameter(
    "Location", OpenApiTypes.URI_REF, HEADER, response=[200, 201], description="Where a result that is filed stands."
)


RATING = {"type": "integer", "minimum": 1, "maximum": 5}
LIST_PARAMETERS = [
    asks(
        *("q", {**TEXT, "maxLength": MOST_TEXT}),
        "Words of the comment, or the number of a result.",
    ),
    asks("script", TEXT, "The slug of a script."),
    asks("area", one_of(*(area for area, _ in taxonomy.AREAS)), "An area of scripts."),
    asks("build", TEXT, "The name of a build."),
    asks("tester", {"type": "integer", "minimum": 1}, "The id of a tester."),
    asks("problem", one_of(*TAGS), "The key of a problem."),
    asks("tags", one_of(Source.REVIEWED.value), "Whose tags `problem` is looked for in; left out, as filed."),
    asks("biggest", one_of("yes"), "That problem was the biggest."),
    asks("dimension", one_of(*DIMENSION_KEYS), "The dimension that `low` and `high` are about."),
    asks("low", RATING, "The lowest rating of the dimension."),
    asks("high", RATING, "The highest."),
    asks("started", one_of("yes", "no"), "Whether the call took place."),
    asks("camera", one_of("yes", "no"), "Whether the camera was used."),
    asks("returning", one_of("yes", "no"), "Whether the tester had talked to Emma before."),
    asks("browser", one_of(*Browser.values), "The browser's family."),
    asks("device", one_of(*Device.values), "What the call was held on."),
    asks("connection", one_of(*Connection.values), "How it was connected."),
    asks("review", one_of(*REVIEW_STATES), "How far it is reviewed; for those who review and lead."),
    asks("safety", one_of("no"), "Leaves Safety out; it changes nothing where you may not see any."),
    asks(
        *("period", one_of(*(period.value for period in Period))),
        "In place of `from` and `to`: days that move along, in the time zone of the site; the last 7 end with today.",
    ),
    asks("from", OpenApiTypes.DATE, "The first day of the call, in the time zone of the site."),
    asks("to", OpenApiTypes.DATE, "The last day."),
    asks("sort", one_of(*COLUMN_OF), "What the list is sorted by; `date` if left out."),
    asks("direction", one_of("asc", "desc"), "Left out: the newest or the lowest first."),
    asks("after", TEXT, "The place in the list behind which it goes on, as `next` has it."),
    asks("before", TEXT, "The place before which it ends, as `previous` has it."),
    PAGE_SIZE,
]

A_FILING = OpenApiExample(
    "A call with two problems",
    value={
        "script": "bad-news-day",
        "build": "2026.43",
        "called_at": "2026-03-02T14:36:00+08:00",
        "camera_used": False,
        "ratings": {"listening_timing": 2, "content": 4, "voice_audio": 4, "face_video": 3, "emotional_fit": 4},
        "problems": ["cut_in", "too_fast"],
        "comment": "She cut in twice while I was crying.",
        "met_emma_before": True,
    },
    request_only=True,
)
A_RESULT = OpenApiExample(
    "A result",
    value={
        "id": A_NUMBER,
        "url": f"https://emma.example.org/results/{A_NUMBER}/",
        "version": 1,
        "script": "bad-news-day",
        "script_version": 3,
        "title": "Bad news day",
        "is_safety": False,
        "build": "2026.43",
        "tester": {"id": 12, "name": "Tess Tester"},
        "call": A_UUID,
        "called_at": "2026-03-02T06:36:00Z",
        "filed_at": "2026-03-02T06:51:09.120000Z",
        "reviewed_at": "2026-03-03T08:15:30.250000Z",
        "waits_for": None,
        "never_started": False,
        "camera_used": False,
        "camera_note": "",
        "met_emma_before": True,
        "ratings": {
            "listening_timing": 2,
            "content": 4,
            "voice_audio": 4,
            "face_video": 3,
            "emotional_fit": 4,
            "vision": None,
        },
        "problem_order": "overall",
        "problems": [
            {"tag": tag, "label": taxonomy.TAG_BY_KEY[tag].label, "place": place}
            for place, tag in enumerate(("cut_in", "too_fast"), 1)
        ],
        "problems_as_reviewed": [{"tag": "cut_in", "label": taxonomy.TAG_BY_KEY["cut_in"].label, "place": 1}],
        "comment": "She cut in twice while I was crying.",
        "recording_link": "",
        "recording": {"state": "ready", "url": f"https://emma.example.org/recordings/{A_UUID}/"},
        "machine": {"browser": "", "device": "", "system": "", "connection": ""},
        "is_imported": False,
        "taxonomy_edition": taxonomy.EDITION,
    },
    response_only=True,
)
