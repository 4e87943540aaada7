"""Finds the entries that one line of a statement pays all together: those of whole days, or a few among few."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

# A settlement covers at most so many days: a week with a holiday.
MAX_DAYS = 10
# With more candidates, some sum of a few fits by chance.
MAX_CANDIDATES = 12


class DayTotal(NamedTuple):
    """The entries of one day that nothing matches: those of one direction, and all."""

    incoming: int = 0
    incoming_count: int = 0
    outgoing: int = 0
    outgoing_count: int = 0


class Days(NamedTuple):
    """Entries of these days, both included."""

    first: date
    last: date
    is_one_way: bool  # only those in the direction of the line


class LumpSum(NamedTuple):
    """The sum that a line pays: its amount before fees, of how many entries if that is known, and by which day."""

    gross: int
    booked_on: date
    entry_count: int | None = None


def find_days(totals: Mapping[date, DayTotal], wanted: LumpSum, window: int) -> Days | None:
    """Returns the days whose entries add up to a line, or None if there are none, or several ways.

    The last of the days is at most `window` days before the line. A range that begins or ends with an empty day is the
    same as a shorter one, and is not counted twice. A single entry is no lump sum."""
    candidates: set[Days] = set()
    for back in range(window + 1):
        last = wanted.booked_on - timedelta(days=back)
        if last not in totals:
            continue
        for is_one_way in (True, False):
            amount = count = 0
            for length in range(MAX_DAYS):
                first = last - timedelta(days=length)
                day = totals.get(first, DayTotal())
                day_amount, day_count = take(day, wanted.gross, is_one_way)
                amount, count = amount + day_amount, count + day_count
                is_right_count = count > 1 and wanted.entry_count in (None, count)
                if (
                    day_count
                    and amount == wanted.gross
                    and is_right_count
                    and take(totals[last], wanted.gross, is_one_way)[1]
                ):
                    candidates.add(Days(first, last, is_one_way))
    # Where all entries are of one direction, both ways are the same.
    one_way = {days for days in candidates if days.is_one_way}
    rest = {days for days in candidates if not days.is_one_way and days._replace(is_one_way=True) not in one_way}
    both = one_way | rest
    return both.pop() if len(both) == 1 else None


def take(day: DayTotal, gross: int, is_one_way: bool) -> tuple[int, int]:
    """Returns sum and number of a day's entries: those in the direction of the line, or all."""
    if not is_one_way:
        return day.incoming + day.outgoing, day.incoming_count + day.outgoing_count
    return (day.incoming, day.incoming_count) if gross > 0 else (day.outgoing, day.outgoing_count)


def find_subset(amounts: Sequence[int], gross: int) -> tuple[int, ...] | None:
    """Returns the places of the only two or more amounts that add up, or None if there are none, or several ways."""
    if len(amounts) > MAX_CANDIDATES:
        return None
    sums = [0]
    for amount in amounts:  # the sum of each subset is at the place whose bits are its members
        sums += [known + amount for known in sums]
    subsets = [bits for bits, total in enumerate(sums) if total == gross and bits.bit_count() > 1]
    if len(subsets) != 1:
        return None
    return tuple(place for place in range(len(amounts)) if subsets[0] >> place & 1)
