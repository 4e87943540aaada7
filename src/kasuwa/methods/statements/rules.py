"""Checks of the fields of a statement request. Contract: resources#statements"""

from datetime import timedelta

from kasuwa.core.action import FieldRule
from kasuwa.core.decision import Merchant
from kasuwa.methods.statements.model import MAX_DAYS
from kasuwa.wire.fields import LagosDate

ENDS_BEFORE = "not before `from`"
TOO_LONG = f"at most {MAX_DAYS} days after `from`"
ID_REQUIRED = "required for this kind of account"


def check_days(merchant: Merchant, first: LagosDate, last: LagosDate) -> str | None:
    if last < first:
        return ENDS_BEFORE
    return TOO_LONG if last - first > timedelta(days=MAX_DAYS) else None


def check_id(merchant: Merchant, account: str, name: str | None) -> str | None:
    return ID_REQUIRED if account != "wallet" and name is None else None


STATEMENT_RULES = (FieldRule(("first_day", "last_day"), check_days), FieldRule(("account", "id"), check_id))
