"""What `PUT /bills` takes and answers. (api.md, D29, D30)"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.fields import Amount, Reference

BillsId = Annotated[int, Meta(ge=1, le=10**15, description="a whole number above zero")]


class PullRequest(msgspec.Struct, kw_only=True):
    """The whole catalogue, or what belongs to one category or to one bill."""

    category: Reference | None = None
    bills_id: BillsId | None = None


class CategoryLine(msgspec.Struct, kw_only=True):
    name: str
    code: str


class BillLine(msgspec.Struct, kw_only=True):
    """`reference` is the label of the customer reference that the biller needs."""

    id: int
    name: str
    reference: str
    category: str


class ItemLine(msgspec.Struct, kw_only=True):
    """`amount` "0" is an open amount; `discount` is percent of the amount, `fee` in naira."""

    name: str
    bills_id: int
    amount: str
    discount: float
    fee: float
    paycode: str
    require_name_query: Literal[0, 1]


class CatalogueLines(msgspec.Struct, kw_only=True):
    categories: list[CategoryLine]
    bills: list[BillLine]
    items: list[ItemLine]


class PullReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: CatalogueLines


class ResolveRequest(msgspec.Struct, kw_only=True):
    """`reference` is the customer's: a meter, a smartcard, a phone number."""

    paycode: Reference
    reference: Reference


class ResolveReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`custName` is empty where the biller has no name query; `mismatch` is there, and true, where the biller knows
    the customer under another name."""

    status: Literal[200]
    message: str
    cust_name: str = field(name="custName")
    reference: str
    paycode: str
    mismatch: Literal[True] | UnsetType = UNSET


class PayRequest(msgspec.Struct, kw_only=True):
    """`amount` is needed where the item's is open; a fixed price may be left out."""

    paycode: Reference
    reference: Reference
    amount: Amount | None = None
    order_ref: Reference = field(name="orderRef")


class VerifyRequest(msgspec.Struct, kw_only=True):
    """Either the orderRef or the txnRef of a bill."""

    txn_ref: Reference = field(name="txnRef")


BillStatus = Literal["successful", "failed", "pending"]


class Goods(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the biller gave: a token of 20 digits and the units it is worth, or a PIN."""

    token: str | UnsetType = UNSET
    units: str | UnsetType = UNSET
    pin: str | UnsetType = UNSET


class PayReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    status: Literal[200, 201]
    txn_status: BillStatus = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    order_ref: str = field(name="orderRef")
    message: str
    token: str | UnsetType = UNSET
    units: str | UnsetType = UNSET
    pin: str | UnsetType = UNSET


class VerifyReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    status: Literal[200]
    txn_status: BillStatus = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    order_ref: str = field(name="orderRef")
    amount: str
    fee: str
    vat: str
    message: str
    token: str | UnsetType = UNSET
    units: str | UnsetType = UNSET
    pin: str | UnsetType = UNSET
