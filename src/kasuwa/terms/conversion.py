"""Exchange between NGN and another currency at the operator's rates, through position accounts.

Buying foreign currency costs the sell rate, rounded up. Selling it yields the buy rate, rounded down. The buy rate is
never above the sell rate, so a round trip never earns.

Contract: #fx
"""

from collections.abc import Mapping

import msgspec

from kasuwa.core.money import CURRENCIES, MINOR_PER_MAJOR, parse_minor

HOME = "NGN"
FOREIGN = tuple(currency for currency in CURRENCIES if currency != HOME)


class ExchangeRate(msgspec.Struct, frozen=True):
    """Kobo for one major unit of the foreign currency."""

    buy: int  # the operator pays
    sell: int  # the operator charges


class ExchangeRates(msgspec.Struct, frozen=True):
    """The NGN prices at which the operator buys and sells each currency, as terms of a merchant."""

    by_currency: Mapping[str, ExchangeRate] = {}


def kobo_to_buy(rate: ExchangeRate, minor: int) -> int:
    """Returns the kobo that an amount of foreign currency costs."""
    return -(-minor * rate.sell // MINOR_PER_MAJOR)


def kobo_from_sale(rate: ExchangeRate, minor: int) -> int:
    """Returns the kobo that an amount of foreign currency yields."""
    return minor * rate.buy // MINOR_PER_MAJOR


def foreign_to_raise(rate: ExchangeRate, kobo: int) -> int:
    """Returns the smallest foreign amount that yields at least a number of kobo."""
    return -(-kobo * MINOR_PER_MAJOR // rate.buy)


def read_rate(currency: str, buy: str, sell: str) -> ExchangeRate | dict[str, str]:
    """Parses an operator's rate. Returns the rate, or what is wrong by field."""
    bought, sold = parse_minor(buy), parse_minor(sell)
    errors = {} if currency in FOREIGN else {"currency": f"must be one of {', '.join(FOREIGN)}"}
    errors |= {
        field: "must be figures above zero with at most two decimals"
        for field, minor in (("buy", bought), ("sell", sold))
        if not minor
    }
    if bought and sold and sold < bought:
        errors["sell"] = "must not be below buy: a round trip would earn"
    return errors or ExchangeRate(bought or 0, sold or 0)
