"""Requests and replies of `PUT /bills`.

Contract: bills#pull, bills#resolve, bills#pay, bills#verify
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.wire.fields import Amount, ChosenCurrency, Reference
from kasuwa.wire.people import Phone

BillsId = Annotated[int, Meta(ge=1, le=10**15, description="a whole number above zero")]


class PullRequest(msgspec.Struct, kw_only=True):
    """Selects the whole catalogue, one category or one bill."""

    category: Reference | None = None
    "Code of a category, to get its bills alone."
    bills_id: BillsId | None = None
    "Number of a bill, to get it and its items alone. With `category`, the bill must be of that category."


class CategoryLine(msgspec.Struct, kw_only=True):
    """A category of bills, such as electricity."""

    name: str
    "Name of the category."
    code: str
    "Code of the category, which `bills` refer to as `category`."


class BillLine(msgspec.Struct, kw_only=True):
    """A biller or a product of one, whose items can be paid."""

    id: int
    "Number of the bill, which `items` refer to as `bills_id`."
    name: str
    "Name of the bill."
    reference: str
    "Label of the customer reference that the biller needs, such as a meter number, to show in a form."
    category: str
    "Code of its category."


class ItemLine(msgspec.Struct, kw_only=True):
    """An item that can be paid: a product with its price, or one with an open amount."""

    name: str
    "Name of the item."
    bills_id: int
    "The bill that the item belongs to."
    amount: str
    "Fixed price in naira. `0` is an open amount, within the biller's bounds."
    discount: float
    "Percent of the amount that is credited to the wallet as commission when the bill is paid."
    fee: float
    "Fee in naira without VAT, debited on top of the amount."
    paycode: str
    "Code of the item, for `resolve` and `pay`. It changes with the catalogue; an old one is accepted for 24 hours."
    require_name_query: Literal[0, 1]
    "1 if `resolve` tells the customer's name, which the payer should confirm before `pay`; else 0."


class CatalogueLines(msgspec.Struct, kw_only=True):
    """The selected part of the bill catalogue."""

    categories: list[CategoryLine]
    "The categories."
    bills: list[BillLine]
    "The bills of these categories."
    items: list[ItemLine]
    "The items of these bills."


class PullReply(msgspec.Struct, kw_only=True):
    """The catalogue of bills, or the selected part of it. Paycodes change, so pull it at least once a day."""

    status: Literal[200] = 200
    "200."
    data: CatalogueLines
    "The catalogue."


class ResolveRequest(msgspec.Struct, kw_only=True):
    """`reference` is the customer's: a meter, a smartcard or a phone number. A request with an amount or an orderRef is
    refused, because resolve pays nothing."""

    paycode: Reference
    "Code of the item, from `pull`."
    reference: Reference
    "The customer's reference at the biller, such as a meter, smartcard or telephone number."
    amount: Any = None
    "Refused if it is sent, because `resolve` pays nothing."
    order_ref: Any = field(name="orderRef", default=None)
    "Refused if it is sent, because `resolve` pays nothing."


class ResolveReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`custName` is empty if the biller has no name query. `mismatch` is present, and true, if the biller knows the
    customer under another name."""

    status: Literal[200]
    "200: the reference can be paid for."
    message: str
    "The outcome in words."
    cust_name: str = field(name="custName")
    "Name of the customer at the biller. Empty if the biller tells no names."
    reference: str
    "The customer's reference, as in the request."
    paycode: str
    "Code of the item, as in the request."
    mismatch: Literal[True] | UnsetType = UNSET
    "True if the biller knows the customer under another name. Else absent."


class BillCurrency(ChosenCurrency):
    """Accepts NGN only: bills are paid in NGN from the NGN wallet. Contract: bills#pay"""

    __slots__ = ()
    allowed = ("NGN",)
    reason = "NGN, or left out: bills are paid in NGN alone"


class PayRequest(msgspec.Struct, kw_only=True):
    """`amount` is required for an item with an open amount; a fixed price may be left out. `currency` may be left out:
    it is always NGN. With `dry_run` the reply says what the bill would cost, and nothing is paid."""

    paycode: Reference
    "Code of the item, from `pull`."
    reference: Reference
    "The customer's reference at the biller, such as a meter, smartcard or telephone number."
    amount: Amount | None = None
    """Amount to pay, in naira. Required for an item with an open amount; for a fixed price it is that price or left
    out. Fee and VAT are debited on top."""
    currency: BillCurrency | None = None
    "May be left out: bills are always paid in NGN."
    order_ref: Reference = field(name="orderRef")
    """Your reference of the bill. Sent again with the same content it returns the first bill; with other content it is
    refused."""
    phonenumber: Phone | None = None
    """Telephone number of the customer, for a bill that is not for a telephone: billers send their receipts to it. The
    operator's is given if it is left out."""
    dry_run: bool | None = None
    "If true, the reply says what the bill would cost, and nothing is paid."


class VerifyRequest(msgspec.Struct, kw_only=True):
    """The orderRef or txnRef of a bill, sent as `txnRef`. The orderRef may also be sent under its own name."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    "The `txnRef` or `orderRef` of the bill."
    order_ref: Reference | None = field(name="orderRef", default=None)
    "The `orderRef` of the bill. Ignored if `txnRef` is sent."


BillStatus = Literal["successful", "failed", "pending"]


class BillDelivery(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The biller's delivery: a token of 20 digits and the units it is worth, or a PIN."""

    token: str | UnsetType = UNSET
    "Token of 20 digits that the customer enters into a prepaid meter. Absent if the item gives none."
    units: str | UnsetType = UNSET
    "Units that the token is worth, such as kWh. Absent if the biller does not say."
    pin: str | UnsetType = UNSET
    "PIN that the customer redeems, such as an examination PIN. Absent if the item gives none."


class PayReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The outcome of a bill, or of its dry run, which has no txnStatus and no txnRef, but amount, fee and VAT."""

    status: Literal[200, 201]
    "200, or 201 if the biller's answer could not be read: the bill stays pending and the biller is asked again."
    txn_status: BillStatus | UnsetType = field(name="txnStatus", default=UNSET)
    """`successful` and `failed` are final. `pending`: the biller has not confirmed yet and is asked again. Absent in a
    dry run."""
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the bill, made by the service. Absent in a dry run."
    order_ref: str = field(name="orderRef")
    "Your reference of the bill."
    message: str
    "The outcome in words; of a failed bill, the biller's reason."
    dry_run: Literal[True] | UnsetType = UNSET
    "True in a dry run: nothing was paid. Else absent."
    amount: str | UnsetType = UNSET
    "Amount that would be paid, in naira. Present in a dry run."
    fee: str | UnsetType = UNSET
    "Fee without VAT that would be debited, in naira. Present in a dry run."
    vat: str | UnsetType = UNSET
    "VAT on the fee that would be debited, in naira. Present in a dry run."
    commission: str
    """Amount credited to the wallet when the bill is successful, in naira: the item's `discount`. 0.00 if the bill
    failed."""
    token: str | UnsetType = UNSET
    "Token of 20 digits that the customer enters into a prepaid meter. Present if the biller gave one."
    units: str | UnsetType = UNSET
    "Units that the token is worth, such as kWh. Present if the biller reports them."
    pin: str | UnsetType = UNSET
    "PIN that the customer redeems. Present if the biller gave one."


class VerifyReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The current state of a bill, with the token or PIN if the biller gave one."""

    status: Literal[200]
    "200: the reference is known. `txnStatus` says what became of the bill."
    txn_status: BillStatus = field(name="txnStatus")
    "`successful` and `failed` are final. `pending`: the biller has not confirmed yet and is asked again."
    txn_ref: str = field(name="txnRef")
    "Reference of the bill, made by the service."
    order_ref: str = field(name="orderRef")
    "Your reference of the bill."
    amount: str
    "Amount paid to the biller, in naira, without fee and VAT."
    fee: str
    "Fee without VAT, in naira; 0.00 if the bill failed."
    vat: str
    "VAT on the fee, in naira; 0.00 if the bill failed."
    commission: str
    """Amount credited to the wallet when the bill is successful, in naira: the item's `discount`. 0.00 if the bill
    failed."""
    message: str
    "The state in words; of a failed bill, the biller's reason."
    token: str | UnsetType = UNSET
    "Token of 20 digits that the customer enters into a prepaid meter. Present if the biller gave one."
    units: str | UnsetType = UNSET
    "Units that the token is worth, such as kWh. Present if the biller reports them."
    pin: str | UnsetType = UNSET
    "PIN that the customer redeems. Present if the biller gave one."
