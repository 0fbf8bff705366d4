"""Erase a person: a page that says what goes and what stays, and the act itself."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from emma_eval.accounts.change_access import LastAdministratorError
from emma_eval.accounts.forms import EraseForm
from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.personal_data.erase_person import OwnAccountError, erase_person
from emma_eval.accounts.roles import Role, UserRequest, for_roles

LAST_ADMINISTRATOR = "This is the last administrator who can sign in. Make somebody else administrator first."
OWN_ACCOUNT = "Your own account is for another administrator to erase."


@for_roles(Role.ADMINISTRATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def erase(request: UserRequest, pk: int) -> HttpResponse:
    user = get_object_or_404(User, pk=pk)
    form = EraseForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            erase_person(user, request.user)
        except LastAdministratorError:
            form.add_error("is_sure", LAST_ADMINISTRATOR)
        except OwnAccountError:
            form.add_error("is_sure", OWN_ACCOUNT)
        else:
            messages.success(request, "The person is erased. What they filed stays.")
            return redirect("person", user.pk)
    # Lines of the trail from before it kept keys name people by their address, and are never changed.
    old_lines = AuditEntry.objects.visible_to(request.user).filter(target=user.email).count()
    context = {"person": user, "form": form, "old_lines": old_lines}
    return render(request, "accounts/erase.html", context, status=422 if form.is_bound else 200)
