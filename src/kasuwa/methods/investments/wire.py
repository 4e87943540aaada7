"""What `PUT /investments` takes and answers. (Contract: investments#savings, investments#thrift)"""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.fields import FREE_TEXT, Amount, AmountOrZero, NonNegativeInt, PercentRate, Pin, Reference
from kasuwa.core.interest_wire import DryRunFigure, InterestReply, InterestSettings
from kasuwa.core.paging import Paged
from kasuwa.core.people import DateText
from kasuwa.core.thrift import CycleFrequency
from kasuwa.methods.payment.rules.collect import PayerFields, PaymentReply, ValidateRequest

Name = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]


# --- savings ------------------------------------------------------------------------------------------------


class CreateSavingsRequest(msgspec.Struct, kw_only=True):
    name: Name
    client_id: Reference
    interest_settings: InterestSettings = field(name="interestSettings")
    tax_applied: bool | None = None
    tax_rate: PercentRate | None = None
    period: NonNegativeInt
    dry_run: bool | None = None


class ListSavingsRequest(Paged, kw_only=True):
    client_id: Reference | None = None


class ViewSavingsRequest(msgspec.Struct, kw_only=True):
    savings_id: Reference


SavingsState = Literal["pending", "active", "matured", "closed"]


class SavingsRecord(msgspec.Struct, kw_only=True):
    """`savings_id` is null in a dry run. `plans` has the newest of the thrift plans that the savings are in, at most
    100; `plans_total` is how many there are."""

    savings_id: str | None
    client_id: str
    name: str
    state: SavingsState
    balance: str
    accrued_interest: str
    interest_settings: InterestReply = field(name="interestSettings")
    tax_applied: bool
    tax_rate: str
    period: int
    opened_at: str
    matures_at: str
    plans: list[str]
    plans_total: int


class SavingsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: SavingsRecord
    dry_run: bool | UnsetType = UNSET


class Moved(msgspec.Struct, kw_only=True):
    """What was posted on savings in all, apart from deposits and cash-outs."""

    interest: str
    withheld_tax: str
    thrift_paid: str
    thrift_received: str


class SavingsViewReply(SavingsReply, kw_only=True):
    """`moved` sums up what came and went by itself; `statement` shows it line by line."""

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
    """One posting on the savings: a positive amount came in, a negative one went out; `balance` is what stood after it.
    `origin` is the transaction it belongs to, the savings for interest and tax, or the thrift plan."""

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
    """From the wallet, or by any way of paying: then with that way's fields, as a payment has them."""

    savings_id: Reference
    payment_method: Literal[
        "wallet", "card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"
    ]
    amount: Amount
    dry_run: bool | None = None


class DepositReply(PaymentReply, kw_only=True):
    """A payment's own reply; from the wallet, the balance it left. `dry_run` explains each figure and has no txnRef."""

    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)  # type: ignore[assignment]
    balance: str | UnsetType = UNSET
    dry_run: bool | UnsetType = UNSET
    explained: list[DryRunFigure] | UnsetType = UNSET


class ValidateDeposit(ValidateRequest, kw_only=True):
    """With `dry_run`, whether the code would be taken to the payer's bank."""

    dry_run: bool | None = None


class ValidateReply(PaymentReply, kw_only=True):
    dry_run: bool | UnsetType = UNSET


class CashoutFields(msgspec.Struct, kw_only=True):
    """`saving_id` is the contract's own spelling here; `savings_id` is read as well. An `amount` of zero closes savings
    that hold nothing. Contract: investments#savings"""

    saving_id: Reference | None = None
    savings_id: Reference | None = None
    client_id: Reference
    amount: AmountOrZero
    dry_run: bool | None = None


class CashoutRequest(CashoutFields, kw_only=True):
    """In cash or by transfer. The third method has a request of its own, and is named for those who mistype it."""

    method: Literal["cash", "transfer", "cashcode"]


class CashcodeRequest(CashoutFields, kw_only=True):
    """Paid by a cash machine. Without a `pin` one is made."""

    pin: Pin | None = None


class CashoutReply(msgspec.Struct, kw_only=True):
    """What a cash-out did, or with `dry_run` would do: then each figure is explained, and there is no txnRef."""

    status: Literal[200, 201] = 200
    message: str
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    txn_status: str | UnsetType = field(name="txnStatus", default=UNSET)
    savings_id: str | UnsetType = UNSET
    balance: str
    dry_run: bool | UnsetType = UNSET
    explained: list[DryRunFigure] | UnsetType = UNSET


class CashcodeReply(CashoutReply, kw_only=True):
    """`cashcode` is shown once, and so is a `pin` that was made here: the reply to a repeat has neither."""

    cashcode: str | UnsetType = UNSET
    pin: str | UnsetType = UNSET


# --- thrift -------------------------------------------------------------------------------------------------


class CreatePlanRequest(msgspec.Struct, kw_only=True):
    name: Name
    amount: Amount
    start_date: DateText
    member_required: NonNegativeInt
    frequency: CycleFrequency
    dry_run: bool | None = None


class ListPlansRequest(Paged, kw_only=True):
    """Newest first."""


class PlanRequest(msgspec.Struct, kw_only=True):
    thrift_id: Reference


# One posting group a cycle: with more members than this a cycle would hold its merchant's books for too long.
MOST_MEMBERS = 500
MemberLimit = Annotated[int, Meta(ge=1, le=MOST_MEMBERS, description=f"1 to {MOST_MEMBERS}")]


class SubscriptionsRequest(Paged, kw_only=True):
    """Members in the order of their turns: where no limit is said, all of them. Contract: investments#thrift"""

    default_limit: ClassVar[int] = MOST_MEMBERS

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
    """`thrift_id` is null in the dry run of a new plan."""

    thrift_id: str | None
    name: str
    amount: str
    frequency: str
    start_date: str
    member_required: int
    members: int
    state: Literal["open", "running", "completed", "cancelled"]
    cycle: int
    next_date: str | None


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
    savings_id: str
    client_id: str
    position: int
    payout_date: str
    contributed: str
    received: str
    owed: str


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
