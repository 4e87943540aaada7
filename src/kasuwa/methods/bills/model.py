"""Bills: accounts, job kinds, statuses and stored records.

A bill is a `Transaction` of kind `bill` (transactions/transactions.py). Its statuses:

    pending ──> successful   the biller delivered: the hold is posted, and a token or PIN becomes a `Voucher`
        └─────> failed       the biller refused: the hold is voided

A token or a PIN is worth money: it is encrypted in its `Voucher` and is in no audit entry, event or job.
"""

import re
from datetime import datetime
from typing import ClassVar

import msgspec

from kasuwa.core.decision import Row
from kasuwa.core.references import first_key, row_key
from kasuwa.core.scenario import Scenario
from kasuwa.ledger import chart
from kasuwa.methods.bills.wire import BillDelivery
from kasuwa.rails.catalogue.catalogue import GIVES_PIN, GIVES_TOKEN, ItemTerms

KIND = "bill"
CURRENCY = "NGN"
SEND = "bills.send"
QUERY = "bills.ask"
LANE = "biller"
PURPOSE = "bills"  # of its rails

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("biller", CURRENCY)
INCOME = chart.income("bill", CURRENCY)
VAT = chart.tax("vat", CURRENCY)


class Paycode(Row):
    """An item of the catalogue, keyed by its paycode. Decisions only read it."""

    table: ClassVar[str] = "paycode"

    paycode: str
    name: str
    bills_id: int
    biller: str
    slug: str  # the biller's name at the rail
    pattern: str  # the form of a customer reference
    least: int | None  # bounds of an open amount
    most: int | None
    price: int  # 0: open amount
    fee: int
    discount: str  # percent of the amount, paid back as commission
    fulfilment: str  # what the biller delivers: nothing, a token or a PIN
    accepted: bool  # whether it can be paid now
    amount_step: int  # an open amount is a multiple of it

    @property
    def terms(self) -> ItemTerms:
        return ItemTerms(self.name, self.biller, self.pattern, self.price, self.least, self.most, self.amount_step)


class DuplicateGuard(Row):
    """The latest payment of one amount to one customer of a biller: its orderRef and time."""

    table: ClassVar[str] = "bill_guard"
    mutable_columns: ClassVar[tuple[str, ...]] = ("order_ref", "at")

    order_ref: str
    at: datetime

    @property
    def is_open(self) -> bool:
        return False


def duplicate_guard_key(merchant_id: int, bills_id: int, reference: str, amount: int) -> bytes:
    return row_key(merchant_id, DuplicateGuard.table, f"{bills_id} {amount} {reference}")


class Voucher(Row):
    """The encrypted `BillDelivery` of a bill."""

    table: ClassVar[str] = "bill_voucher"

    txn_ref: str
    sealed: bytes

    @property
    def is_open(self) -> bool:
        return False


def voucher_key(merchant_id: int, transaction_key: bytes) -> bytes:
    return row_key(merchant_id, Voucher.table, first_key(merchant_id, transaction_key).hex())


def voucher_aad(txn_ref: str) -> str:
    return f"{Voucher.table}.sealed.{txn_ref}"


DELIVERY_DECODER: "msgspec.json.Decoder[BillDelivery]" = msgspec.json.Decoder(BillDelivery)
NO_DELIVERY = BillDelivery()

# The field that a delivery must have, and the format of each field. Tokens of prepaid meters have 20 digits (STS).
REQUIRED_DELIVERY = {GIVES_TOKEN: "token", GIVES_PIN: "pin"}
DELIVERY_FORMATS = {
    GIVES_TOKEN: {
        "token": re.compile(r"[0-9]{20}", re.ASCII),
        "units": re.compile(r"[0-9]{1,9}(\.[0-9]{1,4})?", re.ASCII),
    },
    GIVES_PIN: {"pin": re.compile(r"[!-~]([ -~]{0,98}[!-~])?", re.ASCII)},
}


class BillDetail(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The item and customer of a bill. Stored as the `detail` of its transaction."""

    paycode: str
    item: str
    bills_id: int
    biller: str
    slug: str
    reference: str  # of the customer: a meter, a smartcard or a phone number
    fulfillment: str = msgspec.field(name="fulfilment")
    commission: int  # credited to the wallet when the bill is successful, in minor units
    phone: str = ""  # of the customer, in E.164 form; empty if the merchant gave none


class BillJobData(msgspec.Struct, frozen=True):
    """The data of the job that calls the biller. Stored as `Job.work`."""

    sent_at: float  # business time of the first call, in seconds since the epoch
    order: BillDetail
    amount: int
    scenario: Scenario
    resent_at: float = 0  # when it left, if the biller had refused it before


JOB_DATA_DECODER: "msgspec.json.Decoder[BillJobData]" = msgspec.json.Decoder(BillJobData)
BILL_DETAIL_DECODER: "msgspec.json.Decoder[BillDetail]" = msgspec.json.Decoder(BillDetail)
