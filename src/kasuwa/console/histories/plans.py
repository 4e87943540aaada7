"""The charges of recurrent payments and installment plans, and why one of them is not charged any more."""

from typing import Any

from kasuwa.console.histories import store
from kasuwa.console.histories.lines import Rows, make_lines, sum_successful
from kasuwa.console.histories.store import HistoryLine, PlanProgress
from kasuwa.console.kit.values import time_text
from kasuwa.console.kit.visit import Visit
from kasuwa.core.reading import Reader
from kasuwa.methods.payment.plan_model import ACTIVE, CANCELLED, INCOMPLETE, PAUSED, STOPPED, UNPAID, plan_key
from kasuwa.methods.payment.rules.plans.scheduled_charges import MAX_MISSED_CYCLES
from kasuwa.transactions.transactions import FAILED

CARD_DECLINED = (
    "Paused: the charge {reference} was declined in a way that a later one would be too ({message}). Ask the customer "
    "to pay with another card; a payment with is_recurring begins a new plan. Restart this one only if the card works "
    "again."
)
DATES_MISSED = (
    "Paused: {misses} due dates in a row could not be charged. The last answer was: {message}. Restart it once the"
    " customer says that the card can pay."
)
RETRIED = "The charge that was due on {due} has failed so far ({message}). It is tried again."
NO_CARD = "Paused: the saved card cannot be charged any more, or you paused the plan."
STATE_NOTES = {
    STOPPED: "You stopped it. Nothing is charged until you restart it.",
    CANCELLED: "It was cancelled and cannot be started again.",
    INCOMPLETE: "The last date is over, and only a part of the total was collected.",
    UNPAID: "The last date is over, and nothing was collected.",
}


async def read_charges(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the charges of a plan, and a sentence about what it waits for."""
    reader, plan_id = visit.open_snapshot, row["id"]
    assert reader is not None, "the page is read in a snapshot"
    key = plan_key(visit.merchant.merchant_id, plan_id)
    charges = await store.list_charges(reader, visit.merchant, plan_id, key)
    progress = await store.find_progress(reader, visit.merchant, key)
    return {
        "charges": make_lines(charges),
        "charged": sum_successful(charges),
        "failed_count": sum(charge.status == FAILED for charge in charges),
        "note": "" if progress is None else explain_state(progress, charges),
    }


def explain_state(progress: PlanProgress, charges: list[HistoryLine]) -> str:
    """Returns why a plan is paused or over, or that its current due date failed so far. Empty if all is well."""
    last = next((charge for charge in charges if charge.txn_ref == progress.last_ref), None)
    has_failed = last is not None and last.status == FAILED
    message = last.message if last is not None else ""
    if progress.state == PAUSED and has_failed:
        text = DATES_MISSED if progress.misses >= MAX_MISSED_CYCLES else CARD_DECLINED
        return text.format(misses=progress.misses, message=message, reference=progress.last_ref)
    if progress.state == PAUSED:
        return NO_CARD
    if progress.state in STATE_NOTES:
        return STATE_NOTES[progress.state]
    if progress.state == ACTIVE and has_failed:
        return RETRIED.format(due=time_text(progress.cycle_due), message=message)
    return ""


async def add_last_charges(visit: Visit, reader: Reader, rows: Rows) -> list[dict[str, Any]]:
    """Returns for each plan of a list what became of its newest charge."""
    references = [str(row["txnRef"]) for row in rows if row.get("txnRef")]
    outcomes = await store.read_outcomes(reader, visit.merchant, references)
    return [{"last_charge": describe_outcome(*outcomes.get(str(row.get("txnRef")), ("", "")))} for row in rows]


def describe_outcome(status: str, message: str) -> str:
    return f"{status}: {message}" if status == FAILED else status
