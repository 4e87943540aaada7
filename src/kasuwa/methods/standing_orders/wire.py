"""Requests and replies of standing orders on `PUT /investments`. Docstrings are the descriptions in the OpenAPI
document.

Contract: investments#standing-orders
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from kasuwa.wire.fields import Amount, Reference
from kasuwa.wire.interest_wire import DryRunFigure
from kasuwa.wire.paging import Paged
from kasuwa.wire.people import DateText

OrderFrequency = Literal["every_day", "every_week", "every_four_weeks", "every_month"]
OrderState = Literal["active", "paused", "ended", "cancelled"]


class StandingOrderRequest(msgspec.Struct, kw_only=True):
    """A new standing order: an amount that leaves a client's savings on a schedule."""

    source: Reference = field(name="from")
    "The savings account that pays, by `savings_id`. It cannot be a fixed deposit."
    target: Reference = field(name="to")
    """What is paid: a `savings_id`, a `loan_id`, or a `thrift_id`, which pays the savings that take part in the plan.
    It must be the same client's."""
    amount: Amount
    "Amount of each payment, in naira. The last one to a loan is what the loan still owes."
    frequency: OrderFrequency
    "Time between two payments."
    from_date: DateText
    "Day of the first payment, in Lagos, today or within ten years. Payments are made at midnight as the day begins."
    dry_run: bool | None = None
    "If true, the reply shows the standing order and explains what it would pay, and nothing is stored."


class ChangeStandingOrderRequest(msgspec.Struct, kw_only=True):
    """Pauses, resumes or cancels a standing order."""

    order_id: Reference
    "The standing order."
    change: Literal["pause", "resume", "cancel"]
    """`pause`: nothing is paid until it is resumed. `resume`: it goes on with its next day; the days of the pause are
    left out. `cancel`: it ends for good."""
    dry_run: bool | None = None
    "If true, the reply shows the standing order as it would be, and nothing is changed."


class ListStandingOrdersRequest(Paged, kw_only=True):
    """Lists standing orders, newest first."""

    client_id: Reference | None = None
    "Lists those of this client alone."
    savings_id: Reference | None = None
    "Lists those alone that this savings account pays."
    state: OrderState | None = None
    "Lists those in this state alone."


class StandingOrderRecord(msgspec.Struct, kw_only=True):
    """A standing order."""

    order_id: str | None
    "Identifier of the standing order, made by the service. Null in a dry run."
    client_id: str
    "The client whose money moves."
    savings_id: str
    "The savings account that pays."
    target: str = field(name="to")
    "What is paid: a `savings_id`, `loan_id` or `thrift_id`."
    pays: Literal["savings", "loan", "thrift"]
    "What `to` is."
    amount: str
    "Amount of each payment, in naira."
    frequency: OrderFrequency
    "Time between two payments."
    from_date: str
    "Day of the first payment, as YYYY-MM-DD."
    state: OrderState
    """`active`: it pays. `paused`: it waits to be resumed. `ended`: what it paid is repaid, closed or over, or its
    savings are closed. `cancelled`: by `change_standing_order`."""
    next_date: str | None
    "Day on which it pays next, or tries again, as YYYY-MM-DD. Null unless it is active."
    is_retry: bool
    "Whether `next_date` tries a payment again that the savings did not cover."
    payments: int
    "Number of payments that were made."
    paid: str
    "Sum of these payments, in naira."
    missed: int
    "Number of days that passed without a payment because the savings never covered it."
    reason: str | UnsetType = UNSET
    "Why the last attempt failed, or why the standing order ended. Absent if there is nothing to say."
    date_created: str = field(name="dateCreated")
    "Time at which it was created, in UTC."


class StandingOrderReply(msgspec.Struct, kw_only=True):
    """A standing order after it was created or changed. A dry run explains what it would pay."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: StandingOrderRecord
    "The standing order."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class StandingOrderListReply(msgspec.Struct, kw_only=True):
    """One page of standing orders, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[StandingOrderRecord]
    "The standing orders."
    total: int
    "Number of matching standing orders on all pages."
    offset: int
    "Number of standing orders that were skipped."
    limit: int
    "Largest number of standing orders on this page. The next page begins at `offset` + `limit`."
