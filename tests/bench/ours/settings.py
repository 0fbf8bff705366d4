"""The settings of the site, unchanged but for the addresses."""

from emma_eval.settings import *  # noqa: F403  (all of them)

ROOT_URLCONF = "tests.bench.ours.urls"
