"""Requests and replies of `PUT /loans`. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#request
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from kasuwa.core.fields import Amount, NonNegativeInt, PercentRate, Reference
from kasuwa.core.interest_wire import DryRunFigure, InterestReply, InterestSettings
from kasuwa.core.loan_interest import RepaymentMethod
from kasuwa.core.paging import Paged
from kasuwa.methods.payment.rules.collect import CollectMethod, PayerFields
from kasuwa.methods.payment.wire import ValidateRequest
from kasuwa.methods.payment.wire_reply import PaymentReply

LoanState = Literal[
    "pending_approval",
    "approved",
    "disbursing",
    "active",
    "active_in_arrears",
    "closed_repaid",
    "closed_rejected",
    "closed_withdrawn",
    "closed_written_off",
]


class LoanRequest(msgspec.Struct, kw_only=True):
    """Requests a loan for an active client. With `dry_run` the reply shows the loan and its schedule, and nothing is
    stored."""

    client_id: Reference
    interest_settings: InterestSettings = field(name="interestSettings")
    amount: Amount
    period: NonNegativeInt  # number of installments
    tax_applied: bool | None = None
    tax_rate: PercentRate | None = None  # percent of the interest; required if tax_applied
    method: RepaymentMethod | None = None  # default: the merchant's setting
    dry_run: bool | None = None


class ProcessRequest(msgspec.Struct, kw_only=True):
    """Approves, rejects or cancels a loan. `approve` pays it out to the client's bankAccount, the others close it."""

    loan_id: Reference
    status: Literal["approve", "reject", "cancel"]
    dry_run: bool | None = None


class ValidateRepayment(ValidateRequest, kw_only=True):
    """Submits the payer's code. With `dry_run` the request is only checked, and nothing is sent to the payer's bank."""

    dry_run: bool | None = None


class ValidateReply(PaymentReply, kw_only=True):
    dry_run: bool | UnsetType = UNSET


class ListRequest(Paged, kw_only=True):
    """Lists loans, newest first. `client_id` and `state` filter."""

    client_id: Reference | None = None
    state: LoanState | None = None


class ViewRequest(msgspec.Struct, kw_only=True):
    loan_id: Reference


class StatementRequest(Paged, kw_only=True):
    loan_id: Reference


class RepayRequest(PayerFields, kw_only=True):
    """Repays a loan. `amount` defaults to all that is due up to and including today, or to the next installment if
    nothing is due. The method `wallet` records money that the merchant has already received from the client: no cash
    moves. Every other method takes the fields of that payment type."""

    loan_id: Reference
    payment_method: Literal[CollectMethod, "wallet"]
    amount: Amount | None = None
    dry_run: bool | None = None


# --- replies ------------------------------------------------------------------------------------------------


class ScheduleLine(msgspec.Struct, kw_only=True):
    """One installment of a schedule. `total` and `paid` do not include penalties."""

    n: int
    due: str
    principal: str
    interest: str
    tax: str
    total: str  # principal, interest and tax
    paid: str  # of the total
    state: Literal["pending", "partially_paid", "paid", "late", "written_off"]


class Outstanding(msgspec.Struct, kw_only=True):
    """The amounts owed by the schedule, and `payoff`, the amount that closes the loan today."""

    principal: str
    interest: str
    tax: str
    penalty: str
    total: str
    payoff: str  # less than total before the last due date: interest not earned yet is not asked for


class LoanFacts(msgspec.Struct, kw_only=True):
    """The fields of a loan in every reply. `loan_id` is null in a dry run. `txnRef` is that of the newest
    disbursement. `credit` is the amount that the client overpaid and that has not been refunded."""

    loan_id: str | None  # null in a dry run
    client_id: str
    state: LoanState
    amount: str
    currency: Literal["NGN"] = "NGN"
    interest_settings: InterestReply = field(name="interestSettings")
    method: RepaymentMethod
    period: int  # number of installments
    tax_applied: bool
    tax_rate: int | float  # percent of the interest
    penalty_rate: str  # percent of the overdue principal, per day late
    tolerance_days: int  # days after the due date before an installment is late
    outstanding: Outstanding
    credit: str  # overpaid by the client and not refunded
    txn_ref: str | None = field(name="txnRef")  # of the newest disbursement
    created_at: str
    disbursed_at: str | None
    closed_at: str | None


class LoanRecord(LoanFacts, kw_only=True):
    """One loan with its schedule. Until it is paid out, the schedule is the one it would have from today."""

    schedule: list[ScheduleLine]


class Installments(msgspec.Struct, kw_only=True):
    """The numbers of a loan's installments: all, paid and late."""

    total: int
    paid: int
    late: int


class NextDue(msgspec.Struct, kw_only=True):
    """The oldest installment that is not fully paid. `amount` is what is owed of it."""

    n: int
    due: str
    amount: str


class LoanSummary(LoanFacts, kw_only=True):
    """A loan in a list, with figures in place of its schedule. `view` shows the schedule."""

    installments: Installments
    next_due: NextDue | None


class LoanReply(msgspec.Struct, kw_only=True):
    """A loan after a request. `txnRef` and `txnStatus` are present if the loan was approved, and are those of its
    disbursement. A failed disbursement leaves the loan approved."""

    status: Literal[200] = 200
    message: str
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    txn_status: str | UnsetType = field(name="txnStatus", default=UNSET)
    loan_id: str | UnsetType = UNSET
    data: LoanRecord
    dry_run: bool | UnsetType = UNSET
    explained: list[DryRunFigure] | UnsetType = UNSET


class ListReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[LoanSummary]
    total: int
    offset: int
    limit: int


class StatementLine(msgspec.Struct, kw_only=True):
    """One posting on one of the loan's accounts. A positive amount raises what is owed, a negative one lowers it.
    `balance` is what is owed of that part afterwards. `origin` is the txnRef of the transaction, or the loan_id."""

    date_created: str = field(name="dateCreated")
    origin: str  # a txnRef, or the loan_id
    part: Literal["principal", "interest", "tax", "penalty", "credit"]
    narration: str
    amount: str  # signed
    balance: str  # of this part, after the posting


class StatementReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[StatementLine]
    total: int
    offset: int
    limit: int


class Allocation(msgspec.Struct, kw_only=True):
    """The parts of a loan that a repayment covered."""

    penalty: str
    interest: str
    tax: str
    principal: str


class RepayReply(PaymentReply, kw_only=True):
    """The reply of the payment at every step of its flow. A repayment by `wallet` and a dry run also have the
    allocation and the loan after it. A dry run has no txnRef."""

    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)  # type: ignore[assignment]
    allocation: Allocation | UnsetType = UNSET
    data: LoanRecord | UnsetType = UNSET
    dry_run: bool | UnsetType = UNSET
    explained: list[DryRunFigure] | UnsetType = UNSET
