"""Interest as it is said and told on the wire, and the figures that explain a dry run: loans and savings alike."""

from typing import Literal

import msgspec
from msgspec import field

from kasuwa.core.fields import PercentRate

Frequency = Literal["annualized", "every_month", "every_four_weeks", "every_week", "every_day"]


class InterestSettings(msgspec.Struct, kw_only=True):
    """`interestRate` is percent per the interval that interestFrequency names."""

    interest_rate: PercentRate = field(name="interestRate")
    interest_frequency: Frequency = field(name="interestFrequency")


class InterestReply(msgspec.Struct):
    interest_rate: str = field(name="interestRate")
    interest_frequency: Frequency = field(name="interestFrequency")


class DryRunFigure(msgspec.Struct):
    """One figure of what would happen, and how it came about."""

    what: str
    amount: str
    how: str
