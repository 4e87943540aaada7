"""What `PUT /disburse` takes and answers. (Contract: disburse#transfer, disburse#verify)"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType, field

from kasuwa.core.fields import AccountNumber, Amount, BankCode, ChosenCurrency, Reference, ShortText


class TransferCurrency(ChosenCurrency):
    """Banks are paid in NGN from the NGN wallet; any other currency would be sent as naira.

    Contract: disburse#transfer
    """

    __slots__ = ()
    allowed = ("NGN",)
    reason = "NGN, or left out: transfers are made in NGN alone"


class TransferRequest(msgspec.Struct, kw_only=True):
    """One transfer from the merchant's wallet to a bank account. Banks are paid in NGN alone: `currency` may say so."""

    amount: Amount
    currency: TransferCurrency | None = None
    bank_code: BankCode = field(name="bankcode")
    account_number: AccountNumber = field(name="accountnumber")
    sender_name: ShortText | None = None
    narration: ShortText | None = None
    order_ref: Reference | None = field(name="orderRef", default=None)
    dry_run: bool | None = None


# An order is kept as it was sent until it is read on its own; documents describe it as a transfer.
RawOrder = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/TransferRequest"})]


class BulkRequest(msgspec.Struct, kw_only=True):
    """Many transfers at once. Each order is read on its own: a bad one fails and the others go."""

    data: Annotated[
        list[RawOrder], Meta(min_length=1, max_length=1000, description="at least one order, at most 1,000")
    ]
    dry_run: bool | None = None


class VerifyRequest(msgspec.Struct, kw_only=True):
    """The orderRef or the txnRef of a transfer, or the batchRef of a bulk, as `txnRef`; also by their own names. Of
    several, `txnRef` counts."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    order_ref: Reference | None = field(name="orderRef", default=None)
    batch_ref: Reference | None = field(name="batchRef", default=None)


TxnStatus = Literal["successful", "failed", "pending", "processing"]
# An order whose orderRef belongs to another order: nothing was sent for it.
OrderStatus = Literal["successful", "failed", "pending", "processing", "conflict"]
# Of a bulk besides: `partial`, where every order has ended, some successfully and some not; and `conflict`, where all
# of them were.
VerifiedStatus = Literal["successful", "failed", "pending", "processing", "partial", "conflict"]


class TransferReply(msgspec.Struct, kw_only=True):
    status: Literal[200, 201] = 200
    txn_status: TxnStatus = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    order_ref: str = field(name="orderRef")
    message: str


class OrderReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The outcome of one order of a bulk. An order in conflict has no txnRef: its orderRef is another order's."""

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
    """One order of a bulk as it is now, with its cost; an order in conflict has none."""

    amount: str | UnsetType = UNSET
    fee: str | UnsetType = UNSET
    vat: str | UnsetType = UNSET


class VerifyReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A transfer as it is now; or a bulk, with batchRef and one line in `data` for each order, as they were sent."""

    status: Literal[200]
    txn_status: VerifiedStatus = field(name="txnStatus")
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    order_ref: str | UnsetType = field(name="orderRef", default=UNSET)
    batch_ref: str | UnsetType = field(name="batchRef", default=UNSET)
    amount: str | UnsetType = UNSET
    fee: str | UnsetType = UNSET
    vat: str | UnsetType = UNSET
    message: str
    # What the transfer was made for.
    loan_id: str | UnsetType = UNSET
    savings_id: str | UnsetType = UNSET
    data: list[BatchLine] | UnsetType = UNSET
