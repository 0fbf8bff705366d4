"""The settings of the site, unchanged but for the addresses, and for how often one program may ask."""

from emma_eval.settings import *  # noqa: F403  (all of them)

ROOT_URLCONF = "tests.bench.ours.urls"
API_REQUESTS_A_MINUTE = 1_000_000
