from django.apps import AppConfig


class ScriptsCatalogConfig(AppConfig):
    name = "scripts_catalog"

    def ready(self) -> None:
        from . import hidden_slugs  # noqa: F401  (registers itself; needs the models)
