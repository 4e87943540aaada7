"""Provisions: what a merchant sets aside for the loss of a loan, by the days that the loan is late.

The lending setting `provision_rates` has a percentage of the principal for each bucket of days late. The arrears check
posts what is more or less than before, in the night after the loan changed or entered another bucket. So a night costs
as much as there are such loans, and a loan that stays as it is costs nothing. What is set aside for a loan is released
at once when the loan is repaid or written off.

Contract: loans#provisions
"""

from datetime import date, timedelta

import msgspec

from kasuwa.core.decision import Context, Posting
from kasuwa.ledger import chart
from kasuwa.methods.loans.model import LENDING_PROVISIONS, OWING_STATES, Loan, difference_posts
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.terms.loan_schedule import BUCKETS_FROM, LendingSettings, find_bucket, late_on, parse_rate, share_half_up


class ProvidedLoan(msgspec.Struct, frozen=True):
    """A loan with another provision, and the postings of the difference."""

    loan: Loan
    posts: tuple[Posting, ...]


def count_days_late(position: LoanPosition) -> int:
    """Returns the days since the oldest due date that is not fully paid, 0 within the tolerance. Penalties are left
    out: a loan is as late as its schedule."""
    since = oldest_unpaid(position)
    if since is None or position.day < late_on(since, position.loan.tolerance_days):
        return 0
    return (position.day - since).days


def oldest_unpaid(position: LoanPosition) -> date | None:
    return next((line.due for line in position.lines if line.paid < line.asked), None)


def compute_provision(position: LoanPosition, lending: LendingSettings) -> int:
    """Returns what is to be set aside for a loan."""
    if position.loan.state not in OWING_STATES or not lending.provision_rates:
        return 0
    rate = lending.provision_rates[find_bucket(count_days_late(position))]
    return share_half_up(position.owed.principal, parse_rate(rate))


def set_provision(loan: Loan, provision: int) -> ProvidedLoan:
    """Returns the loan with another provision. Only the difference is posted."""
    own, kinds = chart.loan_provision(loan.loan_id), ("provision raised", "provision released")
    posts = difference_posts(LENDING_PROVISIONS, own, provision - loan.provision, kinds)
    return ProvidedLoan(msgspec.structs.replace(loan, provision=provision), posts)


def release_provision(loan: Loan) -> ProvidedLoan:
    """Returns the loan without its provision if it owes nothing any more, else as it is."""
    return set_provision(loan, loan.provision if loan.state in OWING_STATES else 0)


def next_check_on(position: LoanPosition, context: Context) -> date | None:
    """Returns the next day on which the loan or its provision changes by time alone, or None. A loan that was written
    off does not change, although its installments are as they were."""
    if position.loan.state not in OWING_STATES:
        return None
    days = (position.next_change_on, next_provision_on(position, context.merchant.terms(LendingSettings)))
    return min((day for day in days if day is not None), default=None)


def next_provision_on(position: LoanPosition, lending: LendingSettings) -> date | None:
    """Returns the day on which the provision of a loan is computed anew: tomorrow if it is not what it should be, else
    when the loan enters another bucket."""
    if compute_provision(position, lending) != position.loan.provision:
        return position.day + timedelta(days=1)
    since = oldest_unpaid(position)
    if since is None or not lending.provision_rates:
        return None
    late = late_on(since, position.loan.tolerance_days)
    days = (max(late, since + timedelta(days=days)) for days in BUCKETS_FROM)
    return next((day for day in days if day > position.day), None)
