"""What `./emma` asks of the machine's ports: `python -m emma_eval.knock URL | --is-free PORT | --find-free`."""

from __future__ import annotations

import socket
import sys
import urllib.error
import urllib.request


def is_ready(address: str) -> bool:
    """Whether a site answers there and says that it can serve pages."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of the loopback address now."""
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def find_free() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def main(question: list[str]) -> int:
    """Answer by exit code (0 = yes), or print a port."""
    match question:
        case ["--find-free"]:
            sys.stdout.write(f"{find_free()}\n")
            return 0
        case ["--is-free", port]:
            return 0 if is_free(int(port)) else 1
        case [address]:
            return 0 if is_ready(address) else 1
    sys.stderr.write(f"{__doc__}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
