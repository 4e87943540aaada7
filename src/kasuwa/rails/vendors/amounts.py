"""Reads amounts that vendors write in major units, exactly: as numbers with a fraction, whole numbers or texts."""

import re
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from kasuwa.core.money import DECIMALS, MINOR_PER_MAJOR
from kasuwa.rails.ports.orders import UnreadableAnswer

# Checked before the conversion: `Decimal` accepts signs, spaces and exponents. Zeros after the second decimal are
# harmless: vendors write 30.0, 30.00 and 30.000.
AMOUNT = re.compile(rf"[0-9]{{1,16}}(\.[0-9]{{1,{DECIMALS}}}0*)?", re.ASCII)
BALANCE = re.compile(r"-?[0-9]{1,16}(\.[0-9]{1,9})?", re.ASCII)


def read_major(value: Any) -> int | None:
    """Returns an amount in minor units, or None if it is not an amount of whole minor units."""
    text = format_value(value)
    return int(Decimal(text) * MINOR_PER_MAJOR) if AMOUNT.fullmatch(text) else None


def read_balance(value: Any) -> int:
    """Returns a balance in minor units, rounded down. Raises UnreadableAnswer if it is not one."""
    text = format_value(value)
    if not BALANCE.fullmatch(text):
        raise UnreadableAnswer("the balance has another form than documented")
    return int((Decimal(text) * MINOR_PER_MAJOR).to_integral_value(ROUND_FLOOR))


def format_value(value: Any) -> str:
    """Returns the digits of a decoded JSON number or text, or "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return ""
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
