"""A loan as merchants see it: the record of every reply, and how the figures of a dry run came about. (D33)"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.interest import EQUAL_INSTALMENTS, FLAT, Instalment, Parts, Terms, add_parts, level_payment
from kasuwa.core.money import format_minor
from kasuwa.core.tariff import Charge
from kasuwa.core.terms import Figure, ToldInterest
from kasuwa.core.transactions import Transaction
from kasuwa.methods.loans.decide import OWING, PLANNED, WRITTEN_OFF, Line, Loan
from kasuwa.methods.loans.decide_standing import Repaid, Standing, is_late, plan_lines, stand
from kasuwa.methods.loans.wire import Allocation, LoanRecord, LoanSummary, Outstanding, ScheduleLine


def record_of(loan: Loan, kept: tuple[Line, ...], now: datetime, *, dry_run: bool = False) -> LoanRecord:
    """A loan with its schedule."""
    standing = standing_of(loan, kept, now)
    schedule = [line_of(line, standing) for line in standing.lines]
    return LoanRecord(**told_of(standing, dry_run=dry_run), schedule=schedule)


def summary_of(loan: Loan, kept: tuple[Line, ...], now: datetime) -> LoanSummary:
    """A loan as lists show it."""
    return LoanSummary(**told_of(standing_of(loan, kept, now)))


def standing_of(loan: Loan, kept: tuple[Line, ...], now: datetime) -> Standing:
    """A loan that was never paid out shows the schedule it would have from today, or would have had when it closed."""
    today = lagos_day(now)
    lines = kept or plan_lines(loan, today if loan.state in PLANNED else lagos_day(loan.closed_at or now))
    return stand(loan, lines, today)


def told_of(standing: Standing, *, dry_run: bool = False) -> dict[str, Any]:
    """The fields that a record and a summary share."""
    loan = standing.loan
    return {
        "loan_id": None if dry_run else loan.loan_id,
        "client_id": loan.client_id,
        "state": loan.state,
        "amount": format_minor(loan.amount),
        "interest_settings": ToldInterest(loan.rate, loan.frequency),  # type: ignore[arg-type]
        "method": loan.method,
        "period": loan.period,
        "tax_applied": loan.tax_applied,
        "tax_rate": plain_number(loan.tax_rate),
        "penalty_rate": loan.penalty_rate,
        "tolerance_days": loan.tolerance_days,
        "outstanding": outstanding_of(standing),
        "created_at": utc_text(loan.created_at),
        "disbursed_at": None if loan.disbursed_at is None else utc_text(loan.disbursed_at),
        "closed_at": None if loan.closed_at is None else utc_text(loan.closed_at),
    }


def plain_number(percent: str) -> Any:
    """A percentage as the number that was sent: no money, so a float may stand for it on the wire."""
    exact = Decimal(percent)
    return int(exact) if exact == int(exact) else float(exact)


def line_of(line: Line, standing: Standing) -> ScheduleLine:
    return ScheduleLine(
        n=line.n,
        due=line.due.isoformat(),
        principal=format_minor(line.principal),
        interest=format_minor(line.interest),
        tax=format_minor(line.tax),
        total=format_minor(line.principal + line.interest + line.tax),
        paid=format_minor(line.paid_principal + line.paid_interest + line.paid_tax),
        state=line_state(line, standing),  # type: ignore[arg-type]
    )


def line_state(line: Line, standing: Standing) -> str:
    """A loan that owes nothing yet has nothing paid, also where an instalment comes to nothing."""
    if standing.loan.disbursed_at is None:
        return "pending"
    if not line.owed.total:
        return "paid"
    if standing.loan.state == WRITTEN_OFF:
        return "written_off"
    if is_late(line, standing.loan, standing.day):
        return "late"
    paid = line.paid_principal + line.paid_interest + line.paid_tax + line.paid_penalty
    return "partially_paid" if paid else "pending"


def outstanding_of(standing: Standing) -> Outstanding:
    owes = standing.loan.state in OWING
    owed = standing.owed if owes else Parts()
    payoff = add_parts(standing.payoff).total if owes else 0
    return Outstanding(
        principal=format_minor(owed.principal),
        interest=format_minor(owed.interest),
        tax=format_minor(owed.tax),
        penalty=format_minor(owed.penalty),
        total=format_minor(owed.total),
        payoff=format_minor(payoff),
    )


def allocation_of(paid: tuple[Parts, ...]) -> Allocation:
    parts = add_parts(paid)
    return Allocation(
        penalty=format_minor(parts.penalty),
        interest=format_minor(parts.interest),
        tax=format_minor(parts.tax),
        principal=format_minor(parts.principal),
    )


# --- how the figures of a dry run came about --------------------------------------------------------------------


def percent_text(terms: Terms) -> str:
    """The rate of one interval, to twelve places where it has no end."""
    percent = terms.rate_each * 100
    places = Decimal(percent.numerator) / Decimal(percent.denominator)
    return f"{round(places, 12).normalize():f} %"


def explain_schedule(terms: Terms, lines: list[Instalment], cost: Charge) -> list[Figure]:
    rate, level = percent_text(terms), level_payment(terms)
    figures = [explain_level(terms, rate, level)]
    before = terms.principal
    for line in lines:
        figures.append(explain_line(terms, line, rate, level, before))
        before = line.balance
    fees = f"fee {format_minor(cost.fee)}, VAT {format_minor(cost.vat)}, stamp duty {format_minor(cost.duty)}"
    return [
        *figures,
        Figure(
            what="interest",
            amount=format_minor(sum(line.interest for line in lines)),
            how="the interest of all instalments",
        ),
        Figure(what="tax", amount=format_minor(sum(line.tax for line in lines)), how="the tax of all instalments"),
        Figure(
            what="total",
            amount=format_minor(sum(line.total for line in lines)),
            how="principal, interest and tax of all instalments: what the client pays where nothing is late",
        ),
        Figure(
            what="disbursement",
            amount=format_minor(terms.principal + cost.total),
            how=f"{format_minor(terms.principal)} and {fees}: taken from the wallet when the loan is approved",
        ),
    ]


def explain_level(terms: Terms, rate: str, level: int) -> Figure:
    said = f"{terms.rate} % {terms.frequency}"
    each = f"{said} ÷ 12 = {rate} a month" if terms.frequency == "annualized" else f"{said}"
    amount = format_minor(terms.principal)
    if terms.method == EQUAL_INSTALMENTS and terms.rate_each:
        how = f"{amount} × r ÷ (1 − (1 + r)^−{terms.period}), half up; r is {each}"
        return Figure(what="instalment", amount=format_minor(level), how=how)
    how = f"{amount} ÷ {terms.period}, half up; interest is {each}"
    return Figure(what="principal of an instalment", amount=format_minor(level), how=how)


def explain_line(terms: Terms, line: Instalment, rate: str, level: int, before: int) -> Figure:
    of = terms.principal if terms.method == FLAT else before
    steps = [f"interest {rate} of {format_minor(of)} = {format_minor(line.interest)}"]
    if line.n == terms.period:
        steps.append(f"principal: all that is left, {format_minor(line.principal)}")
    elif terms.method == EQUAL_INSTALMENTS:
        less = f"{format_minor(level)} − {format_minor(line.interest)}"
        steps.append(f"principal {less} = {format_minor(line.principal)}")
    else:
        steps.append(f"principal {format_minor(line.principal)}")
    if line.tax:
        steps.append(f"tax {terms.tax} % of {format_minor(line.interest)} = {format_minor(line.tax)}")
    return Figure(what=f"instalment {line.n}", amount=format_minor(line.total), how="; ".join(steps))


def explain_repayment(before: Standing, done: Repaid, said: int | None, row: Transaction) -> list[Figure]:
    due, payoff = before.due.total, before.payoff
    usual = (
        "all that is due up to today" if due else "nothing is due: the next instalment, or the payoff if that is less"
    )
    figures = [
        Figure(
            what="amount",
            amount=format_minor(add_parts(done.paid).total),
            how="as asked" if said is not None else usual,
        ),
        Figure(what="due", amount=format_minor(due), how=f"owed of instalments due up to {before.day.isoformat()}"),
        Figure(what="payoff", amount=format_minor(add_parts(payoff).total), how=explain_parts(add_parts(payoff))),
    ]
    for line, parts in zip(before.lines, done.paid, strict=True):
        if parts.total:
            figures.append(
                Figure(what=f"instalment {line.n}", amount=format_minor(parts.total), how=explain_parts(parts))
            )
    if row.fee:
        how = f"fee {format_minor(row.fee)}, VAT {format_minor(row.vat)}: the merchant's, out of what is settled"
        figures.append(Figure(what="collection", amount=format_minor(row.fee + row.vat), how=how))
    if done.forgiven.total:
        how = f"agreed and not used, asked for no more: {explain_parts(done.forgiven)}"
        figures.append(Figure(what="forgiven", amount=format_minor(done.forgiven.total), how=how))
    return figures


def explain_parts(parts: Parts) -> str:
    named = {
        "penalty": parts.penalty,
        "interest": parts.interest,
        "tax": parts.tax,
        "principal": parts.principal,
    }
    return ", ".join(f"{name} {format_minor(amount)}" for name, amount in named.items() if amount) or "nothing"
