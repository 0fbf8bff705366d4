from django.apps import AppConfig


class ScriptsCatalogConfig(AppConfig):
    name = "scripts_catalog"
