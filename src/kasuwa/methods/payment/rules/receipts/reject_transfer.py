"""Records that a payer's transfer was sent back: the payment stays as it is, nothing is booked, and the merchant has an
event. The same announcement is recorded once. Contract: payment#rejected
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Decision, Event, LoadedRows, Merchant, Needs
from kasuwa.core.money import format_minor
from kasuwa.core.references import movement_reference, reference_of_rail_key
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.methods.payment.model import FACTS_DECODER, KIND, Payment, payment_key
from kasuwa.rails.ports.rejections import RecordedRejection, Rejection
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.transactions import (
    FAILED,
    Transaction,
    encode_text,
    extend_trail,
    make_delivery_jobs,
    transaction_key,
)

REJECTED = "payment_rejected"  # kind of the event
REFERENCE_KIND = "RJ"
# Rejections that are kept of one payment. Payers give up long before.
MOST_KEPT = 20


def need_rejection(rejection: Rejection, merchant: Merchant) -> Needs:
    reference = reference_of_rail_key(rejection.order_key)
    row = (Transaction, transaction_key(merchant.merchant_id, KIND, reference))
    return Needs((row, (Payment, payment_key(merchant.merchant_id, reference))))


def decide_rejection(rejection: Rejection, context: Context, rows: LoadedRows) -> Decision[None]:
    """Records a rejection of a payment, if there is such a payment and it is not recorded yet."""
    reference = reference_of_rail_key(rejection.order_key)
    row = rows.get(Transaction, transaction_key(context.merchant.merchant_id, KIND, reference))
    payment = rows.get(Payment, payment_key(context.merchant.merchant_id, reference))
    if row is None or payment is None:
        return Decision()
    facts = FACTS_DECODER.decode(payment.facts)
    if len(facts.rejections) >= MOST_KEPT or any(known.reference == rejection.reference for known in facts.rejections):
        return Decision()
    record = RecordedRejection(rejection.reference, rejection.reason, context.now, rejection.amount)
    learned = msgspec.structs.replace(facts, rejections=(*facts.rejections, record))
    event = make_event(row, payment, record, context)
    updated = msgspec.structs.replace(payment, facts=encode_text(learned))
    traced = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "rejected", rejection.reason))
    return Decision(
        rows=(traced, updated),
        events=(event,),
        jobs=make_delivery_jobs(context, updated, event, NO_SCENARIO),
        numbers_used=1,
    )


def make_event(row: Transaction, payment: Payment, rejection: RecordedRejection, context: Context) -> Event:
    reference = movement_reference(REFERENCE_KIND, context.permutation(context.number), lagos_day(context.now))
    payload = {
        "status": 200,
        "txn_status": FAILED,
        "txn_ref": reference,
        "charged_amount": "0.00",
        "payment_method": payment.method,
        "endpoint": context.merchant.environment,
        "currency": row.currency,
        "payment_ref": row.txn_ref,
        "customer_txnref": row.order_ref or None,
        "expected_amount": format_minor(payment.charged),
        "rejected_amount": None if rejection.amount is None else format_minor(rejection.amount),
        "reason": rejection.reason or None,
    }
    return Event(reference, REJECTED, msgspec.json.encode(build_event(REJECTED, payload)))
