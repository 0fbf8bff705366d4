#!/usr/bin/env python
"""Django's command line, on the database and the secret that `./emma up` made."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "emma_eval.settings")
    import emma_eval.celery  # noqa: F401  (a shared task without an app would talk to a default broker)

    execute_from_command_line(sys.argv)
