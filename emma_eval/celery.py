"""The Celery app: it only wakes work that the outbox already holds."""

from celery import Celery

from emma_eval.start import read_settings

read_settings()
app = Celery("emma_eval")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
