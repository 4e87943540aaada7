"""The rolling reserve of a merchant: a part of each payment that is kept back for some days."""

import msgspec

from kasuwa.core.money import compute_percent, parse_percent

MAX_RESERVE_DAYS = 365


class ReserveTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """Terms of a rolling reserve. Zero percent or zero days: there is none."""

    percent: str = "0"  # of what the payer was charged
    days: int = 0  # calendar days until it is released

    @property
    def is_active(self) -> bool:
        return self.days > 0 and self.percent != "0"


NO_RESERVE = ReserveTerms()


def check_reserve(terms: ReserveTerms) -> None:
    """Raises ValueError if the terms are invalid."""
    if not 0 <= terms.days <= MAX_RESERVE_DAYS:
        raise ValueError(f"reserve: the days must be 0 to {MAX_RESERVE_DAYS}")
    try:
        numerator, denominator = parse_percent(terms.percent)
    except ArithmeticError:
        raise ValueError(f"reserve: {terms.percent!r} is no percentage") from None
    if not 0 <= numerator <= denominator:
        raise ValueError("reserve: the percentage must be 0 to 100")


def reserve_part(terms: ReserveTerms, charged: int, rest: int) -> int:
    """Returns the part of a payment that is kept back: a percentage of what the payer was charged, at most the rest
    that the merchant gets of it."""
    return min(rest, compute_percent(charged, terms.percent)) if terms.is_active else 0
