"""Requests and replies of `PUT /investments`. Docstrings are the descriptions in the OpenAPI document.

Contract: investments#savings, investments#thrift
"""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.fields import FREE_TEXT, Amount, AmountOrZero, NonNegativeInt, PercentRate, Pin, Reference
from kasuwa.core.interest_wire import DryRunFigure, InterestReply, InterestSettings
from kasuwa.core.paging import Paged
from kasuwa.core.people import DateText
from kasuwa.core.thrift import CycleFrequency
from kasuwa.methods.payment.rules.collect import PayerFields
from kasuwa.methods.payment.wire import ValidateRequest
from kasuwa.methods.payment.wire_reply import PaymentReply

Name = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]


# --- savings ------------------------------------------------------------------------------------------------


class CreateSavingsRequest(msgspec.Struct, kw_only=True):
    name: Name
    client_id: Reference
    interest_settings: InterestSettings = field(name="interestSettings")
    tax_applied: bool | None = None
    tax_rate: PercentRate | None = None  # percent of the interest
    period: NonNegativeInt  # months until maturity
    dry_run: bool | None = None


class ListSavingsRequest(Paged, kw_only=True):
    client_id: Reference | None = None


class ViewSavingsRequest(msgspec.Struct, kw_only=True):
    savings_id: Reference


SavingsState = Literal["pending", "active", "matured", "closed"]


class SavingsRecord(msgspec.Struct, kw_only=True):
    """A savings account. `savings_id` is null in a dry run. `plans` has the newest thrift plans that the savings are
    subscribed to, at most 100, and `plans_total` is the number of all of them."""

    savings_id: str | None  # null in a dry run
    client_id: str
    name: str
    state: SavingsState
    balance: str  # available; money held for cash-outs is not included
    accrued_interest: str  # earned and not posted yet, before tax
    interest_settings: InterestReply = field(name="interestSettings")
    tax_applied: bool
    tax_rate: str  # percent of the interest
    period: int  # months until maturity
    opened_at: str
    matures_at: str
    plans: list[str]  # thrift_ids, at most 100
    plans_total: int


class SavingsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: SavingsRecord
    dry_run: bool | UnsetType = UNSET


class Moved(msgspec.Struct, kw_only=True):
    """Totals of all postings on savings other than deposits and cash-outs."""

    interest: str
    withheld_tax: str
    thrift_paid: str
    thrift_received: str


class SavingsViewReply(SavingsReply, kw_only=True):
    """A savings account with the totals of interest, tax and thrift in `moved`. `statement` shows each posting."""

    moved: Moved


class SavingsListReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[SavingsRecord]
    total: int
    offset: int
    limit: int


class StatementRequest(Paged, kw_only=True):
    savings_id: Reference


class StatementLine(msgspec.Struct, kw_only=True):
    """One posting on the savings. A positive amount came in, a negative one went out. `balance` is the balance after
    it. `origin` is the txnRef of the transaction, the savings_id for interest and tax, or the thrift_id."""

    date_created: str = field(name="dateCreated")
    origin: str
    narration: str
    amount: str
    balance: str


class StatementReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[StatementLine]
    total: int
    offset: int
    limit: int


class DepositRequest(PayerFields, kw_only=True):
    """A deposit from the wallet or by any payment method. A payment method takes the fields of that payment type."""

    savings_id: Reference
    payment_method: Literal[
        "wallet", "card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"
    ]
    amount: Amount
    dry_run: bool | None = None


class DepositReply(PaymentReply, kw_only=True):
    """The reply of the payment. A deposit from the wallet also has the new balance. A dry run explains each figure and
    has no txnRef."""

    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)  # type: ignore[assignment]
    balance: str | UnsetType = UNSET
    dry_run: bool | UnsetType = UNSET
    explained: list[DryRunFigure] | UnsetType = UNSET


class ValidateDeposit(ValidateRequest, kw_only=True):
    """Submits the payer's code. With `dry_run` the request is only checked, and nothing is sent to the payer's bank."""

    dry_run: bool | None = None


class ValidateReply(PaymentReply, kw_only=True):
    dry_run: bool | UnsetType = UNSET


class CashoutFields(msgspec.Struct, kw_only=True):
    """The fields of every cash-out. The savings are named by `saving_id` or `savings_id`, which mean the same. An
    `amount` of zero closes savings that are empty. Contract: investments#close"""

    saving_id: Reference | None = None
    savings_id: Reference | None = None
    client_id: Reference
    amount: AmountOrZero
    dry_run: bool | None = None


class CashoutRequest(CashoutFields, kw_only=True):
    """A cash-out in cash or by transfer. `cashcode` is decoded as a CashcodeRequest; it is listed here so that the
    error for an unknown method names it."""

    method: Literal["cash", "transfer", "cashcode"]


class CashcodeRequest(CashoutFields, kw_only=True):
    """A cash-out at a cash machine. Without a `pin`, one is generated."""

    pin: Pin | None = None


class CashoutReply(msgspec.Struct, kw_only=True):
    """The result of a cash-out. A dry run explains each figure and has no txnRef."""

    status: Literal[200, 201] = 200
    message: str
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    txn_status: str | UnsetType = field(name="txnStatus", default=UNSET)
    savings_id: str | UnsetType = UNSET
    balance: str  # available after the cash-out
    dry_run: bool | UnsetType = UNSET
    explained: list[DryRunFigure] | UnsetType = UNSET


class CashcodeReply(CashoutReply, kw_only=True):
    """The result of a cash-out by cashcode. `cashcode` and a generated `pin` are shown once. A replayed reply has
    neither."""

    cashcode: str | UnsetType = UNSET
    pin: str | UnsetType = UNSET


# --- thrift -------------------------------------------------------------------------------------------------


class CreatePlanRequest(msgspec.Struct, kw_only=True):
    name: Name
    amount: Amount
    start_date: DateText  # first possible day of the first cycle
    member_required: NonNegativeInt  # also the number of cycles
    frequency: CycleFrequency
    dry_run: bool | None = None


class ListPlansRequest(Paged, kw_only=True):
    """Lists thrift plans, newest first."""


class PlanRequest(msgspec.Struct, kw_only=True):
    thrift_id: Reference


# A cycle is one posting group. With more members it would lock the merchant's book for too long.
MAX_MEMBERS = 500
MemberLimit = Annotated[int, Meta(ge=1, le=MAX_MEMBERS, description=f"1 to {MAX_MEMBERS}")]


class SubscriptionsRequest(Paged, kw_only=True):
    """Lists the members of a plan in the order in which they receive the pot. Without a limit, all of them.
    Contract: investments#thrift"""

    default_limit: ClassVar[int] = MAX_MEMBERS

    thrift_id: Reference
    limit: MemberLimit | None = None
    limits: MemberLimit | None = None


class CancelPlanRequest(PlanRequest, kw_only=True):
    dry_run: bool | None = None


class SubscribeRequest(msgspec.Struct, kw_only=True):
    savings_id: Reference
    thrift_id: Reference
    dry_run: bool | None = None


class PlanRecord(msgspec.Struct, kw_only=True):
    """A thrift plan. `thrift_id` is null in the dry run of a new plan. `cycle` is the number of cycles done."""

    thrift_id: str | None
    name: str
    amount: str  # contribution of each member in each cycle
    frequency: str
    start_date: str
    member_required: int
    members: int  # subscribed so far
    state: Literal["open", "running", "completed", "cancelled"]
    cycle: int  # cycles done
    next_date: str | None  # of the next cycle; before the plan is full, the first possible date


class PlanReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: PlanRecord
    dry_run: bool | UnsetType = UNSET


class PlanListReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[PlanRecord]
    total: int
    offset: int
    limit: int


class SubscriptionRecord(msgspec.Struct, kw_only=True):
    """A member of a thrift plan. `position` is the number of the cycle whose pot it receives, on `payout_date`."""

    savings_id: str
    client_id: str
    position: int
    payout_date: str  # actual or planned
    contributed: str
    received: str
    owed: str  # debts in this plan


class SubscriptionReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: SubscriptionRecord
    dry_run: bool | UnsetType = UNSET
    explained: list[DryRunFigure] | UnsetType = UNSET


class SubscriptionsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[SubscriptionRecord]
    total: int
    offset: int
    limit: int
