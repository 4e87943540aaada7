"""The payloads of the events of savings accounts, thrift plans and shares.

Contract: events#payload, investments#savings, investments#thrift, investments#shares
"""

from typing import Literal

from msgspec import field

from kasuwa.transactions.event_fields import TransactionEvent


class SavingsEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """Interest was posted on a savings account, or the account has matured. One event for both if they come together.

    Its `txnRef` is the `savings_id`. Interest that is posted as a term of a fixed deposit ends is in the event of that
    term.
    """

    kind: Literal["savings"]
    txn_ref: str = field(name="txnRef")
    "The `savings_id`."
    charged_amount: str = field(name="chargedAmount")
    "Interest less tax that was posted with the event, in naira; 0.00 if none was due, or the wallet did not cover it."
    payment_method: str = field(name="paymentMethod")
    "Always `wallet`, which pays the interest."
    savings_id: str
    "The savings account."
    client_id: str
    "The client who saves."
    step: Literal["interest_posted", "matured"]
    "`matured`: it earns nothing any more. The last interest comes with it, or later as `interest_posted`."
    interest: str
    "Interest that was due, before tax, in naira."
    tax: str
    "Tax on that interest, in naira."


class ThriftPayoutEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A member of a thrift plan received the pot of a cycle.

    Its `txnRef` is the `thrift_id`. What a member who was short pays later is in the statement of the recipient's
    savings.
    """

    kind: Literal["thrift_payout"]
    txn_ref: str = field(name="txnRef")
    "The `thrift_id`."
    charged_amount: str = field(name="chargedAmount")
    "The pot that was paid out, the recipient's own contribution included, in naira."
    payment_method: str = field(name="paymentMethod")
    "Always `wallet`: the money moves within the books."
    thrift_id: str
    "The thrift plan."
    savings_id: str
    "The savings account that received the pot."
    client_id: str
    "The client who received it."
    cycle: int
    "Number of the cycle, counted from 1, which is also the member's position."
    cycles: int
    "Number of all cycles of the plan. With the last one the plan is completed."
    owed: str
    "What members who were short owe to the recipient for this cycle, in naira."
    repaid: str
    "Thrift debts of the recipient that were repaid out of the pot, in naira."


class FixedDepositEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A term of a fixed deposit has ended. One event for each term.

    Its `txnRef` is the `savings_id`. What is taken out has events of its own.
    """

    kind: Literal["fixed_deposit"]
    txn_ref: str = field(name="txnRef")
    "The `savings_id`."
    charged_amount: str = field(name="chargedAmount")
    "Interest less tax that was posted with the event, in naira; 0.00 if the wallet did not cover it yet."
    payment_method: str = field(name="paymentMethod")
    "Always `wallet`, which pays the interest."
    savings_id: str
    "The fixed deposit."
    client_id: str
    "The client who saves."
    step: Literal["matured", "rolled_over"]
    "`matured`: it earns nothing any more. `rolled_over`: a new term has begun."
    term: int
    "Number of the term that has ended, counted from 1."
    interest: str
    "Interest that was due at the end of the term, before tax, in naira."
    tax: str
    "Tax on that interest, in naira."
    balance: str
    "Balance after the event, in naira, held money included."


class HeldDepositEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A deposit arrived above the limits of its client's tier and is held, or was released or sent back. One event for
    each. The payment that brought it has an event of its own."""

    kind: Literal["held_deposit"]
    txn_ref: str = field(name="txnRef")
    "The `txnRef` of the payment."
    charged_amount: str = field(name="chargedAmount")
    "The amount that is held, in naira."
    payment_method: str = field(name="paymentMethod")
    "Always `wallet`: the money moves within the books."
    savings_id: str | None = None
    "The savings account that it is for. Absent if it came into a personalized account of the client."
    client_id: str
    "The client."
    step: Literal["held", "released", "returned"]
    "`released`: the savings or your wallet have it. `returned`: a refund sends it back, with an event of its own."
    reason: str
    "The limit that it was above, in words."
    held_until: str
    "When it goes back unless the client's tier rises before, in UTC."


class DividendEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A dividend was declared, or every member has it. One event for each; what each member got is in the statement of
    their savings."""

    kind: Literal["dividend"]
    txn_ref: str = field(name="txnRef")
    "The `dividend_id`."
    charged_amount: str = field(name="chargedAmount")
    "Sum of the dividends that were paid, before tax, in naira; 0.00 when it was declared."
    payment_method: str = field(name="paymentMethod")
    "Always `wallet`, which pays the dividend."
    class_id: str
    "The class of shares."
    step: Literal["declared", "paid"]
    "`declared`: the sum has left the wallet. `paid`: every member has the dividend."
    rate: str
    "Dividend in percent of the price of the shares."
    record_date: str
    "The day at whose end the shares were counted, as YYYY-MM-DD."
    members: int
    "Number of members who get a dividend."
    gross: str
    "Sum of all dividends before tax, in naira."
    withheld_tax: str
    "Tax that was withheld, in naira; 0.00 when it was declared."
    returned: str
    "Sum of the dividends of members whose savings account has closed, in naira. It is back in the wallet."


class ShareRedemptionEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A redemption of shares waits for approval, or was approved, rejected, or not decided in time."""

    kind: Literal["share_redemption"]
    txn_ref: str = field(name="txnRef")
    "The `redemption_id`."
    charged_amount: str = field(name="chargedAmount")
    "What was paid into the member's savings account, in naira; 0.00 unless it was approved."
    payment_method: str = field(name="paymentMethod")
    "Always `wallet`."
    class_id: str
    "The class of shares."
    client_id: str
    "The member."
    shares: int
    "Number of shares."
    amount: str
    "What the shares are paid out for, in naira."
    approval: Literal["waiting", "approved", "rejected", "expired"]
    "What became of the redemption."
    requested_by: str = field(name="requestedBy")
    "The key or the person that asked for it."
    decided_by: str | None = field(name="decidedBy", default=None)
    "The key or the person that approved or rejected it. Absent while it waits, and if it was not decided in time."


class ReactivationEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """The reactivation of a dormant savings account waits for approval, or was approved or rejected."""

    kind: Literal["reactivation"]
    txn_ref: str = field(name="txnRef")
    "The `savings_id`."
    charged_amount: str = field(name="chargedAmount")
    "Always `0.00`: no money moves."
    payment_method: str = field(name="paymentMethod")
    "Always `wallet`."
    savings_id: str
    "The savings account."
    client_id: str
    "The client who saves."
    approval: Literal["waiting", "approved", "rejected"]
    "What became of the reactivation."
    reason: str
    "The reason that was given."
    requested_by: str = field(name="requestedBy")
    "The key or the person that asked for it."
    decided_by: str | None = field(name="decidedBy", default=None)
    "The key or the person that approved or rejected it. Absent while it waits."
