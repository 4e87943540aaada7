"""Requests and replies of `PUT /bills`.

Contract: bills#pull, bills#resolve, bills#pay, bills#verify
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.fields import Amount, ChosenCurrency, Reference

BillsId = Annotated[int, Meta(ge=1, le=10**15, description="a whole number above zero")]


class PullRequest(msgspec.Struct, kw_only=True):
    """Selects the whole catalogue, one category or one bill."""

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
    """`reference` is the customer's: a meter, a smartcard or a phone number. A request with an amount or an orderRef is
    refused, because resolve pays nothing."""

    paycode: Reference
    reference: Reference
    amount: Any = None
    order_ref: Any = field(name="orderRef", default=None)


class ResolveReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`custName` is empty if the biller has no name query. `mismatch` is present, and true, if the biller knows the
    customer under another name."""

    status: Literal[200]
    message: str
    cust_name: str = field(name="custName")
    reference: str
    paycode: str
    mismatch: Literal[True] | UnsetType = UNSET


class BillCurrency(ChosenCurrency):
    """Accepts NGN only: bills are paid in NGN from the NGN wallet. Contract: bills#pay"""

    __slots__ = ()
    allowed = ("NGN",)
    reason = "NGN, or left out: bills are paid in NGN alone"


class PayRequest(msgspec.Struct, kw_only=True):
    """`amount` is required for an item with an open amount; a fixed price may be left out. `currency` may be left out:
    it is always NGN. With `dry_run` the reply says what the bill would cost, and nothing is paid."""

    paycode: Reference
    reference: Reference
    amount: Amount | None = None
    currency: BillCurrency | None = None
    order_ref: Reference = field(name="orderRef")
    dry_run: bool | None = None


class VerifyRequest(msgspec.Struct, kw_only=True):
    """The orderRef or txnRef of a bill, sent as `txnRef`. The orderRef may also be sent under its own name."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    order_ref: Reference | None = field(name="orderRef", default=None)


BillStatus = Literal["successful", "failed", "pending"]


class BillDelivery(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The biller's delivery: a token of 20 digits and the units it is worth, or a PIN."""

    token: str | UnsetType = UNSET
    units: str | UnsetType = UNSET
    pin: str | UnsetType = UNSET


class PayReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`commission` is the item's discount, credited to the wallet. The reply to a dry run has no txnStatus and no
    txnRef, but amount, fee and VAT."""

    status: Literal[200, 201]
    txn_status: BillStatus | UnsetType = field(name="txnStatus", default=UNSET)
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    order_ref: str = field(name="orderRef")
    message: str
    dry_run: Literal[True] | UnsetType = UNSET
    amount: str | UnsetType = UNSET
    fee: str | UnsetType = UNSET
    vat: str | UnsetType = UNSET
    commission: str
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
    commission: str
    message: str
    token: str | UnsetType = UNSET
    units: str | UnsetType = UNSET
    pin: str | UnsetType = UNSET
