"""The endpoints of this room, one line for each module. Another module is put here and nowhere else."""

from django.urls import include, path

from . import calls, comments, figures, results, reviews, rounds, tickets

urlpatterns = [
    path("", include(results.urlpatterns)),
    path("", include(calls.urlpatterns)),
    path("", include(reviews.urlpatterns)),
    path("", include(figures.urlpatterns)),
    path("", include(rounds.urlpatterns)),
    path("", include(comments.urlpatterns)),
    path("", include(tickets.urlpatterns)),
]
