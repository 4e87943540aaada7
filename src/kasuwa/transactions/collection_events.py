"""The payloads of the events of automatic collection, and of groups of borrowers.

Contract: events#payload, loans#auto-repay, loans#groups
"""

from typing import Literal

from msgspec import field

from kasuwa.transactions.event_fields import TransactionEvent


class CollectionEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """The fields of every event of an automatic collection."""

    txn_ref: str = field(name="txnRef")
    "The `auto_repay_id`."
    payment_method: str = field(name="paymentMethod")
    "Where the money comes from: `token`, `savings` or `wallet`."
    loan_id: str
    "The loan."
    client_id: str
    "The client who borrows, and is to be told."
    amount: str
    "What is or was due, in naira."
    next_date: str | None = None
    "Day of what comes next, as YYYY-MM-DD. Absent if nothing does."


class LoanDueEvent(CollectionEvent, kw_only=True, omit_defaults=True):
    """A loan falls due and will be collected. The event comes a day before, or at once if that is over."""

    kind: Literal["loan_due"]
    charged_amount: str = field(name="chargedAmount")
    "Always `0.00`: nothing was collected yet."
    date: str
    "Day on which it will be collected, as YYYY-MM-DD. What is paid before is not collected."


class LoanCollectedEvent(CollectionEvent, kw_only=True, omit_defaults=True):
    """A loan was collected. The repayment has an event of its own, with the `auto_repay_id` as its
    `customer_txnref`."""

    kind: Literal["loan_collected"]
    date: str
    "Day that was collected, as YYYY-MM-DD."
    repayment_ref: str = field(name="repaymentRef")
    "The `txnRef` of the repayment."
    state: str
    "State of the loan with the repayment."
    outstanding: str
    "What is owed with the repayment by the schedule, in naira. 0.00 once the loan is closed."


class LoanCollectionFailedEvent(CollectionEvent, kw_only=True, omit_defaults=True):
    """A loan could not be collected, or a repayment that was collected was taken back."""

    kind: Literal["loan_collection_failed"]
    charged_amount: str = field(name="chargedAmount")
    "Always `0.00`: nothing was collected."
    step: Literal["failed", "missed", "paused"]
    """`failed`: it is tried again on `next_date`. `missed`: that day is given up, and what is due is collected with
    the next due date. `paused`: nothing is collected until you send `auto_repay` again."""
    reason: str
    """Why: `card_declined`, `card_refused`, `card_erased`, `savings_short`, `savings_held`, `savings_dormant`,
    `savings_closed`, `wallet_short` or `repayment_reversed`."""
    message: str
    "The same in words, of a card as its bank said it."
    date: str | None = None
    "Day that was to be collected, as YYYY-MM-DD. Absent if a repayment was taken back."
    repayment_ref: str | None = field(name="repaymentRef", default=None)
    "The `txnRef` of the charge that failed, or of the repayment that was taken back. Absent if there is none."


class GroupEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A group of borrowers was made or changed, its loan was requested or processed, or a meeting has collected.
    Disbursements and repayments have events of their own."""

    kind: Literal["group"]
    txn_ref: str = field(name="txnRef")
    "The `group_id`."
    charged_amount: str = field(name="chargedAmount")
    """The sum of the loans that were requested, approved, rejected or cancelled, or of what was collected, in naira.
    0.00 for other steps. Whether a loan was paid out is in the event of its transfer."""
    payment_method: str = field(name="paymentMethod")
    "Always `group`."
    group_id: str
    "The group."
    step: Literal[
        "created",
        "renamed",
        "member_joined",
        "member_left",
        "leader_changed",
        "closed",
        "loan_requested",
        "loan_approved",
        "loan_rejected",
        "loan_cancelled",
        "collected",
    ]
    "The thing that happened."
    state: Literal["active", "closed"]
    "State of the group after the step."
    members: int
    "Number of its members after the step."
    client_id: str | None = None
    "The client who joined, left or leads it now. Absent for other steps."
    group_loan_id: str | None = None
    "The loan of the group. Absent for steps that are about none."
