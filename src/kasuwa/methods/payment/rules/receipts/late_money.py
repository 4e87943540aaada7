"""Money that a payer paid and that no payment can use: paid after the payment had failed, or too much.

    found      rail → unapplied      what was paid late or in excess
    requested  hold   unapplied      a refund of it is sent to the rail
    returned   unapplied → rail      the rail has paid it back
    failed     it stays in unapplied, and the operator gets a notice

A payment that failed at a vendor is watched for three days: its payer may still have the vendor's page open, or may
have sent a transfer to the account that was shown. The vendor's call-backs run the watch at once.
Contract: payment#late
"""

from datetime import timedelta

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import (
    Context,
    Decision,
    HeldAmount,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    OperatorNotice,
    Posting,
    PostingGroup,
    Row,
)
from kasuwa.core.references import movement_reference
from kasuwa.methods.payment.model import (
    DETAIL_DECODER,
    FACTS_DECODER,
    JOB_DATA_DECODER,
    KIND,
    RAIL_ROUTES,
    WALLET_INSUFFICIENT,
    WATCH,
    Payment,
    PaymentJobData,
    merge_rail_facts,
    payment_key,
    rail_account,
    unapplied_account,
)
from kasuwa.methods.payment.payer_model import read_job_payer, seal_job_payer
from kasuwa.methods.payment.rules.refund import MESSAGES, REFUND, SEND_REFUND, RefundDetail
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import (
    FAILED,
    PENDING,
    NewTransaction,
    Transaction,
    begin_transaction,
    encode_text,
    make_ordered_job,
    make_transaction_job,
    transaction_key,
)

# Ages, since the payment's end, at which its vendor is queried.
WATCH_AFTER_SECONDS = (600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 48 * 3600, 72 * 3600)

PAID_LATE = "Paid after the payment had failed"
PAID_TOO_MUCH = "Paid more than was asked for"
ABOVE_LIMIT = "Above the limits of the client's tier"
# The kinds of postings of money that is returned for these reasons.
RETURNED_KINDS = {
    PAID_LATE: "paid after the payment had failed",
    PAID_TOO_MUCH: "paid more than was asked for",
    ABOVE_LIMIT: "deposit sent back",
}


# --- the watch ------------------------------------------------------------------------------------------------------


def start_watch(payment: Payment, job: Job | None, code: str | None, context: Context) -> tuple[Job, ...]:
    """Returns the job that watches a failed payment, if its payer can still pay at a vendor.

    Without a code nothing was begun there. A saved card is charged without its payer, so that its outcome is final,
    unless its bank wanted the payer on a page.
    """
    work = None if job is None else JOB_DATA_DECODER.decode(job.work)
    is_final = payment.method == "token" and payment.auth != "redirect"
    if work is None or not work.vendor or is_final or code is None:
        return ()
    facts = FACTS_DECODER.decode(payment.facts).rail
    assert job is not None
    payer = msgspec.structs.replace(read_job_payer(job, work, context.vault.unseal), email="", fullname="")
    watched = msgspec.structs.replace(
        work,
        sent_at=context.now.timestamp(),
        session=payment.session,
        rail_facts=facts,
        sealed_payer=seal_job_payer(payer, payment.txn_ref, context),
        email="",
        fullname="",
        payer="",
        payer_account="",
    )
    due = context.now + timedelta(seconds=WATCH_AFTER_SECONDS[0])
    lane = RAIL_ROUTES[payment.method].rail
    watch = make_ordered_job(context, WATCH, lane, payment, payment.txn_ref, due, encode_text(watched))
    return (msgspec.structs.replace(watch, rail=work.vendor, rail_account=job.rail_account),)


def need_watch(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    work = JOB_DATA_DECODER.decode(job.work)
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, transaction_key(merchant.merchant_id, KIND, job.reference)),
        (Payment, payment_key(merchant.merchant_id, job.reference)),
        (Job, job.key),
    )
    return Needs(rows, (rail_account(work.method, work.currency), unapplied_account(work.currency)))


def decide_watch(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Returns money that was paid after the payment had failed, or schedules the next query."""
    row = rows.get(Transaction, transaction_key(context.merchant.merchant_id, KIND, job.reference))
    payment = rows.get(Payment, payment_key(context.merchant.merchant_id, job.reference))
    current_job = rows.get(Job, job.key)
    if row is None or payment is None or current_job is None:
        return Decision()
    assert row.status == FAILED, "a successful payment is not watched"
    work = JOB_DATA_DECODER.decode(current_job.work)
    notices = (OperatorNotice(row.txn_ref, answer.notice),) if answer.notice else ()
    if answer.status == orders.SUCCESSFUL:
        facts = FACTS_DECODER.decode(payment.facts)
        known = msgspec.structs.replace(facts, rail=merge_rail_facts(facts.rail, answer.facts))
        payment = msgspec.structs.replace(payment, facts=encode_text(known))
        late = begin_return(row, payment, work.amount + read_excess(answer), PAID_LATE, context)
        late.jobs_done += (current_job,)
        late.notices += (*notices, OperatorNotice(row.txn_ref, "its payer paid after it had failed; it is returned"))
        return late
    age = context.now.timestamp() - work.sent_at
    following = next((after for after in WATCH_AFTER_SECONDS if after > age + 1), None)
    if following is None:
        return Decision(jobs_done=(current_job,), notices=notices)
    due = context.now + timedelta(seconds=max(following - age, answer.retry_after))
    return Decision(jobs=(msgspec.structs.replace(current_job, due=due),), notices=notices)


# --- the return -----------------------------------------------------------------------------------------------------


def read_excess(answer: Answer) -> int:
    return int(answer.facts.get("excess", "0"))


def add_return(decision: Decision, row: Transaction, amount: int, reason: str, context: Context) -> Decision:
    """Adds to the end of a payment the return of what its payer paid and it could not use, if anything."""
    if not amount:
        return decision
    payment = next(changed for changed in decision.rows if isinstance(changed, Payment))
    back = begin_return(row, payment, amount, reason, context)
    decision.rows = tuple(changed for changed in decision.rows if changed is not payment)
    decision.add(back)
    return decision


def begin_return(
    row: Transaction, payment: Payment, amount: int, reason: str, context: Context, source: str = ""
) -> Decision:
    """Returns the decision that books money which came in and sends it back by a refund of its payment. `source` is the
    account that has the money if it was booked before, as what the payer was charged."""
    vendor = DETAIL_DECODER.decode(payment.detail).vendor
    rail, unapplied = rail_account(payment.method, row.currency), unapplied_account(row.currency)
    held = HeldAmount(unapplied, amount)
    # What was charged counts as refunded, as by any refund.
    detail = RefundDetail(
        row.txn_ref,
        reason,
        payment.method,
        is_return=True,
        is_of_charge=bool(source),
        vendor=vendor,
        of_price=None if source else 0,
    )
    refund = begin_transaction(
        context,
        NewTransaction(
            kind=REFUND,
            txn_ref=movement_reference("RF", context.permutation(context.number), lagos_day(context.now)),
            amount=amount,
            currency=row.currency,
            status=PENDING,
            message=MESSAGES[PENDING],
            detail=detail,
            held=held,
            rail=vendor,
            rail_account=row.rail_account,
        ),
    )
    order = PaymentJobData(
        sent_at=context.now.timestamp(),
        method=payment.method,
        amount=amount,
        currency=row.currency,
        session=payment.session,
        refund_of=row.txn_ref,
        is_return=True,
        vendor=vendor,
        rail_facts=FACTS_DECODER.decode(payment.facts).rail,
        scenario=context.scenario,
    )
    facts = FACTS_DECODER.decode(payment.facts)
    counted = msgspec.structs.replace(
        payment,
        facts=encode_text(msgspec.structs.replace(facts, returns=facts.returns + 1)),
        refunding=payment.refunding + (amount if source else 0),
    )
    arrived = Posting(source or rail, unapplied, amount, RETURNED_KINDS[reason])
    lane = RAIL_ROUTES[payment.method].rail
    return Decision(
        groups=(
            PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=(arrived,)),
            PostingGroup(refund.txn_ref, WALLET_INSUFFICIENT, holds=held),
        ),
        rows=(refund, counted),
        jobs=(make_transaction_job(context, SEND_REFUND, lane, refund, encode_text(order)),),
        numbers_used=1,
    )
