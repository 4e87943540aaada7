"""Requests and replies of the console's own actions (actions.py)."""

from typing import Literal

import msgspec
from msgspec import field

from kasuwa.wire.fields import Limit, Offset, Reference


class PageRequest(msgspec.Struct, kw_only=True):
    offset: Offset | None = None
    limit: Limit | None = None


class CardLine(msgspec.Struct, kw_only=True):
    reference: str
    maskedpan: str
    name_on_card: str
    balance: str
    currency: str
    status: str
    expiration: str
    created_at: str


class CardsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[CardLine]
    total: int
    offset: int
    limit: int


class BeneficiaryLine(msgspec.Struct, kw_only=True):
    ref_code: str
    name: str
    bank_code: str
    account_number: str
    created_at: str


class BeneficiariesReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[BeneficiaryLine]
    total: int
    offset: int
    limit: int


class WaitingLine(msgspec.Struct, kw_only=True):
    txn_ref: str = field(name="txnRef")
    requested_by: str
    created_at: str


class WaitingReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[WaitingLine]


class CheckoutLine(msgspec.Struct, kw_only=True):
    txn_ref: str = field(name="txnRef")
    state: str
    amount: str
    currency: str
    title: str
    source: str
    link_id: str | None
    ticket_sale: str | None
    invoice_id: str | None
    customer_txnref: str
    attempts: int
    created_at: str
    expires: str
    ended_at: str | None


class CheckoutsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[CheckoutLine]
    total: int
    offset: int
    limit: int


class CheckoutAttempt(msgspec.Struct, kw_only=True):
    txn_ref: str = field(name="txnRef")
    method: str
    status: str
    amount: str
    message: str
    created_at: str


class CheckoutRecord(CheckoutLine, kw_only=True):
    link: str
    payment: str
    payments: list[CheckoutAttempt]


class CheckoutRequest(msgspec.Struct, kw_only=True):
    txn_ref: Reference = field(name="txnRef")


class CheckoutReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: CheckoutRecord
