"""Requests and replies of reschedules and top-ups. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#reschedule, loans#top-up
"""

from typing import Annotated

import msgspec
from msgspec import field

from kasuwa.methods.loans.wire_charges import Charges
from kasuwa.methods.loans.wire_grace import GraceTerms
from kasuwa.terms.loan_schedule import RepaymentMethod
from kasuwa.wire.fields import FREE_TEXT, Amount, LagosDate, NonNegativeInt, PercentRate, Reference
from kasuwa.wire.interest_wire import InterestSettings

RescheduleReason = Annotated[
    str, msgspec.Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)
]


class RescheduleRequest(msgspec.Struct, kw_only=True):
    """Makes the installments of a loan anew that are not due yet and are due on a day or later. What was paid stays,
    and what is due stays due unless it is capitalized."""

    loan_id: Reference
    "The loan."
    since: LagosDate | None = field(name="from", default=None)
    """Installments that are due on this day or later are made anew: a day from today to the last due date. Default:
    today."""
    extra_installments: NonNegativeInt | None = None
    "Number of installments to add. A loan has at most 366. Default 0."
    interest_rate: PercentRate | None = field(name="interestRate", default=None)
    """The new rate, in percent per interval of the loan's `interestFrequency`. What was earned before keeps its rate.
    Default: the rate stays."""
    grace: GraceTerms | None = None
    "A grace period of the installments that are made anew, without `first_due`. Default: none."
    capitalize_arrears: bool | None = None
    """Whether interest and charges that are due become principal, with tax and VAT, and the principal that is due moves
    to the new installments. Penalties stay. Default false."""
    first_due: LagosDate | None = None
    "The due date of the first installment that is made anew; the others follow it. Default: the dates stay."
    reason: RescheduleReason
    "Why it is rescheduled, in words. The earlier schedule and the event have it."
    dry_run: bool | None = None
    "If true, the reply shows the new schedule and explains it, and nothing is changed."


class TopUpRequest(msgspec.Struct, kw_only=True):
    """Pays a loan off with a new one of the same client, and the rest of it out, in one commit. The new loan is
    approved at once. Its terms are those of the old one as far as the request names no others."""

    loan_id: Reference
    "The loan that is paid off. It must owe something."
    amount: Amount
    """Principal of the new loan, in naira: at least the payoff of the old one, the deducted charges and the least
    amount of a loan."""
    period: NonNegativeInt | None = None
    "Number of installments of the new loan, from 1 to 366. Default: that which was agreed with the old one."
    interest_settings: InterestSettings | None = field(name="interestSettings", default=None)
    "The interest of the new loan. Default: that of the old one."
    method: RepaymentMethod | None = None
    "How installments of the new loan are calculated. Default: as those of the old one."
    charges: Charges | None = None
    "Charges of the new loan. Default: none."
    grace: GraceTerms | None = None
    "A grace period of the new loan. Default: none."
    officer: Reference | None = None
    "Who of your people answers for the new loan. Default: as of the old one."
    branch: Reference | None = None
    "Your branch that makes the new loan. Default: as of the old one."
    dry_run: bool | None = None
    "If true, the reply shows the new loan and explains what is paid off and out, and nothing is changed."
