"""An almost empty page through our whole middleware, for somebody who is not signed in, beside the same view under
the middleware of `startproject`. What this costs is paid for every page."""

from __future__ import annotations

from collections.abc import Iterator

from ..figures import Figure, ratio
from ..server import Request
from ..stage import Stage, again_and_again

PLACE, TITLE = 1, "Almost empty page"
MOST, REQUESTS = 3.0, 1500


def measure(stage: Stage) -> Iterator[Figure]:
    found = stage.compare(
        again_and_again(Request("/empty/")), again_and_again(Request("/bench/empty/")), requests=REQUESTS
    )
    yield ratio("almost empty page, anonymous", found.of(lambda cost: cost.web_ms), MOST)
