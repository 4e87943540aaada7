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

Accounts. Each loan has one account for each part that its client owes (principal, interest, tax, penalty, charge, vat)
and one for the client's credit. Balances are what is owed, and their floor of zero refuses a repayment of more than is
owed. The contra accounts `lending:…` are the merchant's, for all loans together. Cash postings go into the same group.

    paid out        wallet → rail:bank, fees               as for every transfer (methods/disburse)
                    lending:principal → loan_principal     the amount
                    lending:interest_agreed → loan_interest    the interest of the whole schedule
                    lending:tax_agreed → loan_tax          the tax on it
                    lending:charge_agreed → loan_charge    the charges of the whole schedule
                    lending:vat_agreed → loan_vat          the VAT on them
                    loan_charge → lending:charge_earned    those that are deducted: the transfer is less by them,
                    loan_vat → lending:vat_earned          and all of the principal is owed
    charged         lending:charge_agreed → loan_charge    a charge made later, or of an installment that is late
                    lending:vat_agreed → loan_vat          its VAT
    waived          loan_charge → lending:charge_agreed    a charge with its VAT, penalties, or interest with its tax
                    (loan_vat, loan_penalty, loan_interest, loan_tax alike)
    a day late      lending:penalty_agreed → loan_penalty  the penalty of that day, if there is a penalty rate
    repaid          clearing → wallet                      as for every payment; none if repaid from the wallet
                    loan_penalty → lending:penalty_earned  each part that the repayment covers
                    loan_interest → lending:interest_earned
                    loan_tax → lending:tax_earned
                    loan_charge → lending:charge_earned
                    loan_vat → lending:vat_earned
                    loan_principal → lending:principal
    prepaid, or     loan_interest → lending:interest_agreed    interest and tax that are no longer due,
    paid off        loan_tax → lending:tax_agreed              charges and their VAT alike
    early           (reversed for a kobo that rounding adds to the recomputed schedule)
    capitalized     loan_interest → lending:interest_earned    interest, tax and charges that become principal: earned,
                    (loan_tax, loan_charge, loan_vat alike)    and lent again
                    lending:principal → loan_principal
    overpaid        lending:overpaid → loan_credit         by a payment that was pending when the loan was closed
    reversed        the differences of all of the above to what they would be without the repayment (rules/reverse.py)
    a night         lending:provisions → provision         what is set aside for it, more or less than before
    written off     loan_principal → lending:written_off   all that is left, or what is due of the parts that are named
                    loan_interest, loan_tax, loan_penalty, loan_charge, loan_vat → lending:…_agreed
    recovered       lending:written_off → lending:recovered    what is paid of a loan that was written off
                    lending:…_agreed → lending:recovered

Contract: loans#request
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import ClassVar, Final

import msgspec

from kasuwa.core.callers import Caller
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Job, LoadedRows, Merchant, Needs, Posting, Refusal, Row
from kasuwa.core.references import is_opaque_id, job_key, row_key
from kasuwa.ledger import chart
from kasuwa.ledger.posting_kinds import LOAN_PARTS
from kasuwa.methods.clients.model import Client, client_key
from kasuwa.terms.loan_charges import AgreedTerms, LineCharge, read_line_charges, read_renewed, read_terms
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
        "provision",
        "write_offs",
        "guarantees",
        "collaterals",
        "renewed",
        "extra",
        "reschedules",
        "topped_up_by",
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
    # A loan without such terms has the code that it had before there were any.
    coded_parts: ClassVar[Mapping[str, str]] = {
        "rate": "rate || agreed || case renewed when '' then '' else '|' || renewed end"
    }

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
    provision: int = 0  # set aside for its loss (rules/provision.py)
    officer: str = ""  # who answers for it among the merchant's people; "" if nobody was named
    branch: str = ""  # where it was made; "" if no branch was named
    write_offs: int = 0  # number of its write-offs so far that had to wait (LoanWriteOff)
    guarantees: int = 0  # number of its guarantees so far (guarantee_model.py)
    collaterals: int = 0  # number of its pieces of collateral so far
    agreed: str = ""  # what else was agreed (AgreedTerms), as JSON; "" if nothing was
    product: str = ""  # the product that its terms were copied from; "" if it has none
    renewed: str = ""  # the terms since its newest reschedule (RenewedTerms), as JSON; "" if there was none
    extra: int = 0  # number of installments that reschedules have added
    reschedules: int = 0  # number of its reschedules so far (LoanSchedule)
    topped_up_by: str = ""  # the newest loan that is to pay it off; "" if there is none
    group_id: str = ""  # the group whose member borrows it (methods/groups); "" for a loan of nobody else
    group_loan_id: str = ""  # the loan of the group that it is a part of; "" if it is of none
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        """Whether the row stays cached: only a disbursing loan is needed again soon, by the bank's answer."""
        return self.state == DISBURSING

    @property
    def terms(self) -> LoanTerms:
        tax = self.tax_rate if self.tax_applied else "0"
        grace = self.agreed_terms.grace
        return LoanTerms(self.amount, self.current_rate, self.frequency, self.period, self.method, tax, grace)

    @property
    def current_rate(self) -> str:
        return read_renewed(self.renewed).rate or self.rate

    @property
    def installments(self) -> int:
        """The number of its installments, with those that reschedules have added."""
        return self.period + self.extra

    @property
    def coded_rate(self) -> str:
        return self.rate + self.agreed + (f"|{self.renewed}" if self.renewed else "")

    @property
    def agreed_terms(self) -> AgreedTerms:
        return read_terms(self.agreed)


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
        "versions",
        "lost_principal",
        "lost_interest",
        "lost_tax",
        "lost_penalty",
        "charges",
        "charge",
        "vat",
        "paid_charge",
        "paid_vat",
        "lost_charge",
        "lost_vat",
        "due",
        "starts",
        "span",
        "grace",
        "grown",
        "deferred",
        "pending",
        "pending_tax",
        "capital_interest",
        "capital_tax",
        "capital_charge",
        "capital_vat",
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
    versions: int = 0  # number of its rows of what it was (LoanInstallmentVersion)
    # Written off of a loan that went on, and not recovered. A loan that is written off whole has none.
    lost_principal: int = 0
    lost_interest: int = 0
    lost_tax: int = 0
    lost_penalty: int = 0
    charges: str = ""  # its charges (LineCharge), as JSON; "" if it has none
    charge: int = 0  # their sum, without their VAT and without what was waived
    vat: int = 0  # the sum of their VAT
    paid_charge: int = 0
    paid_vat: int = 0
    lost_charge: int = 0
    lost_vat: int = 0
    # Its interval, if the due dates of the terms do not say it: the first day, and the days that the rate is for.
    starts: date | None = None
    span: int = 0
    grace: str = ""  # what is left out of it (terms/loan_schedule.py); "" if it has no grace
    grown: int = 0  # interest of its interval that later installments ask for
    deferred: int = 0  # the part of `interest` that grew in earlier intervals
    # Interest of its interval that becomes principal on the due date, and the tax on it. The principal of later
    # installments includes it, and the accounts have it as interest and tax until then.
    pending: int = 0
    pending_tax: int = 0
    # What of it became principal of later installments. It is not part of the amounts above.
    capital_interest: int = 0
    capital_tax: int = 0
    capital_charge: int = 0
    capital_vat: int = 0

    @property
    def is_open(self) -> bool:
        return False

    @property
    def asked(self) -> int:
        """The amount that it asks for without its penalty, and without what was written off of it."""
        lost = self.lost_principal + self.lost_interest + self.lost_tax + self.lost_charge + self.lost_vat
        return self.principal + self.interest + self.tax + self.charge + self.vat - lost

    @property
    def paid(self) -> int:
        """The amount that was paid of it without its penalty."""
        return self.paid_principal + self.paid_interest + self.paid_tax + self.paid_charge + self.paid_vat

    @property
    def its_charges(self) -> tuple[LineCharge, ...]:
        return read_line_charges(self.charges)

    @property
    def owed(self) -> LoanAmounts:
        """The amounts owed of it, as the accounts have them: less principal than nothing, and more interest, as long as
        its interest is to become principal."""
        return LoanAmounts(
            penalty=self.penalty - self.paid_penalty - self.lost_penalty,
            charge=self.charge - self.paid_charge - self.lost_charge,
            vat=self.vat - self.paid_vat - self.lost_vat,
            interest=self.interest - self.paid_interest - self.lost_interest + self.pending,
            tax=self.tax - self.paid_tax - self.lost_tax + self.pending_tax,
            principal=self.principal - self.paid_principal - self.lost_principal - self.pending - self.pending_tax,
        )

    @property
    def capitalized(self) -> LoanAmounts:
        """The amounts that became principal of later installments, by what they were."""
        return LoanAmounts(
            charge=self.capital_charge, vat=self.capital_vat, interest=self.capital_interest, tax=self.capital_tax
        )

    @property
    def lost(self) -> LoanAmounts:
        return LoanAmounts(
            penalty=self.lost_penalty,
            charge=self.lost_charge,
            vat=self.lost_vat,
            interest=self.lost_interest,
            tax=self.lost_tax,
            principal=self.lost_principal,
        )


class LoanInstallmentVersion(Row):
    """An installment as it was until it changed, without its penalty. Portfolios of past days are read from these."""

    table: ClassVar[str] = "loan_installment_version"

    loan_id: str
    n: int  # number of the installment
    version: int  # from 1
    until: datetime  # when it changed
    due: date
    asked: int  # principal, interest and tax, charges with their VAT, in minor units
    paid: int  # the part of it that was paid

    @property
    def is_open(self) -> bool:
        return False


def changed_installments(
    before: tuple[LoanInstallment, ...], after: tuple[LoanInstallment, ...], now: datetime
) -> tuple[Row, ...]:
    """Returns the rows of the installments that changed, and what they were before, unless it is the penalty alone
    that changed."""
    rows: list[Row] = []
    for was, line in zip(before, after, strict=True):
        if (was.asked, was.paid, was.due) != (line.asked, line.paid, line.due):
            rows += keep_version(was, line, now)
        elif line != was:
            rows.append(line)
    return tuple(rows)


def keep_version(was: LoanInstallment, line: LoanInstallment, now: datetime) -> tuple[Row, ...]:
    version = was.versions + 1
    key = row_key(was.merchant_id, "loan_line_version", f"{was.loan_id} {was.n} {version}")
    place = was.merchant_id, was.loan_id, was.n, version
    former = LoanInstallmentVersion(key, *place, now, was.due, was.asked, was.paid)
    return msgspec.structs.replace(line, versions=version), former


class LoanAct(Row):
    """One act on a loan that was paid out: a repayment, a charge, a waiver, a write-off, a reschedule or a
    top-up. With the terms, the acts in their order say what the loan is on any day (rules/history.py). Amounts are in
    minor units."""

    table: ClassVar[str] = "loan_act"
    mutable_columns: ClassVar[tuple[str, ...]] = ("applied", "lost", "is_reversed")

    loan_id: str
    n: int  # from 1
    kind: str  # REPAYMENT_ACT, GUARANTEE_ACT, CHARGE_ACT, WAIVER_ACT, WRITE_OFF_ACT, RESCHEDULE_ACT or TOP_UP_ACT
    day: date  # business day on which the loan takes it into account
    made_at: datetime
    reference: str  # txnRef of a repayment; "" otherwise
    amount: int  # of a repayment, of a charge without its VAT, or waived
    applied: int  # the part of it that the loan was given: all but what was not honored or is refunded
    lost: int = 0  # the part of it that disputes and rails took back
    is_reversed: bool = False  # by the merchant
    parts: str = ""  # of a write-off after which the loan goes on: the parts that it names, by commas
    # Of a charge, the LineCharge as JSON; of a waiver, its charge_id, or `penalty` or `interest`; of a reschedule, the
    # RescheduleTerms as JSON; of a top-up, what the payoff had grown since it was quoted.
    content: str = ""

    @property
    def is_open(self) -> bool:
        return False


REPAYMENT_ACT = "repayment"
GUARANTEE_ACT = "guarantee"  # a repayment out of savings that guarantee the loan
CHARGE_ACT = "charge"
WAIVER_ACT = "waiver"
WRITE_OFF_ACT = "write_off"
RESCHEDULE_ACT = "reschedule"
TOP_UP_ACT = "top_up"  # a repayment by a new loan of the client


def act_key(merchant_id: int, loan_id: str, n: int) -> bytes:
    return row_key(merchant_id, "loan_act", f"{loan_id} {n}")


def record_act(
    loan: Loan, kind: str, day: date, now: datetime, reference: str = "", amount: int = 0, parts: str = ""
) -> LoanAct:
    """Returns the next act of a loan, whose row then has `count_act`."""
    n = loan.acts + 1
    key = act_key(loan.merchant_id, loan.loan_id, n)
    return LoanAct(key, loan.merchant_id, loan.loan_id, n, kind, day, now, reference, amount, amount, parts=parts)


def read_parts(act: LoanAct) -> tuple[str, ...]:
    """Returns the parts that a write-off names, or none if all of the loan was written off."""
    return tuple(act.parts.split(",")) if act.parts else ()


def count_act(loan: Loan) -> Loan:
    return msgspec.structs.replace(loan, acts=loan.acts + 1)


def need_acts(loan: Loan) -> Needs:
    """Returns the acts of a loan."""
    return Needs(tuple((LoanAct, act_key(loan.merchant_id, loan.loan_id, n)) for n in range(1, loan.acts + 1)))


class LoanSchedule(Row):
    """The schedule that a loan had until it was rescheduled. It is only shown."""

    table: ClassVar[str] = "loan_schedule"

    loan_id: str
    n: int  # from 1
    until: datetime  # when the loan was rescheduled
    rate: str  # that it had
    reason: str  # of the reschedule
    lines: str  # its installments as JSON, as replies show them

    @property
    def is_open(self) -> bool:
        return False


def schedule_key(merchant_id: int, loan_id: str, n: int) -> bytes:
    return row_key(merchant_id, LoanSchedule.table, f"{loan_id} {n}")


class LoanWriteOff(Row):
    """A write-off that waits, or waited, for the approval of another party:

    waiting ──> approved    another party approved it: the loan is written off
            └─> rejected    the loan is as before

    Only the newest of a loan can be decided, and only for 72 hours.
    """

    table: ClassVar[str] = "loan_write_off"
    coded_columns: ClassVar[tuple[str, ...]] = ("loan_id", "n", "state", "amount", "detail", "expires_at", "decided_by")
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "detail", "decided_by", "decided_at", "row_code")

    loan_id: str
    n: int  # from 1
    state: str
    amount: int  # what would have been written off when it was proposed, in minor units
    detail: str  # a WriteOffDetail
    created_at: datetime
    expires_at: datetime
    decided_by: str = ""  # as people read it: a key or an email address
    decided_at: datetime | None = None
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


class WriteOffDetail(msgspec.Struct, frozen=True):
    """The maker of a write-off that waits, the parts that it names, the reason, and what the loan had behind it."""

    maker: Caller
    parts: tuple[str, ...]
    reason: str
    acts: int  # number of the acts of the loan when it was proposed
    applied: int  # what the loan had been given by them


WRITE_OFF_DETAIL_DECODER: "msgspec.json.Decoder[WriteOffDetail]" = msgspec.json.Decoder(WriteOffDetail)

WAITING = "waiting"
PROPOSAL_APPROVED = "approved"
PROPOSAL_REJECTED = "rejected"


def write_off_key(merchant_id: int, loan_id: str, n: int) -> bytes:
    return row_key(merchant_id, LoanWriteOff.table, f"{loan_id} {n}")


def loan_key(merchant_id: int, loan_id: str) -> bytes:
    return row_key(merchant_id, "loan", loan_id)


def installment_key(merchant_id: int, loan_id: str, n: int) -> bytes:
    return row_key(merchant_id, "loan_line", f"{loan_id} {n}")


# --- accounts ---------------------------------------------------------------------------------------------------

LENDING_PRINCIPAL = chart.lending("principal", CURRENCY)
LENDING_WRITTEN_OFF = chart.lending("written_off", CURRENCY)
LENDING_OVERPAID = chart.lending("overpaid", CURRENCY)
LENDING_RECOVERED = chart.lending("recovered", CURRENCY)
LENDING_PROVISIONS = chart.lending("provisions", CURRENCY)
# The contra account of each part when the client is charged with it, and when it is repaid. Repaid principal returns
# to the account that it was lent from.
AGREED_ACCOUNTS = {
    "principal": LENDING_PRINCIPAL,
    **{part: chart.lending(f"{part}_agreed", CURRENCY) for part in LOAN_PARTS[1:]},
}
EARNED_ACCOUNTS = {
    "principal": LENDING_PRINCIPAL,
    **{part: chart.lending(f"{part}_earned", CURRENCY) for part in LOAN_PARTS[1:]},
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
            LENDING_PROVISIONS,
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
    own = (*(loan_account(part, loan_id) for part in (*LOAN_PARTS, "credit")), chart.loan_provision(loan_id))
    return Needs(rows, (*own, *LENDING_ACCOUNTS))


def need_installments(loan: Loan) -> Needs:
    """Returns the installments of a loan and its client, whose count of open accounts changes when the loan closes."""
    lines = [installment_key(loan.merchant_id, loan.loan_id, n) for n in range(1, loan.installments + 1)]
    client = (Client, client_key(loan.merchant_id, loan.client_id))
    return Needs((client, *((LoanInstallment, key) for key in lines)))


def find_installments(loan: Loan, rows: LoadedRows) -> tuple[LoanInstallment, ...] | None:
    """Returns the loan's installments, or None if they are not loaded yet."""
    lines = []
    for n in range(1, loan.installments + 1):
        key = installment_key(loan.merchant_id, loan.loan_id, n)
        if not rows.is_loaded(key):
            return None
        lines.append(rows.get(LoanInstallment, key))
    return tuple(line for line in lines if line is not None)


# --- postings ---------------------------------------------------------------------------------------------------


def charge_posts(loan_id: str, parts: LoanAmounts, kind: str) -> tuple[Posting, ...]:
    """Returns the postings that charge the client with parts of a loan."""
    posts = (
        Posting(AGREED_ACCOUNTS[part], loan_account(part, loan_id), getattr(parts, part), f"{part} {kind}")
        for part in LOAN_PARTS
    )
    return tuple(post for post in posts if post.amount)


def repayment_posts(loan_id: str, parts: LoanAmounts, kind: str = "repaid") -> tuple[Posting, ...]:
    """Returns the postings of the parts that a repayment covers, or that are deducted from the payout."""
    posts = (
        Posting(loan_account(part, loan_id), EARNED_ACCOUNTS[part], getattr(parts, part), f"{part} {kind}")
        for part in LOAN_PARTS
    )
    return tuple(post for post in posts if post.amount)


def waiver_posts(loan_id: str, parts: LoanAmounts, kind: str) -> tuple[Posting, ...]:
    """Returns the postings that waive parts of a loan. They reverse the charge, but principal is written off."""
    posts = (
        Posting(loan_account(part, loan_id), WAIVED_ACCOUNTS[part], getattr(parts, part), f"{part} {kind}")
        for part in LOAN_PARTS
    )
    return tuple(post for post in posts if post.amount)


def recovery_posts(parts: LoanAmounts) -> tuple[Posting, ...]:
    """Returns the postings of parts that are paid after they were written off."""
    posts = (
        Posting(WAIVED_ACCOUNTS[part], LENDING_RECOVERED, getattr(parts, part), f"{part} recovered")
        for part in LOAN_PARTS
    )
    return tuple(post for post in posts if post.amount)


def capital_posts(loan_id: str, parts: LoanAmounts) -> tuple[Posting, ...]:
    """Returns the postings that make principal of parts of a loan."""
    if not parts.total:
        return ()
    lent = Posting(LENDING_PRINCIPAL, loan_account("principal", loan_id), parts.total, "principal capitalized")
    return (*repayment_posts(loan_id, parts, "capitalized"), lent)


def credit_posts(loan_id: str, amount: int) -> tuple[Posting, ...]:
    """Returns the postings that keep an overpaid amount as the client's credit."""
    return (Posting(LENDING_OVERPAID, loan_account("credit", loan_id), amount, "paid too much"),) if amount else ()


def difference_posts(debit: str, credit: str, difference: int, kinds: tuple[str, str]) -> tuple[Posting, ...]:
    """Returns the posting that moves a difference: from `debit` to `credit` if it is above zero, else back. `kinds`
    are the kinds of the two directions."""
    if difference > 0:
        return (Posting(debit, credit, difference, kinds[0]),)
    return (Posting(credit, debit, -difference, kinds[1]),) if difference else ()
