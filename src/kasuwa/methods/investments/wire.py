"""Requests and replies of `PUT /investments`. Docstrings are the descriptions in the OpenAPI document.

Contract: investments#savings, investments#thrift
"""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.methods.investments.thrift import CycleFrequency
from kasuwa.methods.loans.wire import Reason
from kasuwa.methods.payment.rules.collect import PayerFields
from kasuwa.methods.payment.wire import ValidateRequest
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.wire.fields import FREE_TEXT, Amount, AmountOrZero, NonNegativeInt, PercentRate, Pin, Reference
from kasuwa.wire.interest_wire import DryRunFigure, InterestReply, InterestSettings
from kasuwa.wire.paging import Paged
from kasuwa.wire.people import DateText

Name = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]


Rollover = Literal["none", "principal", "all"]
SavingsState = Literal["pending", "active", "matured", "dormant", "closed"]


# --- savings ------------------------------------------------------------------------------------------------


class CreateSavingsRequest(msgspec.Struct, kw_only=True):
    """A new savings account of a client."""

    name: Name
    "Name of the savings account, such as its purpose. It is the narration of transfers by `cashout`."
    client_id: Reference
    "The client who saves. The client must be active."
    interest_settings: InterestSettings = field(name="interestSettings")
    "The interest rate. It may come to at most 1,000 percent a year."
    tax_applied: bool | None = None
    "Whether tax is withheld from the interest. Default false."
    tax_rate: PercentRate | None = None
    "Tax in percent of the interest, from 0 to 100. Default 10."
    period: NonNegativeInt | None = None
    """Months until maturity, from 1 to 600. Money taken out earlier forfeits interest; after maturity none accrues.
    Required, unless `term_days` makes it a fixed deposit."""
    term_days: NonNegativeInt | None = None
    """Makes it a fixed deposit of a term of so many days, from 1 to 3,650, in place of `period`. Its interest is posted
    when the term ends."""
    rollover: Rollover | None = None
    """Of a fixed deposit: what begins a new term when one ends. `none`, the default: nothing, it matures. `principal`:
    the principal; the interest stays in the savings, earns nothing and can be taken out at any time. `all`: both."""
    dry_run: bool | None = None
    "If true, the reply shows the savings account, and nothing is stored."


class RolloverRequest(msgspec.Struct, kw_only=True):
    """Changes what happens to a fixed deposit when its running term ends."""

    savings_id: Reference
    "The fixed deposit."
    rollover: Rollover
    "What begins a new term: `none`, `principal` or `all`, as in `create_savings`."
    dry_run: bool | None = None
    "If true, the reply shows the fixed deposit as it would be, and nothing is changed."


class CertificateRequest(msgspec.Struct, kw_only=True):
    """Names the fixed deposit that a certificate is made of."""

    savings_id: Reference
    "The fixed deposit. It must hold money."


class CertificateReply(msgspec.Struct, kw_only=True):
    """The links to a certificate and to what proves it. They need no key: whoever has one can read what it shows."""

    status: Literal[200] = 200
    "200."
    message: str = "Certificate"
    "The outcome in words."
    link: str
    "Address of the certificate, a PDF. Its QR code is `proof_link`."
    expires: str
    "Time until which `link` works, in UTC: an hour from now."
    proof_link: str
    """Address of what proves the certificate, as JSON without personal data: the balance, the newest posting and the
    signed close of the books that has it."""
    proof_expires: str
    "Time until which `proof_link` works, in UTC: a year after the end of the running term."


class ListSavingsRequest(Paged, kw_only=True):
    """Lists savings accounts, newest first."""

    client_id: Reference | None = None
    "Lists the savings of this client alone."
    state: SavingsState | None = None
    "Lists the savings in this state alone."


class ViewSavingsRequest(msgspec.Struct, kw_only=True):
    """Names the savings account to view."""

    savings_id: Reference
    "The savings account to view."


class WaitingReactivation(msgspec.Struct, kw_only=True):
    """A reactivation that waits for the approval of another party."""

    reason: str
    "The reason that was given."
    proposed_by: str
    "The key or person that proposed it."
    proposed_at: str
    "Time of the proposal, in UTC."
    expires_at: str
    "Time from which it cannot be approved any more, in UTC."


class SavingsRecord(msgspec.Struct, kw_only=True):
    """A savings account."""

    savings_id: str | None
    "Identifier of the savings account, made by the service. Null in a dry run."
    client_id: str
    "The client who saves."
    name: str
    "Name of the savings account."
    state: SavingsState
    """`pending` until the first deposit. `active`: earns interest. `matured`: the period is over, and no interest
    accrues any more. `dormant`: the client has not moved money of it for long, and nothing can be taken out until it is
    reactivated. `closed`: emptied."""
    balance: str
    "Money that can be taken out, in naira. Money held for open cash-outs is not included."
    accrued_interest: str
    "Interest that was earned and is not posted yet, before tax, in naira."
    interest_settings: InterestReply = field(name="interestSettings")
    "The agreed interest rate."
    tax_applied: bool
    "Whether tax is withheld from the interest."
    tax_rate: str
    "Tax in percent of the interest. It counts only if `tax_applied` is true."
    period: int
    "Months until maturity. 0 for a fixed deposit."
    opened_at: str
    "Time at which the savings account was created, in UTC."
    matures_at: str
    "Time of maturity, in UTC: midnight in Lagos. Of a fixed deposit, the end of the running term."
    plans: list[str]
    "The newest 100 thrift plans that the savings take or took part in, by `thrift_id`, without cancelled ones."
    plans_total: int
    "Number of all these thrift plans."
    term_days: int | UnsetType = UNSET
    "Days of each term of a fixed deposit. Absent for other savings."
    rollover: Rollover | UnsetType = UNSET
    "What of a fixed deposit begins a new term when one ends. Absent for other savings."
    unlocked: str | UnsetType = UNSET
    """Part of the balance that is interest of earlier terms and not part of the running one, in naira: it earns
    nothing, and taking it out forfeits nothing. Absent unless it is a fixed deposit."""
    dormant_since: str | UnsetType = UNSET
    "Day since which it is dormant, as YYYY-MM-DD. Absent unless it is."
    waiting_reactivation: WaitingReactivation | UnsetType = UNSET
    "The reactivation that waits for the approval of another party. Absent if none does, and from lists."


class SavingsReply(msgspec.Struct, kw_only=True):
    """A savings account after it was created or asked for."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: SavingsRecord
    "The savings account."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was stored. Else absent."


class RolloverReply(SavingsReply, kw_only=True):
    """A fixed deposit after a change of its rollover. A dry run explains what the end of the running term brings."""

    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class Moved(msgspec.Struct, kw_only=True):
    """Totals of all postings on savings other than deposits and cash-outs."""

    interest: str
    "Interest that was posted, before tax, in naira."
    withheld_tax: str
    "Tax that was withheld from the interest, in naira."
    thrift_paid: str
    "Contributions to thrift plans and repaid thrift debts, in naira."
    thrift_received: str
    "Pots and repaid thrift debts that were received, in naira."
    dividends: str
    "Dividends on shares, before tax, in naira."
    dividend_tax: str
    "Tax that was withheld from the dividends, in naira."
    shares_bought: str
    "What was paid for shares, in naira."
    shares_redeemed: str
    "What was received for redeemed shares, in naira."


class SavingsViewReply(SavingsReply, kw_only=True):
    """A savings account with the totals of interest, tax and thrift in `moved`. `statement` shows each posting."""

    moved: Moved
    "Totals of all postings other than deposits and cash-outs."
    pledged: str | UnsetType = UNSET
    """What is held of the savings for loans of others, in naira: it earns interest, and cannot be taken out. Absent if
    nothing is."""


class ReactivateSavingsRequest(msgspec.Struct, kw_only=True):
    """Asks that a dormant savings account is reactivated without a deposit. Another key or person must approve it."""

    savings_id: Reference
    "The dormant savings account."
    reason: Reason
    "Why it is reactivated, such as how the client was identified. The event has it."
    dry_run: bool | None = None
    "If true, the reply says whether it could be asked for, and nothing is stored."


class DecideReactivationRequest(msgspec.Struct, kw_only=True):
    """Approves or rejects a reactivation that waits, with another key than the one that asked for it."""

    savings_id: Reference
    "The savings account whose reactivation waits."
    status: Literal["approve", "reject"]
    "`approve`: money can be taken out again. `reject`: it stays dormant."
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class SavingsListReply(msgspec.Struct, kw_only=True):
    """One page of savings accounts, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[SavingsRecord]
    "The savings accounts."
    total: int
    "Number of matching savings accounts on all pages."
    offset: int
    "Number of savings accounts that were skipped."
    limit: int
    "Largest number of savings accounts on this page. The next page begins at `offset` + `limit`."


class StatementRequest(Paged, kw_only=True):
    """Names the savings account whose postings are listed, newest first."""

    savings_id: Reference
    "The savings account whose postings are listed."


class StatementLine(msgspec.Struct, kw_only=True):
    """One posting on a savings account."""

    date_created: str = field(name="dateCreated")
    "Time of the posting, in UTC."
    origin: str
    """The `txnRef` of the transaction that caused it, the `thrift_id` of a cycle, or the `savings_id` for interest and
    tax."""
    narration: str
    "Kind of the posting in words."
    amount: str
    "Amount, in naira: positive if it came in, negative if it went out."
    balance: str
    "Balance after the posting, in naira, held money included."


class StatementReply(msgspec.Struct, kw_only=True):
    """One page of the postings on a savings account, newest first."""

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


class DepositRequest(PayerFields, kw_only=True):
    """A deposit from the wallet or by any payment method. A payment method takes the fields of that payment type."""

    savings_id: Reference
    "The savings account that receives the deposit."
    payment_method: Literal[
        "wallet", "card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"
    ]
    "How the deposit is paid: a payment type, or `wallet` to move money from your wallet."
    amount: Amount
    "Amount of the deposit, in naira. All of it reaches the savings: your wallet pays the fee."
    dry_run: bool | None = None
    "If true, the reply explains what the deposit would bring and cost, and nothing is charged."


class DepositReply(PaymentReply, kw_only=True):
    """The reply of the payment. A deposit from the wallet also has the new balance. A dry run explains each figure and
    has no txnRef."""

    balance: str | UnsetType = UNSET
    "Money in the savings that can be taken out after the deposit, in naira. Present for `wallet` and in a dry run."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class ValidateDeposit(ValidateRequest, kw_only=True):
    """Submits the payer's code. With `dry_run` the request is only checked, and nothing is sent to the payer's bank."""


class ValidateReply(PaymentReply, kw_only=True):
    """The outcome of a deposit after the payer's code, or of a dry run."""


class CashoutFields(msgspec.Struct, kw_only=True):
    """The fields of every cash-out. Contract: investments#close"""

    saving_id: Reference | None = None
    "Another name of `savings_id`. If both are sent, they must be equal."
    savings_id: Reference | None = None
    "The savings account that money is taken from. Required, by this name or as `saving_id`."
    client_id: Reference
    "The client who owns the savings. Another one is refused."
    amount: AmountOrZero
    "Amount to take out, in naira. Thrift debts are settled first. 0 closes savings that are empty."
    dry_run: bool | None = None
    "If true, the reply explains what the cash-out would bring and cost, and nothing is paid."


class CashoutRequest(CashoutFields, kw_only=True):
    """A cash-out in cash or by transfer. `cashcode` is decoded as a CashcodeRequest; it is listed here so that the
    error for an unknown method names it."""

    method: Literal["cash", "transfer", "cashcode"]
    """`cash`: you pay it over the counter, and your wallet gets the money. `transfer`: to the client's `bankAccount`.
    `cashcode`: by a code for a cash machine, valid one day."""


class CashcodeRequest(CashoutFields, kw_only=True):
    """A cash-out at a cash machine. Without a `pin`, one is generated."""

    pin: Pin | None = None
    "PIN of the cashcode. If left out, one is made and shown in the reply."


class CashoutReply(msgspec.Struct, kw_only=True):
    """The result of a cash-out. A dry run explains each figure and has no txnRef."""

    status: Literal[200, 201] = 200
    "200, or 201 if the bank's answer could not be read: the transfer stays open and the bank is asked again."
    message: str
    "The outcome in words; of a failed transfer, the reason."
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the cash-out, made by the service. Absent in a dry run and if empty savings were closed."
    txn_status: str | UnsetType = field(name="txnStatus", default=UNSET)
    """`successful` and `failed` are final; `processing` and `pending` as for a transfer. Absent for `cashcode`, in a
    dry run and if empty savings were closed."""
    savings_id: str | UnsetType = UNSET
    "The savings account. Absent in a dry run."
    balance: str
    "Money that can be taken out after the cash-out, in naira."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was paid. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class CashcodeReply(CashoutReply, kw_only=True):
    """The result of a cash-out by cashcode. `cashcode` and a generated `pin` are shown once. A replayed reply has
    neither."""

    cashcode: str | UnsetType = UNSET
    "The code for the cash machine. It is shown this once: absent from a repeated reply."
    pin: str | UnsetType = UNSET
    "PIN of the code, if the request had none. It is shown this once: absent from a repeated reply."


# --- thrift -------------------------------------------------------------------------------------------------


class CreatePlanRequest(msgspec.Struct, kw_only=True):
    """A new thrift plan: in each cycle every member contributes, and one member receives the pot."""

    name: Name
    "Name of the plan."
    amount: Amount
    "Contribution of each member in each cycle, in naira."
    start_date: DateText
    """First possible day of the first cycle, in Lagos, today or within ten years. The plan starts then if it is full,
    else on the day it fills."""
    member_required: NonNegativeInt
    "Number of members, from 2 to 500. It is also the number of cycles."
    frequency: CycleFrequency
    "Time between two cycles."
    dry_run: bool | None = None
    "If true, the reply shows the plan, and nothing is stored."


class ListPlansRequest(Paged, kw_only=True):
    """Lists thrift plans, newest first."""


class PlanRequest(msgspec.Struct, kw_only=True):
    """Names a thrift plan."""

    thrift_id: Reference
    "The thrift plan."


# A cycle is one posting group. With more members it would lock the merchant's book for too long.
MAX_MEMBERS = 500
MemberLimit = Annotated[int, Meta(ge=1, le=MAX_MEMBERS, description=f"1 to {MAX_MEMBERS}")]


class SubscriptionsRequest(Paged, kw_only=True):
    """Lists the members of a plan in the order in which they receive the pot. Without a limit, all of them.
    Contract: investments#thrift"""

    default_limit: ClassVar[int] = MAX_MEMBERS

    thrift_id: Reference
    "The plan whose members are listed."
    limit: MemberLimit | None = None
    "Largest number of members to return. Default 500, which is all of them."
    limits: MemberLimit | None = None
    "Another spelling of `limit`, which counts if both are sent."


class CancelPlanRequest(PlanRequest, kw_only=True):
    """Cancels a thrift plan that is not running yet."""

    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class SubscribeRequest(msgspec.Struct, kw_only=True):
    """Makes a savings account a member of a thrift plan. Position in the plan is the order of subscription."""

    savings_id: Reference
    "The savings account that pays the contributions and receives the pot."
    thrift_id: Reference
    "The plan to join. It must be open and not full."
    dry_run: bool | None = None
    "If true, the reply explains what the membership would mean, and nothing is changed."


class PlanRecord(msgspec.Struct, kw_only=True):
    """A thrift plan."""

    thrift_id: str | None
    "Identifier of the plan, made by the service. Null in the dry run of a new plan."
    name: str
    "Name of the plan."
    amount: str
    "Contribution of each member in each cycle, in naira."
    frequency: str
    "Time between two cycles: `every_day`, `every_week`, `every_four_weeks` or `every_month`."
    start_date: str
    "Requested first day, in Lagos, as YYYY-MM-DD."
    member_required: int
    "Number of members that the plan needs. It is also the number of cycles."
    members: int
    "Number of members that have subscribed."
    state: Literal["open", "running", "completed", "cancelled"]
    """`open`: not started yet. `running`: started. `completed`: every member has received the pot. `cancelled`: before
    it started."""
    cycle: int
    "Number of cycles that are done."
    next_date: str | None
    """Date of the next cycle, in Lagos, as YYYY-MM-DD; before the plan is full, the first possible one. Null after the
    last cycle and if cancelled."""


class PlanReply(msgspec.Struct, kw_only=True):
    """A thrift plan after a change."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: PlanRecord
    "The thrift plan."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."


class PlanListReply(msgspec.Struct, kw_only=True):
    """One page of thrift plans, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[PlanRecord]
    "The thrift plans."
    total: int
    "Number of thrift plans on all pages."
    offset: int
    "Number of thrift plans that were skipped."
    limit: int
    "Largest number of thrift plans on this page. The next page begins at `offset` + `limit`."


class SubscriptionRecord(msgspec.Struct, kw_only=True):
    """A member of a thrift plan."""

    savings_id: str
    "The savings account that pays the contributions and receives the pot."
    client_id: str
    "The client who owns the savings."
    position: int
    "Number of the cycle whose pot the member receives, counted from 1."
    payout_date: str
    "Date on which the member received the pot, or will if no cycle is postponed, in Lagos, as YYYY-MM-DD."
    contributed: str
    "Sum of the contributions to the plan, in naira."
    received: str
    "Sum of what the member received from the plan, in naira."
    owed: str
    "Debts of the member in this plan, in naira: contributions that were short and not paid later."


class SubscriptionReply(msgspec.Struct, kw_only=True):
    """A new membership of a thrift plan."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: SubscriptionRecord
    "The member."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class SubscriptionsReply(msgspec.Struct, kw_only=True):
    """The members of a thrift plan, in the order in which they receive the pot."""

    status: Literal[200] = 200
    "200."
    data: list[SubscriptionRecord]
    "The members."
    total: int
    "Number of all members of the plan."
    offset: int
    "Number of members that were skipped."
    limit: int
    "Largest number of members on this page. The next page begins at `offset` + `limit`."
