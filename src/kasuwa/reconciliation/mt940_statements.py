"""Reads statements in MT940, message by message, with the library mt-940.

A file may hold the messages of many days. Each is parsed alone, so that memory does not grow with the file, and its
balances are checked: opening balance and lines must add up to the closing balance. So no line can be lost unnoticed.

The library makes several objects of each line, which is too slow for a file of a million. In a message that has only
the common fields, it reads all but the lines (:61:) and their texts (:86:), and the lines are read here by the
library's pattern. Any other message is left to the library.
"""

import re
import warnings
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any, BinaryIO

import mt940

from kasuwa.core.money import MINOR_PER_MAJOR
from kasuwa.reconciliation.model import StatementError, StatementFacts, StatementLine, clean_text

FORMAT = "mt940"
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
START_TAG = b":20:"
LINE_TAG = b":61:"
# Customer references that stand for none.
NO_REFERENCES = ("NONREF", "NONE", "")
# The library's corrections since its version 5.0, such as the sign of a reversed credit (RC), are optional there.
OPTIONS = mt940.Options.all()

LINE, TEXT = "61", "86"
TAG = re.compile(r"^:([0-9]{2}[A-Z]?|NS):", re.MULTILINE)
COMMON_TAGS = frozenset({"20", "21", "25", "28", "28C", "60F", "60M", LINE, TEXT, "62F", "62M", "64", "65"})
# A text with fields of its own, which the library reads.
STRUCTURED_TEXT = re.compile(r"\d{3}\?\d{2}")
LINE_TAG_OF_LIBRARY = mt940.tags.TAG_BY_ID[61]
DEBIT_MARKS = frozenset({"D", "RC"})


class Mt940Statement:
    """A file of MT940 messages. Iterating it yields the lines of one message after the other."""

    def __init__(self, file: BinaryIO, currency: str) -> None:
        self.facts = StatementFacts(FORMAT)
        self._file = file
        self._currency = currency
        self._number = 0

    def __iter__(self) -> Iterator[StatementLine]:
        for first_line, message in split_messages(self._file):
            yield from self._read_message(first_line, message)

    def _read_message(self, first_line: int, message: bytes) -> Iterator[StatementLine]:
        place = f"message at line {first_line}"
        try:
            text = message.decode("utf-8")
        except UnicodeDecodeError:
            text = message.decode("cp1252", errors="replace")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                facts, lines = read_common_message(text, self._number) or read_with_library(text, self._number)
        except StatementError:
            raise
        except Exception as error:  # the library raises RuntimeError, ValueError and others for what it cannot read
            self.facts.add_fault(place, f"it cannot be read ({type(error).__name__})")
            return
        self._check_facts(place, facts)
        if len(lines) != message.count(b"\n" + LINE_TAG):
            self.facts.add_fault(place, "not all of its lines (:61:) can be read")
            return
        total = 0
        for line in lines:
            total += line.amount
            yield line
        self._number += len(lines)
        self._check_balance(place, facts, total)

    def _check_facts(self, place: str, facts: dict[str, Any]) -> None:
        account = clean_text(str(facts.get("account_identification") or ""))
        if self.facts.bank_account and account != self.facts.bank_account:
            self.facts.add_fault(place, f"it is of another account than the one before: {account}")
        self.facts.bank_account = account
        for balance in (find_balance(facts, "opening"), find_balance(facts, "closing")):
            if balance is not None and balance.amount.currency != self._currency:
                currency = balance.amount.currency
                self.facts.currency = str(currency)
                self.facts.add_fault(place, f"the currency is {currency}, and that of the account is {self._currency}")

    def _check_balance(self, place: str, facts: dict[str, Any], total: int) -> None:
        opening, closing = find_balance(facts, "opening"), find_balance(facts, "closing")
        if opening is None or closing is None:
            self.facts.add_fault(place, "it lacks its opening or closing balance (:60F: and :62F:)")
            return
        before, after = to_minor(opening.amount.amount), to_minor(closing.amount.amount)
        if before + total != after:
            self.facts.add_fault(place, "the opening balance and the lines do not add up to the closing balance")
        if self.facts.opening is None:
            self.facts.opening = before
        self.facts.closing = after


# --- one message ------------------------------------------------------------------------------------------------------

# The fields of a message by the library's names, and its lines.
ReadMessage = tuple[dict[str, Any], list[StatementLine]]


def read_with_library(text: str, last_number: int) -> ReadMessage:
    """Reads any message. Its lines are numbered after `last_number`."""
    parsed = mt940.parse(text, options=OPTIONS)
    lines = [line.data for line in parsed if "amount" in line.data]
    return parsed.data, [
        make_line(
            number,
            data.get("entry_date") or data["date"],
            to_minor(data["amount"].amount),
            (data.get("customer_reference"), data.get("bank_reference")),
            (data.get("extra_details"), data.get("transaction_details")),
        )
        for number, data in enumerate(lines, start=last_number + 1)
    ]


def read_common_message(text: str, last_number: int) -> ReadMessage | None:
    """Reads a message that has only common fields. Returns None for any other. Raises what the library raises."""
    _, *parts = TAG.split(text.replace("\r", ""))
    tags, values = parts[::2], [tidy_value(value) for value in parts[1::2]]
    fields = list(zip(tags, values, strict=True))
    if not COMMON_TAGS.issuperset(tags) or any(tag == TEXT and STRUCTURED_TEXT.match(value) for tag, value in fields):
        return None
    others = "\n".join(f":{tag}:{value}" for tag, value in fields if tag not in (LINE, TEXT))
    parsed = mt940.parse(others, options=OPTIONS)
    days: dict[tuple[str | None, ...], date] = {}
    lines: list[StatementLine] = []
    match: re.Match[str] | None = None
    details: list[str] = []
    for tag, value in (*fields, (LINE, "")):
        if tag == TEXT:
            details.append(value)
        elif tag == LINE:
            if match is not None:
                lines.append(read_line(last_number + len(lines) + 1, match, details, days, parsed))
            match, details = LINE_TAG_OF_LIBRARY.re.match(value), []
            if match is None and value:
                raise ValueError("a line does not have the form of :61:")
    return parsed.data, lines


def tidy_value(value: str) -> str:
    """Returns a field without empty lines and spaces at the ends of lines, as the library reads it."""
    value = value.strip()
    return (
        "\n".join(line.rstrip() for line in value.split("\n") if line.strip() not in ("", "-"))
        if "\n" in value
        else value
    )


def read_line(
    number: int, match: re.Match[str], details: list[str], days: dict[tuple[str | None, ...], date], parsed: Any
) -> StatementLine:
    day = match.group("year", "month", "day", "entry_month", "entry_day")
    booked_on = days.get(day)
    if booked_on is None:
        # The library chooses the year of the entry date. Few lines of a message differ in their days.
        dates: dict[str, Any] = LINE_TAG_OF_LIBRARY(parsed, match.groupdict())
        booked_on = days[day] = dates.get("entry_date") or dates["date"]
    status, amount, *references, extra = match.group(
        "status", "amount", "customer_reference", "bank_reference", "extra_details"
    )
    minor = parse_amount(amount)
    signed = -minor if status.upper() in DEBIT_MARKS else minor
    return make_line(number, booked_on, signed, (references[0], references[1]), (extra, "\n".join(details)))


def make_line(
    number: int,
    booked_on: date,
    amount: int,
    references: tuple[str | None, str | None],
    details: tuple[str | None, str | None],
) -> StatementLine:
    """Returns a line. `references` are the customer's and the bank's, `details` the line's own and those of :86:."""
    reference, bank_id = ((text or "").strip() for text in references)
    return StatementLine(
        number=number,
        booked_on=booked_on,
        amount=amount,
        bank_reference="" if reference.upper() in NO_REFERENCES else clean_text(reference),
        description=clean_text(" ".join(text for text in details if text).replace("\n", "")),
        bank_id=clean_text(bank_id),
    )


def parse_amount(text: str) -> int:
    """Returns an amount such as `1500,5` in minor units. Raises ValueError, and StatementError as to_minor does."""
    whole, _, decimals = text.partition(",")
    if len(decimals) > 2:
        return to_minor(Decimal(text.replace(",", ".")))
    return int(whole or "0") * MINOR_PER_MAJOR + int(decimals.ljust(2, "0") if whole or decimals else "")


def find_balance(facts: dict[str, Any], which: str) -> Any:
    """Returns the opening or closing balance, final or of a part of a statement, or None."""
    return facts.get(f"final_{which}_balance") or facts.get(f"intermediate_{which}_balance")


def to_minor(amount: Decimal) -> int:
    minor = amount * MINOR_PER_MAJOR
    if minor != int(minor):
        raise StatementError(f"the amount {amount} has more decimals than its currency")
    return int(minor)


def split_messages(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yields each message with the number of its first line. A message begins with the tag :20:."""
    message: list[bytes] = []
    size, begin = 0, 1
    for number, line in enumerate(file, start=1):
        if line.startswith(START_TAG):
            if message:
                yield begin, b"".join(message)
            message, size, begin = [b"\r\n"], 0, number
        if message and not line.startswith((b"-}", b"{")) and line.strip() != b"-":
            message.append(line)
            size += len(line)
            if size > MAX_MESSAGE_BYTES:
                raise StatementError(f"the message at line {begin} is larger than {MAX_MESSAGE_BYTES >> 20} MiB")
    if message:
        yield begin, b"".join(message)
