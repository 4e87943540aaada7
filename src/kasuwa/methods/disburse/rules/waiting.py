"""Transfers that wait for approval: the row and the job of the wait, and its events. Contract: keys#approvals"""

from collections.abc import Sequence

import msgspec

from kasuwa.core.decision import Context, Event, Job, make_job
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.core.scenario import Scenario
from kasuwa.methods.disburse.model import KIND, TransferJobData
from kasuwa.methods.disburse.payout_model import (
    APPROVAL_DETAIL_DECODER,
    APPROVED,
    EXPIRE,
    EXPIRY_LANE,
    WAITING,
    ApprovalDetail,
    TransferApproval,
    approval_key,
)
from kasuwa.terms.payouts import WAITING_TIME
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.second_party import find_maker
from kasuwa.transactions.transactions import Transaction, encode_text, make_delivery_jobs

WAITING_MESSAGE = "Waiting for approval"
EVENT_KIND = "transfer_approval"
# The transfer's final event comes after those of the wait and of the decision.
WAITING_PLACE, DECIDED_PLACE, FINAL_PLACE = 1, 2, 3


def begin_approval(row: Transaction, reasons: Sequence[str], context: Context) -> TransferApproval:
    detail = ApprovalDetail(find_maker(context), list(reasons))
    return TransferApproval(
        key=approval_key(row.merchant_id, row.txn_ref),
        merchant_id=row.merchant_id,
        txn_ref=row.txn_ref,
        order_ref=row.order_ref,
        batch_ref=row.batch_ref,
        amount=row.amount,
        state=WAITING,
        detail=encode_text(detail),
        created_at=context.now,
        expires_at=context.now + WAITING_TIME,
    )


def make_expiry(approval: TransferApproval, data: TransferJobData, context: Context) -> Job:
    """Returns the job that ends the wait. It holds what the transfer is sent with if it is approved."""
    return make_job(
        key=job_key(approval.key),
        merchant_id=approval.merchant_id,
        kind=EXPIRE,
        lane=EXPIRY_LANE,
        reference=approval.txn_ref,
        subject=approval.key,
        due=approval.expires_at,
        work=encode_text(data),
    )


def tell_approval(
    row: Transaction, approval: TransferApproval, scenario: Scenario, context: Context
) -> tuple[Event, tuple[Job, ...]]:
    """Returns the event of the approval's state, and the jobs that deliver it."""
    detail = APPROVAL_DETAIL_DECODER.decode(approval.detail)
    payload = {
        "status": 200,
        "txn_status": "pending" if approval.state in (WAITING, APPROVED) else "failed",
        "txn_ref": row.txn_ref,
        "charged_amount": "0.00",
        "payment_method": KIND,
        "endpoint": context.merchant.environment,
        "currency": row.currency,
        "order_ref": row.order_ref,
        "approval": approval.state,
        "amount": format_minor(row.amount),
        "reasons": detail.reasons,
        "requested_by": detail.maker.label,
        "decided_by": approval.decided_by or None,
    }
    place = WAITING_PLACE if approval.state == WAITING else DECIDED_PLACE
    # An event is found by its reference, so those of one transfer need references of their own.
    reference = f"{row.txn_ref}|{approval.state}"
    encoded = msgspec.json.encode(build_event(EVENT_KIND, payload))
    event = Event(reference, EVENT_KIND, encoded, row.txn_ref, place)
    return event, make_delivery_jobs(context, approval, event, scenario)


def place_final_event(event: Event) -> Event:
    """Returns the final event of a transfer that waited, with its place after the events of the approval."""
    return msgspec.structs.replace(event, object=event.reference, object_seq=FINAL_PLACE)
