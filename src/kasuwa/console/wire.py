"""Requests and replies of the console's own actions (actions.py)."""

from typing import Literal

import msgspec

from kasuwa.core.fields import Limit, Offset


class PageRequest(msgspec.Struct, kw_only=True):
    offset: Offset | None = None
    limit: Limit | None = None


class CardLine(msgspec.Struct, kw_only=True):
    reference: str
    maskedpan: str
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
