"""The mapping of a CSV file: which columns have which meaning, and how dates and amounts are written.

It is kept for each account, so that it is given once. `suggest_mapping` proposes one from the beginning of a file.
"""

import codecs
import csv
import io
import re
from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache

import msgspec

from kasuwa.core.calendar import LAGOS
from kasuwa.reconciliation.amounts import parse_amount
from kasuwa.reconciliation.model import StatementError

DATE_TOKENS = {"YYYY": "%Y", "YY": "%y", "MON": "%b", "MM": "%m", "DD": "%d"}
DATE_SEPARATORS = re.compile(r"[-/. ]*")
FULL_DATES = (["%b", "%d", "%y"], ["%d", "%m", "%y"])
SUGGESTED_FORMS: tuple[str, ...] = (
    "YYYY-MM-DD",
    "DD/MM/YYYY",
    "DD-MM-YYYY",
    "DD.MM.YYYY",
    "DD-MON-YYYY",
    "DD MON YYYY",
    "YYYY/MM/DD",
)
SUGGESTED_FORMS += ("DD/MM/YY", "DD-MON-YY", "MM/DD/YYYY", "YYYYMMDD")
ENCODINGS = ("utf-8", "utf-16", "cp1252", "iso-8859-1", "iso-8859-15")
# Names of columns in the statements of banks and vendors, in lower case, the most certain first.
COLUMN_NAMES: dict[str, tuple[str, ...]] = {
    "date": (
        "booking date",
        "transaction date",
        "trans date",
        "posted date",
        "post date",
        "entry date",
        "value date",
        "date",
        "paid_at",
        "created_at",
        "settlement date",
    ),
    "amount": ("amount", "transaction amount", "net amount", "net"),
    "debit": ("debit", "debits", "withdrawal", "withdrawals", "debit amount", "money out", "paid out"),
    "credit": ("credit", "credits", "deposit", "deposits", "credit amount", "lodgement", "money in", "paid in"),
    "reference": ("reference", "transaction reference", "ref", "ref no", "reference no", "customer reference"),
    "description": ("description", "narration", "remarks", "details", "particulars", "memo"),
    "id": ("transaction id", "id", "entry id", "session id", "sessionid"),
    "fee": ("fee", "fees", "charge", "charges", "commission"),
    "balance": ("balance", "running balance", "balance after", "closing balance"),
    "currency": ("currency", "ccy", "curr"),
}
# Meanings that several columns may have.
SEVERAL = ("reference", "description")


class CsvMapping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The form of the CSV files of one account. Columns are named as in the header, in any case, or by their number."""

    date: str
    date_form: str = "YYYY-MM-DD"  # of DD, MM, MON (Jan), YY and YYYY; a time after it is ignored
    amount: str = ""  # signed, above zero if money came in; or debit and credit
    debit: str = ""  # money that went out
    credit: str = ""  # money that came in
    reference: tuple[str, ...] = ()
    description: tuple[str, ...] = ()
    id: str = ""  # the bank's own number of the line, different for every line
    fee: str = ""  # what was kept of the amount
    balance: str = ""  # after the line
    currency: str = ""
    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str = ","
    skip_lines: int = 0  # before the header
    has_header: bool = True
    is_out_positive: bool = False  # `amount` is above zero if money went out
    ignored_rows: tuple[str, ...] = ()  # rows that begin so, such as totals

    @property
    def columns(self) -> dict[str, str]:
        """The columns by meaning, without those that may be several."""
        names = ("date", "amount", "debit", "credit", "id", "fee", "balance", "currency")
        return {name: column for name in names if (column := getattr(self, name))}


def decode_mapping(text: str | bytes) -> CsvMapping:
    """Decodes a mapping from JSON. Raises StatementError with all that is wrong with it."""
    try:
        mapping = msgspec.json.decode(text, type=CsvMapping)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StatementError(f"the mapping is not valid: {error}") from None
    faults = find_mapping_faults(mapping)
    if faults:
        raise StatementError("the mapping is not valid: " + "; ".join(faults))
    return mapping


def find_mapping_faults(mapping: CsvMapping) -> list[str]:
    has_both = bool(mapping.debit) and bool(mapping.credit)
    checks = {
        "date must name a column": not mapping.date.strip(),
        "name either amount, or debit and credit": bool(mapping.amount) == has_both
        or (bool(mapping.amount) and bool(mapping.debit or mapping.credit)),
        "delimiter must be one character": len(mapping.delimiter) != 1 or mapping.delimiter in '"\r\n',
        f"encoding must be one of {', '.join(ENCODINGS)}": not is_encoding(mapping.encoding),
        "decimal must be . or ,": mapping.decimal not in (".", ","),
        "thousands must be one of . , ' or a blank, or empty, and differ from decimal": mapping.thousands
        not in ("", ".", ",", "'", " ", "\u00a0")
        or mapping.thousands == mapping.decimal,
        "date_form must consist of DD, MM or MON, and YY or YYYY, each once": not is_date_form(mapping.date_form),
        "skip_lines must be from 0 to 1000": not 0 <= mapping.skip_lines <= 1000,
    }
    return [fault for fault, is_wrong in checks.items() if is_wrong]


def is_encoding(name: str) -> bool:
    try:
        return codecs.lookup(name).name in {codecs.lookup(known).name for known in ENCODINGS}
    except (LookupError, ValueError):
        return False


def is_date_form(form: str) -> bool:
    pattern = date_pattern(form)
    parts = sorted(part.lower() for part in re.findall("%[a-zA-Z]", pattern))
    return DATE_SEPARATORS.fullmatch(re.sub("%[a-zA-Z]", "", pattern)) is not None and parts in FULL_DATES


@lru_cache(maxsize=64)
def date_pattern(form: str) -> str:
    """Returns a date form as strptime has it."""
    return re.sub("YYYY|YY|MON|MM|DD", lambda match: DATE_TOKENS[match[0]], form)


@lru_cache(maxsize=8192)
def parse_date(text: str, form: str) -> date | None:
    """Parses a date in this form. A time after it is ignored. Cached: most lines have the date of another."""
    pattern = date_pattern(form)
    wanted = text.strip()
    if " " not in form:
        wanted = re.split("[T ]", wanted, maxsplit=1)[0]
    try:
        return datetime.strptime(wanted, pattern).replace(tzinfo=LAGOS).date()
    except ValueError:
        return None


# --- suggesting -----------------------------------------------------------------------------------------------------


def suggest_mapping(beginning: bytes) -> CsvMapping | None:
    """Proposes a mapping for a file that begins so. Returns None if no header with a date and an amount is found."""
    encoding = "utf-8"
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(beginning)
    except UnicodeDecodeError:
        encoding, text = "cp1252", beginning.decode("cp1252", errors="replace")
    for delimiter in (",", ";", "\t", "|"):
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))[:200]
        for place, row in enumerate(rows[:50]):
            columns = name_columns(row)
            if "date" in columns and ("amount" in columns or {"debit", "credit"} <= columns.keys()):
                return fill_mapping(columns, row, rows[place + 1 :], (delimiter, encoding, place))
    return None


def name_columns(header: Sequence[str]) -> dict[str, str]:
    """Returns the columns of a header by meaning."""
    known = {cell.strip().lower(): cell.strip() for cell in header if cell.strip()}
    columns: dict[str, str] = {}
    for meaning, names in COLUMN_NAMES.items():
        column = next((known[name] for name in names if name in known), None)
        if column is not None and column not in columns.values():
            columns[meaning] = column
    if {"debit", "credit"} <= columns.keys():
        columns.pop("amount", None)
    return columns


def fill_mapping(
    columns: dict[str, str], header: Sequence[str], rows: Sequence[Sequence[str]], form: tuple[str, str, int]
) -> CsvMapping:
    places = {meaning: [cell.strip() for cell in header].index(column) for meaning, column in columns.items()}

    def list_values(meaning: str) -> list[str]:
        place = places.get(meaning)
        return [] if place is None else [row[place] for row in rows if len(row) > place and row[place].strip()]

    dates = list_values("date")
    date_form = max(SUGGESTED_FORMS, key=lambda one: sum(parse_date(text, one) is not None for text in dates))
    figures = [*list_values("amount"), *list_values("debit"), *list_values("credit")]
    signs = [(".", ","), (",", "."), (",", " "), (".", "")]
    decimal, thousands = max(signs, key=lambda pair: sum(parse_amount(text, *pair) is not None for text in figures))
    values: dict[str, object] = {**columns}
    values |= {meaning: (columns[meaning],) for meaning in SEVERAL if meaning in columns}
    delimiter, encoding, skip_lines = form
    values |= {"date_form": date_form, "decimal": decimal, "thousands": thousands}
    values |= {"delimiter": delimiter, "encoding": encoding, "skip_lines": skip_lines}
    return msgspec.convert(values, CsvMapping)
