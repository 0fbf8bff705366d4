"""A question that only Django on our database can answer, in a process of its own.

`python -m tests.bench.inside MODULE FUNCTION '{"an": "argument"}'` calls the function and prints what it returns,
as JSON. The environment says which database.
"""

from __future__ import annotations

import importlib
import json
import sys

import django

from emma_eval.start import read_settings


def main(module: str, function: str, arguments: str) -> None:
    read_settings()
    django.setup()
    answer = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
