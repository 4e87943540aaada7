"""Builds the record of a loan's automatic collection.

Contract: loans#auto-repay
"""

from datetime import date

from msgspec import UNSET

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.money import format_minor
from kasuwa.methods.loans.auto_repay_model import ACTIVE, ENDED, NOTICE, PAUSED, WAIT, AutoRepayment, halt
from kasuwa.methods.loans.auto_repay_wire import AutoRepayRecord
from kasuwa.methods.loans.model import OWING_STATES, UNDISBURSED_STATES, Loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position
from kasuwa.terms.loan_schedule import sum_amounts

SHOWN_CHARACTERS = 4


def compute_collected(position: LoanPosition) -> int:
    """Returns what is collected of a loan on the day of a position: what is due by then, and never more than what
    closes the loan."""
    return min(position.due.total, sum_amounts(position.payoff).total)


def expect_amount(position: LoanPosition, day: date) -> int:
    """Returns what will be collected on a later day if nothing is paid before."""
    return compute_collected(compute_position(position.loan, position.lines, day))


def name_step(auto: AutoRepayment) -> str | None:
    """Returns what comes next, as replies name it."""
    if auto.state != ACTIVE:
        return None
    if auto.charging:
        return "charging"
    if auto.step == WAIT:
        return "payout"
    if auto.step == NOTICE:
        return "notice"
    return "retry" if auto.tries else "collect"


def end_with_loan(auto: AutoRepayment, loan: Loan) -> AutoRepayment:
    """Returns the collection, which has ended if its loan is closed: an active one before its job has seen that, and a
    paused one until the loan is owed again."""
    is_over = loan.state not in OWING_STATES | UNDISBURSED_STATES
    return halt(auto, ENDED) if is_over and auto.state in (ACTIVE, PAUSED) else auto


def make_auto_repay_record(auto: AutoRepayment, loan: Loan, position: LoanPosition | None = None) -> AutoRepayRecord:
    """Returns the record. With a position of the loan, which is paid out, it says what will be collected."""
    auto = end_with_loan(auto, loan)
    is_active, day = auto.state == ACTIVE, auto.due_on
    record = AutoRepayRecord(
        auto_repay_id=auto.auto_repay_id,
        loan_id=auto.loan_id,
        client_id=auto.client_id,
        state=auto.state,  # type: ignore[arg-type]
        source=auto.source,  # type: ignore[arg-type]
        token=f"{auto.card_token[:SHOWN_CHARACTERS]}****" if auto.card_token else UNSET,
        savings_id=auto.savings_id or UNSET,
        at=f"{auto.hour:02d}",
        retry=list(auto.retry_days),
        next_step=name_step(auto),  # type: ignore[arg-type]
        next_date=None if auto.next_at is None else lagos_day(auto.next_at).isoformat(),
        collect_date=day.isoformat() if is_active and day is not None else None,
        attempts=auto.attempts,
        collections=auto.collections,
        collected=format_minor(auto.collected),
        missed=auto.missed,
        reason=auto.reason or UNSET,  # type: ignore[arg-type]
        date_created=utc_text(auto.created_at),
    )
    if is_active and day is not None and position is not None:
        record.next_amount = format_minor(expect_amount(position, day))
    return record
