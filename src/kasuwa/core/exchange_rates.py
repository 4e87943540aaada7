"""Exchange between NGN and another currency at the operator's rates, through position accounts. (Contract: #fx)

Whoever takes another currency out of NGN pays the sell rate, rounded up; whoever gives it back gets the buy rate,
rounded down. As the operator never buys dearer than it sells, a round trip never earns.
"""

import msgspec

from kasuwa.core.money import CURRENCIES, MINOR_PER_MAJOR, parse_minor

HOME = "NGN"
FOREIGN = tuple(currency for currency in CURRENCIES if currency != HOME)


class ExchangeRate(msgspec.Struct, frozen=True):
    """Kobo for one whole unit of the other currency: `buy` is what the operator pays, `sell` what it asks."""

    buy: int
    sell: int


def kobo_to_buy(rate: ExchangeRate, minor: int) -> int:
    """The kobo that so much of the other currency costs."""
    return -(-minor * rate.sell // MINOR_PER_MAJOR)


def kobo_from_sale(rate: ExchangeRate, minor: int) -> int:
    """The kobo that so much of the other currency brings."""
    return minor * rate.buy // MINOR_PER_MAJOR


def foreign_to_raise(rate: ExchangeRate, kobo: int) -> int:
    """The least of the other currency that brings so many kobo."""
    return -(-kobo * MINOR_PER_MAJOR // rate.buy)


def read_rate(currency: str, buy: str, sell: str) -> ExchangeRate | dict[str, str]:
    """The rate that an operator means, or what is wrong with it by field."""
    bought, sold = parse_minor(buy), parse_minor(sell)
    faults = {} if currency in FOREIGN else {"currency": f"must be one of {', '.join(FOREIGN)}"}
    faults |= {
        field: "must be figures above zero with at most two decimals"
        for field, minor in (("buy", bought), ("sell", sold))
        if not minor
    }
    if bought and sold and sold < bought:
        faults["sell"] = "must not be below buy: a round trip would earn"
    return faults or ExchangeRate(bought or 0, sold or 0)
