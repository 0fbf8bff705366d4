"""Signing in, people, and the pages for what went wrong."""

from django.urls import include, path

from . import views

urlpatterns = [
    path("", views.home, name="home"),
    path("account/", include("allauth.urls")),
]
