"""Settlements: what collections did to the wallet of one currency on one day in Lagos, and their events.

Contract: resources#settlements, events#settlements
"""

import re
from datetime import date

import msgspec

from kasuwa.core.calendar import is_in_range, lagos_day
from kasuwa.core.decision import Context, Event, Job, Row
from kasuwa.core.money import CURRENCIES, format_minor
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.transactions import make_delivery_jobs

KIND = "settlement"
SETTLEMENT_ID = re.compile(rf"ST([0-9]{{8}})({'|'.join(CURRENCIES)})", re.ASCII)


def settlement_id(day: date, currency: str) -> str:
    return f"ST{day:%Y%m%d}{currency}"


def parse_settlement_id(text: str) -> tuple[date, str] | None:
    """Returns day and currency of a settlement's id, or None if it is not one."""
    match = SETTLEMENT_ID.fullmatch(text)
    if match is None:
        return None
    try:
        day = date.fromisoformat(match[1])
    except ValueError:
        return None
    return (day, match[2]) if is_in_range(day) else None


class SettlementMovement(msgspec.Struct, frozen=True, kw_only=True):
    """Money that was settled, released from the reserve, or paid out, or all that moved on a day that has ended."""

    step: str  # settled, released, paid_out or closed
    reference: str  # of the batch or of the transfer; the step itself for a day that has ended
    amount: int  # negative if a day took more from the wallet than it brought
    currency: str
    day: date | None = None  # the day that has ended; None for a movement of today


def make_settlement_event(moved: SettlementMovement, row: Row, context: Context) -> tuple[Event, tuple[Job, ...]]:
    """Returns the event of a movement that has been made, and the jobs that deliver it. `row` is the batch, transfer or
    setting that it is made for."""
    of_day = settlement_id(moved.day or lagos_day(context.now), moved.currency)
    is_payout = moved.step == "paid_out"
    payload = {
        "status": 200,
        "txn_status": "successful",
        "txn_ref": moved.reference if is_payout else of_day,
        "charged_amount": format_minor(moved.amount),
        "payment_method": "bank" if is_payout else "wallet",
        "endpoint": context.merchant.environment,
        "currency": moved.currency,
        "settlement_id": of_day,
        "step": moved.step,
    }
    reference = f"{of_day} {moved.reference}"
    event = Event(reference, KIND, msgspec.json.encode(build_event(KIND, payload)), reference)
    return event, make_delivery_jobs(context, row, event, NO_SCENARIO)
