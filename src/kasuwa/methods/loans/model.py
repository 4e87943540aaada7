"""The rows of loans, and the postings of all that happens to one. The rules are in the other decide files.

What a client owes stands in the loan's own accounts, part by part, above zero: their floor refuses a repayment of more
than is owed. The other side is the merchant's lending as a whole. Cash moves beside it, in the same group.
Contract: loans#request

    paid out        wallet → rail:bank, fees               as every transfer (methods/disburse)
                    lending:principal → loan_principal     the amount
                    lending:interest_agreed → loan_interest    the interest of the whole schedule
                    lending:tax_agreed → loan_tax          the tax on it
    a day late      lending:penalty_agreed → loan_penalty  the penalty of that day, where there is a rate
    repaid          clearing → wallet                      as every payment; nothing where the wallet was paid directly
                    loan_penalty → lending:penalty_earned  each part that the repayment covers
                    loan_interest → lending:interest_earned
                    loan_tax → lending:tax_earned
                    loan_principal → lending:principal
    paid ahead,     loan_interest → lending:interest_agreed    what was agreed and is not asked for any more
    or paid off     loan_tax → lending:tax_agreed
    early           (the other way for a kobo that rounding adds to the schedule computed anew)
    paid too much   lending:overpaid → loan_credit         by a payment under way when the loan was closed
    written off     loan_principal → lending:written_off   all that is left
                    loan_interest, loan_tax, loan_penalty → lending:…_agreed
"""

from datetime import date, datetime
from typing import ClassVar, Final

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Job, Merchant, Needs, Posting, Refusal, Row
from kasuwa.core.loan_interest import LoanAmounts, LoanTerms
from kasuwa.core.references import is_opaque_id, job_key, row_key
from kasuwa.ledger import chart
from kasuwa.methods.clients.model import Client, client_key

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

# Paid out and not closed: money is owed.
OWING_STATES = frozenset({ACTIVE, IN_ARREARS})
# Not paid out: the schedule is what it would be.
UNDISBURSED_STATES = frozenset({PENDING_APPROVAL, APPROVED, DISBURSING})

DISBURSEMENT_PURPOSE = "loan-disbursement"
REPAYMENT_PURPOSE = "loan-repayment"

# Refusals, in order of precedence; after them those of the fields.
UNKNOWN_LOAN = Refusal(INVALID_REQUEST, "Invalid Loan Reference")
MORE_THAN_OWED = Refusal(INVALID_REQUEST, "More than is owed on this loan")


def refuse_in_state(state: str, wanted: str) -> Refusal:
    """A step that the loan's state does not allow. Contract: loans#request"""
    return Refusal(INVALID_REQUEST, f"The loan is {state} and cannot be {wanted}")


# --- rows -------------------------------------------------------------------------------------------------------


class Loan(Row):
    table: ClassVar[str] = "loan"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "transfer", "aged_to", "disbursed_at", "closed_at", "trail")

    loan_id: str
    number: int
    client_id: str
    state: str
    amount: int
    rate: str
    frequency: str
    period: int
    method: str
    tax_applied: bool
    tax_rate: str
    tolerance_days: int
    penalty_rate: str
    transfer: str | None
    aged_to: date | None
    created_at: datetime
    disbursed_at: datetime | None
    closed_at: datetime | None
    trail: str

    @property
    def is_open(self) -> bool:
        """Only while its money is at the bank is a loan wanted again in a moment."""
        return self.state == DISBURSING

    @property
    def terms(self) -> LoanTerms:
        tax = self.tax_rate if self.tax_applied else "0"
        return LoanTerms(self.amount, self.rate, self.frequency, self.period, self.method, tax)


class LoanInstallment(Row):
    """One instalment: what it asks for, and what was paid of it."""

    table: ClassVar[str] = "loan_installment"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        *("principal", "interest", "tax", "penalty", "carry", "accrued", "accrued_on"),
        *("paid_principal", "paid_interest", "paid_tax", "paid_penalty"),
    )

    loan_id: str
    n: int
    due: date
    principal: int
    interest: int
    tax: int
    penalty: int = 0
    paid_principal: int = 0
    paid_interest: int = 0
    paid_tax: int = 0
    paid_penalty: int = 0
    carry: int = 0
    # The interest earned by the last day on which principal was paid ahead within this interval, and that day.
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


def loan_key(merchant_id: int, loan_id: str) -> bytes:
    return row_key(merchant_id, "loan", loan_id)


def installment_key(merchant_id: int, loan_id: str, n: int) -> bytes:
    return row_key(merchant_id, "loan_line", f"{loan_id} {n}")


# --- accounts ---------------------------------------------------------------------------------------------------

PARTS = ("principal", "interest", "tax", "penalty")

LENDING_PRINCIPAL = chart.lending("principal", CURRENCY)
LENDING_WRITTEN_OFF = chart.lending("written_off", CURRENCY)
LENDING_OVERPAID = chart.lending("overpaid", CURRENCY)
# What a part was agreed against, and where it goes when it is paid. Principal comes back to where it was lent from.
AGREED_ACCOUNTS = {
    "principal": LENDING_PRINCIPAL,
    **{part: chart.lending(f"{part}_agreed", CURRENCY) for part in PARTS[1:]},
}
EARNED_ACCOUNTS = {
    "principal": LENDING_PRINCIPAL,
    **{part: chart.lending(f"{part}_earned", CURRENCY) for part in PARTS[1:]},
}
LENDING_ACCOUNTS = tuple(
    dict.fromkeys((*AGREED_ACCOUNTS.values(), *EARNED_ACCOUNTS.values(), LENDING_WRITTEN_OFF, LENDING_OVERPAID))
)


def loan_account(part: str, loan_id: str) -> str:
    return chart.loan(part, loan_id, CURRENCY)


def need_loan(merchant: Merchant, loan_id: str) -> Needs:
    """The loan with its watch and all of its accounts, whatever of them a rule will use: who decides on a row that
    somebody else of the same batch asked for must find its accounts there too. What cannot be a loan's id names no
    account."""
    key = loan_key(merchant.merchant_id, loan_id)
    rows: tuple[tuple[type[Row], bytes], ...] = ((Loan, key), (Job, job_key(key)))
    if not is_opaque_id(LOAN_PREFIX, loan_id):
        return Needs(rows)
    return Needs(rows, (*(loan_account(part, loan_id) for part in (*PARTS, "credit")), *LENDING_ACCOUNTS))


def need_installments(loan: Loan) -> Needs:
    """The loan's children, and its client, who is freed when it closes."""
    lines = [installment_key(loan.merchant_id, loan.loan_id, n) for n in range(1, loan.period + 1)]
    client = (Client, client_key(loan.merchant_id, loan.client_id))
    return Needs((client, *((LoanInstallment, key) for key in lines)))


# --- postings ---------------------------------------------------------------------------------------------------


def charge_posts(loan_id: str, parts: LoanAmounts, kind: str) -> tuple[Posting, ...]:
    """What a client comes to owe."""
    posts = (
        Posting(AGREED_ACCOUNTS[part], loan_account(part, loan_id), getattr(parts, part), f"{part} {kind}")
        for part in PARTS
    )
    return tuple(post for post in posts if post.amount)


def repayment_posts(loan_id: str, parts: LoanAmounts) -> tuple[Posting, ...]:
    """What a repayment covers."""
    posts = (
        Posting(loan_account(part, loan_id), EARNED_ACCOUNTS[part], getattr(parts, part), f"{part} repaid")
        for part in PARTS
    )
    return tuple(post for post in posts if post.amount)


def waiver_posts(loan_id: str, parts: LoanAmounts, kind: str) -> tuple[Posting, ...]:
    """What is not asked for any more: as if it had not been agreed. Principal that is given up is lost."""
    back = {**AGREED_ACCOUNTS, "principal": LENDING_WRITTEN_OFF}
    posts = (Posting(loan_account(part, loan_id), back[part], getattr(parts, part), f"{part} {kind}") for part in PARTS)
    return tuple(post for post in posts if post.amount)


def credit_posts(loan_id: str, amount: int) -> tuple[Posting, ...]:
    return (Posting(LENDING_OVERPAID, loan_account("credit", loan_id), amount, "paid too much"),) if amount else ()
