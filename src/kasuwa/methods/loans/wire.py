"""Requests and replies of `PUT /loans`. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#request
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from kasuwa.methods.loans.auto_repay_wire import AutoRepayRecord
from kasuwa.methods.loans.guarantee_wire import CollateralRecord, GuaranteeRecord
from kasuwa.methods.loans.wire_charges import AgreedChargeRecord, Charges, LoanChargeRecord
from kasuwa.methods.loans.wire_grace import GraceKind, GraceRecord, GraceTerms
from kasuwa.methods.payment.rules.collect import CollectMethod, PayerFields
from kasuwa.methods.payment.wire import ValidateRequest
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.terms.loan_schedule import RepaymentMethod
from kasuwa.wire.fields import FREE_TEXT, Amount, NonNegativeInt, PercentRate, Reference
from kasuwa.wire.interest_wire import DryRunFigure, InterestReply, InterestSettings
from kasuwa.wire.paging import Paged

Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]
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
    "The client who borrows. The client must be active."
    officer: Reference | None = None
    "Who of your people answers for the loan, in a code of yours. `portfolio` counts by it."
    branch: Reference | None = None
    "Your branch that makes the loan, in a code of yours. `portfolio` counts by it."
    interest_settings: InterestSettings = field(name="interestSettings")
    "The interest rate, and with it the interval between installments."
    amount: Amount
    "Principal of the loan, in naira: what the client receives."
    period: NonNegativeInt
    "Number of installments, from 1 to 366: one per interval of `interestFrequency`, one a month if it is `annualized`."
    tax_applied: bool | None = None
    "Whether tax on the interest is added to the installments. Default false."
    tax_rate: PercentRate | None = None
    "Tax in percent of the interest, from 0 to 100. Required if `tax_applied` is true."
    method: RepaymentMethod | None = None
    """`declining_equal_instalments`: equal installments, interest on the balance. `equal_principal`: equal principal,
    interest on the balance. `flat`: interest on the whole loan. Default: your lending setting."""
    charges: Charges | None = None
    "Charges besides the interest: amounts or percentages, when the loan is paid out or later."
    grace: GraceTerms | None = None
    "A grace period: first installments without principal or interest, or a first due date of its own."
    dry_run: bool | None = None
    "If true, the reply shows the loan and explains its figures, and nothing is stored."


class ProcessRequest(msgspec.Struct, kw_only=True):
    """Approves, rejects or cancels a loan. `approve` pays it out to the client's bankAccount, the others close it."""

    loan_id: Reference
    "The loan to decide on."
    status: Literal["approve", "reject", "cancel"]
    """`approve` pays the loan out to the client's `bankAccount`; `reject` and `cancel` close it. After a failed
    disbursement, `approve` tries again."""
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class ValidateRepayment(ValidateRequest, kw_only=True):
    """Submits the payer's code. With `dry_run` the request is only checked, and nothing is sent to the payer's bank."""


class ValidateReply(PaymentReply, kw_only=True):
    """The outcome of a repayment after the payer's code, or of a dry run."""


class ListRequest(Paged, kw_only=True):
    """Lists loans, newest first. `client_id` and `state` filter."""

    client_id: Reference | None = None
    "Lists the loans of this client alone."
    state: LoanState | None = None
    "Lists the loans in this state alone."
    product_id: Reference | None = None
    "Lists the loans of this product alone."


class ViewRequest(msgspec.Struct, kw_only=True):
    """Names the loan to view."""

    loan_id: Reference
    "The loan to view."


class StatementRequest(Paged, kw_only=True):
    """Names the loan whose postings are listed, newest first."""

    loan_id: Reference
    "The loan whose postings are listed."


class RepayRequest(PayerFields, kw_only=True):
    """Repays a loan. `amount` defaults to all that is due up to and including today, or to the next installment if
    nothing is due. The method `wallet` records money that the merchant has already received from the client: no cash
    moves. Every other method takes the fields of that payment type."""

    loan_id: Reference
    "The loan to repay."
    payment_method: Literal[CollectMethod, "wallet"]
    "How the client pays: a payment type, or `wallet` for money that you have received already."
    amount: Amount | None = None
    """Amount to repay, in naira, at most the payoff. Default: all that is due up to and including today, or the next
    installment if nothing is due."""
    dry_run: bool | None = None
    "If true, the reply says what the repayment would cover and cost, and nothing is charged."


class ReverseRequest(msgspec.Struct, kw_only=True):
    """Reverses a repayment that was not honored: its loan becomes what it would be without it. No cash moves. A dispute
    that is lost and a rail that takes a payment back do the same by themselves, unless your lending setting says
    otherwise."""

    txn_ref: Reference = field(name="txnRef")
    "The repayment to reverse."
    reason: Reason
    "Why it is reversed, in words. The event of the reversal has it."
    dry_run: bool | None = None
    "If true, the reply says what the reversal would do, and nothing is changed."


LoanPart = Literal["penalty", "interest", "tax", "principal", "charge"]


class WriteOffRequest(msgspec.Struct, kw_only=True):
    """Writes off what a client will not pay: all of a loan, which closes it, or what is due of some parts, and the loan
    goes on. Above the amount of your policy it waits until another key or person approves it."""

    loan_id: Reference
    "The loan to write off."
    parts: Annotated[list[LoanPart], msgspec.Meta(min_length=1, max_length=5, description="1 to 5 parts")] | None = None
    """Writes off only what is due of these parts up to today; `charge` is charges with their VAT. Default: all that is
    owed, and the loan is closed."""
    reason: Reason
    "Why it is written off, in words. The event has it."
    dry_run: bool | None = None
    "If true, the reply says what the write-off would do, and nothing is changed."


class DecideWriteOffRequest(msgspec.Struct, kw_only=True):
    """Approves or rejects a write-off that waits, with another key than the one that proposed it."""

    loan_id: Reference
    "The loan whose write-off waits."
    status: Literal["approve", "reject"]
    "`approve` writes off what is owed by now; `reject` leaves the loan as it is."
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


# --- replies ------------------------------------------------------------------------------------------------


class ScheduleLine(msgspec.Struct, kw_only=True):
    """One installment of a schedule. Penalties are not part of it."""

    n: int
    "Number of the installment, counted from 1."
    due: str
    "Date on which it is due, in Lagos, as YYYY-MM-DD."
    principal: str
    "Principal that is due with it, in naira."
    interest: str
    "Interest that is due with it, in naira."
    tax: str
    "Tax on that interest, in naira."
    charges: str | UnsetType = UNSET
    "Charges that are due with it, with their VAT, in naira. Absent if it has none."
    total: str
    "Sum of principal, interest, tax and charges, in naira."
    paid: str
    "Part of `total` that was paid, in naira."
    state: Literal["pending", "partially_paid", "paid", "late", "written_off"]
    """`pending`: nothing was paid yet. `partially_paid`, `paid`. `late`: not fully paid after the due date and the
    tolerance. `written_off`: with its loan, or what was left of it."""
    grace: GraceKind | UnsetType = UNSET
    """What is left out of it. `principal`: its principal. `spread`: its interest too, which later installments ask for.
    `capitalize`: its interest too, which becomes principal on the due date. Absent if it has no grace."""
    grown: str | UnsetType = UNSET
    """Interest that grows in its interval and that it does not ask for, in naira; with its tax if it becomes principal.
    Absent if there is none."""


class Outstanding(msgspec.Struct, kw_only=True):
    """The amounts that the client owes by the schedule, and `payoff`, the amount that closes the loan today. All are
    0.00 unless the loan is active."""

    principal: str
    "Principal that is not repaid yet, in naira."
    interest: str
    "Interest of all installments that is not paid yet, in naira, also that of later ones."
    tax: str
    "Tax on that interest, in naira."
    penalty: str
    "Penalties for lateness that are not paid yet, in naira."
    charges: str | UnsetType = UNSET
    "Charges of all installments that are not paid yet, with their VAT, in naira. Absent if the loan has none."
    total: str
    "Sum of them, in naira: what the client pays if nothing is paid early."
    payoff: str
    """Amount that closes the loan today, in naira. Before the last due date it is less than `total`, because interest
    that is not earned yet and charges of later days are not asked for."""


class LoanFacts(msgspec.Struct, kw_only=True):
    """The fields of a loan in every reply."""

    loan_id: str | None
    "Identifier of the loan, made by the service. Null in the dry run of `request`."
    client_id: str
    "The client who borrows."
    officer: str | None
    "Who answers for the loan, as in the request. Null if nobody was named."
    branch: str | None
    "The branch that made the loan, as in the request. Null if none was named."
    product_id: str | UnsetType = UNSET
    "The product that the terms were copied from. Absent if the loan has none."
    state: LoanState
    """`pending_approval`: not decided. `disbursing`: being paid out. `approved`: the payout failed, approve again.
    `active`: paid out. `active_in_arrears`: an installment is late. All states that begin with `closed_` are final."""
    amount: str
    "Principal of the loan, in naira."
    currency: Literal["NGN"] = "NGN"
    "Currency of all amounts."
    interest_settings: InterestReply = field(name="interestSettings")
    "The agreed interest rate."
    method: RepaymentMethod
    "How installments are calculated, as in the request."
    period: int
    "Number of installments."
    tax_applied: bool
    "Whether tax on the interest is added to the installments."
    tax_rate: int | float
    "Tax in percent of the interest. 0 if none was agreed."
    penalty_rate: str
    "Penalty in percent of the overdue principal for each day late: your lending setting when the loan was requested."
    tolerance_days: int
    "Days after the due date before an installment is late: your lending setting when the loan was requested."
    outstanding: Outstanding
    "The amounts that the client still owes."
    credit: str
    "Amount that the client overpaid and that was not refunded yet, in naira."
    txn_ref: str | None = field(name="txnRef")
    "Reference of the newest disbursement. Null if the loan was never approved."
    created_at: str
    "Time of the request, in UTC."
    disbursed_at: str | None
    "Time at which the loan was paid out, in UTC. Null before."
    closed_at: str | None
    "Time at which the loan was closed, in UTC. Null before."


class WrittenOff(msgspec.Struct, kw_only=True):
    """The parts of a loan that were written off and not recovered."""

    penalty: str
    "Penalties, in naira."
    interest: str
    "Interest, in naira."
    tax: str
    "Tax on interest, in naira."
    principal: str
    "Principal, in naira."
    charges: str | UnsetType = UNSET
    "Charges with their VAT, in naira. Absent if there are none of them."
    total: str
    "Sum of them, in naira: what later repayments recover."


class WaitingWriteOff(msgspec.Struct, kw_only=True):
    """A write-off that waits for the approval of another party."""

    amount: str
    "Amount that would have been written off when it was proposed, in naira. What is owed at the approval counts."
    parts: list[LoanPart] | UnsetType = UNSET
    "The parts that it names. Absent if all of the loan is to be written off."
    reason: str
    "The reason that was given."
    proposed_by: str
    "The key or person that proposed it."
    proposed_at: str
    "Time of the proposal, in UTC."
    expires_at: str
    "Time from which it cannot be approved any more, in UTC."


class EarlierSchedule(msgspec.Struct, kw_only=True):
    """The schedule that a loan had until it was rescheduled."""

    n: int
    "Place among the schedules of the loan, from 1."
    until: str
    "Time of the reschedule, in UTC."
    interest_rate: str = field(name="interestRate")
    "Interest rate that it had, in percent."
    reason: str
    "Why the loan was rescheduled."
    schedule: list[ScheduleLine]
    "The installments as they were then."


class LoanRecord(LoanFacts, kw_only=True):
    """One loan with its schedule. Until it is paid out, the schedule is the one it would have from today."""

    schedule: list[ScheduleLine]
    "The installments by date."
    net_amount: str | UnsetType = UNSET
    """The principal without deducted charges, in naira. The client receives it; of a top-up, what is left of it after
    the payoff of the old loan. Absent if none is deducted."""
    agreed_charges: list[AgreedChargeRecord] | UnsetType = UNSET
    "The charges that were agreed with the loan. Absent if none were."
    grace: GraceRecord | UnsetType = UNSET
    "The grace period that was agreed with the loan. Absent if none was."
    charges: list[LoanChargeRecord] | UnsetType = UNSET
    "The charges of its installments, by their days. Absent if it has none."
    written_off: WrittenOff | UnsetType = UNSET
    "What was written off and not recovered. Absent if there is nothing of it."
    waiting_write_off: WaitingWriteOff | UnsetType = UNSET
    "The write-off that waits for the approval of another party. Absent if none does."
    schedules: list[EarlierSchedule] | UnsetType = UNSET
    "The schedules that it had before, in `view`. Absent if it was never rescheduled."
    tops_up: str | UnsetType = UNSET
    "The loan that it pays off, or has paid off. Absent if it is no top-up."
    topped_up_by: str | UnsetType = UNSET
    "The newest loan that is to pay it off, or has paid it off. Absent if there is none."
    guarantees: list[GuaranteeRecord] | UnsetType = UNSET
    "Its guarantees by savings of other clients, in `view` and in `call_guarantee`. Absent if it never had one."
    collateral: list[CollateralRecord] | UnsetType = UNSET
    "What else secures it, in `view`. Absent if it never had any."
    group_id: str | UnsetType = UNSET
    "The group whose member borrows it. Absent for a loan of nobody else."
    group_loan_id: str | UnsetType = UNSET
    "The loan of the group that it is a part of. Absent if it is of none."
    auto_repay: AutoRepayRecord | UnsetType = UNSET
    "How it is collected by itself, in `view`. Absent if that was never agreed on."


class Installments(msgspec.Struct, kw_only=True):
    """The numbers of a loan's installments."""

    total: int
    "Number of all installments."
    paid: int
    "Number of those that are fully paid."
    late: int
    "Number of those that are late."


class NextDue(msgspec.Struct, kw_only=True):
    """The oldest installment that is not fully paid."""

    n: int
    "Number of the installment."
    due: str
    "Date on which it is due, in Lagos, as YYYY-MM-DD."
    amount: str
    "Amount that is still owed of it, penalties included, in naira."


class LoanSummary(LoanFacts, kw_only=True):
    """A loan in a list, with figures in place of its schedule. `view` shows the schedule."""

    installments: Installments
    "The numbers of the installments: all, paid and late."
    next_due: NextDue | None
    "The oldest installment that is not fully paid. Null if nothing is owed."
    overdue: str
    "Amount that is owed of late installments, penalties included, in naira."


class LoanReply(msgspec.Struct, kw_only=True):
    """A loan, after a change if the request had one."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words; of a failed disbursement, the reason."
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the disbursement. Present if the loan was approved by this request."
    txn_status: str | UnsetType = field(name="txnStatus", default=UNSET)
    """Status of the disbursement, as of a transfer: `successful`, `failed`, `pending` or `processing`. Present if the
    loan was approved by this request."""
    loan_id: str | UnsetType = UNSET
    "The loan. Present if it was approved by this request; else see `data.loan_id`."
    data: LoanRecord
    "The loan with its schedule."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class ListReply(msgspec.Struct, kw_only=True):
    """One page of loans, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[LoanSummary]
    "The loans, with figures in place of their schedules."
    total: int
    "Number of matching loans on all pages."
    offset: int
    "Number of loans that were skipped."
    limit: int
    "Largest number of loans on this page. The next page begins at `offset` + `limit`."


class StatementLine(msgspec.Struct, kw_only=True):
    """One posting on one of the loan's accounts."""

    date_created: str = field(name="dateCreated")
    "Time of the posting, in UTC."
    origin: str
    "The `txnRef` of the transaction that caused it, or the `loan_id` if none did."
    part: Literal["principal", "interest", "tax", "penalty", "charge", "vat", "credit"]
    """What the posting is about: `principal`, `interest`, `tax`, `penalty`, `charge` or the `vat` on it that the client
    owes, or the client's `credit`."""
    narration: str
    "Kind of the posting in words."
    amount: str
    "Amount, in naira: positive if it raises the balance of the part, negative if it lowers it."
    balance: str
    "Balance of the part after the posting, in naira."


class StatementReply(msgspec.Struct, kw_only=True):
    """One page of a loan's postings, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[StatementLine]
    "The postings."
    total: int
    "Number of postings on all pages."
    offset: int
    "Number of postings that were skipped."
    limit: int
    "Largest number of postings on this page. The next page begins at `offset` + `limit`."


class Allocation(msgspec.Struct, kw_only=True):
    """The parts of a loan that a repayment covered, in all installments together."""

    penalty: str
    "Penalties that were paid, in naira."
    interest: str
    "Interest that was paid, in naira."
    tax: str
    "Tax on interest that was paid, in naira."
    principal: str
    "Principal that was repaid, in naira."
    charges: str | UnsetType = UNSET
    "Charges that were paid, with their VAT, in naira. Absent if none were."


class Reallocation(msgspec.Struct, kw_only=True):
    """A later repayment that covers other parts of its loan than before a reversal."""

    txn_ref: str = field(name="txnRef")
    "The repayment."
    amount: str
    "Amount of it that the loan was given, in naira: without what was taken back or refunded."
    allocation: Allocation
    "The parts of the loan that it covers now."
    credit: str
    "Amount of it that is beyond what was owed and was not refunded, in naira."


class ReverseReply(msgspec.Struct, kw_only=True):
    """A repayment that was reversed, and the loan without it."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    txn_ref: str = field(name="txnRef")
    "The repayment."
    loan_id: str
    "The loan."
    amount: str
    "Amount of the repayment that the loan had been given, in naira."
    refunded_amount: str
    "Amount that had been refunded to the payer before, in naira. The loan does not ask for it."
    allocation: Allocation
    "The parts of the loan that it had covered. They are owed again."
    reallocated: list[Reallocation]
    "The later repayments that cover other parts than before."
    data: LoanRecord
    "The loan without the repayment."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class RepayReply(PaymentReply, kw_only=True):
    """The reply of the payment at every step of its flow. A repayment by `wallet` and a dry run also have the
    allocation and the loan after it. A dry run has no txnRef."""

    allocation: Allocation | UnsetType = UNSET
    "The parts of the loan that the repayment covers. Present for `wallet` and in a dry run."
    data: LoanRecord | UnsetType = UNSET
    "The loan after the repayment. Present for `wallet` and in a dry run."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."
