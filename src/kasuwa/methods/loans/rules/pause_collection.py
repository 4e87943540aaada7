"""Pauses the automatic collection of a loan when a repayment that it collected is taken back.

The loan owes the amount again, but nobody has agreed that it is collected again: the merchant says so by a new
`auto_repay`. Contract: loans#auto-repay
"""

from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Effects, Job, LoadedRows, Needs, NeedsMore
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.methods.loans.auto_repay_model import (
    ACTIVE,
    COLLECTED,
    EVENT_FAILED,
    PAUSED,
    AutoRepayment,
    LoanCollection,
    auto_repayment_key,
    collection_key,
    halt,
    need_auto_repayment,
)
from kasuwa.methods.loans.model import CURRENCY
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.methods.loans.rules.plan_collection import plan_earlier
from kasuwa.methods.payment.model import KIND as PAYMENT
from kasuwa.transactions.object_events import ObjectEvent, make_object_event
from kasuwa.transactions.transactions import Transaction, transaction_key

REVERSED = "repayment_reversed"
REVERSED_MESSAGE = "A repayment that was collected has been taken back"


def tell_of_collection(
    auto: AutoRepayment, kind: str, context: Context, fields: dict[str, Any]
) -> tuple[AutoRepayment, ObjectEvent]:
    """Returns a collection with one more event, and the event."""
    counted = msgspec.structs.replace(auto, events=auto.events + 1)
    next_on = {} if counted.next_at is None else {"next_date": lagos_day(counted.next_at).isoformat()}
    shared = {
        "currency": CURRENCY,
        "payment_method": counted.source,
        "loan_id": counted.loan_id,
        "client_id": counted.client_id,
    }
    event = make_object_event(
        context, kind, counted, counted.auto_repay_id, counted.events, {**shared, **next_on, **fields}
    )
    return counted, event


def pause_collection(
    after: LoanPosition, txn_ref: str, order_ref: str | None, amount: int, context: Context, rows: LoadedRows
) -> Effects | NeedsMore:
    """Returns the effects of a repayment that was taken back. `after` is the loan without it. `order_ref` is its own
    reference; None if its transaction, a payment, was not loaded for that. If it was not collected, the collection
    goes on, with the due dates that owe something again."""
    loan = after.loan
    needs = need_auto_repayment(loan.merchant_id, loan.loan_id)
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    auto = rows.get(AutoRepayment, auto_repayment_key(loan.merchant_id, loan.loan_id))
    if auto is None or auto.state != ACTIVE:
        return Effects()
    if order_ref is None:
        key = transaction_key(loan.merchant_id, PAYMENT, txn_ref)
        if not rows.is_loaded(key):
            return NeedsMore(Needs(((Transaction, key),)))
        row = rows.get(Transaction, key)
        order_ref = "" if row is None else row.order_ref
    if order_ref != auto.auto_repay_id:
        return plan_earlier(after, context, rows)
    attempts = find_attempts(auto, rows)
    if isinstance(attempts, NeedsMore):
        return attempts
    if not any(one.txn_ref == txn_ref and one.state == COLLECTED for one in attempts):
        return plan_earlier(after, context, rows)
    fields = {
        "txn_status": "failed",
        "charged_amount": format_minor(0),
        "step": "paused",
        "amount": format_minor(amount),
        "reason": REVERSED,
        "message": REVERSED_MESSAGE,
        "repayment_ref": txn_ref,
    }
    paused, event = tell_of_collection(halt(auto, PAUSED, REVERSED), EVENT_FAILED, context, fields)
    job = rows.get(Job, job_key(auto.key))
    return Effects(rows=(paused,), jobs=event.jobs, jobs_done=() if job is None else (job,), events=(event.event,))


def find_attempts(auto: AutoRepayment, rows: LoadedRows) -> tuple[LoanCollection, ...] | NeedsMore:
    """Returns the attempts to collect a loan. They alone say which repayments were collected: the merchant may send the
    `auto_repay_id` as the `customer_txnref` of any other."""
    keys = [collection_key(auto.merchant_id, auto.loan_id, n) for n in range(1, auto.attempts + 1)]
    if not all(rows.is_loaded(key) for key in keys):
        return NeedsMore(Needs(tuple((LoanCollection, key) for key in keys)))
    attempts = (rows.get(LoanCollection, key) for key in keys)
    return tuple(one for one in attempts if one is not None)
