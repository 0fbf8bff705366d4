"""The form of an export: which kind of file, and which columns. Both stand in the address too, once chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from results.listing.list_results import Asked
from results.old_sheet.read_sheet import COLUMNS as SHEET_COLUMNS

from .columns import COLUMNS, GROUPS, Column, columns_of
from .order_file import FORMAT_NAMES, Format
from .write_workbook import MOST_ROWS

NONE = "none"  # stands in the address, and in the form, for no column: nothing at all asks for every one
WITHOUT = "without"  # a column that is left out, in an address that would else name most of them
NO_COLUMN = "Pick at least one column."
HINTS = {
    Format.CSV: "Separated by commas, however long. Can be imported again.",
    Format.JSON_LINES: "One object a line, typed, for programs. Can't be imported.",
    Format.WORKBOOK: (
        "The safest for spreadsheets: an Excel workbook. Can be imported again. "
        "Above 50,000 rows it is made in the background."
    ),
}
_IMPORTED = frozenset(column.name for column in SHEET_COLUMNS)


class ExportForm(forms.Form):
    """`format` and `column`, which may be there many times."""

    format = forms.ChoiceField(
        choices=list(FORMAT_NAMES.items()),
        error_messages={"required": "Pick a format.", "invalid_choice": "Pick a format."},
    )
    column = forms.MultipleChoiceField(
        choices=[*((column.key, column.name) for column in COLUMNS), (NONE, "")],
        error_messages={
            "required": NO_COLUMN,
            "invalid_choice": "One of those columns is not there any more. Pick from the list.",
        },
    )

    def clean_format(self) -> Format:
        return Format(self.cleaned_data["format"])

    def clean_column(self) -> tuple[Column, ...]:
        columns = columns_of(self.cleaned_data["column"])
        if not columns:
            raise forms.ValidationError(NO_COLUMN)
        return columns

    def refuse_size(self) -> None:
        self.add_error("format", f"A workbook holds at most {MOST_ROWS:,} rows. Choose CSV, or narrow the list.")


@dataclass(frozen=True)
class Choice:
    """A box or a button of the page."""

    key: str
    name: str
    hint: str
    is_chosen: bool


@dataclass(frozen=True)
class Chosen:
    """What is chosen on the page now."""

    format: Format
    columns: Sequence[Column]

    @classmethod
    def read(cls, params: QueryDict) -> Chosen:
        """From an address or a form. Nothing said: CSV, all columns. What can't be read is not chosen."""
        said, keys = params.get("format", ""), params.getlist("column")
        left_out = frozenset(params.getlist(WITHOUT))
        columns = columns_of(keys) if keys else tuple(column for column in COLUMNS if column.key not in left_out)
        return cls(Format(said) if said in set(Format) else Format.CSV, columns)

    def query(self, asked: Asked, columns: Sequence[Column] | None = None) -> str:
        """The address of this page with this chosen, as short as can be."""
        columns = self.columns if columns is None else columns
        said: list[tuple[str, str]] = [("format", self.format)] if self.format != Format.CSV else []
        left_out = [column for column in COLUMNS if column not in columns]
        if len(left_out) < len(columns):
            said += [(WITHOUT, column.key) for column in left_out]
        else:
            said += [("column", column.key) for column in columns] or [("column", NONE)]
        return "&".join(filter(None, (asked.query(), urlencode(said))))

    def formats(self) -> list[Choice]:
        return [Choice(key, name, HINTS[key], key == self.format) for key, name in FORMAT_NAMES.items()]

    def groups(self) -> list[tuple[str, list[Choice]]]:
        chosen = {column.key for column in self.columns}
        return [
            (group.name, [Choice(column.key, column.name, "", column.key in chosen) for column in group.columns])
            for group in GROUPS
        ]


def imported(columns: Iterable[Column] = COLUMNS) -> tuple[Column, ...]:
    """Those that the import of sheets reads."""
    return tuple(column for column in columns if column.name in _IMPORTED)
