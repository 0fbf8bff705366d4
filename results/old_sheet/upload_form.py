"""The form that takes a sheet, and the one that agrees to its import."""

from __future__ import annotations

from typing import Any

from django import forms

from .read_sheet import MOST_BYTES

TOO_LARGE = f"The file is larger than {MOST_BYTES // 1_000_000} MB. Divide it into smaller sheets."


class SheetForm(forms.Form):
    """One file. `is_too_large`: one came and was let go."""

    file = forms.FileField(
        label="The sheet",
        allow_empty_file=True,  # the reader of sheets has a better sentence for it
        help_text="CSV or XLSX, up to 100 MB.",
        error_messages={"required": "Choose the file of the sheet.", "invalid": "Choose the file of the sheet."},
        widget=forms.ClearableFileInput(
            attrs={"accept": ".csv,.tsv,.txt,.xlsx", "aria-describedby": "id_file_helptext"}
        ),
    )

    def __init__(self, *args: Any, is_too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if is_too_large:
            self.fields["file"].error_messages["required"] = TOO_LARGE

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(TOO_LARGE)
        return file


class AgreeForm(forms.Form):
    """How many results the page said the import would add."""

    agreed = forms.IntegerField(min_value=1)
