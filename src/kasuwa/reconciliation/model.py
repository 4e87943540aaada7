"""Statements of banks and rails: their lines, how a CSV file is read, and which accounts can be reconciled.

Amounts are whole minor units, above zero if money came in. All parsers yield `StatementLine`, and add a fault for each
line that they cannot read: a file with a fault is refused as a whole.
"""

from collections.abc import Iterator
from datetime import date
from typing import Protocol

import msgspec

from kasuwa.core.money import CURRENCIES

# Kinds of accounts beyond which is somebody else's book, so that there is a statement to compare with.
RECONCILED_KINDS = ("outside", "rail")
MAX_SHOWN_FAULTS = 20
# A file with more faults has the wrong mapping: reading on would tell nothing new.
MAX_FAULTS = 1_000
MAX_TEXT_LENGTH = 500


class StatementError(Exception):
    """Raised if a file, mapping or account cannot be used. The message says what is wrong, fault by fault."""


class ReconciledAccount(msgspec.Struct, frozen=True):
    """An account of the ledger over all merchants, or the part of it that one vendor carried."""

    ledger_name: str  # such as rail:bank:NGN
    vendor: str = ""  # such as paystack; empty for all

    @property
    def name(self) -> str:
        return f"{self.ledger_name}@{self.vendor}" if self.vendor else self.ledger_name

    @property
    def currency(self) -> str:
        return self.ledger_name.rpartition(":")[2]


def parse_account(text: str) -> ReconciledAccount:
    """Parses `kind:owner:currency` or `kind:owner:currency@vendor`. Raises StatementError."""
    name, at, vendor = text.partition("@")
    parts = name.split(":")
    is_name = len(parts) == 3 and all(parts) and parts[0] in RECONCILED_KINDS and parts[2] in CURRENCIES
    if not is_name or (at and not vendor) or len(text) > 120 or not text.isascii() or not text.isprintable():
        kinds = " or ".join(f"{kind}:…" for kind in RECONCILED_KINDS)
        raise StatementError(
            f"the account {text!r} cannot be reconciled: name one such as rail:bank:NGN or outside:funding:NGN "
            f"({kinds}, in {', '.join(CURRENCIES)}), with @vendor for what one vendor carried"
        )
    return ReconciledAccount(name, vendor)


class StatementLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a statement."""

    number: int  # of the line in its file, from 1
    booked_on: date
    amount: int
    fee: int = 0  # what the bank or rail kept of it: amount + fee is what our books have
    bank_reference: str = ""  # the reference that the statement gives
    description: str = ""
    bank_id: str = ""  # the bank's own number of the line, if it gives one
    balance: int | None = None  # after the line, if the statement has it


class StatementFacts(msgspec.Struct):
    """Facts of a file beside its lines. Complete when all lines were read."""

    format: str
    currency: str = ""
    bank_account: str = ""
    opening: int | None = None
    closing: int | None = None
    faults: list[str] = []
    fault_count: int = 0

    def add_fault(self, place: str, reason: str) -> None:
        """Notes why a line cannot be read. Raises StatementError if there are so many that reading on is useless."""
        self.fault_count += 1
        if len(self.faults) < MAX_SHOWN_FAULTS:
            self.faults.append(f"{place}: {reason}")
        if self.fault_count >= MAX_FAULTS:
            raise StatementError(self.describe_faults())

    def describe_faults(self) -> str:
        more = self.fault_count - len(self.faults)
        return "\n".join([*self.faults, *([f"and {more} more"] if more else [])])


class StatementReader(Protocol):
    """A parsed file: iterating it yields the lines and completes the facts."""

    facts: StatementFacts

    def __iter__(self) -> Iterator[StatementLine]: ...


def clean_text(text: str) -> str:
    """Returns a text of a statement as it is stored: one line, without control characters, not too long."""
    if not text.isprintable():
        text = "".join(character if character.isprintable() else " " for character in text)
    if "  " in text:
        text = " ".join(text.split())
    return text.strip()[:MAX_TEXT_LENGTH]
