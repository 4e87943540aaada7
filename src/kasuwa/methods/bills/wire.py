"""What `PUT /bills` takes and answers. (Contract: disburse#verify, bills#pay)"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.fields import Amount, ChosenCurrency, Reference

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
    """`reference` is the customer's: a meter, a smartcard, a phone number. Whoever sends an amount or an orderRef means
    to pay, and is refused: nothing is paid here."""

    paycode: Reference
    reference: Reference
    amount: Any = None
    order_ref: Any = field(name="orderRef", default=None)


class ResolveReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`custName` is empty where the biller has no name query; `mismatch` is there, and true, where the biller knows
    the customer under another name."""

    status: Literal[200]
    message: str
    cust_name: str = field(name="custName")
    reference: str
    paycode: str
    mismatch: Literal[True] | UnsetType = UNSET


class BillCurrency(ChosenCurrency):
    """Billers are paid in NGN from the NGN wallet; any other currency would be paid as naira. Contract: bills#pay"""

    __slots__ = ()
    allowed = ("NGN",)
    reason = "NGN, or left out: bills are paid in NGN alone"


class PayRequest(msgspec.Struct, kw_only=True):
    """`amount` is needed where the item's is open; a fixed price may be left out. Billers are paid in NGN alone:
    `currency` may say so. `dry_run` answers what it would cost, and pays nothing."""

    paycode: Reference
    reference: Reference
    amount: Amount | None = None
    currency: BillCurrency | None = None
    order_ref: Reference = field(name="orderRef")
    dry_run: bool | None = None


class VerifyRequest(msgspec.Struct, kw_only=True):
    """Either the orderRef or the txnRef of a bill, as `txnRef`; the orderRef also by its own name."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    order_ref: Reference | None = field(name="orderRef", default=None)


BillStatus = Literal["successful", "failed", "pending"]


class BillDelivery(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the biller gave: a token of 20 digits and the units it is worth, or a PIN."""

    token: str | UnsetType = UNSET
    units: str | UnsetType = UNSET
    pin: str | UnsetType = UNSET


class PayReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`commission` is what the item's discount brings back to the wallet. A dry run has no txnStatus and no txnRef, and
    tells what the bill would cost."""

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
