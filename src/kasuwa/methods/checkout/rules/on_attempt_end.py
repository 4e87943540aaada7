"""The end of an attempt to pay a checkout: marks the checkout in the commit that ends the payment.

These are the rules of the purpose `checkout` (transactions/purpose.py). Contract: payment#checkout
"""

from kasuwa.core.decision import Context, Job, LoadedRows, Merchant, Needs, NeedsMore, OperatorNotice
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.methods.checkout.rules.open_checkout import expire, merge_effects
from kasuwa.methods.payment.model import Payment, payment_key
from kasuwa.transactions.checkouts import OPEN, Checkout, checkout_key, end_checkout, find_source
from kasuwa.transactions.payers import PAYMENT_MARK_DECODER
from kasuwa.transactions.purpose import CHECKOUT, NO_EFFECTS, PurposeEffects, PurposeRules
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction

PAID_TWICE = "it paid the checkout {}, which had ended before; refund it"


def need_purpose(merchant: Merchant, reference: str) -> Needs:
    key = checkout_key(merchant.merchant_id, reference)
    return Needs(((Checkout, key), (Job, job_key(key))))


def on_answer(row: Transaction, reference: str, context: Context, rows: LoadedRows) -> PurposeEffects | NeedsMore:
    """Marks the checkout as paid, or leaves it to the next attempt. Does nothing while the attempt is open."""
    key = checkout_key(context.merchant.merchant_id, reference)
    checkout = rows.get(Checkout, key)
    if checkout is None or not row.is_final:
        return NO_EFFECTS
    if checkout.state != OPEN:
        # Cannot happen while one attempt waits for the other. If it does, a person must know.
        paid_twice = OperatorNotice(row.txn_ref, PAID_TWICE.format(reference))
        return PurposeEffects(notices=(paid_twice,)) if row.status == SUCCESSFUL else NO_EFFECTS
    source = find_source(checkout, context, rows)
    if isinstance(source, NeedsMore):
        return source
    job = rows.get(Job, job_key(key))
    jobs_done = () if job is None else (job,)
    if row.status == SUCCESSFUL:
        added = NO_EFFECTS if source is None or source.on_paid is None else source.on_paid(checkout, row, context, rows)
        paid = mark_paid(checkout, row, context, rows)
        if isinstance(added, NeedsMore):
            return added
        if isinstance(paid, NeedsMore):
            return paid
        return merge_effects(paid, merge_effects(PurposeEffects(jobs_done=jobs_done), added))
    failed = (
        NO_EFFECTS
        if source is None or source.on_attempt_failed is None
        else source.on_attempt_failed(checkout, context, rows)
    )
    if isinstance(failed, NeedsMore) or context.now < checkout.expires_at:
        return failed
    ended = expire(checkout, context, rows)
    if isinstance(ended, NeedsMore):
        return ended
    return merge_effects(ended, merge_effects(PurposeEffects(jobs_done=jobs_done), failed))


def mark_paid(checkout: Checkout, row: Transaction, context: Context, rows: LoadedRows) -> PurposeEffects | NeedsMore:
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
    return PurposeEffects(rows=(ended,), jobs=deliveries, events=(event,))


def on_refund(reference: str, amount: int, context: Context, rows: LoadedRows) -> PurposeEffects | NeedsMore:
    """Returns what the source of a checkout does if a part of its payment was refunded."""
    checkout = rows.get(Checkout, checkout_key(context.merchant.merchant_id, reference))
    if checkout is None:
        return NO_EFFECTS
    source = find_source(checkout, context, rows)
    if isinstance(source, NeedsMore):
        return source
    if source is None or source.on_refund is None:
        return NO_EFFECTS
    return source.on_refund(checkout, amount, context, rows)


CHECKOUT_PURPOSE = PurposeRules(name=CHECKOUT, needs=need_purpose, on_answer=on_answer, on_refund=on_refund)
