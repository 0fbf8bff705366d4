from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "results"

    def ready(self) -> None:
        from . import announce  # noqa: F401  (registers what is told of results; needs the models)
        from .digest import tell_digest  # noqa: F401  (registers what is told of digests)
