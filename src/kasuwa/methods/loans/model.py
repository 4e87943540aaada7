"""Rows, states, accounts and postings of loans.

States. "approve" pays the loan out by a transfer; a failed transfer returns the loan to approved, to be tried again.

    pending_approval ── approve ──▶ disbursing ── transfer successful ──▶ active ◀──▶ active_in_arrears
        │      │                     ▲      │                               │               │
        │      │             approve │      │ transfer failed               ├─ all repaid ──┴──▶ closed_repaid
        │      │                     │      ▼                               └─ written off ────▶ closed_written_off
        │      └── cancel ──┐       approved
        │                   ▼          │
        └── reject ─┐  closed_withdrawn ◀── cancel
                    ▼
             closed_rejected

Accounts. Each loan has one account for each part that its client owes (principal, interest, tax, penalty) and one for
the client's credit. Balances are what is owed, and their floor of zero refuses a repayment of more than is owed. The
contra accounts `lending:…` are the merchant's, for all loans together. Cash postings go into the same group.

    paid out        wallet → rail:bank, fees               as for every transfer (methods/disburse)
                    lending:principal → loan_principal     the amount
                    lending:interest_agreed → loan_interest    the interest of the whole schedule
                    lending:tax_agreed → loan_tax          the tax on it
    a day late      lending:penalty_agreed → loan_penalty  the penalty of that day, if there is a penalty rate
    repaid          clearing → wallet                      as for every payment; none if repaid from the wallet
                    loan_penalty → lending:penalty_earned  each part that the repayment covers
                    loan_interest → lending:interest_earned
                    loan_tax → lending:tax_earned
                    loan_principal → lending:principal
    prepaid, or     loan_interest → lending:interest_agreed    interest and tax that are no longer due
    paid off        loan_tax → lending:tax_agreed
    early           (reversed for a kobo that rounding adds to the recomputed schedule)
    overpaid        lending:overpaid → loan_credit         by a payment that was pending when the loan was closed
    reversed        the differences of all of the above to what they would be without the repayment (rules/reverse.py)
    written off     loan_principal → lending:written_off   all that is left
                    loan_interest, loan_tax, loan_penalty → lending:…_agreed
    recovered       lending:written_off → lending:recovered    what is paid of a loan that was written off
                    lending:…_agreed → lending:recovered

Contract: loans#request
"""

from datetime import date, datetime
from typing import ClassVar, Final

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Job, Merchant, Needs, Posting, Refusal, Row
from kasuwa.core.references import is_opaque_id, job_key, row_key
from kasuwa.ledger import chart
from kasuwa.methods.clients.model import Client, client_key
from kasuwa.terms.loan_schedule import LoanAmounts, LoanTerms

CURRENCY: Final = "NGN"
LOAN_PREFIX = "LN"

PENDING_APPROVAL = "pending_approval"
APPROVED = "approved"
DISBURSING = "disbursing"
ACTIVE = "active"
IN_ARREARS = "active_in_arrears"
REPAID = "closed_repaid"
REJECTED = "closed_rejected"
WITHDRAWN = "closed_withdrawn"
WRITTEN_OFF = "closed_written_off"

# The loan is paid out and not closed: money is owed.
OWING_STATES = frozenset({ACTIVE, IN_ARREARS})
# The loan takes repayments. Those of a loan that was written off are recovered.
REPAYABLE_STATES = OWING_STATES | {WRITTEN_OFF}
# The loan is not paid out yet: its schedule is a projection and not stored.
UNDISBURSED_STATES = frozenset({PENDING_APPROVAL, APPROVED, DISBURSING})

DISBURSEMENT_PURPOSE = "loan-disbursement"
REPAYMENT_PURPOSE = "loan-repayment"

# Refusals, in order of precedence. Field errors come after them.
UNKNOWN_LOAN = Refusal(INVALID_REQUEST, "Invalid Loan Reference", error_code="loan_not_found")
WRONG_STATE = Refusal(INVALID_REQUEST, "The loan is {state} and cannot be {wanted}", error_code="loan_state")
MORE_THAN_OWED = Refusal(INVALID_REQUEST, "More than is owed on this loan", error_code="more_than_owed")


def refuse_in_state(state: str, wanted: str) -> Refusal:
    """Returns the refusal of a step that the loan's state does not allow. `wanted` is a past participle.
    Contract: loans#process"""
    return WRONG_STATE.fill(state=state, wanted=wanted)


# --- rows -------------------------------------------------------------------------------------------------------


class Loan(Row):
    """A loan with the terms agreed on. Terms never change; settings of the merchant are copied when it is requested."""

    table: ClassVar[str] = "loan"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "state",
        "transfer",
        "aged_to",
        "disbursed_at",
        "closed_at",
        "trail",
        "acts",
        "events",
    )
    coded_columns: ClassVar[tuple[str, ...]] = (
        "loan_id",
        "client_id",
        "state",
        "amount",
        "rate",
        "frequency",
        "period",
        "method",
        "tax_applied",
        "tax_rate",
        "tolerance_days",
        "penalty_rate",
        "transfer",
    )

    loan_id: str
    number: int  # the merchant's running number; lists are ordered by it
    client_id: str
    state: str
    amount: int  # principal, in minor units
    rate: str  # interest in percent, per `frequency`
    frequency: str
    period: int  # number of installments
    method: str  # how installments are computed (terms/loan_schedule.py)
    tax_applied: bool
    tax_rate: str  # percent of the interest
    tolerance_days: int  # days after the due date before an installment is late
    penalty_rate: str  # percent of the overdue principal, per day late
    transfer: str | None  # txnRef of the newest disbursement
    aged_to: date | None  # last day whose penalties are charged; None until the loan is paid out
    created_at: datetime
    disbursed_at: datetime | None
    closed_at: datetime | None
    trail: str  # JSON: state changes with their times
    acts: int = 0  # number of its acts (LoanAct) so far
    events: int = 0  # number of its events so far
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        """Whether the row stays cached: only a disbursing loan is needed again soon, by the bank's answer."""
        return self.state == DISBURSING

    @property
    def terms(self) -> LoanTerms:
        tax = self.tax_rate if self.tax_applied else "0"
        return LoanTerms(self.amount, self.rate, self.frequency, self.period, self.method, tax)


class LoanInstallment(Row):
    """One installment of a loan: what is due and what was paid of it, in minor units."""

    table: ClassVar[str] = "loan_installment"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "principal",
        "interest",
        "tax",
        "penalty",
        "carry",
        "accrued",
        "accrued_on",
        "paid_principal",
        "paid_interest",
        "paid_tax",
        "paid_penalty",
    )

    loan_id: str
    n: int  # from 1
    due: date
    principal: int
    interest: int
    tax: int
    penalty: int = 0  # charged so far
    paid_principal: int = 0
    paid_interest: int = 0
    paid_tax: int = 0
    paid_penalty: int = 0
    carry: int = 0  # fraction of a kobo of penalty that is not charged yet (terms/loan_schedule.py)
    # Set when principal is prepaid within the interval: the interest earned up to then, and the day.
    accrued: int = 0
    accrued_on: date | None = None

    @property
    def is_open(self) -> bool:
        return False

    @property
    def owed(self) -> LoanAmounts:
        return LoanAmounts(
            penalty=self.penalty - self.paid_penalty,
            interest=self.interest - self.paid_interest,
            tax=self.tax - self.paid_tax,
            principal=self.principal - self.paid_principal,
        )


class LoanAct(Row):
    """One act on a loan that was paid out: a repayment or the write-off. With the terms, the acts in their order say
    what the loan is on any day (rules/history.py). Amounts are in minor units."""

    table: ClassVar[str] = "loan_act"
    mutable_columns: ClassVar[tuple[str, ...]] = ("applied", "lost", "is_reversed")

    loan_id: str
    n: int  # from 1
    kind: str  # REPAYMENT_ACT or WRITE_OFF_ACT
    day: date  # business day on which the loan takes it into account
    made_at: datetime
    reference: str  # txnRef of a repayment; "" otherwise
    amount: int  # of a repayment
    applied: int  # the part of it that the loan was given: all but what was not honored or is refunded
    lost: int = 0  # the part of it that disputes and rails took back
    is_reversed: bool = False  # by the merchant

    @property
    def is_open(self) -> bool:
        return False


REPAYMENT_ACT = "repayment"
WRITE_OFF_ACT = "write_off"


def act_key(merchant_id: int, loan_id: str, n: int) -> bytes:
    return row_key(merchant_id, "loan_act", f"{loan_id} {n}")


def record_act(loan: Loan, kind: str, day: date, now: datetime, reference: str = "", amount: int = 0) -> LoanAct:
    """Returns the next act of a loan, whose row then has `count_act`."""
    n = loan.acts + 1
    key = act_key(loan.merchant_id, loan.loan_id, n)
    return LoanAct(key, loan.merchant_id, loan.loan_id, n, kind, day, now, reference, amount, amount)


def count_act(loan: Loan) -> Loan:
    return msgspec.structs.replace(loan, acts=loan.acts + 1)


def need_acts(loan: Loan) -> Needs:
    """Returns the acts of a loan."""
    return Needs(tuple((LoanAct, act_key(loan.merchant_id, loan.loan_id, n)) for n in range(1, loan.acts + 1)))


def loan_key(merchant_id: int, loan_id: str) -> bytes:
    return row_key(merchant_id, "loan", loan_id)


def installment_key(merchant_id: int, loan_id: str, n: int) -> bytes:
    return row_key(merchant_id, "loan_line", f"{loan_id} {n}")


# --- accounts ---------------------------------------------------------------------------------------------------

PARTS = ("principal", "interest", "tax", "penalty")

LENDING_PRINCIPAL = chart.lending("principal", CURRENCY)
LENDING_WRITTEN_OFF = chart.lending("written_off", CURRENCY)
LENDING_OVERPAID = chart.lending("overpaid", CURRENCY)
LENDING_RECOVERED = chart.lending("recovered", CURRENCY)
# The contra account of each part when the client is charged with it, and when it is repaid. Repaid principal returns
# to the account that it was lent from.
AGREED_ACCOUNTS = {
    "principal": LENDING_PRINCIPAL,
    **{part: chart.lending(f"{part}_agreed", CURRENCY) for part in PARTS[1:]},
}
EARNED_ACCOUNTS = {
    "principal": LENDING_PRINCIPAL,
    **{part: chart.lending(f"{part}_earned", CURRENCY) for part in PARTS[1:]},
}
# The contra account of each part when it is waived. Principal is written off, the rest reverses the charge.
WAIVED_ACCOUNTS = {**AGREED_ACCOUNTS, "principal": LENDING_WRITTEN_OFF}
LENDING_ACCOUNTS = tuple(
    dict.fromkeys(
        (
            *AGREED_ACCOUNTS.values(),
            *EARNED_ACCOUNTS.values(),
            LENDING_WRITTEN_OFF,
            LENDING_OVERPAID,
            LENDING_RECOVERED,
        )
    )
)


def loan_account(part: str, loan_id: str) -> str:
    return chart.loan(part, loan_id, CURRENCY)


def need_loan(merchant: Merchant, loan_id: str) -> Needs:
    """Returns the loan, its arrears job and all of its accounts.

    All accounts, whichever a rule uses: another submission of the same batch may have loaded the row, and a rule that
    finds the row must find its accounts too. A string that cannot be a loan id needs no accounts.
    """
    key = loan_key(merchant.merchant_id, loan_id)
    rows: tuple[tuple[type[Row], bytes], ...] = ((Loan, key), (Job, job_key(key)))
    if not is_opaque_id(LOAN_PREFIX, loan_id):
        return Needs(rows)
    return Needs(rows, (*(loan_account(part, loan_id) for part in (*PARTS, "credit")), *LENDING_ACCOUNTS))


def need_installments(loan: Loan) -> Needs:
    """Returns the installments of a loan and its client, whose count of open accounts changes when the loan closes."""
    lines = [installment_key(loan.merchant_id, loan.loan_id, n) for n in range(1, loan.period + 1)]
    client = (Client, client_key(loan.merchant_id, loan.client_id))
    return Needs((client, *((LoanInstallment, key) for key in lines)))


# --- postings ---------------------------------------------------------------------------------------------------


def charge_posts(loan_id: str, parts: LoanAmounts, kind: str) -> tuple[Posting, ...]:
    """Returns the postings that charge the client with parts of a loan."""
    posts = (
        Posting(AGREED_ACCOUNTS[part], loan_account(part, loan_id), getattr(parts, part), f"{part} {kind}")
        for part in PARTS
    )
    return tuple(post for post in posts if post.amount)


def repayment_posts(loan_id: str, parts: LoanAmounts) -> tuple[Posting, ...]:
    """Returns the postings of the parts that a repayment covers."""
    posts = (
        Posting(loan_account(part, loan_id), EARNED_ACCOUNTS[part], getattr(parts, part), f"{part} repaid")
        for part in PARTS
    )
    return tuple(post for post in posts if post.amount)


def waiver_posts(loan_id: str, parts: LoanAmounts, kind: str) -> tuple[Posting, ...]:
    """Returns the postings that waive parts of a loan. They reverse the charge, but principal is written off."""
    posts = (
        Posting(loan_account(part, loan_id), WAIVED_ACCOUNTS[part], getattr(parts, part), f"{part} {kind}")
        for part in PARTS
    )
    return tuple(post for post in posts if post.amount)


def recovery_posts(parts: LoanAmounts) -> tuple[Posting, ...]:
    """Returns the postings of parts that are paid after they were written off."""
    posts = (
        Posting(WAIVED_ACCOUNTS[part], LENDING_RECOVERED, getattr(parts, part), f"{part} recovered") for part in PARTS
    )
    return tuple(post for post in posts if post.amount)


def credit_posts(loan_id: str, amount: int) -> tuple[Posting, ...]:
    """Returns the postings that keep an overpaid amount as the client's credit."""
    return (Posting(LENDING_OVERPAID, loan_account("credit", loan_id), amount, "paid too much"),) if amount else ()


def difference_posts(debit: str, credit: str, difference: int, kinds: tuple[str, str]) -> tuple[Posting, ...]:
    """Returns the posting that moves a difference: from `debit` to `credit` if it is above zero, else back. `kinds`
    are the kinds of the two directions."""
    if difference > 0:
        return (Posting(debit, credit, difference, kinds[0]),)
    return (Posting(credit, debit, -difference, kinds[1]),) if difference else ()
