"""Split payments: how the settled amount is divided between beneficiaries and the merchant.

Contract: payment#split
"""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from kasuwa.core.money import compute_percent, parse_percent

ONE_OF_TWO = "either percentage or share"
PERCENTAGE_REASON = "a percentage above 0, at most 100"
SUM_REASON = "parts that together are at most what is settled"


class SplitShare(msgspec.Struct, frozen=True):
    """One beneficiary's share of a payment: either a percentage or a fixed amount."""

    ref_code: str
    percentage: str | None = None  # of the settled amount
    share: int | None = None  # in minor units


def check_share(part: SplitShare) -> str | None:
    """Returns what is wrong with a share on its own, or None."""
    if (part.percentage is None) == (part.share is None):
        return ONE_OF_TWO
    if part.percentage is not None and not 0 < Fraction(*parse_percent(part.percentage)) <= 1:
        return PERCENTAGE_REASON
    return None


def check_and_split(settled: int, parts: Sequence[SplitShare]) -> tuple[int, ...] | str:
    """Returns the amount of each share in order, or an error text if the shares exceed the settled amount."""
    if sum(exact_share(settled, part) for part in parts) > settled:
        return SUM_REASON
    return split_amount(settled, parts)


def split_amount(settled: int, parts: Sequence[SplitShare]) -> tuple[int, ...]:
    """Returns the amount of each share in order, rounded half up and never more than what is left.

    So neither rounding nor a tariff that changed since the split was agreed can distribute more than was settled. The
    remainder is the merchant's.
    """
    amounts: list[int] = []
    for part in parts:
        wanted = part.share if part.percentage is None else compute_percent(settled, part.percentage)
        amounts.append(min(wanted or 0, settled - sum(amounts)))
    return tuple(amounts)


def exact_share(settled: int, part: SplitShare) -> Fraction:
    if part.percentage is None:
        return Fraction(part.share or 0)
    return Fraction(*parse_percent(part.percentage)) * settled
