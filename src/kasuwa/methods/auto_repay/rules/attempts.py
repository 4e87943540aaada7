"""Attempts to collect a loan, as they are recorded and noted.

Contract: loans#auto-repay
"""

from datetime import datetime

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Effects
from kasuwa.core.money import format_minor
from kasuwa.methods.auto_repay.rules.dates import Decline, find_next, plan_after_decline
from kasuwa.methods.loans.auto_repay_model import (
    COLLECTED,
    DECLINED,
    ENDED,
    EVENT_FAILED,
    AutoRepayment,
    LoanCollection,
    collection_key,
    halt,
)
from kasuwa.methods.loans.model import OWING_STATES
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.methods.loans.rules.pause_collection import tell_of_collection
from kasuwa.methods.loans.rules.plan_collection import plan_day

EVENT_COLLECTED = "loan_collected"


class Attempt(msgspec.Struct, frozen=True):
    """An attempt to collect."""

    auto: AutoRepayment  # as it was before
    amount: int
    number: int  # of its row in the list
    txn_ref: str = ""  # of the repayment or of the charge
    recorded: LoanCollection | None = None  # its row, if it was begun by an earlier decision


class EndedAttempt(msgspec.Struct, frozen=True):
    """The collection after an attempt, and the effects of it without the collection."""

    auto: AutoRepayment
    effects: Effects


def record_attempt(attempt: Attempt, state: str, context: Context) -> tuple[AutoRepayment, LoanCollection]:
    """Returns the collection with one attempt more, and the attempt; or with the attempt in another state."""
    auto = attempt.auto
    if attempt.recorded is not None:
        return auto, msgspec.structs.replace(attempt.recorded, state=state)
    assert auto.due_on is not None, "an attempt is of a day"
    n = auto.attempts + 1
    counted = msgspec.structs.replace(auto, attempts=n, tries=auto.tries + 1)
    return counted, LoanCollection(
        key=collection_key(auto.merchant_id, auto.loan_id, n),
        merchant_id=auto.merchant_id,
        loan_id=auto.loan_id,
        n=n,
        number=attempt.number,
        due_on=auto.due_on,
        source=auto.source,
        amount=attempt.amount,
        state=state,
        made_at=context.now,
        txn_ref=attempt.txn_ref,
    )


def record_collected(attempt: Attempt, after: LoanPosition, earliest: datetime, context: Context) -> EndedAttempt:
    """Returns the effects of an attempt that succeeded. `after` is the position of the loan with the repayment."""
    auto, recorded = record_attempt(attempt, COLLECTED, context)
    paid = count_collected(auto, attempt.amount)
    loan = after.loan
    if loan.state not in OWING_STATES:
        paid = halt(paid, ENDED)
    else:
        following = find_next(after, lagos_day(recorded.made_at), paid.hour, context.now)
        paid = plan_day(paid, following, earliest)
    return tell_of_success(paid, recorded, after, context)


def count_collected(auto: AutoRepayment, amount: int) -> AutoRepayment:
    return msgspec.structs.replace(
        auto, collections=auto.collections + 1, collected=auto.collected + amount, misses=0, reason=""
    )


def tell_of_success(
    auto: AutoRepayment, recorded: LoanCollection, after: LoanPosition, context: Context
) -> EndedAttempt:
    """Returns a collection after a success, with its event. The attempt says what was planned next."""
    loan = after.loan
    fields = {
        "txn_status": "successful",
        "charged_amount": format_minor(recorded.amount),
        "amount": format_minor(recorded.amount),
        "date": recorded.due_on.isoformat(),
        "repayment_ref": recorded.txn_ref,
        "state": loan.state,
        "outstanding": format_minor(after.owed.total if loan.state in OWING_STATES else 0),
    }
    noted, event = tell_of_collection(auto, EVENT_COLLECTED, context, fields)
    row = with_next(recorded, noted)
    return EndedAttempt(noted, Effects(rows=(row,), events=(event.event,), jobs=event.jobs))


def record_declined(
    attempt: Attempt, position: LoanPosition, why: Decline, earliest: datetime, context: Context
) -> EndedAttempt:
    """Returns the effects of an attempt that failed: it is made again, given up, or the collection pauses."""
    auto, recorded = record_attempt(attempt, DECLINED, context)
    after, step = plan_after_decline(auto, position, lagos_day(recorded.made_at), why, context.now, earliest)
    return tell_of_failure(after, recorded, why, step, context)


def tell_of_failure(
    auto: AutoRepayment, recorded: LoanCollection, why: Decline, step: str, context: Context
) -> EndedAttempt:
    """Returns a collection after a failure, with its event."""
    fields = {
        "txn_status": "failed",
        "charged_amount": format_minor(0),
        "step": step,
        "amount": format_minor(recorded.amount),
        "date": recorded.due_on.isoformat(),
        "reason": why.reason,
        "message": why.message,
        **({"repayment_ref": recorded.txn_ref} if recorded.txn_ref else {}),
    }
    noted, event = tell_of_collection(auto, EVENT_FAILED, context, fields)
    declined = msgspec.structs.replace(
        with_next(recorded, noted), reason=why.reason, message=why.message, is_final=step != "failed"
    )
    return EndedAttempt(noted, Effects(rows=(declined,), events=(event.event,), jobs=event.jobs))


def with_next(recorded: LoanCollection, auto: AutoRepayment) -> LoanCollection:
    return msgspec.structs.replace(recorded, next_on=None if auto.next_at is None else lagos_day(auto.next_at))
