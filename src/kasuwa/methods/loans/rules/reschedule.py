"""Rule of a reschedule: the installments of a loan that are not due are made anew, and its arrears may be capitalized.

A reschedule is an act of the loan: when one of its repayments is reversed, it is counted again in its order. It moves
no cash. The schedule that the loan had stays as replies showed it.

Contract: loans#reschedule
"""

from datetime import date, timedelta
from typing import Final

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.error_codes import FIRST_DUE_NOT_POSSIBLE
from kasuwa.core.money import LARGEST_AMOUNT, format_minor
from kasuwa.methods.loans.model import (
    MORE_THAN_OWED,
    RESCHEDULE_ACT,
    Loan,
    LoanInstallment,
    LoanSchedule,
    changed_installments,
    count_act,
    keep_version,
    need_loan,
    record_act,
    schedule_key,
)
from kasuwa.methods.loans.rules.agreed_grace import (
    MAX_DAYS_TO_FIRST_DUE,
    find_grace_faults,
    find_period_faults,
    read_grace,
)
from kasuwa.methods.loans.rules.charges import OpenDebt, find_debt
from kasuwa.methods.loans.rules.history import LoanTotals, sum_charged
from kasuwa.methods.loans.rules.loan_event import tell_of_loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.methods.loans.rules.loan_record import explain_parts, make_loan_record, make_schedule_line
from kasuwa.methods.loans.rules.origination import (
    MAX_INSTALLMENTS,
    change_state,
    reschedule_arrears_check,
)
from kasuwa.methods.loans.rules.plan_collection import plan_earlier
from kasuwa.methods.loans.rules.repay import penalty_posts
from kasuwa.methods.loans.rules.reschedule_lines import (
    RescheduleDates,
    RescheduleTerms,
    plan_dates,
    reschedule_loan,
)
from kasuwa.methods.loans.rules.reverse import difference_of_totals
from kasuwa.methods.loans.wire import LoanReply
from kasuwa.methods.loans.wire_reschedule import RescheduleRequest
from kasuwa.terms.loan_charges import most_late_charges
from kasuwa.terms.loan_schedule import NO_GRACE, NOTHING, LoanAmounts, ScheduledInstallment, sum_amounts
from kasuwa.transactions.transactions import encode_text
from kasuwa.wire.interest_wire import DryRunFigure

# Replies show all earlier schedules of a loan. Contract: loans#reschedule
MAX_RESCHEDULES: Final = 12

# Refusals, in order of precedence: unknown loan, its state, these, and field errors.
TOO_MANY_RESCHEDULES = Refusal(
    INVALID_REQUEST, f"The loan was rescheduled {MAX_RESCHEDULES} times already", error_code="too_many_reschedules"
)
NOTHING_TO_CHANGE = Refusal(
    INVALID_REQUEST,
    "Say what is to change: extra_installments, interestRate, grace, capitalize_arrears or first_due",
    error_code="nothing_to_change",
)
FIRST_DUE_IN_GRACE = refuse_fields(FieldError("grace.first_due", "send first_due beside grace", "first_due_in_grace"))
NOTHING_TO_RESCHEDULE = Refusal(
    INVALID_REQUEST,
    "No principal is left for the installments that would be made anew; capitalize the arrears, or name an earlier day",
    error_code="nothing_to_reschedule",
)


# --- checks -----------------------------------------------------------------------------------------------------------


def read_terms_of_reschedule(request: RescheduleRequest, today: date) -> RescheduleTerms:
    first_due = None if request.first_due is None else request.first_due.plain()
    return RescheduleTerms(
        begins=today if request.since is None else request.since.plain(),
        extra=int(request.extra_installments or 0),
        rate=str(request.interest_rate or ""),
        grace=msgspec.structs.replace(read_grace(request.grace), first_due=first_due),
        capitalize=bool(request.capitalize_arrears),
    )


def refuse_reschedule(request: RescheduleRequest, terms: RescheduleTerms, debt: OpenDebt) -> Refusal | None:
    """Returns why a loan cannot be rescheduled so, or None."""
    loan, before = debt.loan, debt.before
    if loan.reschedules >= MAX_RESCHEDULES:
        return TOO_MANY_RESCHEDULES
    if not (terms.extra or terms.rate or terms.capitalize or terms.grace != NO_GRACE):
        return NOTHING_TO_CHANGE
    too_many = find_excess(terms, before)
    faults = too_many or [*find_day_faults(terms, before), *find_installment_faults(request, terms, before)]
    if faults:
        return refuse_fields(*faults)
    arrears = before.due.principal + sum_arrears(before).total if terms.capitalize else 0
    coming = sum(line.owed.principal for line in plan_dates(before, terms).remade)
    return NOTHING_TO_RESCHEDULE if coming + arrears <= 0 else None


def find_excess(terms: RescheduleTerms, before: LoanPosition) -> list[FieldError]:
    """Returns the fault of more installments than a loan may have. It is checked before any due date is planned: their
    number can be so large that the calendar ends before."""
    room = MAX_INSTALLMENTS - len(before.lines)
    if terms.extra <= room:
        return []
    return [FieldError("extra_installments", f"at most {room}: a loan has at most {MAX_INSTALLMENTS}")]


def find_day_faults(terms: RescheduleTerms, before: LoanPosition) -> list[FieldError]:
    today, last = before.day, max(before.day, before.lines[-1].due)
    faults = []
    if not today <= terms.begins <= last:
        faults.append(FieldError("from", f"a day from today to {last.isoformat()}", "day_outside_loan"))
    first_due = terms.grace.first_due
    staying = plan_dates(before, terms).staying
    least = max(today, staying[-1].due if staying else today) + timedelta(days=1)
    most = max(least, today + timedelta(days=MAX_DAYS_TO_FIRST_DUE))
    if first_due is not None and not least <= first_due <= most:
        reason = f"a day from {least.isoformat()} to {most.isoformat()}"
        faults.append(FieldError("first_due", reason, FIRST_DUE_NOT_POSSIBLE))
    return faults


def find_installment_faults(
    request: RescheduleRequest, terms: RescheduleTerms, before: LoanPosition
) -> list[FieldError]:
    count = len(plan_dates(before, terms).remade) + terms.extra
    if not count:
        return [FieldError("extra_installments", "at least 1: no installment of the loan is to come")]
    if request.grace is not None and request.grace.first_due is not None:
        return list(FIRST_DUE_IN_GRACE.field_errors)
    return [*find_grace_faults(terms.grace), *find_period_faults(terms.grace, count)]


def sum_arrears(position: LoanPosition) -> LoanAmounts:
    """Returns what a reschedule capitalizes today."""
    return msgspec.structs.replace(position.due, penalty=0, principal=0)


# --- the act ----------------------------------------------------------------------------------------------------------


def need_reschedule(request: RescheduleRequest, merchant: Merchant) -> Needs:
    return need_loan(merchant, request.loan_id)


def decide_reschedule(
    request: RescheduleRequest, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | Refusal | NeedsMore:
    debt = find_debt(request.loan_id, "rescheduled", context, rows)
    if not isinstance(debt, OpenDebt):
        return debt
    terms = read_terms_of_reschedule(request, debt.before.day)
    refusal = refuse_reschedule(request, terms, debt)
    if refusal is not None:
        return refusal
    after = reschedule_loan(debt.before, terms)
    if most_owed(after) > LARGEST_AMOUNT:
        most = format_minor(LARGEST_AMOUNT)
        return refuse_fields(FieldError("interestRate", f"with its interest, more than {most}", "loan_too_large"))
    explained = explain_reschedule(debt.before, after, terms)
    if request.dry_run:
        data = make_loan_record(after.loan, after.lines, context.now)
        return Decision(reply=LoanReply(message=DRY_RUN_MESSAGE, data=data, dry_run=True, explained=explained))
    planned = plan_earlier(after, context, rows)
    if isinstance(planned, NeedsMore):
        return planned
    decision = record_reschedule(debt, after, terms, request.reason, context, rows)
    decision.add(planned)
    return decision


def most_owed(position: LoanPosition) -> int:
    """Returns an upper bound of what a loan can come to, without penalties."""
    loan = position.loan
    coming = [
        ScheduledInstallment(line.n, line.due, 0, line.interest + line.pending, 0, 0)
        for line in position.lines
        if line.due > position.day
    ]
    return position.owed.total + most_late_charges(loan.agreed_terms, position.owed.principal, coming)


def record_reschedule(
    debt: OpenDebt, after: LoanPosition, terms: RescheduleTerms, reason: str, context: Context, rows: LoadedRows
) -> Decision[LoanReply]:
    loan, before, now = debt.loan, debt.before, context.now
    earlier = make_earlier_schedule(debt, reason, context)
    changed = after.loan if after.loan.state == loan.state else change_state(after.loan, context, after.loan.state)
    row = msgspec.structs.replace(count_act(changed), reschedules=earlier.n)
    position = msgspec.structs.replace(after, loan=row)
    act = record_act(loan, RESCHEDULE_ACT, before.day, now)
    act = msgspec.structs.replace(act, applied=0, content=encode_text(terms))
    amount = sum(line.owed.principal for line in plan_dates(before, terms).remade)
    amount += before.due.principal + sum_arrears(before).total if terms.capitalize else 0
    notified = tell_of_loan(row, "rescheduled", position, context, amount=amount, reason=reason)
    moved = difference_of_totals(loan.loan_id, total_charged(before.lines), total_charged(after.lines))
    posts = (*penalty_posts(debt.stored, before), *moved)
    staying = len(debt.stored)
    added = tuple(new for line in after.lines[staying:] for new in begin_installment(line, context))
    decision = Decision(
        reply=LoanReply(message="Loan Rescheduled", data=make_loan_record(row, after.lines, now)),
        groups=(PostingGroup(loan.loan_id, MORE_THAN_OWED, postings=posts),) if posts else (),
        rows=(notified.loan, act, earlier, *changed_installments(debt.stored, after.lines[:staying], now), *added),
        jobs=reschedule_arrears_check(position, context, rows),
    )
    decision.add(notified.effects)
    return decision


def total_charged(lines: tuple[LoanInstallment, ...]) -> LoanTotals:
    """Returns the totals of a loan of which only the charged and the capitalized ones differ by a reschedule."""
    charged, capitalized = sum_charged(lines)
    return LoanTotals(charged, NOTHING, NOTHING, NOTHING, 0, capitalized)


def begin_installment(line: LoanInstallment, context: Context) -> tuple[Row, ...]:
    """Returns the rows of an installment that was added: before, it asked for nothing."""
    nothing = msgspec.structs.replace(line, principal=0, interest=0, tax=0, charge=0, vat=0)
    return keep_version(nothing, line, context.now)


def make_earlier_schedule(debt: OpenDebt, reason: str, context: Context) -> LoanSchedule:
    loan: Loan = debt.loan
    n = loan.reschedules + 1
    lines = [make_schedule_line(line, debt.before) for line in debt.before.lines]
    return LoanSchedule(
        key=schedule_key(loan.merchant_id, loan.loan_id, n),
        merchant_id=loan.merchant_id,
        loan_id=loan.loan_id,
        n=n,
        until=context.now,
        rate=loan.current_rate,
        reason=reason,
        lines=encode_text(lines),
    )


# --- explanations -----------------------------------------------------------------------------------------------------


def explain_reschedule(before: LoanPosition, after: LoanPosition, terms: RescheduleTerms) -> list[DryRunFigure]:
    dates: RescheduleDates = plan_dates(before, terms)
    coming = sum(line.owed.principal for line in dates.remade)
    figures = [
        DryRunFigure("principal", format_minor(coming), f"of the {len(dates.remade)} installments that are made anew")
    ]
    if terms.capitalize:
        arrears = sum_arrears(before)
        how = f"becomes principal: {explain_parts(arrears)}"
        figures.append(DryRunFigure("capitalized", format_minor(arrears.total), how))
        overdue = before.due.principal
        figures.append(DryRunFigure("overdue principal", format_minor(overdue), "moves to the new installments"))
    rate = f"{after.loan.current_rate} % {after.loan.frequency}"
    for line in after.lines[len(dates.staying) :]:
        how = f"due {line.due.isoformat()}, at {rate}: {explain_parts(line.owed)}"
        figures.append(DryRunFigure(f"installment {line.n}", format_minor(line.owed.total), how))
    was, now = sum_amounts(line.owed for line in before.lines), sum_amounts(line.owed for line in after.lines)
    more = now.total - was.total
    how = f"{explain_parts(now)}; before {format_minor(was.total)}"
    return [
        *figures,
        DryRunFigure("cost", format_minor(more), "more interest, tax and charges than before, by the whole schedule"),
        DryRunFigure("outstanding", format_minor(now.total), how),
    ]
