"""A wording to start from, and what a browser would send to write it."""

from __future__ import annotations

from typing import Any

from scripts_catalog.wording import Anchor, Wording

PLAIN = Wording(
    title="Plain talk",
    area="everyday",
    main_dimension="content",
    uses_camera=False,
    summary="Whether she follows.",
    what_to_do="Sit down.\n\nTake a breath.",
    steps=("Say hello.", "Ask her a question."),
    anchors={"content": Anchor(five="Answers it well.", one="Makes it up.")},
)

TYPED: dict[str, Any] = {
    "title": "Plain talk",
    "area": "everyday",
    "main_dimension": "content",
    "summary": "Whether she follows.",
    "what_to_do": "Sit down.\r\n\r\nTake a breath.",
    "steps": "Say hello.\r\nAsk her a question.",
    "content_five": "Answers it well.",
    "content_one": "Makes it up.",
}
