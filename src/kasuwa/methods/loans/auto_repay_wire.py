"""What the automatic collection of a loan looks like in replies: in those of its own actions, and in that of a loan.

Contract: loans#auto-repay
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType, field

CollectionSource = Literal["token", "savings", "wallet"]
# Why an attempt failed, or a collection does not go on.
DeclineReason = Literal[
    "card_declined",
    "card_refused",
    "card_erased",
    "savings_short",
    "savings_held",
    "savings_dormant",
    "savings_closed",
    "wallet_short",
    "repayment_reversed",
    "no_due_date",
]


class AutoRepayRecord(msgspec.Struct, kw_only=True):
    """The automatic collection of a loan."""

    auto_repay_id: str | None
    """Identifier of the collection, made by the service: its repayments have it as `customer_txnref`. Null in a dry run
    of a first agreement."""
    loan_id: str
    "The loan."
    client_id: str
    "The client who borrows."
    state: Literal["active", "paused", "stopped", "ended"]
    """`active`: what falls due is collected. `paused`: nothing is, until you send `auto_repay` again; `reason` says
    why. `stopped`: by `stop_auto_repay`. `ended`: the loan is closed."""
    source: CollectionSource
    "Where the money comes from."
    token: str | UnsetType = UNSET
    "The first characters of the token of the saved card that is charged. Absent for another source."
    savings_id: str | UnsetType = UNSET
    "The savings that pay. Absent for another source."
    at: str
    "Hour of the day in Lagos, from 00 to 23, at which it is collected."
    retry: list[int]
    "Days after a due date on which a declined attempt is made again."
    next_step: Literal["payout", "notice", "collect", "retry", "charging"] | None
    """What comes next. `payout`: the loan is not paid out yet. `notice`: the client is told, by the event `loan_due`.
    `collect`: what is due is collected. `retry`: so it is after it was declined. `charging`: the card is being charged.
    Null unless it is active."""
    next_date: str | None
    "Day on which that happens, as YYYY-MM-DD. Null while the card is charged, and unless it is active."
    collect_date: str | None
    "Day that is collected next, or now, as YYYY-MM-DD. Null unless it is active and the loan was paid out."
    next_amount: str | UnsetType = UNSET
    """What will be due on that day if nothing is paid before, in naira. Only in `view` of the loan and in replies of
    `auto_repay`, and absent if nothing is collected."""
    attempts: int
    "Number of attempts so far. `collections` lists them."
    collections: int
    "Number of those that succeeded."
    collected: str
    "Sum of what was collected, in naira, also if a part of it was taken back later."
    missed: int
    "Number of due dates that were given up after all retries."
    reason: DeclineReason | UnsetType = UNSET
    "Why the last attempt failed, or why it is paused. Absent if there is nothing to say."
    date_created: str = field(name="dateCreated")
    "Time at which it was first agreed on, in UTC."
