"""The child: does one act that its parent names on the first line of its input, and answers on its output.

It limits itself before it reads anything, and ends when its parent does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .bounds import limit
from .kinds import BAD_MEDIA, NO_MEMORY, BadMediaError, Run


def main() -> int:
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limit(**request["limits"])
    try:
        answer, code = _do(request), 0
    except BadMediaError as fault:
        answer, code = {"fault": str(fault)}, BAD_MEDIA
    except MemoryError:
        return NO_MEMORY
    sys.stdout.buffer.flush()
    with os.fdopen(request["answer_fd"], "wb") as answers:
        answers.write(json.dumps(answer).encode())
    return code


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def _do(request: dict[str, Any]) -> dict[str, Any]:
    """What it loads, it loads here: each act what it needs."""
    path, folder = Path(request["path"]), Path(request.get("folder", ""))
    match request["act"]:
        case "sound":
            from .hearing import write_sound

            write_sound(path, sys.stdout.buffer)
            return {}
        case "look":
            from .looking import look

            return asdict(look(path))
        case "join":
            from .joining import join

            runs = [Run(**{**run, "path": Path(run["path"])}) for run in request["runs"]]
            joined = join(runs, folder)
            return asdict(joined) | {"path": joined.path.name}
        case "take in":
            from .taking_in import take_in

            return {"name": take_in(path, folder).name}
        case "draw":
            from .picturing import draw

            return {"drawn": draw(path, folder / "thumbnail.jpg", request["lasts_s"])}
        case act:
            raise ValueError(act)


if __name__ == "__main__":
    sys.exit(main())
