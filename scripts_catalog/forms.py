"""The rules of what a script, a build and a link may say. Site, YAML import and shipped file share them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.validators import URLValidator
from django.utils.text import slugify

from emma_eval.accounts.models import User

from . import taxonomy
from .models import DIMENSION_CHOICES, LONGEST_LINK, SLUG_IS, ScriptVersion
from .names import build_like, fault_of_build, fault_of_title
from .wording import Anchor, Wording

SLUG_LENGTH = 60
# Words that stand for pages in the same place of an address.
RESERVED_SLUGS = {"new", "export", "import"}
SLUG_CANNOT_BE_USED = "Choose another slug: this one is not free."
MOST_BYTES = 2_000_000
MOST_STEPS = 30
LONGEST_STEP = 500
LONGEST_ANCHOR = 500
LONGEST_WHAT_TO_DO = 4000
KEPT_CONTROLS = {"\n"}
# What people put before the items of a list: "1.", "2)", "(3)", "Step 4:", a bullet. Not "1.5 seconds".
TYPED_MARK = re.compile(r"(?:(?:step\s+)?\(?\d{1,2}\s?[.):、](?!\d)|[-*•–](?=\s))\s*", re.IGNORECASE)


def without_controls(text: str) -> str:
    """Line ends as one character, tabs as spaces, everything else that can't be seen or stored left out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(sign for sign in text if sign in KEPT_CONTROLS or unicodedata.category(sign) not in {"Cc", "Cs"})


class PlainText(forms.CharField):
    """Text of any script; control characters are removed, not refused."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(without_controls(str(value or ""))))


class OneLine(PlainText):
    """Text without line ends."""

    def to_python(self, value: Any) -> str:
        return " ".join(super().to_python(value).split())


class Name(OneLine):
    """What people call something of theirs: one line in which everything can be seen."""

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and (fault := fault_of_title(value)):
            raise forms.ValidationError(fault)


def areas_for(user: User) -> list[tuple[str, str]]:
    """The areas this person may file a script under."""
    return [area for area in taxonomy.AREAS if user.is_trained or area[0] != taxonomy.SAFETY]


class Lines(PlainText):
    """One item a line; empty lines say nothing. Numbers that were typed before the items are the page's to add."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        """The items as a tuple."""
        lines = (" ".join(line.split()) for line in str(super().clean(value)).split("\n"))
        items = (TYPED_MARK.sub("", line, count=1) if TYPED_MARK.match(line) else line for line in lines)
        return tuple(item for item in items if item)


class ScriptForm(forms.Form):
    """What a script says."""

    title = OneLine(
        max_length=120,
        error_messages={"required": "Give the script a title."},
        help_text="As people will call it, such as “Bad news day”.",
    )
    area = forms.ChoiceField(choices=taxonomy.AREAS)
    main_dimension = forms.ChoiceField(
        choices=[("", "Choose a dimension"), *DIMENSION_CHOICES],
        help_text="The one this script was written to find out about.",
        error_messages={"invalid_choice": "Choose one of the six dimensions.", "required": "Choose a main dimension."},
    )
    uses_camera = forms.BooleanField(required=False, label="The tester's camera is on during the call")
    summary = OneLine(
        max_length=300,
        help_text="One sentence for the Scripts tab.",
        error_messages={"required": "Say in one sentence what the script finds out."},
    )
    what_to_do = PlainText(
        max_length=LONGEST_WHAT_TO_DO,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="How to set up before calling Emma. An empty line starts a new paragraph.",
        error_messages={"required": "Say what to do before the call."},
    )
    steps = Lines(
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="One step a line, in the order of the call. The numbers are added for you.",
        error_messages={"required": "Write at least one step."},
    )

    def __init__(self, *args: Any, areas: Sequence[tuple[str, str]] = taxonomy.AREAS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose = {"invalid_choice": "Choose one of the areas.", "required": "Choose an area."}
        self.fields["area"] = forms.ChoiceField(
            choices=[("", "Choose an area"), *areas],
            error_messages=choose,
            help_text="Where it stands on the Scripts tab.",
        )
        for dimension in taxonomy.DIMENSIONS:
            for end in ("five", "one"):
                self.fields[f"{dimension.key}_{end}"] = OneLine(
                    required=False,
                    max_length=LONGEST_ANCHOR,
                    widget=forms.Textarea(attrs={"rows": 2, "placeholder": getattr(dimension, end)}),
                    label=f"{dimension.name}: what {'5' if end == 'five' else '1'} looks like",
                )

    def clean_steps(self) -> tuple[str, ...]:
        steps: tuple[str, ...] = self.cleaned_data["steps"]
        if len(steps) > MOST_STEPS:
            raise forms.ValidationError(f"Write at most {MOST_STEPS} steps; these are {len(steps)}.")
        for number, step in enumerate(steps, 1):
            if len(step) > LONGEST_STEP:
                raise forms.ValidationError(f"Step {number} has {len(step)} characters; {LONGEST_STEP} is the most.")
        return steps

    def clean(self) -> None:
        uses_camera = self.cleaned_data.get("uses_camera")
        if self.cleaned_data.get("main_dimension") == "vision" and not uses_camera:
            self.add_error("main_dimension", "Vision can only be the main dimension of a script that uses the camera.")
        for key in taxonomy.DIMENSION_BY_KEY:
            five, one = (self.cleaned_data.get(f"{key}_{end}") for end in ("five", "one"))
            if key == "vision" and not uses_camera and (five or one):
                self.add_error(f"{key}_five", "Only a script that uses the camera says what Vision looks like.")
            elif bool(five) != bool(one):
                missing = "one" if five else "five"
                self.add_error(f"{key}_{missing}", "Say what both 5 and 1 look like, or leave both empty.")

    def wording(self) -> Wording:
        """What was typed, once it is right."""
        words = self.cleaned_data
        anchors = {
            key: Anchor(five=words[f"{key}_five"], one=words[f"{key}_one"])
            for key in taxonomy.DIMENSION_BY_KEY
            if words[f"{key}_five"]
        }
        return Wording(
            anchors=anchors, **{name: words[name] for name in Wording.__dataclass_fields__ if name != "anchors"}
        )

    def anchor_fields(self) -> list[AnchorFields]:
        """The two fields of each dimension, for the page."""
        return [
            AnchorFields(dimension, self[f"{dimension.key}_five"], self[f"{dimension.key}_one"])
            for dimension in taxonomy.DIMENSIONS
        ]

    @staticmethod
    def typed_of(version: ScriptVersion) -> dict[str, Any]:
        """What the form would hold to write this version again."""
        words = version.wording
        typed: dict[str, Any] = {**words.columns(), "steps": "\n".join(words.steps)}
        for key, anchor in words.anchors.items():
            typed.update({f"{key}_five": anchor.five, f"{key}_one": anchor.one})
        return typed


@dataclass(frozen=True)
class AnchorFields:
    """Where a page asks what 5 and 1 of a dimension look like."""

    dimension: taxonomy.Dimension
    five: forms.BoundField
    one: forms.BoundField


class NewScriptForm(ScriptForm):
    """A script that doesn't exist yet: its slug may be chosen now and never again."""

    slug = OneLine(
        required=False,
        max_length=SLUG_LENGTH,
        help_text="The script's part of the web address. Left empty, it is made from the title; fixed once published.",
    )
    field_order = ["title", "slug"]

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"] or slugify(self.cleaned_data.get("title", ""))[:SLUG_LENGTH].strip("-")
        if not slug and self.cleaned_data.get("title"):
            raise forms.ValidationError("The title has no letters a-z to make a slug from: write one.")
        if slug:
            SLUG_IS(slug)
        if slug in RESERVED_SLUGS:
            raise forms.ValidationError(SLUG_CANNOT_BE_USED)
        return slug

    def refuse_slug(self) -> None:
        """Say that the slug is not free, in words that fit a script whoever asks may not know of."""
        self.add_error("slug", SLUG_CANNOT_BE_USED)


class EditScriptForm(ScriptForm):
    """The next version of a script. `started_from` is the key of the version that the editor read."""

    change_note = OneLine(
        required=False, max_length=200, label="What changed", help_text="One line for the list of versions."
    )
    started_from = forms.IntegerField(widget=forms.HiddenInput)


class ImportForm(forms.Form):
    """A catalogue file: uploaded to be looked at, then sent again as text to be applied."""

    file = forms.FileField(
        required=False,
        label="YAML file",
        help_text="The form that the export writes, at most 2 MB.",
        widget=forms.ClearableFileInput(attrs={"accept": ".yaml,.yml"}),
    )
    text = forms.CharField(required=False, widget=forms.Textarea)
    digest = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> None:
        file, text = self.cleaned_data.get("file"), self.cleaned_data.get("text", "")
        if self.errors:
            return
        if file and file.size > MOST_BYTES:
            self.add_error("file", "The file is larger than 2 MB.")
            return
        if file:
            try:
                text = file.read().decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error("file", "The file is not UTF-8 text.")
                return
        if not text.strip():
            self.add_error("file", "Choose a file that holds scripts.")
        # The text travels through a form field, where every line end takes two bytes.
        elif len(text.encode("utf-8", "replace")) + text.count("\n") > MOST_BYTES:
            self.add_error("file", "The file is larger than 2 MB.")
        self.cleaned_data["text"] = text


def without_credentials(link: str) -> None:
    """A call link is a web address that carries no user name and no password."""
    try:
        parts = urlsplit(link)
        has_credentials = bool(parts.username or parts.password or "@" in parts.netloc)
    except ValueError as cause:
        raise forms.ValidationError("This is not a web address.") from cause
    if parts.scheme not in {"http", "https"}:
        raise forms.ValidationError("The link must begin with https:// or http://.")
    if has_credentials:
        raise forms.ValidationError("Leave user name and password out of the link.")


def not_too_long(link: str) -> None:
    if len(link) > LONGEST_LINK:
        raise forms.ValidationError(f"The link has {len(link)} characters; {LONGEST_LINK} is the most.")


class CallLink(forms.URLField):
    """A link that opens Emma. One fault has one error: the first check that fails says why."""

    default_validators = [not_too_long, without_credentials, URLValidator(message="This is not a web address.")]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False,
            assume_scheme="https",
            error_messages={"invalid": "This is not a web address."},
            **kwargs,
        )

    def run_validators(self, value: Any) -> None:
        for check in self.validators if value else ():
            check(value)


class SiteForm(forms.Form):
    """The link that opens Emma wherever a build has none of its own."""

    call_link = CallLink(label="Call link of the site", help_text="Opens Emma for every build without its own link.")


class EditBuildForm(forms.Form):
    """What may change about a build; its name may not, since results hold it."""

    released_on = forms.DateField(
        required=False, label="Released on", widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    note = PlainText(
        required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 4}), help_text="What is new in it."
    )
    call_link = CallLink(label="Call link", help_text="Opens Emma in this build. Left empty, the site's is used.")


class NewBuildForm(EditBuildForm):
    """A build of Emma that results may name from now on."""

    name = OneLine(
        max_length=60,
        error_messages={"required": "Give the build its name."},
        help_text="As the makers of Emma call it, such as 2026.48. It can't be changed later.",
    )
    is_current = forms.BooleanField(required=False, initial=True, label="Make it the current build")
    field_order = ["name", "released_on", "note", "call_link", "is_current"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if fault := fault_of_build(name):
            raise forms.ValidationError(fault)
        if build_like(name) is not None:
            self.refuse_name()
        return name

    def refuse_name(self) -> None:
        """Say that a build of this name, or one that sorts or looks the same, exists."""
        self.add_error("name", "A build of this name exists, or one that looks or sorts like it.")


class FilterForm(forms.Form):
    """What the Scripts tab is narrowed to. What it doesn't understand in the address, it leaves out."""

    q = OneLine(required=False, max_length=100, label="Search", widget=forms.TextInput(attrs={"type": "search"}))
    area = forms.ChoiceField(required=False)
    dimension = forms.ChoiceField(
        required=False, label="Main dimension", choices=[("", "All dimensions"), *DIMENSION_CHOICES]
    )
    camera = forms.ChoiceField(
        required=False, choices=[("", "With or without"), ("yes", "Camera on"), ("no", "No camera")]
    )
    unrun = forms.BooleanField(required=False, label="Not yet run on this build")
    retired = forms.BooleanField(required=False, label="Retired scripts")

    def __init__(self, *args: Any, areas: Sequence[tuple[str, str]], may_see_retired: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["area"] = forms.ChoiceField(required=False, choices=[("", "All areas"), *areas])
        if not may_see_retired:
            del self.fields["retired"]

    def wanted(self) -> Wanted:
        """The filters that were understood."""
        self.is_valid()
        return Wanted(**self.cleaned_data)


@dataclass(frozen=True)
class Wanted:
    """Which scripts the Scripts tab is to show."""

    q: str = ""
    area: str = ""
    dimension: str = ""
    camera: str = ""
    unrun: bool = False
    retired: bool = False

    def in_address(self) -> dict[str, str]:
        """The filters that are set, as they stand in the address."""
        return {name: "yes" if value is True else value for name, value in asdict(self).items() if value}
