"""Refunds: a payment, or a part of it, is paid back to the payer out of the wallet.

    requested    hold   wallet                       amount
    successful   wallet → rail:<card|debit|mobile>   amount; the fee stays where it is
    failed       the hold is voided

Refunds in progress count as refunded, on the payment's row, so that concurrent refunds never exceed the charge.
Contract: payment#refund, payment#partial
"""

from typing import ClassVar

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    HeldAmount,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
    replace_faults,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, movement_reference
from kasuwa.core.scenario import take_call_scenario
from kasuwa.ledger import chart
from kasuwa.ledger.holds import find_hold
from kasuwa.methods.payment.model import (
    DETAIL_DECODER,
    FACTS_DECODER,
    JOB_DATA_DECODER,
    KIND,
    RAIL_ROUTES,
    UNKNOWN_REFERENCE,
    Payment,
    PaymentJobData,
    count_from_sending,
    payment_key,
    rail_account,
    share_of_price,
    unapplied_account,
)
from kasuwa.methods.payment.plan_model import CHARGE_JOB_KINDS
from kasuwa.methods.payment.wire import RefundRequest
from kasuwa.methods.payment.wire_reply import RefundReply
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.purpose import (
    CHECKOUT,
    TransactionEffects,
    TransactionPurpose,
    get_purpose_rules,
    make_subject_field,
    missing_needs,
)
from kasuwa.transactions.requery import RequeryJobKinds, final_status, schedule_requery
from kasuwa.transactions.transactions import (
    FAILED,
    PENDING,
    SUCCESSFUL,
    NewTransaction,
    Transaction,
    TransactionOutcome,
    begin_transaction,
    contradiction_notices,
    encode_text,
    end_transaction,
    make_transaction_job,
    transaction_key,
)

REFUND = "refund"
SEND_REFUND = "payment.refund"
QUERY_REFUND = "payment.ask_refund"

PAYMENT_NOT_SUCCESSFUL = Refusal(
    INVALID_REQUEST, "Only a successful payment can be refunded", error_code="payment_not_successful"
)
METHOD_NOT_REFUNDABLE = Refusal(
    INVALID_REQUEST, "Payments of this type cannot be paid back", error_code="method_not_refundable"
)
USED_FOR_LOAN_OR_SAVINGS = Refusal(
    INVALID_REQUEST,
    "This payment was used for a loan or savings; only what was paid beyond that can be refunded",
    error_code="payment_used_for_loan_or_savings",
)
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the refund; fund it and try again", error_code="insufficient_funds"
)


MESSAGES = {SUCCESSFUL: "Refund Successful", PENDING: "Refund Pending", FAILED: "Refund Failed"}


class RefundDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The detail of a refund's transaction."""

    payment: str  # its reference
    comment: str
    method: str
    is_return: bool = False  # it returns money that the payment could not use (late_money.py)
    # Whether that money is what was charged, and not beyond it: it counts as refunded, and cannot be disputed as well.
    is_of_charge: bool = False
    vendor: str = ""  # that has the payment
    # What counts for the price of the payment, if that is not the whole amount: a fee that the payer bore is not part
    # of it. Sums of refunds count this (ledger/counted_amounts.py).
    of_price: int | None = None


class PricedRefund(Transaction):
    """A refund whose detail gets what counts for the price when it ends."""

    mutable_columns: ClassVar[tuple[str, ...]] = (*Transaction.mutable_columns, "detail")


REFUND_DETAIL_DECODER: "msgspec.json.Decoder[RefundDetail]" = msgspec.json.Decoder(RefundDetail)


def need_refund(request: RefundRequest, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, transaction_key(merchant.merchant_id, KIND, request.txn_ref)),
        (Payment, payment_key(merchant.merchant_id, request.txn_ref)),
    )
    return Needs(rows, tuple(chart.wallet(currency) for currency in merchant.limits))


def decide_refund(
    request: RefundRequest, context: Context, rows: LoadedRows
) -> Decision[RefundReply] | Refusal | NeedsMore:
    merchant = context.merchant
    row = rows.get(Transaction, transaction_key(merchant.merchant_id, KIND, request.txn_ref))
    payment = rows.get(Payment, payment_key(merchant.merchant_id, request.txn_ref))
    if row is None or payment is None:
        return UNKNOWN_REFERENCE
    if row.status != SUCCESSFUL:
        return PAYMENT_NOT_SUCCESSFUL
    if not is_merchant_payment(payment.detail) and not FACTS_DECODER.decode(payment.facts).surplus:
        return USED_FOR_LOAN_OR_SAVINGS
    if not RAIL_ROUTES[payment.method].can_refund:
        return METHOD_NOT_REFUNDABLE
    if request.amount > refundable(payment):
        return refuse_fields(
            FieldError("amount", f"at most {format_minor(refundable(payment))}, what is left to refund")
        )
    if request.dry_run:
        return preview_refund(int(request.amount), row, payment, rows)
    return start_refund(request, row, payment, context)


def is_merchant_payment(detail: str) -> bool:
    """Whether the payment's money went to the merchant, not to a loan or savings account.

    The charges of plans and the payments of checkouts are the merchant's too.
    """
    purpose = DETAIL_DECODER.decode(detail).purpose
    return purpose is None or purpose.purpose in CHARGE_JOB_KINDS or purpose.purpose == CHECKOUT


def refundable(payment: Payment) -> int:
    """Returns the amount that can still be refunded. What is disputed is not part of it. Contract: payment#disputes"""
    total = refundable_total(payment.detail, payment.facts, payment.charged)
    return max(0, min(total - payment.refunded - payment.refunding, payment.undisputed))


def refundable_total(detail: str, facts: str, charged: int) -> int:
    """Returns the amount that could be refunded before any refund.

    Of a payment made for a loan or savings account this is the part that it could not use.
    """
    return charged if is_merchant_payment(detail) else FACTS_DECODER.decode(facts).surplus


def preview_refund(
    amount: int, paid_transaction: Transaction, payment: Payment, rows: LoadedRows
) -> Decision[RefundReply] | Refusal:
    """Returns the dry run of a refund. Refused for every reason that would refuse the refund, also insufficient funds.

    Contract: payment#dry-run
    """
    currency = paid_transaction.currency
    account = rows.get(chart.Account, account_key(payment.merchant_id, chart.wallet(currency)))
    if account is None or account.available < amount:
        return WALLET_INSUFFICIENT
    reply = RefundReply(
        txn_ref=payment.txn_ref,
        amount=format_minor(amount),
        currency=currency,
        refunded_amount=format_minor(payment.refunded),
        refundable_amount=format_minor(refundable(payment) - amount),
        message=DRY_RUN_MESSAGE,
        dry_run=True,
    )
    return Decision(reply=reply)


def start_refund(request: RefundRequest, paid_transaction: Transaction, payment: Payment, context: Context) -> Decision:
    """Holds the amount, counts it as being refunded and creates the job for the rail."""
    amount = int(request.amount)
    txn_ref = movement_reference("RF", context.permutation(context.number), lagos_day(context.now))
    random_number = int.from_bytes(context.entropy[:8], "big")
    scenario, faults = take_call_scenario(
        context.scenario, context.injected_faults, RAIL_ROUTES[payment.method].fault_rail, "refund", random_number
    )
    vendor = DETAIL_DECODER.decode(payment.detail).vendor
    row = begin_transaction(
        context,
        NewTransaction(
            kind=REFUND,
            txn_ref=txn_ref,
            amount=amount,
            currency=paid_transaction.currency,
            status=PENDING,
            message=MESSAGES[PENDING],
            detail=RefundDetail(paid_transaction.txn_ref, request.comment or "", payment.method, vendor=vendor),
            held=HeldAmount(chart.wallet(paid_transaction.currency), amount),
            rail=vendor,
            rail_account=paid_transaction.rail_account,
        ),
    )
    work = PaymentJobData(
        sent_at=context.now.timestamp(),
        method=payment.method,
        amount=amount,
        currency=paid_transaction.currency,
        session=payment.session,
        refund_of=paid_transaction.txn_ref,
        vendor=vendor,
        rail_facts=FACTS_DECODER.decode(payment.facts).rail,
        scenario=scenario,
    )
    updated = msgspec.structs.replace(payment, refunding=payment.refunding + amount)
    job = make_transaction_job(context, SEND_REFUND, RAIL_ROUTES[payment.method].rail, row, encode_text(work))
    return Decision(
        reply=reply_refund(row, updated),
        groups=(PostingGroup(txn_ref, WALLET_INSUFFICIENT, holds=find_hold(row)),),
        rows=(row, updated),
        jobs=(job,),
        numbers_used=1,
        follow_up=job,
        sandbox=replace_faults(faults),
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


# --- the rail's answer ----------------------------------------------------------------------------------------------

REFUND_JOB_KINDS = RequeryJobKinds(SEND_REFUND, QUERY_REFUND)


def need_refund_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    work = JOB_DATA_DECODER.decode(job.work)
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, job.subject),
        (Job, job.key),
        (Payment, payment_key(merchant.merchant_id, work.refund_of)),
        (Transaction, transaction_key(merchant.merchant_id, KIND, work.refund_of)),
    )
    source = unapplied_account(work.currency) if work.is_return else chart.wallet(work.currency)
    return Needs(rows, (source, rail_account(work.method, work.currency)))


def decide_refund_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    row = rows.get(Transaction, job.subject)
    assert row is not None
    key = payment_key(context.merchant.merchant_id, REFUND_DETAIL_DECODER.decode(row.detail).payment)
    payment, current_job = rows.get(Payment, key), rows.get(Job, job.key)
    assert payment is not None
    if row.is_final or current_job is None:
        notices = contradiction_notices(row, final_status(answer, 0) or row.status)
        return Decision(
            reply=reply_refund(row, payment), notices=notices, jobs_done=() if current_job is None else (current_job,)
        )
    is_sent = job.kind == SEND_REFUND and answer.status != orders.UNAVAILABLE
    work = count_from_sending(JOB_DATA_DECODER.decode(current_job.work), is_sent, context.now)
    age = context.now.timestamp() - work.sent_at
    ending = final_status(answer, age)
    if ending is None:
        pending = msgspec.structs.replace(row, status=PENDING, message=MESSAGES[PENDING])
        open_row, again = schedule_requery(pending, current_job, answer, context, age, REFUND_JOB_KINDS)
        again.work = encode_text(keep_refund_id(work, answer))
        return Decision(reply=reply_refund(open_row, payment), rows=(open_row,), jobs=(again,))
    return end_refund(row, payment, current_job, answer, ending, context, rows)


def keep_refund_id(work: PaymentJobData, answer: Answer) -> PaymentJobData:
    """Returns the job data with the identifier that the vendor gave the refund."""
    if "refund_id" not in answer.facts:
        return work
    facts = {**work.rail_facts, "refund_id": answer.facts["refund_id"]}
    return msgspec.structs.replace(work, rail_facts=facts)


def end_refund(
    row: Transaction, payment: Payment, job: Job, answer: Answer, ending: str, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    if REFUND_DETAIL_DECODER.decode(row.detail).is_return:
        return end_return(row, payment, job, answer, ending, context)
    purpose = DETAIL_DECODER.decode(payment.detail).purpose
    paid_back = ending == SUCCESSFUL
    work = JOB_DATA_DECODER.decode(job.work)
    event_fields = {"refund_of": payment.txn_ref, **make_subject_field(purpose)}
    paid_row = rows.get(Transaction, transaction_key(row.merchant_id, KIND, payment.txn_ref))
    assert paid_row is not None
    of_price = share_of_price(paid_row.amount, payment.refunded, row.amount)
    added = effects_of_refund(of_price, purpose, context, rows) if paid_back else TransactionEffects()
    if isinstance(added, NeedsMore):
        return added
    if paid_back and of_price != row.amount:
        row = record_price(row, of_price)
    end = end_transaction(
        context,
        row,
        TransactionOutcome(
            status=ending,
            code=answer.code,
            message=outcome_message(answer, ending),
            method=REFUND,
            scenario=work.scenario,
            event_fields=event_fields,
        ),
    )
    payment_after = msgspec.structs.replace(
        payment,
        refunding=payment.refunding - row.amount,
        refunded=payment.refunded + (row.amount if paid_back else 0),
        refunds=payment.refunds + 1,
    )
    post = Posting(chart.wallet(row.currency), rail_account(payment.method, row.currency), row.amount, "refund")
    posts = (post, *added.posts) if paid_back else ()
    # A refund's event belongs to its payment and is numbered after the payment's own event.
    event = msgspec.structs.replace(end.event, object=payment.txn_ref, object_seq=payment_after.refunds + 1)
    decision = Decision(
        reply=reply_refund(end.row, payment_after),
        groups=(PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=posts, releases=find_hold(row)),),
        rows=(end.row, payment_after),
        jobs=end.jobs,
        jobs_done=(job,),
        events=(event,),
    )
    decision.add(added)
    return decision


def record_price(row: Transaction, of_price: int) -> Transaction:
    detail = msgspec.structs.replace(REFUND_DETAIL_DECODER.decode(row.detail), of_price=of_price)
    return msgspec.structs.replace(PricedRefund(*msgspec.structs.astuple(row)), detail=encode_text(detail))


def effects_of_refund(
    amount: int, purpose: TransactionPurpose | None, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Returns what the payment's purpose adds to a successful refund. The charges of plans add nothing.

    `amount` is what counts for the price.
    """
    if purpose is None or purpose.purpose in CHARGE_JOB_KINDS:
        return TransactionEffects()
    rules = get_purpose_rules(purpose, context)
    if rules.on_refund is None:
        return TransactionEffects()
    missing = missing_needs(rules, purpose, context, rows)
    return missing or rules.on_refund(purpose.reference, amount, context, rows)


def outcome_message(answer: Answer, ending: str) -> str:
    return MESSAGES[SUCCESSFUL] if ending == SUCCESSFUL else f"{MESSAGES[FAILED]}: {answer.message}"


def end_return(row: Transaction, payment: Payment, job: Job, answer: Answer, ending: str, context: Context) -> Decision:
    """Ends the return of money that its payment could not use.

    If it failed, the money stays in the account of unapplied money, and the operator gets a notice.
    Contract: payment#late
    """
    outcome = TransactionOutcome(
        status=ending,
        code=answer.code,
        message=outcome_message(answer, ending),
        method=REFUND,
        scenario=JOB_DATA_DECODER.decode(job.work).scenario,
        event_fields={"refund_of": payment.txn_ref},
    )
    end = end_transaction(context, row, outcome)
    payment_after = count_returned(row, payment, ending)
    unapplied = unapplied_account(row.currency)
    returned = Posting(unapplied, rail_account(payment.method, row.currency), row.amount, "returned to the payer")
    notice_text = (
        f"{format_minor(row.amount)} {row.currency} could not be returned and stays in {unapplied}: {answer.message}"
    )
    group = PostingGroup(
        row.txn_ref,
        WALLET_INSUFFICIENT,
        postings=(returned,) if ending == SUCCESSFUL else (),
        releases=find_hold(row),
    )
    return Decision(
        reply=reply_refund(end.row, payment_after),
        groups=(group,),
        rows=(end.row, payment_after),
        jobs=end.jobs,
        jobs_done=(job,),
        events=(msgspec.structs.replace(end.event, object=payment.txn_ref, object_seq=payment_after.refunds + 1),),
        notices=() if ending == SUCCESSFUL else (OperatorNotice(row.txn_ref, notice_text),),
    )


def count_returned(row: Transaction, payment: Payment, ending: str) -> Payment:
    """Returns a payment after a return of it has ended. If it failed, the payer does not have the money."""
    counted = msgspec.structs.replace(payment, refunds=payment.refunds + 1)
    if not REFUND_DETAIL_DECODER.decode(row.detail).is_of_charge:
        return counted
    returned = row.amount if ending == SUCCESSFUL else 0
    return msgspec.structs.replace(
        counted, refunding=payment.refunding - row.amount, refunded=payment.refunded + returned
    )
