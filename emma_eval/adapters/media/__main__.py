"""The child: does one act that its parent names on the first line of its input, and answers on its output.

It limits itself before it reads anything, and ends when its parent does.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .kinds import BAD_MEDIA, NO_MEMORY, BadMediaError

_NICE = 5


def main() -> int:
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit(request)
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


def _limit(request: dict[str, Any]) -> None:
    cpu_s = int(request["cpu_s"])
    for what, most in (
        (resource.RLIMIT_AS, int(request["memory_bytes"])),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, int(request["file_bytes"])),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    os.nice(_NICE)


def _do(request: dict[str, Any]) -> dict[str, Any]:
    """What it loads, it loads here: each act what it needs."""
    path = Path(request["path"])
    match request["act"]:
        case "sound":
            from .hearing import write_sound

            write_sound(path, sys.stdout.buffer)
            return {}
        case "look":
            from .looking import look

            return asdict(look(path))
        case act:
            raise ValueError(act)


if __name__ == "__main__":
    sys.exit(main())
