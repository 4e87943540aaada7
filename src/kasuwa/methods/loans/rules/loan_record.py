"""Builds the loan records of replies, and the explanations of dry-run figures.

Contract: loans#view
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.money import format_minor
from kasuwa.methods.loans.model import (
    OWING_STATES,
    UNDISBURSED_STATES,
    WAITING,
    WRITE_OFF_DETAIL_DECODER,
    WRITTEN_OFF,
    Loan,
    LoanAct,
    LoanInstallment,
    LoanSchedule,
    LoanWriteOff,
)
from kasuwa.methods.loans.rules.agreed_grace import describe_grace
from kasuwa.methods.loans.rules.charge_lines import CoveredCharge, cover_charges, deducted_parts
from kasuwa.methods.loans.rules.history import LoanHistory
from kasuwa.methods.loans.rules.loan_position import (
    LoanPosition,
    RepaymentResult,
    WriteOffResult,
    compute_position,
    is_late,
    make_installments,
)
from kasuwa.methods.loans.wire import (
    Allocation,
    EarlierSchedule,
    Installments,
    LoanRecord,
    LoanSummary,
    NextDue,
    Outstanding,
    ScheduleLine,
    WaitingWriteOff,
    WrittenOff,
)
from kasuwa.methods.loans.wire_charges import AgreedChargeRecord, LoanChargeRecord
from kasuwa.terms.loan_charges import AgreedCharge
from kasuwa.terms.loan_schedule import (
    NO_GRACE,
    NOTHING,
    LoanAmounts,
    sum_amounts,
)
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
    record = LoanRecord(**facts, schedule=[make_schedule_line(line, position) for line in position.lines])
    describe_charges(record, position)
    record.tops_up = loan.agreed_terms.tops_up or UNSET
    record.topped_up_by = loan.topped_up_by or UNSET
    if loan.agreed_terms.grace != NO_GRACE:
        record.grace = describe_grace(loan.agreed_terms.grace)
    if loan.group_id:
        record.group_id, record.group_loan_id = loan.group_id, loan.group_loan_id
    lost = sum_amounts(position.payoff) if loan.state == WRITTEN_OFF else position.lost
    if lost.total:
        record.written_off = WrittenOff(**msgspec.structs.asdict(make_parts(lost)), total=format_minor(lost.total))
    return record


def has_charges(line: LoanInstallment) -> bool:
    """Whether an installment has charges, also the sum of several in a list, of which they are not loaded."""
    return bool(line.charges or line.charge)


def describe_charges(record: LoanRecord, position: LoanPosition) -> None:
    """Adds to a record what its loan has of charges."""
    loan = position.loan
    agreed, deducted = loan.agreed_terms.charges, deducted_parts(loan).total
    if deducted:
        record.net_amount = format_minor(loan.amount - deducted)
    if agreed:
        record.agreed_charges = [describe_agreed_charge(charge) for charge in agreed]
    charges = [describe_line_charge(line, one, position) for line in position.lines for one in cover_charges(line)]
    if charges:
        record.charges = charges


def describe_agreed_charge(charge: AgreedCharge) -> AgreedChargeRecord:
    return AgreedChargeRecord(
        name=charge.name,
        when=charge.when,
        amount=UNSET if charge.percent else format_minor(charge.amount),
        percent=charge.percent or UNSET,
        of=charge.of if charge.percent else UNSET,
        vat=charge.vat,
        deduct=charge.deduct,
        due=UNSET if charge.due is None else charge.due.isoformat(),
    )


def describe_line_charge(line: LoanInstallment, one: CoveredCharge, position: LoanPosition) -> LoanChargeRecord:
    charge, paid = one.charge, one.paid + one.paid_vat
    is_owed = position.loan.state in OWING_STATES or position.loan.disbursed_at is None
    return LoanChargeRecord(
        charge_id=charge.charge_id,
        name=charge.name,
        n=line.n,
        due=charge.day.isoformat(),
        amount=format_minor(charge.amount),
        vat=format_minor(charge.vat),
        paid=format_minor(paid),
        waived=format_minor(charge.waived + charge.waived_vat),
        outstanding=format_minor(one.owed + one.owed_vat if is_owed else 0),
    )


def describe_waiting(loan: Loan, proposed: LoanWriteOff | None, now: datetime) -> WaitingWriteOff | UnsetType:
    """Returns the write-off of a loan that can be approved, if there is one."""
    if proposed is None or not can_be_decided(loan, proposed, now):
        return UNSET
    detail = WRITE_OFF_DETAIL_DECODER.decode(proposed.detail)
    return WaitingWriteOff(
        amount=format_minor(proposed.amount),
        parts=list(detail.parts) or UNSET,  # type: ignore[arg-type]
        reason=detail.reason,
        proposed_by=detail.maker.label,
        proposed_at=utc_text(proposed.created_at),
        expires_at=utc_text(proposed.expires_at),
    )


SCHEDULE_LINES_DECODER: "msgspec.json.Decoder[list[ScheduleLine]]" = msgspec.json.Decoder(list[ScheduleLine])


def describe_earlier(earlier: LoanSchedule) -> EarlierSchedule:
    return EarlierSchedule(
        n=earlier.n,
        until=utc_text(earlier.until),
        interest_rate=earlier.rate,
        reason=earlier.reason,
        schedule=SCHEDULE_LINES_DECODER.decode(earlier.lines),
    )


def can_be_decided(loan: Loan, proposed: LoanWriteOff, now: datetime) -> bool:
    return loan.state in OWING_STATES and proposed.state == WAITING and now < proposed.expires_at


def common_loan_fields(position: LoanPosition, credit: int) -> dict[str, Any]:
    loan = position.loan
    return {
        "loan_id": loan.loan_id,
        "client_id": loan.client_id,
        "officer": loan.officer or None,
        "branch": loan.branch or None,
        "product_id": loan.product or UNSET,
        "state": loan.state,
        "amount": format_minor(loan.amount),
        "interest_settings": InterestReply(loan.current_rate, loan.frequency),  # type: ignore[arg-type]
        "method": loan.method,
        "period": loan.installments,
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
    late = [line.owed.total for line in shown if is_late(line, position.loan, position.day)]
    coming = next((line for line in shown if line.owed.total), None)
    return LoanSummary(
        **common_loan_fields(position, credit),
        installments=Installments(total=counted.total or loan.installments, paid=counted.paid, late=len(late)),
        next_due=None
        if coming is None
        else NextDue(n=coming.n, due=coming.due.isoformat(), amount=format_minor(coming.owed.total)),
        overdue=format_minor(sum(late)),
    )


def plain_number(percent: str) -> Any:
    """Returns a percentage as a JSON number. It is not an amount of money, so a float is acceptable."""
    exact = Decimal(percent)
    return int(exact) if exact == int(exact) else float(exact)


def make_schedule_line(line: LoanInstallment, position: LoanPosition) -> ScheduleLine:
    grown = line.grown + line.pending + line.pending_tax + line.capitalized.total if line.grace else 0
    return ScheduleLine(
        n=line.n,
        due=line.due.isoformat(),
        principal=format_minor(line.principal),
        interest=format_minor(line.interest),
        tax=format_minor(line.tax),
        charges=format_minor(line.charge + line.vat) if line.charges else UNSET,
        total=format_minor(line.principal + line.interest + line.tax + line.charge + line.vat),
        paid=format_minor(line.paid),
        state=installment_state(line, position),  # type: ignore[arg-type]
        grace=line.grace or UNSET,  # type: ignore[arg-type]
        grown=format_minor(grown) if grown else UNSET,
    )


def installment_state(line: LoanInstallment, position: LoanPosition) -> str:
    """Returns the state of an installment. Before the loan is paid out it is pending, even if its total is zero."""
    if position.loan.disbursed_at is None:
        return "pending"
    if position.loan.state == WRITTEN_OFF and (line.owed + line.lost).total:
        return "written_off"
    if line.grace and position.loan.state in OWING_STATES and line.due > position.day and not line.paid:
        return "pending"
    if not line.owed.total:
        return "written_off" if line.lost.total else "paid"
    if is_late(line, position.loan, position.day):
        return "late"
    deducted = deducted_parts(position.loan).total if line.n == 1 else 0
    return "partially_paid" if line.paid + line.paid_penalty > deducted else "pending"


def make_outstanding(position: LoanPosition) -> Outstanding:
    owes = position.loan.state in OWING_STATES
    owed = position.owed if owes else LoanAmounts()
    payoff = sum_amounts(position.payoff).total if owes else 0
    is_charged = bool(position.loan.agreed_terms.charges) or any(has_charges(line) for line in position.lines)
    return Outstanding(
        principal=format_minor(owed.principal),
        interest=format_minor(owed.interest),
        tax=format_minor(owed.tax),
        penalty=format_minor(owed.penalty),
        charges=format_minor(owed.charge + owed.vat) if is_charged else UNSET,
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
        charges=format_minor(parts.charge + parts.vat) if parts.charge + parts.vat else UNSET,
    )


# --- explanations of dry-run figures ----------------------------------------------------------------------------


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
    for part in ("penalty", "charge", "vat", "interest", "tax"):
        charged_before, charged = getattr(before.totals.charged, part), getattr(after.totals.charged, part)
        if charged_before != charged:
            how = f"charged without the repayment, instead of {format_minor(charged_before)}"
            figures.append(DryRunFigure(what=part, amount=format_minor(charged), how=how))
    owed = after.position.owed
    is_owed = after.position.loan.state in OWING_STATES
    how = f"owed after it: {explain_parts(owed)}" if is_owed else "nothing: the loan stays closed"
    return [*figures, DryRunFigure(what="outstanding", amount=format_minor(owed.total if is_owed else 0), how=how)]


def explain_write_off(
    before: LoanPosition, done: WriteOffResult, parts: tuple[str, ...], needs_approval: DryRunFigure | None
) -> list[DryRunFigure]:
    """Returns the figures of the dry run of a write-off. `needs_approval` says why it would wait, if it would."""
    what = f"{' and '.join(parts)} due up to {before.day.isoformat()}" if parts else "all that is owed"
    how = f"{what}: {explain_parts(done.written_off)}"
    figures = [DryRunFigure(what="written off", amount=format_minor(done.written_off.total), how=how)]
    owed = done.after.owed if done.after.loan.state in OWING_STATES else NOTHING
    how = f"owed after it: {explain_parts(owed)}" if owed.total else "nothing: the loan is closed"
    figures.append(DryRunFigure(what="outstanding", amount=format_minor(owed.total), how=how))
    return figures if needs_approval is None else [*figures, needs_approval]


def explain_parts(parts: LoanAmounts) -> str:
    named = {
        "penalty": parts.penalty,
        "charges": parts.charge + parts.vat,
        "interest": parts.interest,
        "tax": parts.tax,
        "principal": parts.principal,
    }
    return ", ".join(f"{name} {format_minor(amount)}" for name, amount in named.items() if amount) or "nothing"
