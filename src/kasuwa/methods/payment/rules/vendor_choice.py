"""The vendor of a payment: chosen when the payment is taken, and changed only while nothing of it has left.

Any vendor of the purpose that serves the payment may take it: the first that is not held (rails/routing/orders.py). A
saved card belongs to the vendor that keeps it, so that a charge of it has no second choice. Contract:
payment#second-vendor
"""

import msgspec

from kasuwa.core.decision import Context, Decision, Job
from kasuwa.core.routing import RailDemand
from kasuwa.methods.payment.model import CHARGE, DETAIL_DECODER, JOB_DATA_DECODER, Payment
from kasuwa.methods.payment.rules.amend_charge import AmendedPayment, AmendedTransaction, amend_row
from kasuwa.methods.payment.rules.replies import reply_payment
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.vendors import CollectionVendors, choose_purpose
from kasuwa.transactions.payers import PAYMENT_MARK_DECODER
from kasuwa.transactions.requery import can_change_rail, next_requery_at
from kasuwa.transactions.transactions import Transaction, encode_text, extend_trail


def list_serving_vendors(method: str, provider: str, currency: str, charged: int, context: Context) -> tuple[str, ...]:
    """Returns the names of the vendors that may take a payment, the first choice first."""
    return tuple(
        vendor.name
        for vendor in context.terms(CollectionVendors).of_method(method, context.merchant.rails)
        if vendor.find_unserved(method, provider, currency, charged) is None
    )


def choose_vendor(method: str, provider: str, currency: str, charged: int, context: Context) -> str:
    """Returns the vendor of a new payment, or "" if the deployment's own rail takes it."""
    names = list_serving_vendors(method, provider, currency, charged, context)
    if not names:
        return ""
    return context.choose_rail(RailDemand(choose_purpose(method), 0, currency), among=names) or names[0]


def find_next_vendor(claimed: Job, job: Job, payment: Payment, answer: Answer, context: Context) -> str | None:
    """Returns another vendor for a payment of which certainly nothing has left, or None if it stays where it is.

    `claimed` is the job as the process that called the rail claimed it, `job` as it is now."""
    work = JOB_DATA_DECODER.decode(job.work)
    is_begun = payment.auth or payment.session or work.rail_facts
    if not work.vendor or work.token or is_begun:
        return None
    if not can_change_rail(claimed, job, answer, CHARGE):
        return None
    detail = DETAIL_DECODER.decode(payment.detail)
    names = list_serving_vendors(work.method, detail.provider, work.currency, work.amount, context)
    demand = RailDemand(choose_purpose(work.method), 0, work.currency)
    chosen = context.choose_rail(demand, avoided=work.vendor, among=names) if names else work.vendor
    return None if chosen == work.vendor else chosen


def move_payment(row: Transaction, payment: Payment, job: Job, vendor: str, context: Context) -> Decision:
    """Returns the decision that gives a payment to another vendor and sends it there.

    The request that took the payment sends it at once, so that its reply has the new vendor's page or account. When
    every vendor was tried, it waits for its turn."""
    work = JOB_DATA_DECODER.decode(job.work)
    detail = msgspec.structs.replace(DETAIL_DECODER.decode(payment.detail), vendor=vendor)
    mark = msgspec.structs.replace(PAYMENT_MARK_DECODER.decode(row.detail), vendor=vendor)
    trail = extend_trail(row.trail, context.now, "moved", "The rail could not be reached; another one takes it")
    account = context.find_rail_account(vendor)
    moved = amend_row(AmendedTransaction, row, rail=vendor, rail_account=account, detail=encode_text(mark), trail=trail)
    updated = amend_row(AmendedPayment, payment, detail=encode_text(detail))
    names = list_serving_vendors(work.method, detail.provider, work.currency, work.amount, context)
    is_untried = context.has_untried_rail(choose_purpose(work.method), job.attempt, names)
    next_job = msgspec.structs.replace(
        job,
        rail=vendor,
        rail_account=account,
        due=context.now if is_untried else next_requery_at(context.now, context.now.timestamp() - work.sent_at),
        attempt=job.attempt + 1,
        work=encode_text(msgspec.structs.replace(work, vendor=vendor)),
    )
    return Decision(
        reply=reply_payment(moved, updated, context),
        rows=(moved, updated),
        jobs=(next_job,),
        follow_up=next_job if is_untried else None,
    )
