"""Builds the loan records of replies, and the explanations of dry-run figures.

Contract: loans#view
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.money import format_minor
from kasuwa.methods.loans.model import (
    OWING_STATES,
    UNDISBURSED_STATES,
    WRITTEN_OFF,
    Loan,
    LoanAct,
    LoanInstallment,
)
from kasuwa.methods.loans.rules.history import LoanHistory
from kasuwa.methods.loans.rules.loan_position import (
    LoanPosition,
    RepaymentResult,
    compute_position,
    is_late,
    make_installments,
)
from kasuwa.methods.loans.wire import (
    Allocation,
    Installments,
    LoanRecord,
    LoanSummary,
    NextDue,
    Outstanding,
    ScheduleLine,
)
from kasuwa.terms.loan_schedule import (
    EQUAL_INSTALLMENTS,
    FLAT,
    LoanAmounts,
    LoanTerms,
    ScheduledInstallment,
    level_payment,
    sum_amounts,
)
from kasuwa.terms.tariff import FeeBreakdown
from kasuwa.transactions.transactions import Transaction
from kasuwa.wire.interest_wire import DryRunFigure, InterestReply


def make_loan_record(
    loan: Loan, installments: tuple[LoanInstallment, ...], now: datetime, *, credit: int = 0, dry_run: bool = False
) -> LoanRecord:
    """Returns the record of a loan as of `now`.

    A loan that was never paid out (no installments) shows the schedule it would have from today, or from the day it
    was closed. Only a closed loan can have a credit.
    """
    today = lagos_day(now)
    lines = installments or make_installments(
        loan, today if loan.state in UNDISBURSED_STATES else lagos_day(loan.closed_at or now)
    )
    position = compute_position(loan, lines, today)
    facts = common_loan_fields(position, credit)
    if dry_run:
        facts["loan_id"] = None
    return LoanRecord(**facts, schedule=[make_schedule_line(line, position) for line in position.lines])


def common_loan_fields(position: LoanPosition, credit: int) -> dict[str, Any]:
    loan = position.loan
    return {
        "loan_id": loan.loan_id,
        "client_id": loan.client_id,
        "state": loan.state,
        "amount": format_minor(loan.amount),
        "interest_settings": InterestReply(loan.rate, loan.frequency),  # type: ignore[arg-type]
        "method": loan.method,
        "period": loan.period,
        "tax_applied": loan.tax_applied,
        "tax_rate": plain_number(loan.tax_rate) if loan.tax_applied else 0,
        "penalty_rate": loan.penalty_rate,
        "tolerance_days": loan.tolerance_days,
        "outstanding": make_outstanding(position),
        "credit": format_minor(credit),
        "txn_ref": loan.transfer,
        "created_at": utc_text(loan.created_at),
        "disbursed_at": None if loan.disbursed_at is None else utc_text(loan.disbursed_at),
        "closed_at": None if loan.closed_at is None else utc_text(loan.closed_at),
    }


class InstallmentSummary(msgspec.Struct, frozen=True):
    """The installments of a loan as a list needs them."""

    total: int
    paid: int
    lines: tuple[LoanInstallment, ...]  # due and not fully paid, the current one, and the next one that owes something
    later_total: LoanInstallment | None  # the sum of all others that are not due yet


def make_loan_summary(loan: Loan, counted: InstallmentSummary, today: date, credit: int) -> LoanSummary:
    """Returns a loan's entry in a list. `later_total` counts as one installment without earned interest."""
    lines = counted.lines if counted.later_total is None else (*counted.lines, counted.later_total)
    position = compute_position(loan, lines, today)
    shown = position.lines[: len(counted.lines)] if position.loan.state in OWING_STATES else ()
    late = sum(is_late(line, position.loan, position.day) for line in shown)
    coming = next((line for line in shown if line.owed.total), None)
    return LoanSummary(
        **common_loan_fields(position, credit),
        installments=Installments(total=counted.total or loan.period, paid=counted.paid, late=late),
        next_due=None
        if coming is None
        else NextDue(n=coming.n, due=coming.due.isoformat(), amount=format_minor(coming.owed.total)),
    )


def plain_number(percent: str) -> Any:
    """Returns a percentage as a JSON number. It is not an amount of money, so a float is acceptable."""
    exact = Decimal(percent)
    return int(exact) if exact == int(exact) else float(exact)


def make_schedule_line(line: LoanInstallment, position: LoanPosition) -> ScheduleLine:
    return ScheduleLine(
        n=line.n,
        due=line.due.isoformat(),
        principal=format_minor(line.principal),
        interest=format_minor(line.interest),
        tax=format_minor(line.tax),
        total=format_minor(line.principal + line.interest + line.tax),
        paid=format_minor(line.paid_principal + line.paid_interest + line.paid_tax),
        state=installment_state(line, position),  # type: ignore[arg-type]
    )


def installment_state(line: LoanInstallment, position: LoanPosition) -> str:
    """Returns the state of an installment. Before the loan is paid out it is pending, even if its total is zero."""
    if position.loan.disbursed_at is None:
        return "pending"
    if not line.owed.total:
        return "paid"
    if position.loan.state == WRITTEN_OFF:
        return "written_off"
    if is_late(line, position.loan, position.day):
        return "late"
    paid = line.paid_principal + line.paid_interest + line.paid_tax + line.paid_penalty
    return "partially_paid" if paid else "pending"


def make_outstanding(position: LoanPosition) -> Outstanding:
    owes = position.loan.state in OWING_STATES
    owed = position.owed if owes else LoanAmounts()
    payoff = sum_amounts(position.payoff).total if owes else 0
    return Outstanding(
        principal=format_minor(owed.principal),
        interest=format_minor(owed.interest),
        tax=format_minor(owed.tax),
        penalty=format_minor(owed.penalty),
        total=format_minor(owed.total),
        payoff=format_minor(payoff),
    )


def make_allocation(paid: tuple[LoanAmounts, ...]) -> Allocation:
    return make_parts(sum_amounts(paid))


def make_parts(parts: LoanAmounts) -> Allocation:
    return Allocation(
        penalty=format_minor(parts.penalty),
        interest=format_minor(parts.interest),
        tax=format_minor(parts.tax),
        principal=format_minor(parts.principal),
    )


# --- explanations of dry-run figures ----------------------------------------------------------------------------


def percent_text(terms: LoanTerms) -> str:
    """Returns the rate of one interval in percent, rounded to twelve places."""
    percent = terms.interval_rate * 100
    places = Decimal(percent.numerator) / Decimal(percent.denominator)
    return f"{round(places, 12).normalize():f} %"


def explain_schedule(terms: LoanTerms, lines: list[ScheduledInstallment], cost: FeeBreakdown) -> list[DryRunFigure]:
    rate, level = percent_text(terms), level_payment(terms)
    figures = [explain_level(terms, rate, level)]
    before = terms.principal
    for line in lines:
        figures.append(explain_line(terms, line, rate, level, before))
        before = line.balance
    fees = f"fee {format_minor(cost.fee)}, VAT {format_minor(cost.vat)}, stamp duty {format_minor(cost.duty)}"
    return [
        *figures,
        DryRunFigure(
            what="interest",
            amount=format_minor(sum(line.interest for line in lines)),
            how="the interest of all installments",
        ),
        DryRunFigure(
            what="tax", amount=format_minor(sum(line.tax for line in lines)), how="the tax of all installments"
        ),
        DryRunFigure(
            what="total",
            amount=format_minor(sum(line.total for line in lines)),
            how="principal, interest and tax of all installments: what the client pays if nothing is late",
        ),
        DryRunFigure(
            what="disbursement",
            amount=format_minor(terms.principal + cost.total),
            how=f"{format_minor(terms.principal)} and {fees}: taken from the wallet when the loan is approved",
        ),
    ]


def explain_level(terms: LoanTerms, rate: str, level: int) -> DryRunFigure:
    agreed_rate = f"{terms.rate} % {terms.frequency}"
    each = f"{agreed_rate} ÷ 12 = {rate} a month" if terms.frequency == "annualized" else agreed_rate
    amount = format_minor(terms.principal)
    if terms.method == EQUAL_INSTALLMENTS and terms.interval_rate:
        how = f"{amount} × r ÷ (1 − (1 + r)^−{terms.period}), half up; r is {each}"
        return DryRunFigure(what="installment", amount=format_minor(level), how=how)
    how = f"{amount} ÷ {terms.period}, half up; interest is {each}"
    return DryRunFigure(what="principal of an installment", amount=format_minor(level), how=how)


def explain_line(terms: LoanTerms, line: ScheduledInstallment, rate: str, level: int, before: int) -> DryRunFigure:
    of = terms.principal if terms.method == FLAT else before
    steps = [f"interest {rate} of {format_minor(of)} = {format_minor(line.interest)}"]
    if line.n == terms.period:
        steps.append(f"principal: all that is left, {format_minor(line.principal)}")
    elif terms.method == EQUAL_INSTALLMENTS:
        less = f"{format_minor(level)} − {format_minor(line.interest)}"
        steps.append(f"principal {less} = {format_minor(line.principal)}")
    else:
        steps.append(f"principal {format_minor(line.principal)}")
    if line.tax:
        steps.append(f"tax {terms.tax} % of {format_minor(line.interest)} = {format_minor(line.tax)}")
    return DryRunFigure(what=f"installment {line.n}", amount=format_minor(line.total), how="; ".join(steps))


def explain_repayment(
    before: LoanPosition, done: RepaymentResult, requested: int | None, row: Transaction
) -> list[DryRunFigure]:
    due, payoff = before.due.total, before.payoff
    usual = (
        "all that is due up to today" if due else "nothing is due: the next installment, or the payoff if that is less"
    )
    figures = [
        DryRunFigure(
            what="amount",
            amount=format_minor(sum_amounts(done.paid).total),
            how="as asked" if requested is not None else usual,
        ),
        DryRunFigure(
            what="due", amount=format_minor(due), how=f"owed of installments due up to {before.day.isoformat()}"
        ),
        DryRunFigure(
            what="payoff", amount=format_minor(sum_amounts(payoff).total), how=explain_parts(sum_amounts(payoff))
        ),
    ]
    for line, parts in zip(before.lines, done.paid, strict=True):
        if parts.total:
            figures.append(
                DryRunFigure(what=f"installment {line.n}", amount=format_minor(parts.total), how=explain_parts(parts))
            )
    if row.fee:
        how = f"fee {format_minor(row.fee)}, VAT {format_minor(row.vat)}: the merchant's, out of what is settled"
        figures.append(DryRunFigure(what="collection", amount=format_minor(row.fee + row.vat), how=how))
    if done.waived.total:
        how = f"agreed and no longer due: {explain_parts(done.waived)}"
        figures.append(DryRunFigure(what="forgiven", amount=format_minor(done.waived.total), how=how))
    coming = next((line for line in done.after.lines if line.owed.total), None)
    if coming is not None:
        how = f"what is left of it, due on {coming.due.isoformat()}"
        figures.append(
            DryRunFigure(what=f"next installment {coming.n}", amount=format_minor(coming.owed.total), how=how)
        )
    return figures


def explain_reversal(before: LoanHistory, after: LoanHistory, act: LoanAct) -> list[DryRunFigure]:
    """Returns the figures of the dry run of a reversal: what goes back, and what later repayments then cover."""
    figures = []
    for was, now in zip(before.acts, after.acts, strict=True):
        if was.given.act.n == act.n:
            how = f"posted back: {explain_parts(was.paid)}"
            figures.append(DryRunFigure(what="reversed", amount=format_minor(was.used), how=how))
        elif was.paid != now.paid:
            how = f"{explain_parts(now.paid)}, instead of {explain_parts(was.paid)}"
            what = f"repayment {now.given.act.reference}"
            figures.append(DryRunFigure(what=what, amount=format_minor(now.used), how=how))
    for part in ("penalty", "interest", "tax"):
        charged_before, charged = getattr(before.totals.charged, part), getattr(after.totals.charged, part)
        if charged_before != charged:
            how = f"charged without the repayment, instead of {format_minor(charged_before)}"
            figures.append(DryRunFigure(what=part, amount=format_minor(charged), how=how))
    owed = after.position.owed
    is_owed = after.position.loan.state in OWING_STATES
    how = f"owed after it: {explain_parts(owed)}" if is_owed else "nothing: the loan stays closed"
    return [*figures, DryRunFigure(what="outstanding", amount=format_minor(owed.total if is_owed else 0), how=how)]


def explain_parts(parts: LoanAmounts) -> str:
    named = {
        "penalty": parts.penalty,
        "interest": parts.interest,
        "tax": parts.tax,
        "principal": parts.principal,
    }
    return ", ".join(f"{name} {format_minor(amount)}" for name, amount in named.items() if amount) or "nothing"
