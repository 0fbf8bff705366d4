#!/usr/bin/env python
"""Django's command line, on the database and the secret that `./emma up` made."""

import sys

from django.core.management import execute_from_command_line

import emma_eval.celery  # noqa: F401  (reads the settings; a shared task without an app has no broker)

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
