"""The columns of a CSV file, and the mapping that a person chooses for them one by one.

`read_columns` takes a file apart without knowing what its columns mean; the choice is made on its first rows.
"""

import csv
import io
from collections.abc import Mapping, Sequence

import msgspec

from kasuwa.reconciliation.csv_mapping import (
    COLUMN_NAMES,
    SEVERAL,
    SUGGESTED_FORMS,
    CsvMapping,
    decode_mapping,
    suggest_mapping,
)
from kasuwa.reconciliation.model import StatementError

DELIMITERS = (",", ";", "\t", "|")
SHOWN_ROWS = 6
MAX_COLUMNS = 40
# What a column can be, with the words of pages.
MEANINGS = {
    "": "not used",
    "date": "date",
    "amount": "amount with its sign",
    "debit": "money out",
    "credit": "money in",
    "reference": "reference",
    "description": "description",
    "id": "number of the line",
    "fee": "fee",
    "balance": "balance after",
    "currency": "currency",
}
# How amounts are written: decimal and thousands separators.
AMOUNT_FORMS = {"1,234.56": (".", ","), "1.234,56": (",", "."), "1 234,56": (",", " "), "1234.56": (".", "")}


class FileColumns(msgspec.Struct, frozen=True):
    """The columns of a CSV file with its first rows, and what each one probably means."""

    names: list[str]
    rows: list[list[str]]
    meanings: list[str]  # one of MEANINGS for each column
    date_form: str
    amount_form: str  # one of AMOUNT_FORMS
    delimiter: str
    encoding: str
    skip_lines: int
    has_header: bool


def read_columns(beginning: bytes, known: CsvMapping | None = None) -> FileColumns:
    """Returns the columns of a file that begins so, with the meanings of `known`, or those that their names suggest.

    Raises StatementError if the file has no two columns."""
    mapping = known or suggest_mapping(beginning)
    encoding = mapping.encoding if mapping else "utf-8"
    try:
        text = beginning.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except (UnicodeDecodeError, LookupError):
        encoding, text = "cp1252", beginning.decode("cp1252", errors="replace")
    delimiter = mapping.delimiter if mapping else choose_delimiter(text)
    skipped = mapping.skip_lines if mapping else 0
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row][
        skipped : skipped + 1 + SHOWN_ROWS
    ]
    if not rows or len(rows[0]) < 2:
        raise StatementError("the file has no columns: choose a CSV file with a date and an amount in every row")
    has_header = mapping.has_header if mapping else not any(character.isdigit() for character in "".join(rows[0]))
    width = min(max(len(row) for row in rows), MAX_COLUMNS)
    head = rows[0] if has_header else [str(number) for number in range(1, width + 1)]
    names = [cell.strip() for cell in head][:width] + [str(number) for number in range(len(head) + 1, width + 1)]
    return FileColumns(
        names=names,
        rows=[[*row[:width], *[""] * (width - len(row))] for row in (rows[1:] if has_header else rows)],
        meanings=find_meanings(names, mapping),
        date_form=mapping.date_form if mapping else SUGGESTED_FORMS[0],
        amount_form=find_amount_form(mapping),
        delimiter=delimiter,
        encoding=encoding,
        skip_lines=skipped,
        has_header=has_header,
    )


def choose_delimiter(text: str) -> str:
    """Returns the delimiter that makes the most columns of the first lines."""
    lines = text.splitlines()[:10]
    return max(DELIMITERS, key=lambda one: sum(line.count(one) for line in lines))


def find_meanings(names: Sequence[str], mapping: CsvMapping | None) -> list[str]:
    if mapping is None:
        return [""] * len(names)
    by_column = {column.lower(): meaning for meaning, column in mapping.columns.items()}
    by_column |= {column.lower(): meaning for meaning in SEVERAL for column in getattr(mapping, meaning)}
    return [by_column.get(name.lower(), by_column.get(str(number), "")) for number, name in enumerate(names, 1)]


def find_amount_form(mapping: CsvMapping | None) -> str:
    signs = (mapping.decimal, mapping.thousands) if mapping else (".", ",")
    return next((form for form, known in AMOUNT_FORMS.items() if known == signs), "1,234.56")


def make_mapping(columns: FileColumns, chosen: Sequence[str], options: Mapping[str, str]) -> CsvMapping:
    """Returns the mapping of the chosen meanings, one for each column. `options` are `date_form`, `amount_form` and
    `is_out_positive`. Raises StatementError with all that is wrong with it."""
    values: dict[str, object] = {
        "delimiter": columns.delimiter,
        "encoding": columns.encoding,
        "skip_lines": columns.skip_lines,
        "has_header": columns.has_header,
        "date_form": options.get("date_form") or columns.date_form,
        "is_out_positive": options.get("is_out_positive") == "yes",
        "date": "",
    }
    decimal, thousands = AMOUNT_FORMS.get(options.get("amount_form", ""), AMOUNT_FORMS["1,234.56"])
    values |= {"decimal": decimal, "thousands": thousands}
    for number, (name, meaning) in enumerate(zip(columns.names, chosen, strict=False), 1):
        column = name if columns.has_header and name else str(number)
        if meaning in SEVERAL:
            values[meaning] = (*as_names(values.get(meaning)), column)
        elif meaning in COLUMN_NAMES and values.get(meaning):
            raise StatementError(f"two columns are chosen as {MEANINGS[meaning]}: choose one")
        elif meaning in COLUMN_NAMES:
            values[meaning] = column
    return decode_mapping(msgspec.json.encode(values))


def as_names(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()
