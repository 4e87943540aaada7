"""Cashcodes: accounts, job kinds, states and stored records.

A cashcode is a row of its own and a `Transaction` of kind `cashcode`, both keyed by the orderRef. Its states, and the
status of the transaction:

    active (pending) ──> redeemed (successful)   cash was drawn
                     ├─> expired (failed)        the lifetime is over
                     ├─> cancelled (failed)      the merchant cancelled it
                     └─> locked (failed)         three wrong PINs

The ten digits are shown once and not stored: the token index (core/token_index.py) finds the code by a keyed hash of
them. The PIN is stored as a keyed hash.
"""

from datetime import datetime
from typing import ClassVar

import msgspec

from kasuwa.core.decision import Context, Row
from kasuwa.core.references import first_number, row_key
from kasuwa.core.scenario import Scenario
from kasuwa.ledger import chart
from kasuwa.transactions.purpose import TransactionPurpose

KIND = "cashcode"
CURRENCY = "NGN"
EXPIRE = "cashcode.expire"
LANE = "schedule"
# The two letters of a code's txnRef, and of a cash-out's. Contract: #references
REFERENCE_TYPE = "CC"

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("cash", CURRENCY)
INCOME = chart.income(KIND, CURRENCY)
VAT = chart.tax("vat", CURRENCY)

ACTIVE = "active"
REDEEMED = "redeemed"
EXPIRED = "expired"
CANCELLED = "cancelled"
LOCKED = "locked"


class Cashcode(Row):
    """A cashcode."""

    table: ClassVar[str] = "cashcode"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "tries", "paid")

    txn_ref: str
    order_ref: str
    channel: str
    source: str  # the account that pays the amount
    pin: bytes  # keyed hash, see hash_pin
    expires_at: datetime
    state: str
    tries: int  # wrong PINs so far
    paid: int  # the cash drawn, in minor units

    @property
    def is_open(self) -> bool:
        return self.state == ACTIVE


class CashcodeDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The `detail` of a code's transaction. `purpose` is the cash-out that it was made for, if any."""

    purpose: TransactionPurpose | None = None


class ExpiryJobData(msgspec.Struct, frozen=True):
    """The data of the job that expires a code. Stored as `Job.work`."""

    order_ref: str
    scenario: Scenario


DETAIL_DECODER: "msgspec.json.Decoder[CashcodeDetail]" = msgspec.json.Decoder(CashcodeDetail)
JOB_DATA_DECODER: "msgspec.json.Decoder[ExpiryJobData]" = msgspec.json.Decoder(ExpiryJobData)


def cashcode_key(merchant_id: int, order_ref: str) -> bytes:
    return row_key(merchant_id, "cashcode", order_ref)


def expiry_key(merchant_id: int, order_ref: str) -> bytes:
    """Returns the key of the expiry job. It is derived from the orderRef, so that ending a code can delete the job."""
    return row_key(merchant_id, "job", f"{EXPIRE} {order_ref}")


def hash_pin(context: Context, order_ref: str, pin: str) -> bytes:
    """Returns a keyed hash of the PIN. It includes the orderRef, so equal PINs of two codes have different hashes."""
    return context.digest(f"cashcode pin {first_number(context.merchant.merchant_id)} {order_ref} {pin}".encode())


class FailedAttempts(Row):
    """A count of the unknown codes that were tried at a merchant since a time."""

    table: ClassVar[str] = "cashcode_attempts"
    mutable_columns: ClassVar[tuple[str, ...]] = ("wrong", "since")

    wrong: int
    since: datetime

    @property
    def is_open(self) -> bool:
        return False  # rarely needed: read from the database at each redemption


def failed_attempts_key(merchant_id: int) -> bytes:
    return row_key(merchant_id, "cashcode_guess", "")
