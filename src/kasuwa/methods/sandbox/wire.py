"""Requests and replies of `PUT /sandbox`, which exists only in the test environment.

Contract: sandbox#actions
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.core.fields import Amount, AmountOrZero, Currency, Probability, Reference, ShortText, Timestamp
from kasuwa.core.scenario import FaultKind, RailName

WebhookUrl = Annotated[str, Meta(max_length=2048, description="a URL of at most 2,048 characters, or empty")]


class NewMerchantRequest(msgspec.Struct, kw_only=True):
    """A new merchant. With `now`, its clock starts at that time and moves only by `advance`."""

    name: ShortText | None = None
    """Name of the merchant, shown to payers."""
    now: Timestamp | None = None
    """Business time at which the clock of the merchant starts and stands still. Without it, the clock runs."""
    balance: AmountOrZero | None = None
    """Opening balance of the NGN wallet, with no other wallet. Without it, 10,000,000.00 NGN and 10,000.00 USD."""
    webhook: WebhookUrl | None = None
    """URL that the events of the merchant are sent to."""


class NewMerchantReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    mid: str
    key: str


class FundRequest(msgspec.Struct, kw_only=True):
    amount: Amount
    currency: Currency | None = None


class SettleRequest(msgspec.Struct, kw_only=True):
    """A simulated call-back for a pending transaction, by its txnRef or orderRef, or by its loan or savings account."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    order_ref: Reference | None = field(name="orderRef", default=None)
    loan_id: Reference | None = None
    savings_id: Reference | None = None
    outcome: Literal["successful", "failed"]


class SettleReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    txn_status: str = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    message: str


class WebhookRequest(msgspec.Struct, kw_only=True):
    """The URL that this merchant's events are sent to. An empty text switches them off."""

    url: WebhookUrl


class ExplainRequest(msgspec.Struct, kw_only=True):
    """A reference of any kind, sent under the field name of its own action or as `reference`."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    order_ref: Reference | None = field(name="orderRef", default=None)
    batch_ref: Reference | None = field(name="batchRef", default=None)
    refund_ref: Reference | None = field(name="refundRef", default=None)
    customer_txnref: Reference | None = None
    loan_id: Reference | None = None
    savings_id: Reference | None = None
    thrift_id: Reference | None = None
    client_id: Reference | None = None
    ref_code: Reference | None = None
    reference: Reference | None = None


class ExplainReply(msgspec.Struct, kw_only=True):
    """The timeline, oldest entry first."""

    status: Literal[200] = 200
    data: list[dict[str, Any]]


class ResetRequest(msgspec.Struct):
    """Has no fields."""


class DoneReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str


class ClockRequest(msgspec.Struct):
    """Has no fields."""


class ClockReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    now: str


class FreezeRequest(msgspec.Struct, kw_only=True):
    """Stops this merchant's clock, or lets it run again."""

    frozen: bool = True
    """True stops the clock, so that only `advance` moves it. False lets it run on from where it stands."""


class AuditRequest(msgspec.Struct):
    """Has no fields."""


class Violation(msgspec.Struct, kw_only=True):
    """A place where the books violate an invariant."""

    invariant: str
    """The statement that must hold."""
    place: str
    """The account, posting or reference where it does not."""


class AuditReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    """Always 200."""
    data: list[Violation]
    """Every violation that was found, at most 20 of each invariant. Empty if the books are right."""


Count = Annotated[int, Meta(ge=0, le=10_000_000_000, description="a whole number, not negative")]


class AdvanceRequest(msgspec.Struct, kw_only=True):
    """Either a duration, whose parts are added up, or the time to go to."""

    seconds: Count | None = None
    minutes: Count | None = None
    hours: Count | None = None
    days: Count | None = None
    until: Timestamp | None = None


class AdvanceReply(msgspec.Struct, kw_only=True):
    """`ran` counts the jobs that ran, by kind. `more` is present if the request timed out before all of them ran:
    business time is then `now`, and an advance to `until` continues."""

    status: Literal[200] = 200
    now: str
    ran: dict[str, int]
    more: Literal[True] | msgspec.UnsetType = msgspec.UNSET
    until: str | msgspec.UnsetType = msgspec.UNSET


class FaultRequest(msgspec.Struct, kw_only=True):
    """Makes this merchant's next calls to a rail fail. Kind `none` clears the planned faults of one rail or of all."""

    rail: RailName | None = None
    kind: FaultKind
    times: Annotated[int, Meta(ge=1, le=1_000_000, description="1 to 1,000,000")] = 1
    probability: Probability | None = None
