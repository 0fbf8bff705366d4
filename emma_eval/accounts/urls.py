"""Signing in, people, and the audit trail.

Of allauth's pages only those stand here that make sense in a house where accounts are by invitation and the
address of an account is not changed by its owner; they keep allauth's names, which its own code looks up.
"""

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from django.conf import settings
from django.urls import include, path, re_path

from .post import sends_mail
from .roles import for_signed_in
from .views import audit, erasing, front, own_data, people, programs, sign_on, signed_in
from .views.sign_in import accept_invitation, as_ours, for_passwords, open_link_in, sign_in_page

# Asked when the page is written.
SAYS_WHETHER_MAIL_IS_SENT = {"sends_mail": sends_mail}
SAYS_WHETHER_THERE_IS_SIGN_ON = {"sign_on": lambda: settings.SIGN_ON}

sign_in = [
    path(
        "login/",
        sign_in_page(as_ours(account.LoginView.as_view(extra_context=SAYS_WHETHER_THERE_IS_SIGN_ON))),
        name="account_login",
    ),
    path("sign-on/", sign_on.begin, name="sign_on"),
    path("sign-on/back/", sign_on.come_back, name="sign_on_back"),
    path("my-data/", own_data.own_data, name="own_data"),
    path("sessions/", signed_in.signed_in, name="signed_in"),
    path("sessions/end/", signed_in.end_session, name="session_end"),
    path("sessions/end-others/", signed_in.end_other_sessions, name="sessions_end_others"),
    path("link/<str:token>/", open_link_in, name="link_in"),
    path("logout/", account.logout, name="account_logout"),
    path("inactive/", account.account_inactive, name="account_inactive"),
    path("signup/", account.signup, name="account_signup"),
    path("reauthenticate/", for_signed_in(as_ours(account.reauthenticate)), name="account_reauthenticate"),
    path(
        "password/change/",
        for_signed_in(for_passwords(as_ours(account.password_change))),
        name="account_change_password",
    ),
    path("password/set/", for_signed_in(for_passwords(as_ours(account.password_set))), name="account_set_password"),
    path(
        "password/reset/",
        for_passwords(as_ours(account.PasswordResetView.as_view(extra_context=SAYS_WHETHER_MAIL_IS_SENT))),
        name="account_reset_password",
    ),
    path(
        "password/reset/done/",
        account.PasswordResetDoneView.as_view(extra_context=SAYS_WHETHER_MAIL_IS_SENT),
        name="account_reset_password_done",
    ),
    path(
        "password/reset/key/done/",
        account.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        for_passwords(as_ours(account.password_reset_from_key)),
        name="account_reset_password_from_key",
    ),
]
two_steps = [
    path("", for_signed_in(for_passwords(mfa.index)), name="mfa_index"),
    path("authenticate/", as_ours(mfa.authenticate), name="mfa_authenticate"),
    path("reauthenticate/", for_signed_in(as_ours(mfa.reauthenticate)), name="mfa_reauthenticate"),
    path("totp/activate/", for_signed_in(for_passwords(as_ours(totp.activate_totp))), name="mfa_activate_totp"),
    path("totp/deactivate/", for_signed_in(for_passwords(as_ours(totp.deactivate_totp))), name="mfa_deactivate_totp"),
    path(
        "recovery-codes/",
        for_signed_in(for_passwords(recovery_codes.view_recovery_codes)),
        name="mfa_view_recovery_codes",
    ),
    path(
        "recovery-codes/generate/",
        for_signed_in(for_passwords(as_ours(recovery_codes.generate_recovery_codes))),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "recovery-codes/download/",
        for_signed_in(for_passwords(recovery_codes.download_recovery_codes)),
        name="mfa_download_recovery_codes",
    ),
]
one_person = [
    path("", people.person, name="person"),
    path("roles/", people.change_roles, name="person_roles"),
    path("training/", people.grant_training, name="person_training"),
    path("training/<int:training_pk>/revoke/", people.revoke_training, name="person_training_revoke"),
    path("deactivate/", people.deactivate, name="person_deactivate"),
    path("erase/", erasing.erase, name="person_erase"),
    path("reactivate/", people.reactivate, name="person_reactivate"),
    path("invite/", people.invite_again, name="person_invite_again"),
    path("sessions/end/", people.end_sessions, name="person_sessions_end"),
    path("sessions/end-one/", people.end_session, name="person_session_end"),
    path("invite/revoke/", people.revoke_invitation, name="person_invitation_revoke"),
]

urlpatterns = [
    path("", front.home, name="home"),
    path("account/", include(sign_in)),
    path("account/two-steps/", include(two_steps)),
    path("invitations/<str:token>/", accept_invitation, name="accept_invitation"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite_person, name="invite"),
    path("people/<int:pk>/", include(one_person)),
    path("audit/", audit.audit_trail, name="audit_trail"),
    path("programs/", programs.programs, name="programs"),
    path("programs/<int:pk>/revoke/", programs.program_revoke, name="program_revoke"),
    path("api/", programs.interface, name="interface"),
    path("api/schema/", programs.interface_document, name="interface_document"),
]
