"""What a page tells of its call, for tests: short to write, sent as the page sends it."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.test import Client

from results.models import Call

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"


def moment(at_ms: int, words: str = "", **more: Any) -> dict[str, Any]:
    return {"uuid": str(uuid.uuid4()), "at_ms": at_ms, "words": words, **more}


def tell(client: Client, call: Call, batch: Any = None, user_agent: str = CHROME) -> Any:
    """The site's answer to one batch."""
    return client.post(
        f"/calls/{call.uuid}/tell/",
        data=json.dumps({} if batch is None else batch),
        content_type="application/json",
        headers={"Accept": "application/json", "User-Agent": user_agent},
    )


def told(client: Client, call: Call, **batch: Any) -> dict[str, Any]:
    """What the site knows after one batch that it takes."""
    answer = tell(client, call, batch)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def act(client: Client, call: Call, name: str, **fields: Any) -> Any:
    """One act of a plain form."""
    return client.post(f"/calls/{call.uuid}/tell/", {"act": name, **fields}, headers={"User-Agent": CHROME})
