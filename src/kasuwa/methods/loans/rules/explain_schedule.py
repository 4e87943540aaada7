"""Explains the figures of a new loan's schedule in a dry run. Contract: loans#request"""

from datetime import date
from decimal import Decimal

import msgspec

from kasuwa.core.money import format_minor
from kasuwa.methods.loans.model import Loan
from kasuwa.methods.loans.rules.charge_lines import deducted_parts
from kasuwa.terms.loan_charges import charges_of_schedule
from kasuwa.terms.loan_schedule import (
    CAPITALIZE,
    EQUAL_INSTALLMENTS,
    FLAT,
    SPREAD,
    LoanTerms,
    ScheduledInstallment,
    level_payment,
)
from kasuwa.terms.tariff import Tariff, calculate_transfer_fees
from kasuwa.wire.interest_wire import DryRunFigure


def percent_text(terms: LoanTerms) -> str:
    """Returns the rate of one interval in percent, rounded to twelve places."""
    percent = terms.interval_rate * 100
    places = Decimal(percent.numerator) / Decimal(percent.denominator)
    return f"{round(places, 12).normalize():f} %"


def explain_schedule(
    loan: Loan, lines: list[ScheduledInstallment], begins: date, tariff: Tariff, payoff: int = 0
) -> list[DryRunFigure]:
    """Returns the figures of a loan's schedule, and what it costs the wallet. `payoff` is of a loan that it tops up."""
    terms = loan.terms
    deducted = deducted_parts(loan).total
    paid_out = loan.amount - deducted - payoff
    cost = calculate_transfer_fees(tariff, paid_out)
    figures = explain_lines(terms, lines, begins)
    charges = sum_charges(loan, lines, begins)
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
        *explain_capital(lines),
        *explain_charges(charges, deducted),
        DryRunFigure(
            what="total",
            amount=format_minor(sum_asked(loan, lines, begins)),
            how=f"principal, interest{', tax and charges' if charges else ' and tax'} of all installments:"
            " what the client pays if nothing is late",
        ),
        DryRunFigure(
            what="disbursement",
            amount=format_minor(paid_out + cost.total),
            how=f"{format_minor(paid_out)} and {fees}: taken from the wallet when the loan is approved",
        ),
    ]


def sum_charges(loan: Loan, lines: list[ScheduledInstallment], begins: date) -> int:
    """Returns the charges of all installments with their VAT, without late ones."""
    charges = charges_of_schedule(loan.agreed_terms, loan.amount, lines, begins)
    return sum(charge.amount + charge.vat for own in charges for charge in own)


def sum_asked(loan: Loan, lines: list[ScheduledInstallment], begins: date) -> int:
    """Returns what the client pays if nothing is late."""
    charges = sum_charges(loan, lines, begins) - deducted_parts(loan).total
    return sum(line.total for line in lines) + charges


def explain_charges(charges: int, deducted: int) -> list[DryRunFigure]:
    """Returns the figures of a loan's charges by its schedule, without late ones."""
    how = (
        f"the charges of all installments with their VAT; {format_minor(deducted)} of them is deducted from the payout"
    )
    return [DryRunFigure(what="charges", amount=format_minor(charges), how=how)] if charges else []


def explain_capital(lines: list[ScheduledInstallment]) -> list[DryRunFigure]:
    capital = sum(line.pending + line.pending_tax for line in lines)
    how = "interest of the grace with its tax: it becomes principal, which the installments after the grace repay"
    return [DryRunFigure(what="capitalized", amount=format_minor(capital), how=how)] if capital else []


def explain_lines(terms: LoanTerms, lines: list[ScheduledInstallment], begins: date) -> list[DryRunFigure]:
    """Returns the figure of the constant part of the installments, and one for each installment."""
    rate, before, base = percent_text(terms), terms.principal, terms.principal
    paying = [line for line in lines if not line.grace]
    capital = sum(line.pending + line.pending_tax for line in lines)
    after_grace = msgspec.structs.replace(terms, principal=terms.principal + capital, period=len(paying))
    level = level_payment(after_grace)
    figures = [explain_level(after_grace, rate, level)]
    for line in lines:
        of = base if terms.method == FLAT else before
        figures.append(explain_line(terms, line, rate, level, of, begins))
        before, base = line.balance, base + line.pending + line.pending_tax
    return figures


def explain_level(terms: LoanTerms, rate: str, level: int) -> DryRunFigure:
    agreed_rate = f"{terms.rate} % {terms.frequency}"
    each = f"{agreed_rate} ÷ 12 = {rate} a month" if terms.frequency == "annualized" else agreed_rate
    amount = format_minor(terms.principal)
    if terms.method == EQUAL_INSTALLMENTS and terms.interval_rate:
        how = f"{amount} × r ÷ (1 − (1 + r)^−{terms.period}), half up; r is {each}"
        return DryRunFigure(what="installment", amount=format_minor(level), how=how)
    how = f"{amount} ÷ {terms.period}, half up; interest is {each}"
    return DryRunFigure(what="principal of an installment", amount=format_minor(level), how=how)


def explain_line(
    terms: LoanTerms, line: ScheduledInstallment, rate: str, level: int, of: int, begins: date
) -> DryRunFigure:
    own = line.interest - line.deferred + line.grown + line.pending
    steps = [f"interest {rate} of {format_minor(of)} = {format_minor(own)}"]
    if line.span:
        steps[0] += f", for {(line.due - begins).days} of {line.span} days"
    if line.grace == SPREAD:
        steps.append("asked for by the installments after the grace")
    elif line.grace == CAPITALIZE:
        steps.append(f"becomes principal with its tax, {format_minor(line.pending + line.pending_tax)}")
    if line.deferred:
        steps.append(f"and {format_minor(line.deferred)} of the grace")
    steps += explain_principal(terms, line, level, own)
    if line.tax:
        steps.append(f"tax {terms.tax} % of {format_minor(line.interest)} = {format_minor(line.tax)}")
    return DryRunFigure(what=f"installment {line.n}", amount=format_minor(line.total), how="; ".join(steps))


def explain_principal(terms: LoanTerms, line: ScheduledInstallment, level: int, own: int) -> list[str]:
    amount = format_minor(line.principal)
    if line.grace:
        return ["no principal: grace"]
    if line.n == terms.period:
        return [f"principal: all that is left, {amount}"]
    if terms.method == EQUAL_INSTALLMENTS:
        if line.span:
            return [f"principal {amount}, as of a whole interval"]
        return [f"principal {format_minor(level)} − {format_minor(own)} = {amount}"]
    return [f"principal {amount}"]
