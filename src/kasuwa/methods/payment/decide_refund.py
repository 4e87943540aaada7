"""Refunds: all or a part of a payment goes back to the payer, out of the wallet. (D18)

    requested    hold   wallet                       amount
    successful   wallet → rail:<card|debit|mobile>   amount; the fee stays where it is
    failed       the hold is voided

What is under way counts as gone, on the payment's own row: refunds at once can never exceed the charge.
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST, NOT_COVERED
from kasuwa.core.decision import (
    Context,
    Decision,
    Fault,
    Group,
    Job,
    Merchant,
    More,
    Needs,
    Post,
    Refusal,
    Reserve,
    Row,
    Seen,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import NOTHING_MORE, Addition, Purpose, subject_of, unseen_needs
from kasuwa.core.references import hold_key, movement_reference
from kasuwa.core.requery import Kinds, ask_again, ending_of
from kasuwa.core.scenario import plan_call
from kasuwa.core.transactions import (
    FAILED,
    PENDING,
    SUCCESSFUL,
    Transaction,
    begin_transaction,
    contradiction,
    encode_text,
    end_transaction,
    new_job,
    transaction_key,
)
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Hold
from kasuwa.methods.payment.decide import (
    CHANNELS,
    DETAIL,
    FACTS,
    KIND,
    UNKNOWN_REFERENCE,
    WORK,
    Payment,
    Work,
    payment_key,
    rail_account,
)
from kasuwa.methods.payment.decide_plan import CHARGES
from kasuwa.methods.payment.wire import RefundRequest
from kasuwa.methods.payment.wire_reply import RefundReply
from kasuwa.rails.ports import Answer

REFUND = "refund"
SEND_REFUND = "payment.refund"
ASK_REFUND = "payment.ask_refund"

NOT_PAID = Refusal(INVALID_REQUEST, "Only a successful payment can be refunded")
CANNOT_PAY_BACK = Refusal(INVALID_REQUEST, "Payments of this type cannot be paid back")
MADE_FOR_ANOTHER = Refusal(
    INVALID_REQUEST, "This payment was used for a loan or savings; only what was paid beyond that can be refunded"
)
WALLET_SHORT = Refusal(NOT_COVERED, "The wallet does not cover the refund; fund it and try again")

SOURCE_SHORT = Refusal(NOT_COVERED, "The savings do not hold this money any more")

MESSAGES = {SUCCESSFUL: "Refund Successful", PENDING: "Refund Pending", FAILED: "Refund Failed"}


class RefundDetail(msgspec.Struct, frozen=True):
    payment: str
    comment: str
    method: str


REFUND_DETAIL: "msgspec.json.Decoder[RefundDetail]" = msgspec.json.Decoder(RefundDetail)


def need_refund(request: RefundRequest, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, transaction_key(merchant.merchant_id, KIND, request.txn_ref)),
        (Payment, payment_key(merchant.merchant_id, request.txn_ref)),
    )
    return Needs(rows, tuple(chart.wallet(currency) for currency in merchant.limits))


def decide_refund(request: RefundRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    merchant = context.merchant
    row = seen.get(Transaction, transaction_key(merchant.merchant_id, KIND, request.txn_ref))
    payment = seen.get(Payment, payment_key(merchant.merchant_id, request.txn_ref))
    if row is None or payment is None:
        return UNKNOWN_REFERENCE
    if row.status != SUCCESSFUL:
        return NOT_PAID
    if not is_own(payment.detail) and not FACTS.decode(payment.facts).surplus:
        return MADE_FOR_ANOTHER
    if not CHANNELS[payment.method].pays_back:
        return CANNOT_PAY_BACK
    if request.amount > refundable(payment):
        return refuse_fields(Fault("amount", f"at most {format_minor(refundable(payment))}, what is left to refund"))
    source, unseen = source_of(payment, row.currency, context, seen)
    return unseen or order_refund(request, row, payment, source, context)


def source_of(payment: Payment, currency: str, context: Context, seen: Seen) -> tuple[str, More | None]:
    """The account that a refund is paid from: the wallet, or where the payment's money went; and what must be seen for
    a payment that was made for a loan or savings."""
    errand = DETAIL.decode(payment.detail).errand
    if errand is None or is_own(payment.detail):
        return chart.wallet(currency), None
    purpose: Purpose = context.purposes[errand.purpose]
    account = None if purpose.account is None else purpose.account(errand.reference, currency)
    return account or chart.wallet(currency), unseen_needs(purpose, errand, context, seen)


def is_own(detail: str) -> bool:
    """Whether its money went to the merchant, as that of a recurrence or an instalment plan does too."""
    errand = DETAIL.decode(detail).errand
    return errand is None or errand.purpose in CHARGES


def refundable(payment: Payment) -> int:
    """What is left to refund."""
    whole = refundable_whole(payment.detail, payment.facts, payment.charged)
    return whole - payment.refunded - payment.refunding


def refundable_whole(detail: str, facts: str, charged: int) -> int:
    """What could be refunded at first: of a payment that was made for a loan or savings, what that had no use for."""
    return charged if is_own(detail) else FACTS.decode(facts).surplus


def order_refund(
    request: RefundRequest, paid: Transaction, payment: Payment, source: str, context: Context
) -> Decision:
    """Hold the money, count it as going, and write the job that tells the rail."""
    amount = int(request.amount)
    txn_ref = movement_reference("RF", context.permutation(context.number), lagos_day(context.now))
    luck = int.from_bytes(context.entropy[:8], "big")
    scenario, faults = plan_call(context.scenario, context.faults, CHANNELS[payment.method].fault, luck)
    row = begin_transaction(
        context,
        REFUND,
        txn_ref,
        amount,
        currency=paid.currency,
        status=PENDING,
        message=MESSAGES[PENDING],
        detail=RefundDetail(paid.txn_ref, request.comment or "", payment.method),
    )
    work = Work(
        sent_at=context.now.timestamp(),
        method=payment.method,
        amount=amount,
        currency=paid.currency,
        session=payment.session,
        refund_of=paid.txn_ref,
        scenario=scenario,
    )
    going = msgspec.structs.replace(payment, refunding=payment.refunding + amount)
    job = new_job(context, SEND_REFUND, CHANNELS[payment.method].rail, row, encode_text(work))
    reserve = Reserve(hold_key(row.key), source, amount)
    short = WALLET_SHORT if source == chart.wallet(paid.currency) else SOURCE_SHORT
    return Decision(
        reply=reply_refund(row, going),
        groups=(Group(txn_ref, short, reserves=(reserve,)),),
        rows=(row, going),
        jobs=(job,),
        numbers=1,
        then=job,
        faults=faults,
    )


def reply_refund(row: Transaction, payment: Payment) -> RefundReply:
    return RefundReply(
        txn_ref=payment.txn_ref,
        refund_ref=row.txn_ref,
        txn_status=row.status,  # type: ignore[arg-type]
        amount=format_minor(row.amount),
        currency=row.currency,
        refunded_amount=format_minor(payment.refunded),
        refundable_amount=format_minor(refundable(payment)),
        message=row.message,
    )


# --- what the rail says ---------------------------------------------------------------------------------------------

KINDS = Kinds(SEND_REFUND, ASK_REFUND)


def need_refund_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    work = WORK.decode(job.work)
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, job.subject),
        (Hold, hold_key(job.subject)),
        (Job, job.key),
    )
    return Needs(rows, (chart.wallet(work.currency), rail_account(work.method, work.currency)))


def decide_refund_answer(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision | More:
    row = seen.get(Transaction, job.subject)
    assert row is not None
    key = payment_key(context.merchant.merchant_id, REFUND_DETAIL.decode(row.detail).payment)
    if not seen.has(key):
        return More(Needs(((Payment, key),)))
    payment, here = seen.get(Payment, key), seen.get(Job, job.key)
    assert payment is not None
    if row.is_final or here is None:
        notices = contradiction(row, ending_of(answer, 0) or row.status)
        return Decision(reply=reply_refund(row, payment), notices=notices, jobs_done=() if here is None else (here,))
    age = context.now.timestamp() - WORK.decode(here.work).sent_at
    ending = ending_of(answer, age)
    if ending is None:
        kept, again = ask_again(row, here, answer, context, age, KINDS, PENDING, MESSAGES[PENDING])
        return Decision(reply=reply_refund(kept, payment), rows=(kept,), jobs=(again,))
    return end_refund(row, payment, here, answer, ending, context, seen)


def end_refund(
    row: Transaction, payment: Payment, job: Job, answer: Answer, ending: str, context: Context, seen: Seen
) -> Decision | More:
    source, unseen = source_of(payment, row.currency, context, seen)
    errand = DETAIL.decode(payment.detail).errand
    if unseen is not None:
        return unseen
    paid_back = ending == SUCCESSFUL
    message = MESSAGES[SUCCESSFUL] if paid_back else f"{MESSAGES[FAILED]}: {answer.message}"
    work = WORK.decode(job.work)
    told = {"refundOf": payment.txn_ref, **subject_of(errand)}
    added: Addition | More = NOTHING_MORE
    if paid_back and errand is not None and not is_own(payment.detail):
        rule = context.purposes[errand.purpose].end_refund
        added = NOTHING_MORE if rule is None else rule(errand.reference, row.amount, context, seen)
    if isinstance(added, More):
        return added
    end = end_transaction(context, row, ending, answer.code, message, REFUND, work.scenario, told=told)
    left = msgspec.structs.replace(
        payment,
        refunding=payment.refunding - row.amount,
        refunded=payment.refunded + (row.amount if paid_back else 0),
        refunds=payment.refunds + 1,
    )
    post = Post(source, rail_account(payment.method, row.currency), row.amount, "refund")
    posts = (post, *added.posts) if paid_back else ()
    # A refund's event belongs to its payment, after the payment's own.
    event = msgspec.structs.replace(end.event, object=payment.txn_ref, object_seq=left.refunds + 1)
    return Decision(
        reply=reply_refund(end.row, left),
        groups=(Group(row.txn_ref, WALLET_SHORT, posts=posts, ends=hold_key(row.key)),),
        rows=(end.row, left, *added.rows),
        jobs=end.jobs,
        jobs_done=(job,),
        events=(event,),
    )
