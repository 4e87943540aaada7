"""Requests and replies of the console's lists of bills and cashcodes (lists.py)."""

from typing import Literal

import msgspec
from msgspec import field


class BillLine(msgspec.Struct, kw_only=True):
    txn_ref: str = field(name="txnRef")
    order_ref: str = field(name="orderRef")
    txn_status: str = field(name="txnStatus")
    amount: str
    currency: str
    charges: str
    biller: str
    item: str
    customer: str  # reference of the customer with the biller
    message: str
    created_at: str


class BillsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[BillLine]
    total: int
    offset: int
    limit: int


class CashcodeLine(msgspec.Struct, kw_only=True):
    order_ref: str = field(name="orderRef")
    txn_ref: str = field(name="txnRef")
    state: str
    amount: str
    paid: str
    charges: str
    currency: str
    channel: str
    created_at: str
    expires_at: str


class CashcodesReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[CashcodeLine]
    total: int
    offset: int
    limit: int
