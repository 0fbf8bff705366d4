#!/usr/bin/env python3
"""Django's command line, on the database and the secret that `./emma up` made.

Any Python may start it: where that one lacks our packages, it goes on in `.venv`.
"""

import os
import sys
from pathlib import Path

OURS = Path(__file__).resolve().parent / ".venv"

try:
    import emma_eval.celery  # noqa: F401  (reads the settings; a shared task without an app has no broker)
except ImportError:
    if Path(sys.prefix) == OURS:
        raise
    if not (OURS / "bin" / "python").exists():
        sys.exit("Emma Eval can't start. Its packages are not installed: run ./emma up first.")
    os.execv(OURS / "bin" / "python", [str(OURS / "bin" / "python"), *sys.argv])  # noqa: S606  (our own interpreter)

if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
