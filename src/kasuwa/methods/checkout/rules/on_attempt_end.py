"""The end of an attempt to pay a checkout: marks the checkout in the commit that ends the payment.

These are the rules of the purpose `checkout` (transactions/purpose.py). Contract: payment#checkout
"""

from collections.abc import Iterator

from kasuwa.core.decision import Context, Effects, Job, LoadedRows, Merchant, Needs, NeedsMore, OperatorNotice
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.methods.checkout.rules.open_checkout import expire
from kasuwa.methods.payment.model import Payment, payment_key
from kasuwa.transactions.checkouts import OPEN, Checkout, CheckoutSource, checkout_key, end_checkout, find_source
from kasuwa.transactions.payers import PAYMENT_MARK_DECODER
from kasuwa.transactions.purpose import CHECKOUT, PurposeRules, TransactionEffects
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction

PAID_TWICE = "it paid the checkout {}, which had ended before; refund it"


def need_purpose(merchant: Merchant, reference: str) -> Needs:
    key = checkout_key(merchant.merchant_id, reference)
    return Needs(((Checkout, key), (Job, job_key(key))))


def on_answer(row: Transaction, reference: str, context: Context, rows: LoadedRows) -> TransactionEffects | NeedsMore:
    """Marks the checkout as paid, or leaves it to the next attempt. Does nothing while the attempt is open."""
    key = checkout_key(context.merchant.merchant_id, reference)
    checkout = rows.get(Checkout, key)
    if checkout is None or not row.is_final:
        return TransactionEffects()
    if checkout.state != OPEN:
        # Cannot happen while one attempt waits for the other. If it does, a person must know.
        paid_twice = OperatorNotice(row.txn_ref, PAID_TWICE.format(reference))
        return TransactionEffects(notices=(paid_twice,)) if row.status == SUCCESSFUL else TransactionEffects()
    source = find_source(checkout, context, rows)
    if isinstance(source, NeedsMore):
        return source
    has_ended = row.status == SUCCESSFUL or context.now >= checkout.expires_at
    job = rows.get(Job, job_key(key)) if has_ended else None
    effects = TransactionEffects(jobs_done=() if job is None else (job,))
    for part in list_parts(row, checkout, source, context, rows):
        if isinstance(part, NeedsMore):
            return part
        effects.add(part)
    return effects


def list_parts(
    row: Transaction, checkout: Checkout, source: CheckoutSource | None, context: Context, rows: LoadedRows
) -> Iterator[Effects | NeedsMore]:
    """Yields what the end of an attempt does to its open checkout, and what the source of the checkout adds."""
    if row.status == SUCCESSFUL:
        yield mark_paid(checkout, row, context, rows)
        if source is not None and source.on_paid is not None:
            yield source.on_paid(checkout, row, context, rows)
        return
    if context.now >= checkout.expires_at:
        yield expire(checkout, context, rows)
    if source is not None and source.on_attempt_failed is not None:
        yield source.on_attempt_failed(checkout, context, rows)


def mark_paid(checkout: Checkout, row: Transaction, context: Context, rows: LoadedRows) -> Effects | NeedsMore:
    key = payment_key(checkout.merchant_id, row.txn_ref)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Payment, key),)))
    payment = rows.get(Payment, key)
    assert payment is not None, "the decision ends this payment"
    fields = {
        "charged_amount": format_minor(payment.charged),
        "payment_method": PAYMENT_MARK_DECODER.decode(row.detail).method,
    }
    ended, event, deliveries = end_checkout(checkout, row, fields, context)
    return Effects(rows=(ended,), jobs=deliveries, events=(event,))


def on_refund(reference: str, amount: int, context: Context, rows: LoadedRows) -> TransactionEffects | NeedsMore:
    """Returns what the source of a checkout does if a part of its payment was refunded."""
    checkout = rows.get(Checkout, checkout_key(context.merchant.merchant_id, reference))
    if checkout is None:
        return TransactionEffects()
    source = find_source(checkout, context, rows)
    if isinstance(source, NeedsMore):
        return source
    if source is None or source.on_refund is None:
        return TransactionEffects()
    effects, added = TransactionEffects(), source.on_refund(checkout, amount, context, rows)
    if isinstance(added, NeedsMore):
        return added
    effects.add(added)
    return effects


CHECKOUT_PURPOSE = PurposeRules(name=CHECKOUT, needs=need_purpose, on_answer=on_answer, on_refund=on_refund)
