"""What `PUT /loans` takes and answers. (Contract: loans#request)"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from kasuwa.core.fields import Amount, NonNegativeInt, PercentRate, Reference
from kasuwa.core.interest_wire import DryRunFigure, InterestReply, InterestSettings
from kasuwa.core.loan_interest import RepaymentMethod
from kasuwa.core.paging import Paged
from kasuwa.methods.payment.rules.collect import CollectMethod, PayerFields, PaymentReply, ValidateRequest

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
    """A loan for an active client. `dry_run` answers what it would be, and keeps nothing."""

    client_id: Reference
    interest_settings: InterestSettings = field(name="interestSettings")
    amount: Amount
    period: NonNegativeInt
    tax_applied: bool | None = None
    tax_rate: PercentRate | None = None
    method: RepaymentMethod | None = None
    dry_run: bool | None = None


class ProcessRequest(msgspec.Struct, kw_only=True):
    """approve pays the loan out to the client's bankAccount; reject and cancel close it."""

    loan_id: Reference
    status: Literal["approve", "reject", "cancel"]
    dry_run: bool | None = None


class ValidateRepayment(ValidateRequest, kw_only=True):
    """With `dry_run`, whether the code would be taken to the payer's bank."""

    dry_run: bool | None = None


class ValidateReply(PaymentReply, kw_only=True):
    dry_run: bool | UnsetType = UNSET


class ListRequest(Paged, kw_only=True):
    """Newest first; all loans, or those of one client, in one state, or both."""

    client_id: Reference | None = None
    state: LoanState | None = None


class ViewRequest(msgspec.Struct, kw_only=True):
    loan_id: Reference


class StatementRequest(Paged, kw_only=True):
    loan_id: Reference


class RepayRequest(PayerFields, kw_only=True):
    """`amount` defaults to all that is due up to and including today, else to the next instalment. `wallet` says
    that the merchant has the client's money already: the claim moves alone. Every other method takes the fields of
    that payment type."""

    loan_id: Reference
    payment_method: Literal[CollectMethod, "wallet"]
    amount: Amount | None = None
    dry_run: bool | None = None


# --- replies ------------------------------------------------------------------------------------------------


class ScheduleLine(msgspec.Struct, kw_only=True):
    n: int
    due: str
    principal: str
    interest: str
    tax: str
    total: str
    paid: str
    state: Literal["pending", "partially_paid", "paid", "late", "written_off"]


class Outstanding(msgspec.Struct, kw_only=True):
    """What is owed by the schedule, and what closes the loan today."""

    principal: str
    interest: str
    tax: str
    penalty: str
    total: str
    payoff: str


class LoanFacts(msgspec.Struct, kw_only=True):
    """What every view of a loan shows. `loan_id` is null in a dry run. `txnRef` is the newest disbursement's. `credit`
    is what the client paid beyond the loan and has not got back."""

    loan_id: str | None
    client_id: str
    state: LoanState
    amount: str
    currency: Literal["NGN"] = "NGN"
    interest_settings: InterestReply = field(name="interestSettings")
    method: RepaymentMethod
    period: int
    tax_applied: bool
    tax_rate: int | float
    penalty_rate: str
    tolerance_days: int
    outstanding: Outstanding
    credit: str
    txn_ref: str | None = field(name="txnRef")
    created_at: str
    disbursed_at: str | None
    closed_at: str | None


class LoanRecord(LoanFacts, kw_only=True):
    """One loan whole. Until it is paid out, the schedule is the one it would have from today."""

    schedule: list[ScheduleLine]


class Installments(msgspec.Struct, kw_only=True):
    """How many installments a loan has, has paid, and has late."""

    total: int
    paid: int
    late: int


class NextDue(msgspec.Struct, kw_only=True):
    """The oldest installment with something owed, and what that is."""

    n: int
    due: str
    amount: str


class LoanSummary(LoanFacts, kw_only=True):
    """A loan in a list: its schedule in figures. `view` shows it whole."""

    installments: Installments
    next_due: NextDue | None


class LoanReply(msgspec.Struct, kw_only=True):
    """`txnRef` and `txnStatus` are the disbursement's, where the reply is about one: a failed one is told by them and
    leaves the loan approved."""

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
    """One posting on one of the loan's accounts: a positive amount raises what is owed, a negative one lowers it;
    `balance` is what is owed of that part after it. `origin` is the transaction it belongs to, or the loan."""

    date_created: str = field(name="dateCreated")
    origin: str
    part: Literal["principal", "interest", "tax", "penalty", "credit"]
    narration: str
    amount: str
    balance: str


class StatementReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[StatementLine]
    total: int
    offset: int
    limit: int


class Allocation(msgspec.Struct, kw_only=True):
    """Where a repayment went."""

    penalty: str
    interest: str
    tax: str
    principal: str


class RepayReply(PaymentReply, kw_only=True):
    """A payment's reply at every step of its flow. Where the wallet was paid directly, and in a dry run, also where the
    money went and the loan after it; a dry run has no txnRef."""

    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)  # type: ignore[assignment]
    allocation: Allocation | UnsetType = UNSET
    data: LoanRecord | UnsetType = UNSET
    dry_run: bool | UnsetType = UNSET
    explained: list[DryRunFigure] | UnsetType = UNSET
