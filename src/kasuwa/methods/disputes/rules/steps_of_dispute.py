"""Steps of a dispute: every change of its state, and every reminder, extends its trail and writes an event.

Contract: payment#disputes, events#disputes
"""

from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, Event, Job, Posting, make_job
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.ledger import chart
from kasuwa.methods.disputes.model import (
    ASK,
    ASK_INTERVAL,
    KIND,
    LANE,
    OPEN_STATES,
    REVIEW,
    REVIEW_INTERVAL,
    AskedDispute,
    Dispute,
)
from kasuwa.methods.disputes.wire import DisputeChanged, DisputeSummary
from kasuwa.methods.payment.model import rail_account
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.transactions import begin_trail, encode_text, extend_trail, make_delivery_jobs

NO_STEPS = "[]"
OPENED = "opened"
REMINDER = "reminder"


class DisputeStepTaken(msgspec.Struct, frozen=True):
    """A dispute after a step, with the step's event and the jobs that deliver it."""

    row: Dispute
    event: Event
    jobs: tuple[Job, ...]


def name_at_rail(dispute: Dispute) -> str:
    """Returns how an operator finds a dispute at its rail."""
    if dispute.is_filed_here:
        return "the dispute of the cardholder, which `kasuwa dispute outcome` decides"
    return f"dispute {dispute.rail_dispute_id} at {dispute.rail}" if dispute.rail else "its dispute at the rail"


def event_reference(dispute_id: str, place: int) -> str:
    """Returns the reference of a dispute's event. A dispute has several, and each is delivered by its own job."""
    return f"{dispute_id}/{place}"


def take_step(dispute: Dispute, step: str, context: Context) -> DisputeStepTaken:
    """Returns the dispute with one more step. `dispute` has the state after the step."""
    place = dispute.events + 1
    trail = extend_trail(dispute.trail, context.now, step) if dispute.events else begin_trail(context.now, step)
    row = msgspec.structs.replace(dispute, events=place, trail=trail)
    payload = {
        "status": 200,
        "txn_status": "successful",
        "txn_ref": row.dispute_id,
        "charged_amount": format_minor(row.amount),
        "payment_method": row.method,
        "endpoint": context.merchant.environment,
        "currency": row.currency,
        "dispute_of": row.txn_ref,
        "state": row.state,
        "step": step,
        "reason": row.reason,
        "fee": format_minor(row.fee),
        "vat": format_minor(row.vat),
        "respond_by": utc_text(row.due_at),
        **({"plan_id": row.plan_id} if row.plan_id else {}),
    }
    reference = event_reference(row.dispute_id, place)
    event = Event(reference, KIND, msgspec.json.encode(build_event(KIND, payload)), row.dispute_id, place)
    return DisputeStepTaken(row, event, make_delivery_jobs(context, row, event, context.scenario))


def dispute_job(dispute: Dispute, kind: str, due: datetime) -> Job:
    """Returns the job of an open dispute. It has one at a time."""
    return make_job(
        key=job_key(dispute.key),
        merchant_id=dispute.merchant_id,
        kind=kind,
        lane=LANE,
        reference=dispute.dispute_id,
        subject=dispute.key,
        due=due,
    )


def review_job(dispute: Dispute, now: datetime) -> Job:
    """Returns the job of a dispute under review: its rail is asked daily. Without a rail the operator is told."""
    if dispute.has_rail:
        return ask_job(dispute, now + ASK_INTERVAL)
    return dispute_job(dispute, REVIEW, now + REVIEW_INTERVAL)


def ask_job(dispute: Dispute, due: datetime, attempt: int = 0) -> Job:
    """Returns the job that asks the rail of an open dispute. It replaces the dispute's other job."""
    job = dispute_job(dispute, ASK, due)
    work = encode_text(AskedDispute(dispute.rail, dispute.rail_dispute_id))
    return msgspec.structs.replace(job, work=work, attempt=attempt)


def taken_postings(dispute: Dispute) -> tuple[Posting, ...]:
    """Returns the postings of a dispute that was not won, from the wallet."""
    wallet, currency = chart.wallet(dispute.currency), dispute.currency
    postings = (
        Posting(wallet, rail_account(dispute.method, currency), dispute.amount, "dispute"),
        Posting(wallet, chart.income("dispute", currency), dispute.fee, "dispute fee"),
        Posting(wallet, chart.tax("vat", currency), dispute.vat, "dispute VAT"),
    )
    return tuple(posting for posting in postings if posting.amount)


def dispute_accounts(method: str, currency: str) -> tuple[str, ...]:
    """Returns the accounts that a dispute may move."""
    return (
        chart.wallet(currency),
        chart.dispute_debt(currency),
        rail_account(method, currency),
        chart.income("dispute", currency),
        chart.tax("vat", currency),
    )


MESSAGES = {
    "needs_response": "Dispute opened",
    "under_review": "Evidence received: the payer's bank decides",
    "won": "Dispute won: the money is yours again",
    "lost": "Dispute lost: the payer has the money",
    "accepted": "Dispute accepted: the payer has the money",
    "expired": "Dispute expired: nobody responded in time",
}


def reply_dispute(dispute: Dispute) -> DisputeChanged:
    return DisputeChanged(message=MESSAGES[dispute.state], data=show_dispute(dispute))


def show_dispute(dispute: Dispute) -> DisputeSummary:
    return DisputeSummary(**summary_fields(dispute))


def summary_fields(dispute: Dispute) -> dict[str, Any]:
    """Returns the fields that a dispute has in lists and by itself."""
    return {
        "dispute_id": dispute.dispute_id,
        "txn_ref": dispute.txn_ref,
        "state": dispute.state,
        "reason": dispute.reason,
        "amount": format_minor(dispute.amount),
        "currency": dispute.currency,
        "fee": format_minor(dispute.fee),
        "vat": format_minor(dispute.vat),
        "held": format_minor(dispute.covered if dispute.state in OPEN_STATES else 0),
        "respond_by": utc_text(dispute.due_at),
        "opened_at": utc_text(dispute.opened_at),
        "ended_at": None if dispute.ended_at is None else utc_text(dispute.ended_at),
        "plan_id": dispute.plan_id or None,
    }
