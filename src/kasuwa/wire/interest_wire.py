"""Wire structs that loans and savings share: interest settings, and the figures of a dry run."""

from typing import Literal

import msgspec
from msgspec import field

from kasuwa.wire.fields import PercentRate

Frequency = Literal["annualized", "every_month", "every_four_weeks", "every_week", "every_day"]


class InterestSettings(msgspec.Struct, kw_only=True):
    """An interest rate: `interestRate` percent per interval of `interestFrequency`."""

    interest_rate: PercentRate = field(name="interestRate")
    "Interest in percent per interval of `interestFrequency`."
    interest_frequency: Frequency = field(name="interestFrequency")
    "The interval that the rate is for; `annualized` means a year."


class InterestReply(msgspec.Struct):
    """An interest rate as it was agreed: `interestRate` percent per interval of `interestFrequency`."""

    interest_rate: str = field(name="interestRate")
    "Interest in percent per interval of `interestFrequency`."
    interest_frequency: Frequency = field(name="interestFrequency")
    "The interval that the rate is for; `annualized` means a year."


class DryRunFigure(msgspec.Struct):
    """One figure of a dry run, and how it was calculated."""

    what: str
    "Name of the figure."
    amount: str
    "Its value: money in naira unless `how` names another currency, or a word such as a state."
    how: str
    "How the value was calculated, in words."
