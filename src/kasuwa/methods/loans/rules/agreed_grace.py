"""Checks and reads the grace period that a request agrees on with a loan, and describes it. Contract: loans#grace"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from msgspec import UNSET

from kasuwa.core.decision import FieldError, Merchant
from kasuwa.core.error_codes import FIRST_DUE_NOT_POSSIBLE
from kasuwa.methods.loans.wire_grace import GraceRecord, GraceTerms
from kasuwa.terms.loan_schedule import NO_GRACE, Grace

# How far the first due date may be. Contract: loans#grace
MAX_DAYS_TO_FIRST_DUE: Final = 366


def check_grace(merchant: Merchant, period: int | None, grace: GraceTerms | None) -> str | None:
    """Returns what is wrong with the grace of a request, each fault with its place, or None."""
    if grace is None:
        return None
    faults = [*find_grace_faults(read_grace(grace))]
    if period is not None:
        faults += find_period_faults(read_grace(grace), period)
    return "; ".join(f"{fault.field.removeprefix('grace')}: {fault.reason}" for fault in faults) or None


def check_grace_alone(merchant: Merchant, grace: GraceTerms | None) -> str | None:
    return check_grace(merchant, None, grace)


def find_grace_faults(grace: Grace) -> Iterator[FieldError]:
    if grace.interest > grace.principal:
        reason = "at most principal: an installment that asks for principal asks for its interest"
        yield FieldError("grace.interest", reason)
    if grace.capitalize and not grace.interest:
        yield FieldError("grace.capitalize", "only with interest of at least 1")


def find_period_faults(grace: Grace, period: int) -> Iterator[FieldError]:
    if grace.principal >= period:
        reason = f"less than the {period} installments: the last one asks for principal"
        yield FieldError("grace.principal", reason)


def read_grace(grace: GraceTerms | None) -> Grace:
    if grace is None:
        return NO_GRACE
    interest = int(grace.interest or 0)
    return Grace(
        principal=interest if grace.principal is None else int(grace.principal),
        interest=interest,
        capitalize=bool(grace.capitalize),
        first_due=None if grace.first_due is None else grace.first_due.plain(),
    )


def find_first_due_fault(grace: Grace, today: date, field: str = "grace.first_due") -> list[FieldError]:
    """Returns the fault of a first due date that is not possible for a loan that is paid out today at the earliest."""
    last = today + timedelta(days=MAX_DAYS_TO_FIRST_DUE)
    if grace.first_due is None or today < grace.first_due <= last:
        return []
    return [FieldError(field, f"a day from tomorrow to {last.isoformat()}", FIRST_DUE_NOT_POSSIBLE)]


def describe_grace(grace: Grace) -> GraceRecord:
    return GraceRecord(
        principal=grace.principal,
        interest=grace.interest,
        capitalize=grace.capitalize,
        first_due=UNSET if grace.first_due is None else grace.first_due.isoformat(),
    )
