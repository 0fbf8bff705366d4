"""Every address of the site starts here."""

from django.urls import include, path

from . import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("api/v1/", include("emma_eval.api")),
    path("", include("emma_eval.accounts.urls")),
    path("", include("emma_eval.webhooks.urls")),
    path("", include("scripts_catalog.urls")),
    path("", include("results.urls")),
]
handler400 = "emma_eval.accounts.views.front.bad_request"
handler403 = "emma_eval.accounts.views.front.forbidden"
handler404 = "emma_eval.accounts.views.front.not_found"
handler500 = "emma_eval.accounts.views.front.server_error"
handler429 = "emma_eval.accounts.views.front.too_many"  # allauth's
