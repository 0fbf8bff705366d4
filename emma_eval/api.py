"""Every endpoint of programs starts here: one line for each room."""

from django.urls import include, path

urlpatterns = [
    path("", include("emma_eval.accounts.api")),
    path("", include("scripts_catalog.api")),
    path("", include("results.api.urls")),
]
