"""Requests and replies of `PUT /disburse`.

Contract: disburse#transfer, disburse#bulk, disburse#verify
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType, field

from kasuwa.core.fields import AccountNumber, Amount, BankCode, ChosenCurrency, Reference, ShortText


class TransferCurrency(ChosenCurrency):
    """Accepts NGN only: transfers are paid in NGN from the NGN wallet. Contract: disburse#transfer"""

    __slots__ = ()
    allowed = ("NGN",)
    reason = "NGN, or left out: transfers are made in NGN alone"


class TransferRequest(msgspec.Struct, kw_only=True):
    """One transfer from the merchant's wallet to a bank account. `currency` may be left out: it is always NGN."""

    amount: Amount
    currency: TransferCurrency | None = None
    bank_code: BankCode = field(name="bankcode")
    account_number: AccountNumber = field(name="accountnumber")
    sender_name: ShortText | None = None
    narration: ShortText | None = None
    order_ref: Reference | None = field(name="orderRef", default=None)
    dry_run: bool | None = None


# An order stays undecoded so that an invalid one does not fail the whole bulk. OpenAPI describes it as a transfer.
RawOrder = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/TransferRequest"})]


class BulkRequest(msgspec.Struct, kw_only=True):
    """Many transfers at once. Each order is handled on its own: an invalid one fails and the others are sent."""

    data: Annotated[
        list[RawOrder], Meta(min_length=1, max_length=1000, description="at least one order, at most 1,000")
    ]
    dry_run: bool | None = None


class VerifyRequest(msgspec.Struct, kw_only=True):
    """The orderRef or txnRef of a transfer, or the batchRef of a bulk. Each may be sent as `txnRef` or under its own
    name. If several are sent, `txnRef` counts."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    order_ref: Reference | None = field(name="orderRef", default=None)
    batch_ref: Reference | None = field(name="batchRef", default=None)


TxnStatus = Literal["successful", "failed", "pending", "processing"]
# An order whose orderRef belongs to another order: nothing was sent for it.
OrderStatus = Literal["successful", "failed", "pending", "processing", "conflict"]
# A bulk may also be `partial` (all orders have ended, some successful and others failed) or `conflict` (all are).
VerifiedStatus = Literal["successful", "failed", "pending", "processing", "partial", "conflict"]


class TransferReply(msgspec.Struct, kw_only=True):
    status: Literal[200, 201] = 200
    txn_status: TxnStatus = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    order_ref: str = field(name="orderRef")
    message: str


class OrderReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The outcome of one order of a bulk. An order in conflict has no txnRef: its orderRef belongs to another order."""

    order_ref: str = field(name="orderRef")
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    txn_status: OrderStatus = field(name="txnStatus")
    message: str


class BulkReply(msgspec.Struct, kw_only=True):
    status: Literal[202] = 202
    batch_ref: str = field(name="batchRef")
    message: str
    data: list[OrderReply]


class BatchLine(OrderReply, kw_only=True, omit_defaults=True):
    """The current state of one order of a bulk, with amount, fee and VAT unless it is in conflict."""

    amount: str | UnsetType = UNSET
    fee: str | UnsetType = UNSET
    vat: str | UnsetType = UNSET


class VerifyReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The current state of a transfer, or of a bulk with its batchRef and one line of `data` per order, as sent."""

    status: Literal[200]
    txn_status: VerifiedStatus = field(name="txnStatus")
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    order_ref: str | UnsetType = field(name="orderRef", default=UNSET)
    batch_ref: str | UnsetType = field(name="batchRef", default=UNSET)
    amount: str | UnsetType = UNSET
    fee: str | UnsetType = UNSET
    vat: str | UnsetType = UNSET
    message: str
    # The loan or savings account that the transfer was made for.
    loan_id: str | UnsetType = UNSET
    savings_id: str | UnsetType = UNSET
    data: list[BatchLine] | UnsetType = UNSET
