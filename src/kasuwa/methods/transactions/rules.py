"""Checks of the fields of a list request. Contract: resources#transactions"""

from kasuwa.core.action import FieldRule
from kasuwa.core.decision import Merchant
from kasuwa.methods.transactions.model import decode_cursor
from kasuwa.wire.fields import AmountOrZero, LagosDate

ENDS_BEFORE = "not before `from`"
BELOW_LEAST = "not below `min_amount`"
NOT_A_CURSOR = "the `next_cursor` of a reply"


def check_days(merchant: Merchant, first: LagosDate | None, last: LagosDate | None) -> str | None:
    return ENDS_BEFORE if first is not None and last is not None and last < first else None


def check_amounts(merchant: Merchant, least: AmountOrZero | None, most: AmountOrZero | None) -> str | None:
    return BELOW_LEAST if least is not None and most is not None and most < least else None


def check_cursor(merchant: Merchant, cursor: str | None) -> str | None:
    return None if cursor is None or decode_cursor(cursor) is not None else NOT_A_CURSOR


LIST_RULES = (
    FieldRule(("first_day", "last_day"), check_days),
    FieldRule(("min_amount", "max_amount"), check_amounts),
    FieldRule(("cursor",), check_cursor),
)
