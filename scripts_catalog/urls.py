"""Scripts, builds and the Guide."""

from django.urls import path

from . import views

urlpatterns = [
    path("scripts/", views.scripts, name="scripts"),
]
