"""Reads statements in MT940, message by message, with the library mt-940.

A file may hold the messages of many days. Each is parsed alone, so that memory does not grow with the file, and its
balances are checked: opening balance and lines must add up to the closing balance. So no line can be lost unnoticed.
"""

import warnings
from collections.abc import Iterator
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
                parsed = mt940.parse(text)
        except Exception as error:  # the library raises RuntimeError, ValueError and others for what it cannot read
            self.facts.add_fault(place, f"it cannot be read ({type(error).__name__})")
            return
        self._check_facts(place, parsed.data)
        lines = [line for line in parsed if "amount" in line.data]
        if len(lines) != message.count(b"\n" + LINE_TAG):
            self.facts.add_fault(place, "not all of its lines (:61:) can be read")
            return
        total = 0
        for line in lines:
            self._number += 1
            read = self._read_line(line.data)
            total += read.amount
            yield read
        self._check_balance(place, parsed.data, total)

    def _read_line(self, found: dict[str, Any]) -> StatementLine:
        reference = str(found.get("customer_reference") or "").strip()
        bank_id = str(found.get("bank_reference") or "").strip()
        details = [found.get("extra_details"), found.get("transaction_details")]
        return StatementLine(
            number=self._number,
            booked_on=found.get("entry_date") or found["date"],
            amount=to_minor(found["amount"].amount),
            bank_reference="" if reference.upper() in NO_REFERENCES else clean_text(reference),
            description=clean_text(" ".join(str(text) for text in details if text).replace("\n", "")),
            bank_id=clean_text(bank_id),
        )

    def _check_facts(self, place: str, found: dict[str, Any]) -> None:
        account = clean_text(str(found.get("account_identification") or ""))
        if self.facts.bank_account and account != self.facts.bank_account:
            self.facts.add_fault(place, f"it is of another account than the one before: {account}")
        self.facts.bank_account = account
        for balance in (find_balance(found, "opening"), find_balance(found, "closing")):
            if balance is not None and balance.amount.currency != self._currency:
                currency = balance.amount.currency
                self.facts.currency = str(currency)
                self.facts.add_fault(place, f"the currency is {currency}, and that of the account is {self._currency}")

    def _check_balance(self, place: str, found: dict[str, Any], total: int) -> None:
        opening, closing = find_balance(found, "opening"), find_balance(found, "closing")
        if opening is None or closing is None:
            self.facts.add_fault(place, "it lacks its opening or closing balance (:60F: and :62F:)")
            return
        before, after = to_minor(opening.amount.amount), to_minor(closing.amount.amount)
        if before + total != after:
            self.facts.add_fault(place, "the opening balance and the lines do not add up to the closing balance")
        if self.facts.opening is None:
            self.facts.opening = before
        self.facts.closing = after


def find_balance(found: dict[str, Any], which: str) -> Any:
    """Returns the opening or closing balance, final or of a part of a statement, or None."""
    return found.get(f"final_{which}_balance") or found.get(f"intermediate_{which}_balance")


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
