"""Request and reply of the portfolio. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#portfolio
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from kasuwa.wire.fields import LagosDate


class PortfolioRequest(msgspec.Struct, kw_only=True):
    """Asks for all loans of a day together."""

    as_of: LagosDate | None = None
    "The day, at whose end the loans are counted. Not later than today. Default: today, as it is now."
    by: Literal["officer", "branch", "product"] | None = None
    "Counts also by what loans were requested with: `officer`, `branch` or `product`."


class PortfolioBucket(msgspec.Struct, kw_only=True):
    """The loans that are late by about as many days."""

    days_late: Literal["0", "1-30", "31-60", "61-90", "91-180", "181+"]
    """Days since the oldest due date that is not fully paid. `0`: nothing is late, because nothing is due and unpaid
    or because the tolerance of the loan is not over. Penalties do not count."""
    loans: int
    "Number of loans."
    principal: str
    "Principal that they owe, in naira."
    share: str
    "That principal in percent of all principal, with two decimals."


class PortfolioAtRisk(msgspec.Struct, kw_only=True):
    """The principal of loans that are late."""

    principal: str
    "Principal that late loans owe, in naira, also what is not due yet."
    share: str
    "That principal in percent of all principal, with two decimals."


class PortfolioGroup(msgspec.Struct, kw_only=True):
    """The loans of one officer, branch or product."""

    name: str | None
    "The officer or branch, or the `product_id`, as in the requests of the loans. Null: the loans that name none."
    loans: int
    "Number of loans that owe something."
    principal: str
    "Principal that they owe, in naira."
    par1: PortfolioAtRisk
    "Of these, loans that are at least 1 day late."
    par30: PortfolioAtRisk
    "Of these, loans that are more than 30 days late."
    par90: PortfolioAtRisk
    "Of these, loans that are more than 90 days late."


class PortfolioPeriod(msgspec.Struct, kw_only=True):
    """The month up to the day."""

    first_day: str = msgspec.field(name="from")
    "First day of the month, as YYYY-MM-DD."
    last_day: str = msgspec.field(name="to")
    "The day, as YYYY-MM-DD."
    amount_due: str
    "Sum of the installments that were due in the period, in naira, without penalties."
    paid_of_due: str
    "Part of `amount_due` that was paid by the end of the day, in naira."
    collected: str
    """Repayments of the period, in naira: of what was due, of what was late before, ahead of time, and penalties.
    Less what was reversed in the period. What was recovered after a write-off is in `recovered`."""
    written_off: str
    "What was written off in the period, in naira: principal, interest, tax and penalties."
    recovered: str
    "What was paid in the period of loans that had been written off, in naira."


class PortfolioExpected(msgspec.Struct, kw_only=True):
    """Amounts owed of installments, without penalties."""

    overdue: str
    "Owed of installments that were due up to the day, in naira."
    days_7: str
    "Owed of installments that are due in the 7 days after the day, in naira."
    days_30: str
    "Owed of installments that are due in the 30 days after the day, in naira."


class Portfolio(msgspec.Struct, kw_only=True):
    """All loans of a day together."""

    as_of: str
    "The day, as YYYY-MM-DD."
    currency: Literal["NGN"] = "NGN"
    "Currency of all amounts."
    loans: int
    "Number of loans that were paid out and owe something."
    principal: str
    "Principal that they owe, in naira."
    buckets: list[PortfolioBucket]
    "The loans by days late. All six buckets, also empty ones."
    par1: PortfolioAtRisk
    "Loans that are at least 1 day late."
    par30: PortfolioAtRisk
    "Loans that are more than 30 days late."
    par90: PortfolioAtRisk
    "Loans that are more than 90 days late."
    period: PortfolioPeriod
    "What happened from the first day of the month up to the day."
    expected: PortfolioExpected
    "What installments still ask for: those that are due already, and those of the next days."
    groups: list[PortfolioGroup] | UnsetType = UNSET
    """The loans by officer, branch or product: the 200 with the most principal, the largest first. Present if the
    request has `by`."""
    provision: str
    """Set aside for losses at the end of the day, in naira, by your lending setting `provision_rates`. It follows a
    change in the night after it."""


class PortfolioReply(msgspec.Struct, kw_only=True):
    """The portfolio of a day."""

    status: Literal[200] = 200
    "200."
    data: Portfolio
    "The portfolio."
