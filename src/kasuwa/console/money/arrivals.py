"""Money that is on its way to the wallet: settlements of later days and reserves that are released, by day."""

from collections.abc import Iterable
from datetime import date, timedelta

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.methods.statements.settlements.store import Arrival, list_arrivals

# Days ahead that are shown, today included.
SHOWN_DAYS = 14


class ArrivalSums(msgspec.Struct, frozen=True):
    """The sums that arrive in one currency, in minor units."""

    currency: str
    tomorrow: int
    this_week: int  # from today to Sunday
    total: int  # of all shown days


class ArrivingMoney(msgspec.Struct, frozen=True):
    """The sums of each currency, and each day with its amounts."""

    sums: list[ArrivalSums]
    days: list[Arrival]


async def read_arriving_money(reader: Reader, merchant_id: int, today: date) -> ArrivingMoney:
    return sum_arrivals(await list_arrivals(merchant_id, today, SHOWN_DAYS, reader), today)


def sum_arrivals(arrivals: Iterable[Arrival], today: date) -> ArrivingMoney:
    """Returns the days in order, and their sums by currency."""
    by_day: dict[tuple[date, str], int] = {}
    for arrival in arrivals:
        key = arrival.day, arrival.currency
        by_day[key] = by_day.get(key, 0) + arrival.amount
    days = [Arrival(day, currency, amount) for (day, currency), amount in sorted(by_day.items())]
    sunday = today + timedelta(days=6 - today.weekday())
    sums = [
        ArrivalSums(
            currency,
            by_day.get((today + timedelta(days=1), currency), 0),
            sum(one.amount for one in days if one.currency == currency and one.day <= sunday),
            sum(one.amount for one in days if one.currency == currency),
        )
        for currency in dict.fromkeys(sorted(one.currency for one in days))
    ]
    return ArrivingMoney(sums, days)
