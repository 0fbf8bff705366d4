"""The endpoints of this room, one line for each module. Another module is put here and nowhere else."""

from django.urls import include, path

from . import calls, results

urlpatterns = [
    path("", include(results.urlpatterns)),
    path("", include(calls.urlpatterns)),
]
