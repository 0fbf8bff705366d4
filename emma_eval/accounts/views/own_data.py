"""What is kept about oneself, to take along."""

from __future__ import annotations

from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from emma_eval.accounts import throttle
from emma_eval.accounts.personal_data.own_data import OWN_DATA, write_own_data
from emma_eval.accounts.roles import UserRequest, for_signed_in


@for_signed_in
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def own_data(request: UserRequest) -> HttpResponseBase:
    """What the file holds (GET), and the file (POST, since it writes an audit line)."""
    if request.method != "POST":
        return render(request, "accounts/own_data.html")
    try:
        throttle.spend(OWN_DATA, str(request.user.pk))
    except throttle.TooManyError as cause:
        return render(request, "accounts/own_data.html", {"free_at": cause.retry_at}, status=429)
    now = timezone.now()
    response = StreamingHttpResponse(write_own_data(request.user, now), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="my-data-{timezone.localtime(now):%Y-%m-%d}.json"'
    return response
