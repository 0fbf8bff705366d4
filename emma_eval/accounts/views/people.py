"""Who works here: invite people, give roles and training, take them away."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from emma_eval.accounts import change_access, invite, sessions
from emma_eval.accounts import people as listing
from emma_eval.accounts.browsers import browsers_of
from emma_eval.accounts.forms import InviteForm, RolesForm, TrainingForm
from emma_eval.accounts.models import Invitation, Training, User
from emma_eval.accounts.post import sends_mail
from emma_eval.accounts.roles import Role, UserRequest, for_roles

LINK = "shows_link_of_invitation"
LAST_ADMINISTRATOR = "This is the last administrator who can sign in. Make somebody else administrator first."
ERASED = "This person was erased: nobody is behind the account any more, so nothing can be given to it."
OWN_TRAINING = "Your own training is for another administrator to put on record."

ROLES_BY_SIGN_ON = "The organisation's sign-on gives this person their roles. Change their groups there."


@for_roles(Role.MANAGER, Role.ADMINISTRATOR)
def people(request: UserRequest) -> HttpResponse:
    words, chosen = request.GET.get("q", "").strip(), request.GET.get("role", "")
    role = Role(chosen) if chosen in set(Role) else None
    page = listing.page(request.user, words=words, role=role, after=request.GET.get("after", ""))
    context = {"page": page, "words": words, "role": role, "roles": list(Role), "can_filter": _looks_after(request)}
    return render(request, "accounts/people.html", context)


@for_roles(Role.MANAGER, Role.ADMINISTRATOR)
def invite_person(request: UserRequest) -> HttpResponse:
    """Managers invite testers. Roles and training are for administrators to give."""
    forms = _invite_forms(request)
    are_valid = [form.is_valid() for form in forms.values()]  # each is looked at, so that all errors are shown
    if request.method == "POST" and all(are_valid):
        try:
            return _invited(request, _carry_out(request, **forms))
        except invite.AddressTakenError:
            forms["form"].refuse_taken()
    status = 422 if request.method == "POST" else 200
    return render(request, "accounts/invite.html", {**forms, "sends_mail": sends_mail()}, status=status)


def _invite_forms(request: UserRequest) -> dict[str, Any]:
    posted = request.POST if request.method == "POST" else None
    forms: dict[str, Any] = {"form": InviteForm(posted, by=request.user)}
    if _looks_after(request):
        forms["roles_form"] = RolesForm(posted, initial={"roles": [Role.TESTER.value]})
        forms["training_form"] = TrainingForm(posted, is_optional=True)
    return forms


def _carry_out(
    request: UserRequest,
    form: InviteForm,
    roles_form: RolesForm | None = None,
    training_form: TrainingForm | None = None,
) -> Invitation:
    roles = roles_form.cleaned_data["roles"] if roles_form else {Role.TESTER}
    training = training_form.training_of(User(), request.user) if training_form else None
    return invite.invite(form.cleaned_data["email"], form.cleaned_data["name"], roles, request.user, training=training)


@for_roles(Role.MANAGER, Role.ADMINISTRATOR)
def person(request: UserRequest, pk: int) -> HttpResponse:
    return _person_page(request, _shown(request, pk))


def _nobody(request: UserRequest, user: User) -> HttpResponse:
    messages.error(request, ERASED)
    return redirect("person", user.pk)


@for_roles(Role.ADMINISTRATOR)
@require_POST
def change_roles(request: UserRequest, pk: int) -> HttpResponse:
    user, form = _shown(request, pk), RolesForm(request.POST)
    if user.has_roles_by_sign_on:
        form.add_error("roles", ROLES_BY_SIGN_ON)
    if not form.is_valid():
        return _person_page(request, user, roles_form=form)
    try:
        change_access.change_roles(user, form.cleaned_data["roles"], request.user)
    except change_access.ErasedError:
        return _nobody(request, user)
    except change_access.LastAdministratorError:
        form.add_error("roles", LAST_ADMINISTRATOR)
        return _person_page(request, user, roles_form=form)
    messages.success(request, f"The roles of {user} are changed.")
    return redirect("person", user.pk)


@for_roles(Role.ADMINISTRATOR)
@require_POST
def grant_training(request: UserRequest, pk: int) -> HttpResponse:
    user, form = _shown(request, pk), TrainingForm(request.POST)
    training = form.training_of(user, request.user) if form.is_valid() else None
    if training is None:
        return _person_page(request, user, training_form=form)
    try:
        change_access.grant_training(training, request.user)
    except change_access.ErasedError:
        return _nobody(request, user)
    except change_access.OwnTrainingError:
        form.add_error(None, OWN_TRAINING)
        return _person_page(request, user, training_form=form)
    messages.success(request, f"The training of {user} is on record.")
    return redirect("person", user.pk)


@for_roles(Role.ADMINISTRATOR)
@require_POST
def revoke_training(request: UserRequest, pk: int, training_pk: int) -> HttpResponse:
    training = get_object_or_404(Training, pk=training_pk, user=_shown(request, pk))
    change_access.revoke_training(training, request.user)
    messages.success(request, "The training is revoked. Safety is closed to this person from now on.")
    return redirect("person", pk)


@for_roles(Role.ADMINISTRATOR)
@require_POST
def deactivate(request: UserRequest, pk: int) -> HttpResponse:
    user = _shown(request, pk)
    try:
        change_access.deactivate(user, request.user)
    except change_access.LastAdministratorError:
        messages.error(request, LAST_ADMINISTRATOR)
    else:
        messages.success(request, f"{user} is signed out and can't sign in any more. What they filed stays.")
    return redirect("person", user.pk)


@for_roles(Role.ADMINISTRATOR)
@require_POST
def reactivate(request: UserRequest, pk: int) -> HttpResponse:
    user = _shown(request, pk)
    change_access.reactivate(user, request.user)
    messages.success(request, f"{user} can sign in again.")
    return redirect("person", user.pk)


@for_roles(Role.ADMINISTRATOR)
@require_POST
def end_sessions(request: UserRequest, pk: int) -> HttpResponse:
    """Sign somebody out everywhere; one's own browser stays, which has a button of its own for that."""
    user = _shown(request, pk)
    sessions.end_all(user, request.user, but=request.session.session_key)
    messages.success(request, f"{user} is signed out everywhere.")
    return redirect("person", user.pk)


@for_roles(Role.ADMINISTRATOR)
@require_POST
def end_session(request: UserRequest, pk: int) -> HttpResponse:
    """Sign somebody out of one browser."""
    user = _shown(request, pk)
    if sessions.end_one(user, request.POST.get("session", ""), request.user):
        messages.success(request, f"{user} is signed out of that browser.")
    else:
        messages.info(request, "That browser was signed out already.")
    return redirect("person", user.pk)


@for_roles(Role.MANAGER, Role.ADMINISTRATOR)
@require_POST
def invite_again(request: UserRequest, pk: int) -> HttpResponse:
    return _invited(request, invite.invite_again(_waiting(request, pk), request.user))


@for_roles(Role.MANAGER, Role.ADMINISTRATOR)
@require_POST
def revoke_invitation(request: UserRequest, pk: int) -> HttpResponse:
    user = _waiting(request, pk)
    invite.revoke_invitation(user, request.user)
    messages.success(request, "The link of the invitation works no longer.")
    return redirect("person", user.pk)


def _shown(request: UserRequest, pk: int) -> User:
    return get_object_or_404(User.objects.shown_to(request.user), pk=pk)


def _waiting(request: UserRequest, pk: int) -> User:
    """Somebody who has not joined yet. A manager invites testers only, so nobody with another role."""
    user = _shown(request, pk)
    is_mine = _looks_after(request) or user.roles == {Role.TESTER}
    return get_object_or_404(User, pk=user.pk if is_mine and user.is_active and not user.has_joined else None)


def _looks_after(request: UserRequest) -> bool:
    return request.user.has_role(Role.ADMINISTRATOR)


def _invited(request: UserRequest, invitation: Invitation) -> HttpResponse:
    """Administrators get the link to hand over; who opens it holds the account, so managers only have it mailed."""
    if _looks_after(request):
        request.session[LINK] = invitation.pk
    email = invitation.user.email
    if sends_mail():
        messages.success(request, f"An invitation is on its way to {email}.")
    elif _looks_after(request):
        messages.success(request, f"{email} is invited. Hand over the link below: this site sends no mail.")
    else:
        messages.warning(request, f"{email} is invited, but has no link yet: this site sends no mail.")
    return redirect("person", invitation.user_id)


def _person_page(request: UserRequest, user: User, **bound: Any) -> HttpResponse:
    """The page with its forms; one that was sent with errors stands in it as it was sent."""
    context = {
        "person": user,
        "row": listing.row_of(user),
        "today": timezone.localdate(),
        "trainings": user.trainings.select_related("granted_by").order_by("-starts_on", "-pk"),
        "invitation": Invitation.objects.open().filter(user=user).order_by("-pk").first(),
        "link": _link_to_show(request, user),
        "looks_after": _looks_after(request),
        "browsers": browsers_of(user, request.session.session_key) if _looks_after(request) else [],
        "sign_on": settings.SIGN_ON,
        "own_training": OWN_TRAINING if user == request.user else "",
        "sends_mail": sends_mail(),
        "can_invite": _looks_after(request) or user.roles == {Role.TESTER},
        "roles_form": RolesForm(initial={"roles": [role.value for role in user.roles]}),
        "training_form": TrainingForm(initial={"starts_on": timezone.localdate()}),
        **bound,
    }
    return render(request, "accounts/person.html", context, status=422 if bound else 200)


def _link_to_show(request: HttpRequest, user: User) -> str:
    """The link of the invitation just made, once."""
    found = Invitation.objects.open().filter(pk=request.session.pop(LINK, None), user=user).first()
    return settings.ORIGIN + reverse("accept_invitation", args=[found.token]) if found else ""
