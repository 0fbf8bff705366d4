"""The form that narrows the list of results. What is wrong is said beside its field; the rest still narrows."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from html import escape
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils import timezone
from django.utils.safestring import SafeString

from results.models import Browser, Connection, Device, Source
from scripts_catalog import taxonomy
from scripts_catalog.models import sort_key_of

from .choices import Choices
from .filters import Filters
from .periods import PERIODS, Period
from .reviewed import REVIEW_STATES

MOST_TEXT = 200
PICK_ONE = "Pick one from the list."  # what programs, who have none, are not told
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2100, 12, 31)
SCALE = [(str(value), str(value)) for value, _ in taxonomy.SCALE]
NO_RATING = f"Pick a rating from {SCALE[0][0]} to {SCALE[-1][0]}."
DIMENSIONS = [(dimension.key, dimension.name) for dimension in taxonomy.DIMENSIONS]
REVIEWED = [(Source.REVIEWED.value, Source.REVIEWED.label)]
PROBLEMS = [(group.name, [(tag.key, tag.label) for tag in group.tags]) for group in taxonomy.TAG_GROUPS]
OPENED_BY = (
    *("area", "tags", "problem", "dimension", "low", "high", "returning", "camera", "started"),
    *("browser", "device", "connection", "review", "safety", "period", "from", "to"),
)


class Select(forms.Widget):
    """A select whose options are written in one go: Django's makes a template of each, for hundreds of them."""

    def __init__(self, options: list[Any]) -> None:
        super().__init__()
        self.options = options

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        all_attrs = flatatt({"name": name, **self.build_attrs(self.attrs, attrs)})
        return SafeString(f"<select{all_attrs}>{_written(self.options, str(value or ''))}</select>")


class DayInput(forms.DateInput):
    """A day, written in one go, too."""

    input_type = "date"

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        said = {} if value in (None, "") else {"value": self.format_value(value)}
        own = {"type": self.input_type, "name": name, **said, **self.build_attrs(self.attrs, attrs)}
        return SafeString(f"<input{flatatt(own)}>")


def _written(options: list[Any], chosen: str) -> str:
    """Options, and groups of them, as HTML."""
    found = []
    for value, label in options:
        if isinstance(label, list):
            found.append(f'<optgroup label="{escape(value)}">{_written(label, chosen)}</optgroup>')
        else:
            found.append(_option(value, label, is_chosen=value == chosen))
    return "".join(found)


@lru_cache(4096)  # a page writes hundreds of them, nearly all as the page before did
def _option(value: str, label: str, *, is_chosen: bool) -> str:
    return f'<option value="{escape(value)}"{" selected" if is_chosen else ""}>{escape(label)}</option>'


def _values_of(options: list[Any]) -> Iterator[str]:
    for value, label in options:
        if isinstance(label, list):
            yield from _values_of(label)
        else:
            yield value


class PickField(forms.Field):
    """One of a list, or any. The values that are not in it are not told apart: none may be known."""

    def __init__(
        self, label: str, options: Iterable[Any], *, any_word: str = "Any", any_value: str = "", unknown: str = ""
    ) -> None:
        self.options = [(any_value, any_word), *options]
        unknown = unknown or f"There is no such {label.lower()}. {PICK_ONE}"
        super().__init__(label=label, required=False, widget=Select(self.options), error_messages={"unknown": unknown})

    def to_python(self, value: Any) -> str:
        return str(value or "")

    def validate(self, value: str) -> None:
        if value and value not in _values_of(self.options):
            raise forms.ValidationError(self.error_messages["unknown"])


class YesNoField(PickField):
    """Yes, no, or either."""

    def __init__(self, label: str, yes: str, no: str) -> None:
        super().__init__(label, [("yes", yes), ("no", no)], unknown=PICK_ONE)

    def clean(self, value: Any) -> bool | None:
        return {"yes": True, "no": False}.get(super().clean(value))


class LeftOutField(PickField):
    """Something that is there unless it is left out."""

    def __init__(self, label: str) -> None:
        super().__init__(label, [("no", "Left out")], any_word="Included", unknown=PICK_ONE)

    def clean(self, value: Any) -> bool | None:
        return False if super().clean(value) else None


class DayField(forms.DateField):
    """A day in the form that browsers send, of years that a calendar can hold in any zone."""

    def __init__(self, label: str) -> None:
        said = "Give the day as 2026-03-31."
        super().__init__(
            label=label,
            required=False,
            input_formats=["%Y-%m-%d"],
            widget=DayInput(format="%Y-%m-%d"),
            error_messages={"invalid": said},
        )

    def clean(self, value: Any) -> date | None:
        day: date | None = super().clean(value)
        if day is not None and not FIRST_DAY <= day <= LAST_DAY:
            raise forms.ValidationError(f"Give a day between {FIRST_DAY.year} and {LAST_DAY.year}.")
        return day


class BuildField(PickField):
    """A build by its name, however its letters and leading zeros are written; or `any_value`, which narrows nothing."""

    def __init__(self, names: list[str], any_value: str = "", any_word: str = "Any", unknown: str = "") -> None:
        options = [(name, name) for name in names]
        super().__init__("Build", options, any_word=any_word, any_value=any_value, unknown=unknown)
        self.name_of = {sort_key_of(name): name for name in names}
        self.any_value = any_value

    def to_python(self, value: Any) -> str:
        if value == self.any_value:
            return ""
        return self.name_of.get(sort_key_of(value or ""), value or "")


class FilterForm(forms.Form):
    """The filters by their names in the address: all of them, or only some.

    `any_build`: the value that asks for every build, on a page where asking for none means something else.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        choices: Choices,
        *,
        only: Container[str] | None = None,
        any_build: str = "",
    ) -> None:
        super().__init__(data, auto_id="filter-%s")
        fields = {
            "q": forms.CharField(
                label="Search comments",
                help_text="words, or the number of a result",
                required=False,
                max_length=MOST_TEXT,
                widget=forms.TextInput(attrs={"type": "search"}),
                error_messages={"max_length": f"Search for at most {MOST_TEXT} characters."},
            ),
            "script": PickField("Script", choices.scripts_by_area()),
            "build": BuildField(choices.builds, any_build),
            "tester": PickField("Tester", choices.testers.items(), any_word="Anyone"),
            "area": PickField("Area", choices.areas()),
            "tags": PickField("Whose tags", REVIEWED, any_word=Source.FILED.label, unknown=PICK_ONE),
            "problem": PickField("Problem", PROBLEMS),
            "biggest": forms.BooleanField(label="as the biggest", required=False),
            "dimension": PickField("Dimension", DIMENSIONS),
            "low": PickField("Lowest", SCALE, unknown=NO_RATING),
            "high": PickField("Highest", SCALE, unknown=NO_RATING),
            "started": YesNoField("The call", "Took place", "Never started"),
            "camera": YesNoField("Camera", "Used", "Not used"),
            "returning": YesNoField("Talked to Emma before", "Yes", "No"),
            "browser": PickField("Browser", Browser.choices),
            "device": PickField("Device", Device.choices),
            "connection": PickField("Connection", Connection.choices),
            "review": PickField("Review", REVIEW_STATES.items(), unknown=PICK_ONE),
            "safety": LeftOutField("Safety"),
            "period": PickField("Days", PERIODS, unknown=PICK_ONE),
            "from": DayField("From"),
            "to": DayField("To"),
        }
        if not choices.sees_reviews:
            fields.pop("review")
        if not choices.sees_safety:
            fields.pop("safety")
        self.fields = {name: field for name, field in fields.items() if only is None or name in only}
        for name, field in self.fields.items():
            hint = f"filter-{name}-hint " if field.help_text else ""
            field.widget.attrs["aria-describedby"] = f"{hint}filter-{name}-error"

    def clean(self) -> dict[str, Any]:
        """A range needs its dimension and its right way round; a range that has neither is left out."""
        found: dict[str, Any] = super().clean() or {}
        low, high = found.get("low"), found.get("high")
        if (low or high) and not found.get("dimension") and "dimension" not in self.errors:
            self.add_error("dimension", "Pick the dimension that this range is about.")
        if low and high and int(low) > int(high):
            self.add_error("low", "The lowest rating is above the highest.")
            found.pop("high")
        if found.get("from") and found.get("to") and found["from"] > found["to"]:
            self.add_error("from", "The first day is after the last.")
            found.pop("to")
        if found.get("period") and (found.get("from") or found.get("to")):
            self.add_error("period", "Give days, or pick one of these, not both. The days are taken.")
        return found

    def filters(self) -> Filters:
        """What was understood; a field with an error narrows nothing."""
        self.full_clean()
        said = self.cleaned_data
        filters = self._filters(said)
        return filters.during(Period(said["period"]), timezone.localdate()) if said.get("period") else filters

    def _filters(self, said: dict[str, Any]) -> Filters:
        return Filters(
            text=said.get("q", ""),
            script=said.get("script", ""),
            area=said.get("area", ""),
            build=said.get("build", ""),
            tester=_whole(said.get("tester")),
            tags=said.get("tags") or Source.FILED.value,
            problem=said.get("problem", ""),
            is_biggest=bool(said.get("problem") and said.get("biggest")),
            **self._range(said),
            met_emma_before=said.get("returning"),
            camera_used=said.get("camera"),
            started=said.get("started"),
            browser=said.get("browser", ""),
            device=said.get("device", ""),
            connection=said.get("connection", ""),
            review=said.get("review", ""),
            with_safety=said.get("safety"),
            first_day=said.get("from"),
            last_day=said.get("to"),
        )

    @staticmethod
    def _range(said: dict[str, Any]) -> dict[str, Any]:
        low, high = _whole(said.get("low")), _whole(said.get("high"))
        if not said.get("dimension") or (low is None and high is None):
            return {}
        return {"dimension": said["dimension"], "low": low, "high": high}

    @property
    def is_opened(self) -> bool:
        """Whether one of the fields that are folded away is in use or wrong."""
        return any(self.data.get(name) or name in self.errors for name in OPENED_BY)


def _whole(text: str | None) -> int | None:
    return int(text) if text else None
