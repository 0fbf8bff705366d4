"""Filing a result as the browser sends the form: sign-in, token, every rule, the draft that goes, the result with three
problems, the count of runs, the audit trail. Beside it the bare save of one result with three problems in a
transaction, of what was sent as it was sent. PostgreSQL's own time counts here, as SQLite's does, which works inside
ours: a save is mostly the database's work."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from urllib.parse import urlencode

from ..figures import Figure, ratio
from ..server import Request
from ..stage import Stage

PLACE, TITLE = 4, "Filing a result"
MOST, REQUESTS = 6.0, 100
LINK = "https://recordings.example.test/of-the-benchmark.webm"
PROBLEMS = ("too_long", "flat_delivery", "weird_gaze")
SAID = {
    "called_at": "2026-11-20T14:36",
    "recording_link": LINK,
    "listening_timing": "4",
    "content": "3",
    "voice_audio": "5",
    "face_video": "4",
    "emotional_fit": "2",
    "comment": "She answered before I had finished, then kept to the point.",
}


def measure(stage: Stage) -> Iterator[Figure]:
    drafts = [str(uuid.uuid4()) for _ in range(stage.requests_in_all(REQUESTS))]
    typed = _typed(stage)
    stage.house.ask("measures.filing", "keep_drafts", uuids=drafts, typed=typed)
    try:
        found = stage.compare(_bare_saves(stage), _filings(stage, drafts, typed), requests=REQUESTS)
    finally:
        filed = stage.house.ask("measures.filing", "forget_what_was_filed")
    if filed < 2 * REQUESTS * stage.rounds:
        raise ValueError(f"only {filed} results were filed")
    yield ratio("filing a result", found.of(lambda cost: cost.web_ms + cost.database_ms), MOST)


def _bare_saves(stage: Stage) -> Iterator[Request]:
    facts = stage.facts
    keys = {
        "tester": facts["tester"],
        "script": facts["script"],
        "script_version": facts["script_version"],
        "build": facts["build_key"],
    }
    body = urlencode({**keys, **SAID, "problem": PROBLEMS}, doseq=True).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    while True:
        yield Request("/save/", "POST", headers, body, status=302)


def _typed(stage: Stage) -> dict[str, str]:
    """What the form holds, as the browser sends it: the empty fields too, but for the token and the draft's version."""
    facts = stage.facts
    places = {f"place-{tag}": "" for tag in stage.house.ask("measures.filing", "tags")}
    return {
        "typed_by": facts["tester"],
        "script_version": facts["script_version"],
        "newest": facts["script_version"],
        "build": facts["build"],
        "camera_used": "no",
        "camera_note": "",
        "met_emma_before": "yes",
        "vision": "na",
        **SAID,
        **places,
        **{f"place-{tag}": str(place) for place, tag in enumerate(PROBLEMS, 1)},
    }


def _filings(stage: Stage, drafts: list[str], typed: dict[str, str]) -> Iterator[Request]:
    headers = stage.signed_in(**{"Content-Type": "application/x-www-form-urlencoded", "Origin": stage.ours.address})
    for draft in drafts:
        fields = {"csrfmiddlewaretoken": stage.facts["csrf"], "version": "1", "call": draft, **typed}
        yield Request(f"/drafts/{draft}/file/", "POST", headers, urlencode(fields).encode(), status=303)


# --- asked of our Django -----------------------------------------------------------------------


def tags() -> list[str]:
    from scripts_catalog import taxonomy

    return list(taxonomy.TAG_BY_KEY)


def keep_drafts(uuids: list[str], typed: dict[str, str]) -> int:
    """The drafts that were saved while the form was filled in, one for each filing to come."""
    from results.filing.typed import typed_in
    from results.models import Draft
    from scripts_catalog.models import ScriptVersion

    version = ScriptVersion.objects.select_related("script").get(pk=typed["script_version"])
    rows = (
        Draft(tester_id=typed["typed_by"], uuid=uuid, script=version.script, fields=typed_in({**typed, "call": uuid}))
        for uuid in uuids
    )
    return len(Draft.objects.bulk_create(rows))


def forget_what_was_filed() -> int:
    """Take the results of this measure out again, so that the next one finds the same rows; how many there were."""
    from results.models import Draft, Result

    Draft.objects.all().delete()
    filed = Result.objects.filter(recording_link=LINK)
    count = filed.count()
    filed.delete()
    return count
