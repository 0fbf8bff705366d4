"""The Celery app: it only wakes work that the outbox already holds."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "emma_eval.settings")

app = Celery("emma_eval")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
