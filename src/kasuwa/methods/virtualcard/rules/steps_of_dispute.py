"""Steps of a dispute of a card purchase: every change extends its trail and writes an event.

A refund of the shop lowers what is disputed, and closes a dispute of which nothing is left. Contract:
virtualcard#disputes, events#disputes
"""

from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, Effects, Event, Job, LoadedRows, Needs, NeedsMore, Row, make_job
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key, rail_key, row_key
from kasuwa.methods.virtualcard.dispute_model import (
    CLOSED,
    END_AT_SHOP,
    KIND,
    LANE,
    OPEN_AT_SHOP,
    REVIEW,
    REVIEW_INTERVAL,
    CardDispute,
    card_dispute_key,
)
from kasuwa.methods.virtualcard.dispute_wire import CardDisputeChanged, CardDisputeSummary
from kasuwa.methods.virtualcard.model import CardRecord
from kasuwa.methods.virtualcard.rules.purchase import METHOD
from kasuwa.rails.ports.shops import ShopDispute
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.requery import MAX_TRAIL_LENGTH
from kasuwa.transactions.transactions import begin_trail, encode_text, extend_trail, make_delivery_jobs

NO_STEPS = "[]"
REDUCED = "reduced"

MESSAGES = {
    "submitted": "Dispute filed",
    "won": "Dispute won: the card has the money",
    "lost": "Dispute lost: the shop keeps the money",
    "withdrawn": "Dispute withdrawn",
    "closed": "Dispute closed: nothing is left of the purchase",
}
REFUNDED_MEANWHILE = "The shop has refunded the purchase"


class CardDisputeStepTaken(msgspec.Struct, frozen=True):
    """A dispute after a step, with the step's event and the jobs that deliver it."""

    row: CardDispute
    event: Event
    jobs: tuple[Job, ...]


def dispute_rows(merchant_id: int, dispute_id: str) -> tuple[tuple[type[Row], bytes], ...]:
    """Returns the rows that every change of a dispute needs."""
    key = card_dispute_key(merchant_id, dispute_id)
    return (CardDispute, key), (Job, job_key(key))


def take_step(dispute: CardDispute, step: str, context: Context) -> CardDisputeStepTaken:
    """Returns the dispute with one more step. `dispute` has the state after the step."""
    place = dispute.events + 1
    trail = extend_trail(dispute.trail, context.now, step) if dispute.events else begin_trail(context.now, step)
    row = msgspec.structs.replace(dispute, events=place, trail=trail)
    payload = {
        "status": 200,
        "txn_status": "successful",
        "txn_ref": row.dispute_id,
        "charged_amount": format_minor(row.amount),
        "payment_method": METHOD,
        "endpoint": context.merchant.environment,
        "currency": row.currency,
        "reference": row.reference,
        "dispute_of": row.txn_ref,
        "state": row.state,
        "step": step,
        "reason": row.reason,
        "credited": format_minor(row.credited),
        "card_currency": row.card_currency,
    }
    encoded = msgspec.json.encode(build_event(KIND, payload))
    event = Event(f"{row.dispute_id}/{place}", KIND, encoded, row.dispute_id, place)
    return CardDisputeStepTaken(row, event, make_delivery_jobs(context, row, event, context.scenario))


def end_step(dispute: CardDispute, state: str, outcome: str, context: Context) -> CardDisputeStepTaken:
    """Returns the step by which a dispute gets its last state."""
    ended = msgspec.structs.replace(dispute, state=state, outcome=outcome, ended_at=context.now)
    return take_step(ended, state, context)


# --- jobs -----------------------------------------------------------------------------------------------------------


def review_job(dispute: CardDispute, now: datetime) -> Job:
    """Returns the job that reminds the operator of a dispute with a shop elsewhere."""
    return make_job(
        key=job_key(dispute.key),
        merchant_id=dispute.merchant_id,
        kind=REVIEW,
        lane=LANE,
        reference=dispute.dispute_id,
        subject=dispute.key,
        due=now + REVIEW_INTERVAL,
    )


def shop_job(dispute: CardDispute, kind: str, due: datetime) -> Job:
    """Returns the job that opens the dispute of a shop of this deployment, or the one that ends it."""
    merchant_id = dispute.merchant_id
    order = ShopDispute(rail_key(merchant_id, dispute.dispute_id), dispute.shop_key, dispute.amount, dispute.reason)
    subject = dispute.key if kind == OPEN_AT_SHOP else row_key(merchant_id, "card dispute end", dispute.dispute_id)
    return make_job(
        key=job_key(subject),
        merchant_id=merchant_id,
        kind=kind,
        lane=LANE,
        reference=dispute.dispute_id,
        subject=subject,
        due=due,
        work=encode_text(order),
    )


def end_jobs(dispute: CardDispute, job: Job | None, context: Context) -> Effects:
    """Returns what the end of a dispute does to its job. `job` is that of the dispute, if it has one.

    A job that opens the shop's dispute is left: it may be under way, and ends the shop's dispute afterwards."""
    if not dispute.is_with_shop_here:
        return Effects(jobs_done=() if job is None else (job,))
    return Effects(jobs=(shop_job(dispute, END_AT_SHOP, context.now),) if job is None else ())


# --- refunds by the shop --------------------------------------------------------------------------------------------


def follow_refund(record: CardRecord, left: int, context: Context, rows: LoadedRows) -> Effects | NeedsMore:
    """Returns what a refund of the shop does to an open dispute of the purchase. `left` is what is left of it."""
    if record.dispute_id is None:
        return Effects()
    wanted = dispute_rows(record.merchant_id, record.dispute_id)
    if not all(rows.is_loaded(key) for _, key in wanted):
        return NeedsMore(Needs(wanted))
    dispute = rows.get(CardDispute, wanted[0][1])
    assert dispute is not None
    if not dispute.is_open or dispute.amount <= left:
        return Effects()
    if left and len(dispute.trail) >= MAX_TRAIL_LENGTH:
        return Effects(rows=(msgspec.structs.replace(dispute, amount=left),))
    if left:
        step = take_step(msgspec.structs.replace(dispute, amount=left), REDUCED, context)
        return Effects(rows=(step.row,), jobs=step.jobs, events=(step.event,))
    step = end_step(dispute, CLOSED, REFUNDED_MEANWHILE, context)
    closed = Effects(rows=(step.row,), jobs=step.jobs, events=(step.event,))
    closed.add(end_jobs(dispute, rows.get(Job, job_key(dispute.key)), context))
    return closed


# --- replies --------------------------------------------------------------------------------------------------------


def reply_dispute(dispute: CardDispute) -> CardDisputeChanged:
    return CardDisputeChanged(message=MESSAGES[dispute.state], data=show_dispute(dispute))


def show_dispute(dispute: CardDispute) -> CardDisputeSummary:
    return CardDisputeSummary(**summary_fields(dispute))


def summary_fields(dispute: CardDispute) -> dict[str, Any]:
    """Returns the fields that a dispute has in lists and by itself."""
    return {
        "dispute_id": dispute.dispute_id,
        "reference": dispute.reference,
        "txn_ref": dispute.txn_ref,
        "state": dispute.state,
        "reason": dispute.reason,
        "amount": format_minor(dispute.amount),
        "currency": dispute.currency,
        "credited": format_minor(dispute.credited),
        "card_currency": dispute.card_currency,
        "outcome": dispute.outcome or None,
        "filed_at": utc_text(dispute.filed_at),
        "ended_at": None if dispute.ended_at is None else utc_text(dispute.ended_at),
        "refund_ref": dispute.refund_ref or None,
    }
