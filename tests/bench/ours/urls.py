"""The addresses of the site, and an almost empty page that goes through our whole middleware."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from emma_eval.urls import handler400, handler403, handler404, handler429, handler500

__all__ = ["handler400", "handler403", "handler404", "handler429", "handler500"]


def empty(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [path("bench/empty/", empty), path("", include("emma_eval.urls"))]
