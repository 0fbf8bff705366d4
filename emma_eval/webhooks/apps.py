from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "emma_eval.webhooks"
    label = "webhooks"
