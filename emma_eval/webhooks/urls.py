"""Webhooks: endpoints, and the log of each."""

from django.urls import path

from . import views

urlpatterns = [
    path("webhooks/", views.webhooks, name="webhooks"),
    path("webhooks/new/", views.webhook_new, name="webhook_new"),
    path("webhooks/<int:pk>/", views.webhook, name="webhook"),
    path("webhooks/<int:pk>/edit/", views.webhook_edit, name="webhook_edit"),
    path("webhooks/<int:pk>/test/", views.webhook_test, name="webhook_test"),
    path("webhooks/<int:pk>/pause/", views.webhook_pause, name="webhook_pause"),
    path("webhooks/<int:pk>/resume/", views.webhook_resume, name="webhook_resume"),
    path("webhooks/<int:pk>/rotate/", views.webhook_rotate, name="webhook_rotate"),
    path("webhooks/<int:pk>/drop-old-secret/", views.webhook_drop_old_secret, name="webhook_drop_old_secret"),
    path("webhooks/<int:pk>/remove/", views.webhook_remove, name="webhook_remove"),
    path("webhooks/<int:pk>/deliveries/<int:delivery_pk>/replay/", views.webhook_replay, name="webhook_replay"),
]
