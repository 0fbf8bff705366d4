"""Results, drafts, import and dashboard."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
