"""What `PUT /disburse` takes and answers. (api.md, D28, D29)"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType, field

from kasuwa.core.fields import AccountNumber, Amount, BankCode, Reference, ShortText


class TransferRequest(msgspec.Struct, kw_only=True):
    """One transfer from the merchant's wallet to a bank account."""

    amount: Amount
    bank_code: BankCode = field(name="bankcode")
    account_number: AccountNumber = field(name="accountnumber")
    sender_name: ShortText | None = None
    narration: ShortText | None = None
    order_ref: Reference | None = field(name="orderRef", default=None)


# An order is kept as it was sent until it is read on its own; documents describe it as a transfer.
Order = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/TransferRequest"})]


class BulkRequest(msgspec.Struct, kw_only=True):
    """Many transfers at once. Each order is read on its own: a bad one fails and the others go."""

    data: Annotated[list[Order], Meta(min_length=1, max_length=1000, description="1 to 1,000 orders")]


class VerifyRequest(msgspec.Struct, kw_only=True):
    """Either the orderRef or the txnRef of a transfer."""

    txn_ref: Reference = field(name="txnRef")


TxnStatus = Literal["successful", "failed", "pending", "processing"]


class TransferReply(msgspec.Struct, kw_only=True):
    status: Literal[200, 201] = 200
    txn_status: TxnStatus = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    order_ref: str = field(name="orderRef")
    message: str


class OrderReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What became of one order of a bulk; an order that was refused has no txnRef."""

    order_ref: str | UnsetType | None = field(name="orderRef", default=UNSET)
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    txn_status: TxnStatus = field(name="txnStatus")
    message: str


class BulkReply(msgspec.Struct, kw_only=True):
    status: Literal[202] = 202
    batch_ref: str = field(name="batchRef")
    message: str
    data: list[OrderReply]


class VerifyReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    txn_status: TxnStatus = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    order_ref: str = field(name="orderRef")
    amount: str
    fee: str
    vat: str
    message: str
    # What the transfer was made for.
    loan_id: str | UnsetType = UNSET
    savings_id: str | UnsetType = UNSET
