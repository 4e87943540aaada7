"""Requests and replies of the charges of loans. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#charges
"""

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from kasuwa.terms.loan_charges import MAX_CHARGES, ChargeBase, ChargeTime
from kasuwa.wire.fields import FREE_TEXT, Amount, LagosDate, PercentRate, Reference

ChargeName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=100, description="1 to 100 characters", extra=FREE_TEXT)
]
WaiverReason = Annotated[
    str, msgspec.Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)
]


class ChargeTerms(msgspec.Struct, kw_only=True):
    """A charge to agree on with a loan: `amount` or `percent`."""

    name: ChargeName
    "What the charge is called."
    amount: Amount | None = None
    "The charge in naira, without its VAT."
    percent: PercentRate | None = None
    "The charge in percent of `of`, from 0 to 100, without its VAT."
    of: ChargeBase | None = None
    """With `percent`. `principal`: of the loan. `installment`: principal and interest of the installment. `overdue`:
    what is not paid of them on the day on which the installment becomes late. Default: `overdue` of a late charge,
    `installment` of one with every installment, else `principal`."""
    when: ChargeTime
    """`disbursement`: once, with the first installment, or deducted. `installment`: with every one. `late`: with each
    one that becomes late, once. `named_day`: once, with the installment in whose interval the day `due` lies."""
    deduct: bool | None = None
    """With `disbursement`: the client receives the principal without the charge and owes all of the principal, and the
    charge is paid. Default false."""
    vat: PercentRate | None = None
    "VAT in percent of the charge, from 0 to 100, on top of it. Default 0."
    due: LagosDate | None = None
    "The day of a charge of `named_day`. Not before today."


Charges = Annotated[
    list[ChargeTerms], msgspec.Meta(max_length=MAX_CHARGES, description=f"at most {MAX_CHARGES} charges")
]


class ChargeRequest(msgspec.Struct, kw_only=True):
    """Makes a charge on a loan that was paid out. It is asked for with the installment in whose interval its day lies,
    and paid before interest."""

    loan_id: Reference
    "The loan to charge."
    name: ChargeName
    "What the charge is called."
    amount: Amount
    "The charge in naira, without its VAT."
    vat: PercentRate | None = None
    "VAT in percent of the charge, from 0 to 100, on top of it. Default 0."
    due: LagosDate | None = None
    "The day from which it is asked for, from today to the last due date. Default: today."
    dry_run: bool | None = None
    "If true, the reply says what the charge would do, and nothing is changed."


class WaiveRequest(msgspec.Struct, kw_only=True):
    """Waives a charge, penalties or interest that is due: the client does not owe them any more. Name exactly one of
    `charge_id`, `penalty` and `interest`."""

    loan_id: Reference
    "The loan."
    charge_id: Reference | None = None
    "Waives this charge of the loan, with its VAT."
    penalty: bool | None = None
    "If true, waives penalties, the oldest first."
    interest: bool | None = None
    "If true, waives interest that is due up to today with the tax on it, the oldest first."
    amount: Amount | None = None
    "What to waive, in naira, with VAT or tax. Default: all that is owed of it."
    reason: WaiverReason | None = None
    "Why it is waived, in words. The event has it."
    dry_run: bool | None = None
    "If true, the reply says what the waiver would do, and nothing is changed."


# --- replies ----------------------------------------------------------------------------------------------------------


class AgreedChargeRecord(msgspec.Struct, kw_only=True):
    """A charge that was agreed with a loan."""

    name: str
    "What the charge is called."
    when: ChargeTime
    "When it is made, as in the request."
    amount: str | UnsetType = UNSET
    "The charge in naira, without its VAT. Absent if it is a percentage."
    percent: str | UnsetType = UNSET
    "The charge in percent of `of`. Absent if it is an amount."
    of: ChargeBase | UnsetType = UNSET
    "What the percentage is of. Absent if the charge is an amount."
    vat: str
    "VAT in percent of the charge."
    deduct: bool
    "Whether it is deducted from what the client receives."
    due: str | UnsetType = UNSET
    "The day of a charge of `named_day`, as YYYY-MM-DD. Else absent."


class LoanChargeRecord(msgspec.Struct, kw_only=True):
    """A charge that was made on a loan, or will be by its schedule."""

    charge_id: str
    "Identifier of the charge in its loan."
    name: str
    "What the charge is called."
    n: int
    "Number of the installment with which it is asked for."
    due: str
    "Date from which it is asked for, in Lagos, as YYYY-MM-DD."
    amount: str
    "The charge in naira, without its VAT."
    vat: str
    "The VAT on it, in naira."
    paid: str
    "Part of both that was paid, in naira."
    waived: str
    "Part of both that was waived, or was not asked for because the loan was paid off before, in naira."
    outstanding: str
    "Part of both that is owed, in naira."
