"""What each beneficiary of a split payment gets of what is settled, and what stays the merchant's

Contract: payment#split
"""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from kasuwa.core.money import fraction_of, percent_of

ONE_OF_TWO = "either percentage or share"
PERCENTAGE_REASON = "a percentage above 0, at most 100"
SUM_REASON = "parts that together are at most what is settled"


class SplitShare(msgspec.Struct, frozen=True):
    """One beneficiary's part: a `percentage` of what is settled, or a `share` as an amount in minor units."""

    ref_code: str
    percentage: str | None = None
    share: int | None = None


def check_share(part: SplitShare) -> str | None:
    """What is wrong with a part on its own, if anything is."""
    if (part.percentage is None) == (part.share is None):
        return ONE_OF_TWO
    if part.percentage is not None and not 0 < Fraction(*fraction_of(part.percentage)) <= 1:
        return PERCENTAGE_REASON
    return None


def check_and_split(settled: int, parts: Sequence[SplitShare]) -> tuple[int, ...] | str:
    """The amounts of the parts in order, or what is wrong with them."""
    if sum(exact_part(settled, part) for part in parts) > settled:
        return SUM_REASON
    return split_amount(settled, parts)


def split_amount(settled: int, parts: Sequence[SplitShare]) -> tuple[int, ...]:
    """Each is rounded half up and never more than what is left, so that nothing can take more than there is: not
    rounding, nor a tariff that has changed since the parts were agreed. What then remains is the merchant's.
    """
    amounts: list[int] = []
    for part in parts:
        wanted = part.share if part.percentage is None else percent_of(settled, part.percentage)
        amounts.append(min(wanted or 0, settled - sum(amounts)))
    return tuple(amounts)


def exact_part(settled: int, part: SplitShare) -> Fraction:
    if part.percentage is None:
        return Fraction(part.share or 0)
    return Fraction(*fraction_of(part.percentage)) * settled
