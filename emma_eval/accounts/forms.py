"""The forms of this room: allauth's in our words, and those of invitations, people and training."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as sign_in_forms
from allauth.account.fields import EmailField
from allauth.mfa.base import forms as code_forms
from allauth.mfa.totp import forms as totp_forms
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from . import throttle
from .addresses import address_of, is_address
from .ask_for_reset import ask_for_reset
from .models import Training, User
from .roles import Role

ONLY_PLAIN_LETTERS = "Enter the address in plain letters, a to z; a domain of other letters in its form with xn--."
NO_ADDRESS = "Enter an e-mail address such as name@example.org."
HINT_TO_CHOOSE = "At least 10 characters. A few words in a row are easy to remember and hard to guess."


def _say(field: forms.Field, label: str, missing: str, hint: str = "") -> None:
    field.label, field.help_text = label, hint
    field.error_messages["required"] = missing
    field.widget.attrs.pop("placeholder", None)


class AddressField(EmailField):  # type: ignore[misc]
    """allauth's, which would make look-alikes into the address that they look like."""

    def clean(self, value: Any) -> str:
        return address_of(forms.EmailField.clean(self, value))


def _ask_for_address(form: forms.Form, name: str) -> None:
    field = form.fields[name] = AddressField(widget=form.fields[name].widget)
    _say(field, "E-mail address", "Enter your e-mail address.")
    field.error_messages["invalid"] = NO_ADDRESS


class SignInForm(sign_in_forms.LoginForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _ask_for_address(self, "login")
        _say(self.fields["password"], "Password", "Enter your password.")


class ReauthenticateForm(sign_in_forms.ReauthenticateForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say(self.fields["password"], "Password", "Enter your password.")


class ChangePasswordForm(sign_in_forms.ChangePasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say(self.fields["oldpassword"], "Present password", "Enter your present password.")
        _say_new_password(self)


class SetPasswordForm(sign_in_forms.SetPasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say_new_password(self)


class ResetPasswordForm(sign_in_forms.ResetPasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _ask_for_address(self, "email")

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"])

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        """The same look-up and the same write for every address, or the time would tell who has an account."""
        address: str = self.cleaned_data["email"]
        ask_for_reset(address)
        return address


class ResetPasswordKeyForm(sign_in_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say_new_password(self)


class CodeForm(code_forms.AuthenticateForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say_code(self)

    def clean_code(self) -> Any:
        """Counted as passwords are; a wrong one stays counted."""
        attempt = throttle.spend(throttle.CODE, str(self.user.pk))
        code = super().clean_code()
        attempt.delete()
        return code


class ReauthenticateCodeForm(code_forms.ReauthenticateForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say_code(self)


class ActivateForm(totp_forms.ActivateTOTPForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say(
            self.fields["code"],
            "Code",
            "Enter the six digits that the app shows.",
            "Six digits; they change every 30 seconds.",
        )
        self.fields["code"].widget.attrs["inputmode"] = "numeric"


def _say_new_password(form: forms.Form) -> None:
    _say(form.fields["password1"], "New password", "Enter a new password.", HINT_TO_CHOOSE)
    _say(form.fields["password2"], "New password, once more", "Enter the new password once more.")


def _say_code(form: forms.Form) -> None:
    hint = "The six digits that your authenticator app shows, or one of your recovery codes."
    _say(form.fields["code"], "Code", "Enter a code.", hint)


class DateInput(forms.DateInput):
    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class TrainingForm(forms.Form):
    """From which day to which day somebody is trained for Safety scripts; both days are included."""

    starts_on = forms.DateField(label="Trained from", widget=DateInput, error_messages={"invalid": "Enter a day."})
    ends_on = forms.DateField(
        label="Trained until",
        help_text="The last day; leave it empty for no end.",
        required=False,
        widget=DateInput,
        error_messages={"invalid": "Enter a day."},
    )
    note = forms.CharField(
        label="Note", help_text="What the training was, for those who look later.", required=False, max_length=200
    )

    def __init__(self, *args: Any, is_optional: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["starts_on"].required = not is_optional
        self.fields["starts_on"].error_messages["required"] = "Enter the first day of the training."

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        starts_on, ends_on = found.get("starts_on"), found.get("ends_on")
        if ends_on and not starts_on and "starts_on" not in self.errors:
            self.add_error("starts_on", "Enter the first day of the training too.")
        if starts_on and ends_on and ends_on < starts_on:
            self.add_error("ends_on", "The last day is before the first one.")
        return found

    def training_of(self, user: User, granted_by: User | None) -> Training | None:
        """The grant that the form describes, not saved yet; None where no day was entered."""
        found = self.cleaned_data
        if not found["starts_on"]:
            return None
        return Training(
            user=user,
            granted_by=granted_by,
            starts_on=found["starts_on"],
            ends_on=found["ends_on"],
            note=found["note"],
        )


ROLE_HINTS = {
    Role.TESTER: "calls Emma and files results",
    Role.EVAL_TEAM: "writes scripts, registers builds, imports sheets, reviews results",
    Role.EVAL_LEAD: "sets gold results, sees how reviewers agree, decides between reviews",
    Role.MANAGER: "sees the dashboard, invites testers",
    Role.ADMINISTRATOR: "looks after people, roles and training",
}


class RolesForm(forms.Form):
    roles = forms.MultipleChoiceField(
        label="Roles",
        choices=[(role.value, f"{role.value.capitalize()}: {hint}") for role, hint in ROLE_HINTS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        error_messages={"invalid_choice": "There is no role of this name."},
    )

    def clean_roles(self) -> frozenset[Role]:
        return frozenset(Role(value) for value in self.cleaned_data["roles"])


ACCOUNT_IS_SHOWN = "There is an account with this address already: look for it on the People page."
ACCOUNT_IS_NOT_SHOWN = (
    "There is an account with this address already, but not of a tester. "
    "Ask an administrator to make its owner a tester too."
)


class InviteForm(forms.Form):
    """Whom to invite. A manager invites testers; only an administrator chooses roles and training."""

    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
        error_messages={
            "required": "Enter an e-mail address.",
            "invalid": NO_ADDRESS,
        },
    )
    name = forms.CharField(
        label="Name",
        help_text="As others know this person. They can change it when they accept.",
        required=False,
        max_length=150,
    )

    def __init__(self, *args: Any, by: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.by = by

    def clean_email(self) -> str:
        address = address_of(str(self.cleaned_data["email"]))
        if not is_address(address):
            raise ValidationError(ONLY_PLAIN_LETTERS)
        if User.objects.filter(email=address).exists():
            raise ValidationError(self._why_taken(address))
        return address

    def refuse_taken(self) -> None:
        """The address was free when it was looked at, and isn't any more."""
        self.add_error("email", self._why_taken(self.cleaned_data["email"]))

    def _why_taken(self, address: str) -> str:
        is_shown = User.objects.shown_to(self.by).filter(email=address).exists()
        return ACCOUNT_IS_SHOWN if is_shown else ACCOUNT_IS_NOT_SHOWN


class AcceptForm(forms.Form):
    """What a person who was invited chooses: how they are called, and a password."""

    name = forms.CharField(
        label="Your name",
        help_text="As your colleagues know you. It stands beside the results you file.",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    password = forms.CharField(
        label="Password",
        help_text=HINT_TO_CHOOSE,
        strip=False,
        max_length=1000,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Choose a password."},
    )
    password_again = forms.CharField(
        label="Password, once more",
        strip=False,
        max_length=1000,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Enter the password once more."},
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["name"] = user.name
        self.user = user

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        validate_password(password, self.user)
        return password

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        first, again = found.get("password"), found.get("password_again")
        if first and again and first != again:
            self.add_error("password_again", "The two passwords are not the same.")
        return found


class EraseForm(forms.Form):
    """Nothing of it comes back, so a press of a button is not enough."""

    is_sure = forms.BooleanField(
        label="Erase this person for good", error_messages={"required": "Tick this to erase the person for good."}
    )
