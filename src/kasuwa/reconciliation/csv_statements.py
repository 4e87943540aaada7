"""Reads statements in CSV by the mapping of their account."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from kasuwa.reconciliation.amounts import parse_amount
from kasuwa.reconciliation.csv_mapping import CsvMapping, parse_date
from kasuwa.reconciliation.model import StatementError, StatementFacts, StatementLine, clean_text

FORMAT = "csv"
MAX_CELL_LENGTH = 10_000


class CsvStatement:
    """A CSV file. Iterating it reads it line by line; lines with a fault are noted in `facts` and left out."""

    def __init__(self, file: BinaryIO, mapping: CsvMapping, currency: str) -> None:
        self.facts = StatementFacts(FORMAT)
        self._file = file
        self._mapping = mapping
        self._currency = currency
        self._places: dict[str, int] = {}
        self._references: list[int] = []
        self._descriptions: list[int] = []
        self._needed = 0

    def __iter__(self) -> Iterator[StatementLine]:
        mapping = self._mapping
        encoding = "utf-8-sig" if mapping.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else mapping.encoding
        text = io.TextIOWrapper(self._file, encoding=encoding, newline="")
        csv.field_size_limit(MAX_CELL_LENGTH)
        rows = csv.reader(text, delimiter=mapping.delimiter, strict=True)
        try:
            for _ in range(mapping.skip_lines):
                text.readline()
            self._find_columns(next(rows, []) if mapping.has_header else [])
            before = mapping.skip_lines
            for row in rows:
                line = self._read_row(row, before + rows.line_num)
                if line is not None:
                    yield line
        except UnicodeError:
            place = f"after line {mapping.skip_lines + rows.line_num}"
            raise StatementError(
                f"{place}: the file is not {mapping.encoding} text: set `encoding` in the mapping"
            ) from None
        except csv.Error as error:
            raise StatementError(f"line {mapping.skip_lines + rows.line_num}: {error}") from None
        finally:
            text.detach()

    def _find_columns(self, header: Sequence[str]) -> None:
        """Finds the place of each column. Raises StatementError that names every column which is missing."""
        names = {cell.strip().lower(): place for place, cell in reversed(list(enumerate(header)))}
        missing = []

        def find(column: str) -> int:
            place = names.get(column.strip().lower())
            if place is None and column.isascii() and column.isdecimal() and 1 <= int(column) <= 1000:
                place = int(column) - 1
            if place is None:
                missing.append(column)
            return place or 0

        self._places = {meaning: find(column) for meaning, column in self._mapping.columns.items()}
        self._references = [find(column) for column in self._mapping.reference]
        self._descriptions = [find(column) for column in self._mapping.description]
        self._needed = 1 + max([*self._places.values(), *self._references, *self._descriptions])
        if missing:
            shown = ", ".join(repr(cell.strip()) for cell in header[:30]) or "nothing"
            line = self._mapping.skip_lines + 1
            raise StatementError(f"line {line}: there is no column {', '.join(map(repr, missing))}; there is {shown}")

    def _read_row(self, row: list[str], number: int) -> StatementLine | None:
        """Returns the line, or None for a row that is empty, ignored or faulty."""
        if not any(row) or not any(cell.strip() for cell in row):
            return None
        if self._mapping.ignored_rows and row[0].strip().startswith(self._mapping.ignored_rows):
            return None
        if len(row) < self._needed:
            self.facts.add_fault(f"line {number}", f"it has {len(row)} columns, and {self._needed} are needed")
            return None
        faults: list[str] = []
        booked_on = parse_date(row[self._places["date"]], self._mapping.date_form)
        if booked_on is None:
            faults.append(f"{row[self._places['date']][:40]!r} is not a date as {self._mapping.date_form}")
        amount = self._read_signed(row, faults)
        fee, balance = self._read_optional(row, "fee", faults), self._read_optional(row, "balance", faults)
        self._check_currency(row, faults)
        if faults or booked_on is None or not amount:
            self.facts.add_fault(f"line {number}", "; ".join(faults))
            return None
        return StatementLine(
            number=number,
            booked_on=booked_on,
            amount=amount,
            fee=abs(fee or 0),
            bank_reference=clean_text(" ".join([row[place] for place in self._references])),
            description=clean_text(" ".join([row[place] for place in self._descriptions])),
            bank_id=clean_text(row[self._places["id"]]) if "id" in self._places else "",
            balance=balance,
        )

    def _read_signed(self, row: list[str], faults: list[str]) -> int:
        """Returns the amount, above zero if money came in. Returns 0 after it has noted a fault."""
        if "amount" in self._places:
            text = row[self._places["amount"]]
            minor = self._parse(text)
            if not minor:
                faults.append(f"{text[:40]!r} is not an amount" if minor is None else "the amount is zero")
                return 0
            return -minor if self._mapping.is_out_positive else minor
        out, came = self._read_optional(row, "debit", faults) or 0, self._read_optional(row, "credit", faults) or 0
        if bool(out) == bool(came):
            faults.append("debit and credit are both given" if out else "neither debit nor credit is an amount")
            return 0
        return abs(came) if came else -abs(out)

    def _read_optional(self, row: list[str], meaning: str, faults: list[str]) -> int | None:
        if meaning not in self._places:
            return None
        text = row[self._places[meaning]].strip()
        if text in ("", "-", "--"):
            return None
        minor = self._parse(text)
        if minor is None:
            faults.append(f"{meaning} {text[:40]!r} is not an amount")
        return minor

    def _parse(self, text: str) -> int | None:
        return parse_amount(text, self._mapping.decimal, self._mapping.thousands)

    def _check_currency(self, row: list[str], faults: list[str]) -> None:
        if "currency" in self._places:
            currency = row[self._places["currency"]].strip().upper()
            self.facts.currency = currency
            if currency != self._currency:
                faults.append(f"the currency is {currency[:10]!r}, and that of the account is {self._currency}")
