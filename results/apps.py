from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "results"

    def ready(self) -> None:
        """What is told of results and of digests registers itself; it needs the models."""
        from . import personal_data, tell_results  # noqa: F401
        from .digest import tell_digest  # noqa: F401
        from .recordings import trail  # noqa: F401
        from .rounds import hidden_lines  # noqa: F401
        from .saved_views import hidden_lines as lines_of_views  # noqa: F401
