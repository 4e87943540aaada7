"""Events of a loan itself: late, a repayment reversed or counted again, written off.

Contract: loans#events
"""

import msgspec

from kasuwa.core.decision import Context, Effects, Event
from kasuwa.core.money import format_minor
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.methods.loans.model import CURRENCY, OWING_STATES, Loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.transactions import make_delivery_jobs

KIND = "loan"


class LoanNotice(msgspec.Struct, frozen=True):
    """A loan whose row counts one more event, with the event and its deliveries."""

    loan: Loan
    effects: Effects


def tell_of_loan(
    loan: Loan,
    step: str,
    position: LoanPosition,
    context: Context,
    *,
    amount: int,
    repayment_ref: str = "",
    reason: str = "",
) -> LoanNotice:
    """Returns the loan with one more event. `position` is the loan's after the step."""
    place = loan.events + 1
    row = msgspec.structs.replace(loan, events=place)
    payload = {
        "status": 200,
        "txn_status": "successful",
        "txn_ref": loan.loan_id,
        "charged_amount": format_minor(amount),
        "payment_method": KIND,
        "endpoint": context.merchant.environment,
        "currency": CURRENCY,
        "loan_id": loan.loan_id,
        "client_id": loan.client_id,
        "step": step,
        "state": loan.state,
        "outstanding": format_minor(position.owed.total if loan.state in OWING_STATES else 0),
        **({"repayment_ref": repayment_ref} if repayment_ref else {}),
        **({"reason": reason} if reason else {}),
    }
    event = Event(f"{loan.loan_id}/{place}", KIND, msgspec.json.encode(build_event(KIND, payload)), loan.loan_id, place)
    jobs = make_delivery_jobs(context, row, event, NO_SCENARIO)
    return LoanNotice(row, Effects(events=(event,), jobs=jobs))
