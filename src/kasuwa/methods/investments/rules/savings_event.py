"""The events of posted interest: that it was posted, that savings have matured, that a term of a fixed deposit ended.

There is one event at most for each savings account and run of its job. Contract: events#payload, investments#savings
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kasuwa.core.decision import Context
from kasuwa.core.money import format_minor
from kasuwa.methods.investments.model import ALL, CLOSED, MATURED, Savings, SavingsChanges
from kasuwa.methods.investments.rules.fixed_deposit import has_ended_term
from kasuwa.transactions.object_events import ObjectEvent, make_object_event

SAVINGS_EVENT = "savings"
FIXED_DEPOSIT_EVENT = "fixed_deposit"


class BeforePosting(NamedTuple):
    """Savings before their interest is posted: what is due, the tax on it, and their state."""

    interest: int
    tax: int
    state: str


def read_before_posting(changes: SavingsChanges, references: Iterable[str]) -> dict[str, BeforePosting]:
    loaded = {savings_id: changes.load_savings(savings_id) for savings_id in references}
    return {savings_id: BeforePosting(one.due_interest, one.due_tax, one.state) for savings_id, one in loaded.items()}


def report_posting(changes: SavingsChanges, before: Mapping[str, BeforePosting], context: Context) -> list[ObjectEvent]:
    """Returns the events of savings whose interest was posted, whose term ended, or that matured."""
    events = []
    for savings_id, was in before.items():
        savings = changes.load_savings(savings_id)
        if savings.state == CLOSED:
            continue
        if has_ended_term(savings):
            balance = changes.account(savings_id).posted + posted_interest(savings, was)
            events.append(report_ended_term(savings, was, balance, context))
        elif savings.state == MATURED != was.state:
            events.append(make_event(savings, was, context, SAVINGS_EVENT, step="matured"))
        elif was.interest and not savings.due_interest:
            events.append(make_event(savings, was, context, SAVINGS_EVENT, step="interest_posted"))
    return events


def posted_interest(savings: Savings, was: BeforePosting) -> int:
    """Returns the interest less tax that was posted: all that was due, or nothing."""
    return 0 if savings.due_interest else was.interest - was.tax


def report_ended_term(savings: Savings, was: BeforePosting, balance: int, context: Context) -> ObjectEvent:
    if savings.rollover == ALL:
        savings.unlocked = 0
    savings.reported_terms = savings.months
    step = "rolled_over" if savings.rolls_over else "matured"
    term, shown = savings.months, format_minor(balance)
    return make_event(savings, was, context, FIXED_DEPOSIT_EVENT, step=step, term=term, balance=shown)


def make_event(savings: Savings, was: BeforePosting, context: Context, kind: str, **fields: str | int) -> ObjectEvent:
    """Returns an event of savings with the interest that was due, and counts it on them."""
    savings.event_count += 1
    fields |= {
        "txn_status": "successful",
        "charged_amount": format_minor(posted_interest(savings, was)),
        "payment_method": "wallet",
        "currency": "NGN",
        "savings_id": savings.savings_id,
        "client_id": savings.client_id,
        "interest": format_minor(was.interest),
        "tax": format_minor(was.tax),
    }
    return make_object_event(context, kind, savings, savings.savings_id, savings.event_count, fields)
