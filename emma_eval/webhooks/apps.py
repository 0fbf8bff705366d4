from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "emma_eval.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        """What is kept here about people registers itself; it needs the models."""
        from . import personal_data  # noqa: F401
