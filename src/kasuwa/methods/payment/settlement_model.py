"""Beneficiaries of split payments, and settlement batches: money that moves on a later day.

A batch is one row and one job for each kind, owner, day and currency, however many payments add to it:

    settlement   due ─> done            the merchant's money of a day (T+n): settling:<day> → wallet
    payout       due ─> sent ─> done    a beneficiary's parts of a day: beneficiary:<ref_code> → rail:bank
                                        if the transfer failed, the amount is in the batch of the next day
    reserve      due ─> done            the part of a day's payments that was kept back: reserve:<day> → wallet
"""

from datetime import datetime
from typing import ClassVar

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Row
from kasuwa.core.references import row_key

# Kinds of batches.
SETTLEMENT = "settlement"
PAYOUT = "payout"
RESERVE = "reserve"

# States of batches.
DUE = "due"
SENT = "sent"
DONE = "done"


def pending_settlement_account(due: datetime, currency: str) -> str:
    """Returns the account of money that is settled to the wallet on a later day."""
    return f"settling:{lagos_day(due):%Y%m%d}:{currency}"


def reserve_account(due: datetime, currency: str) -> str:
    """Returns the account of money that is kept back until a day."""
    return f"reserve:{lagos_day(due):%Y%m%d}:{currency}"


def beneficiary_account(ref_code: str, currency: str) -> str:
    return f"beneficiary:{ref_code}:{currency}"


class Beneficiary(Row):
    """A payee of split payments, and the bank account that its parts are paid out to."""

    table: ClassVar[str] = "beneficiary"
    coded_columns: ClassVar[tuple[str, ...]] = ("ref_code", "name", "bank_code", "account_number")

    ref_code: str
    name: str
    bank_code: str
    account_number: str
    created_at: datetime
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


def beneficiary_key(merchant_id: int, ref_code: str) -> bytes:
    return row_key(merchant_id, "beneficiary", ref_code)


class SettlementBatch(Row):
    """Money that is moved together on one day: a merchant's settlement or a beneficiary's payout."""

    table: ClassVar[str] = "settlement_batch"
    mutable_columns: ClassVar[tuple[str, ...]] = ("amount", "state", "fee", "vat", "split", "reserved")

    kind: str
    owner: str  # "merchant", or the ref_code of a beneficiary
    day: str  # YYYYMMDD
    currency: str
    amount: int
    state: str
    # What was deducted before the amount of a settlement was left.
    fee: int
    vat: int
    split: int
    reserved: int

    @property
    def reference(self) -> str:
        return batch_reference(self.kind, self.owner, self.day, self.currency)


def batch_reference(kind: str, owner: str, day: str, currency: str) -> str:
    return f"{kind} {owner} {day} {currency}"


def settlement_batch_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, "gathering", reference)
