"""Requests and replies of `PUT /disburse`.

Contract: disburse#transfer, disburse#bulk, disburse#verify
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType, field

from kasuwa.wire.fields import AccountNumber, Amount, BankCode, ChosenCurrency, Reference, ShortText
from kasuwa.wire.interest_wire import DryRunFigure


class TransferCurrency(ChosenCurrency):
    """Accepts NGN only: transfers are paid in NGN from the NGN wallet. Contract: disburse#transfer"""

    __slots__ = ()
    allowed = ("NGN",)
    reason = "NGN, or left out: transfers are made in NGN alone"


class TransferRequest(msgspec.Struct, kw_only=True):
    """One transfer from the merchant's wallet to a bank account. `currency` may be left out: it is always NGN."""

    amount: Amount
    "Amount that the beneficiary receives, in naira. Fee and VAT are debited on top, and stamp duty where it applies."
    currency: TransferCurrency | None = None
    "May be left out: transfers are always made in NGN."
    bank_code: BankCode = field(name="bankcode")
    "Code of the beneficiary's bank, as `banks` of `/resources` lists it."
    account_number: AccountNumber = field(name="accountnumber")
    "Account of the beneficiary at that bank. Its check digit is verified where the bank uses one."
    sender_name: ShortText | None = None
    "Name of the sender that is passed on to the bank."
    narration: ShortText | None = None
    "Purpose of the transfer, passed on to the bank."
    order_ref: Reference | None = field(name="orderRef", default=None)
    """Your reference of the order. Sent again with the same content it returns the first transfer; with other content
    it is refused. If left out, the `txnRef` is used."""
    dry_run: bool | None = None
    """If true, the reply explains what the transfer would cost and whether it would wait for approval. No money moves.
    An order of a bulk with `true` is refused."""


# An order stays undecoded so that an invalid one does not fail the whole bulk. OpenAPI describes it as a transfer.
RawOrder = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/TransferRequest"})]


class BulkRequest(msgspec.Struct, kw_only=True):
    """Many transfers at once. Each order is handled on its own: an invalid one fails and the others are sent."""

    data: Annotated[
        list[RawOrder], Meta(min_length=1, max_length=1000, description="at least one order, at most 1,000")
    ]
    "The orders, each with the fields of a single transfer."
    dry_run: bool | None = None
    "Not supported, nor in an order: with `true` no money moves. An order alone has a dry run."


class VerifyRequest(msgspec.Struct, kw_only=True):
    """The orderRef or txnRef of a transfer, or the batchRef of a bulk. Each may be sent as `txnRef` or under its own
    name. If several are sent, `txnRef` counts."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    "The reference to look up: an `orderRef`, a `txnRef`, a `batchRef`, or a `loan_id` for its disbursement."
    order_ref: Reference | None = field(name="orderRef", default=None)
    "The `orderRef` or `txnRef` of a transfer. Ignored if `txnRef` is sent."
    batch_ref: Reference | None = field(name="batchRef", default=None)
    "The `batchRef` of a bulk. Ignored if `txnRef` or `orderRef` is sent."


TxnStatus = Literal["successful", "failed", "pending", "processing"]
# An order whose orderRef belongs to another order: nothing was sent for it.
OrderStatus = Literal["successful", "failed", "pending", "processing", "conflict"]
# A bulk may also be `partial` (all orders have ended, some successful and others failed) or `conflict` (all are).
VerifiedStatus = Literal["successful", "failed", "pending", "processing", "partial", "conflict"]


class TransferReply(msgspec.Struct, kw_only=True):
    """The state of a transfer: as the bank answered it within ten seconds, else `processing`."""

    status: Literal[200, 201] = 200
    "200, or 201 if the bank's answer could not be read: the transfer stays open and the bank is asked again."
    txn_status: TxnStatus = field(name="txnStatus")
    """`successful` and `failed` are final. `processing`: the bank has not answered yet. `pending`: it has answered, but
    without a final result, and is asked again until the result is final; or the transfer waits for approval."""
    txn_ref: str = field(name="txnRef")
    "Reference of the transfer, made by the service. Empty in a dry run."
    order_ref: str = field(name="orderRef")
    "Your reference of the order, or the `txnRef` if the request had none."
    message: str
    "The outcome in words; of a failed transfer, the reason."
    receipt_url: str | UnsetType = field(name="receiptURL", default=UNSET)
    """Address of the receipt, which anybody may open to check it; with `/receipt.pdf` behind it, the same as a PDF.
    Absent unless the transfer is successful."""
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class OrderReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The outcome of one order of a bulk. An order in conflict has no txnRef: its orderRef belongs to another order."""

    order_ref: str = field(name="orderRef")
    "Your reference of the order, or its `txnRef` if the order had no valid one."
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the transfer, made by the service. Absent if the order is in conflict."
    txn_status: OrderStatus = field(name="txnStatus")
    """`processing`, `pending`, `successful` or `failed` as for a single transfer; a refused order has failed.
    `conflict`: the `orderRef` belongs to another order, and nothing was sent for this one."""
    message: str
    "The state in words; of a failed or conflicting order, the reason."


class BulkReply(msgspec.Struct, kw_only=True):
    """The outcome of every order of a bulk. The bank is called after the reply: verify each order later."""

    status: Literal[202] = 202
    "202: the bulk was recorded, and accepted orders are still to be verified. Also if every order was refused."
    batch_ref: str = field(name="batchRef")
    "Reference of the bulk, made by the service. `verify` takes it."
    message: str
    "Whether all, some or none of the orders were accepted, with the numbers of those that were not."
    data: list[OrderReply]
    "One line per order, in the order of the request."


class VerdictRequest(msgspec.Struct, kw_only=True):
    """A transfer that waits for approval, or a bulk with all of its orders that still wait."""

    txn_ref: Reference = field(name="txnRef")
    "The `txnRef` of the transfer, or the `batchRef` of the bulk."


class ApprovalReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The state of a transfer after it was approved or rejected, or of a bulk with the orders that were decided."""

    status: Literal[200, 201]
    "200, or 201 if the bank's answer could not be read: the transfer stays open and the bank is asked again."
    txn_status: TxnStatus = field(name="txnStatus")
    "As in the reply of `transfer`: an approved transfer is sent at once, and a rejected one has failed."
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the transfer. Absent for a bulk."
    order_ref: str | UnsetType = field(name="orderRef", default=UNSET)
    "Your reference of the order, or the `txnRef` if it had none. Absent for a bulk."
    batch_ref: str | UnsetType = field(name="batchRef", default=UNSET)
    "Reference of the bulk. Absent for a single transfer."
    message: str
    "The state in words; of a failed transfer, the reason."
    receipt_url: str | UnsetType = field(name="receiptURL", default=UNSET)
    "Address of the receipt, as in the reply of `transfer`. Absent unless the transfer is successful, and for a bulk."
    data: list[OrderReply] | UnsetType = UNSET
    "The orders of the bulk that were decided, in the order of the request. Absent for a single transfer."


class ApprovalLine(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The approval of a transfer that waits, or waited, for one."""

    state: Literal["waiting", "approved", "rejected", "expired"]
    "`waiting`, or what became of it. `expired`: nobody decided in time, and the transfer has failed."
    reasons: list[str]
    "Why the transfer waits, or waited."
    requested_by: str
    "The key or the person that made the transfer."
    expires_at: str
    "When the transfer fails unless it is approved before, in UTC."
    decided_by: str | UnsetType = UNSET
    "The key or the person that approved or rejected it. Absent while it waits, and if nobody decided in time."
    decided_at: str | UnsetType = UNSET
    "When it was decided, or was over, in UTC. Absent while it waits."


class BatchLine(OrderReply, kw_only=True, omit_defaults=True):
    """The current state of one order of a bulk, with amount, fee and VAT unless it is in conflict."""

    amount: str | UnsetType = UNSET
    "Amount of the transfer, in naira; 0.00 if the order had no valid one. Absent if the order is in conflict."
    fee: str | UnsetType = UNSET
    "Fee without VAT, in naira; 0.00 if the transfer failed. Absent if the order is in conflict."
    vat: str | UnsetType = UNSET
    "VAT on the fee, in naira; 0.00 if the transfer failed. Absent if the order is in conflict."


class VerifyReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The current state of a transfer, or of a bulk with its batchRef and one line of `data` per order, as sent."""

    status: Literal[200]
    "200: the reference is known. `txnStatus` says what became of it."
    txn_status: VerifiedStatus = field(name="txnStatus")
    """As in the reply of `transfer`. A bulk is `processing` while an order is open, `partial` if some orders were
    successful and others failed, `conflict` if all orders are in conflict."""
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the transfer, made by the service. Absent for a bulk."
    order_ref: str | UnsetType = field(name="orderRef", default=UNSET)
    "Your reference of the order, or the `txnRef` if it had none. Absent for a bulk."
    batch_ref: str | UnsetType = field(name="batchRef", default=UNSET)
    "Reference of the bulk. Absent for a single transfer."
    amount: str | UnsetType = UNSET
    "Amount of the transfer, in naira, without fee and VAT. Absent for a bulk."
    fee: str | UnsetType = UNSET
    "Fee without VAT, in naira; 0.00 if the transfer failed. Absent for a bulk."
    vat: str | UnsetType = UNSET
    "VAT on the fee, in naira; 0.00 if the transfer failed. Absent for a bulk."
    message: str
    "The state in words; of a failed transfer, the reason."
    loan_id: str | UnsetType = UNSET
    "The loan whose principal the transfer pays out. Absent for every other transfer."
    group_loan_id: str | UnsetType = UNSET
    "The loan of a group that the transfer pays out to its leader. Absent for every other transfer."
    savings_id: str | UnsetType = UNSET
    "The savings account whose cash-out the transfer pays. Absent for every other transfer."
    receipt_url: str | UnsetType = field(name="receiptURL", default=UNSET)
    "Address of the receipt, as in the reply of `transfer`. Absent unless it is a successful transfer, and for a bulk."
    approval: ApprovalLine | UnsetType = UNSET
    "The approval of the transfer. Absent for a transfer that did not have to wait for one, and for a bulk."
    data: list[BatchLine] | UnsetType = UNSET
    "The orders of a bulk with their current states, in the order of the request. Absent for a single transfer."
