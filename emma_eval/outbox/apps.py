from django.apps import AppConfig


class OutboxConfig(AppConfig):
    name = "emma_eval.outbox"
    label = "outbox"
