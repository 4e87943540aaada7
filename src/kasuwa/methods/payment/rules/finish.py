"""The end of a payment: its postings, its saved card, its event, and the plans and settlement batches it leads to.

The posting table is in model.py.
"""

from hashlib import blake2b

import msgspec

from kasuwa.core.decision import Context, Decision, Effects, Job, LoadedRows, NeedsMore, Posting, PostingGroup, Row
from kasuwa.core.money import format_minor
from kasuwa.ledger import chart
from kasuwa.ledger.holds import find_hold
from kasuwa.methods.payment.model import (
    DONE,
    FACTS_DECODER,
    JOB_DATA_DECODER,
    SEALED_CARD_DECODER,
    WALLET_INSUFFICIENT,
    Payment,
    PaymentDetail,
    PaymentJobData,
    SavedCard,
    rail_account,
    saved_card_aad,
    saved_card_key,
    sealed_card_aad,
    unapplied_account,
)
from kasuwa.methods.payment.payer_model import read_detail
from kasuwa.methods.payment.plan_model import Plan
from kasuwa.methods.payment.rules.plans.scheduled_charges import start_plans
from kasuwa.methods.payment.rules.receipt_mail import mail_receipt
from kasuwa.methods.payment.rules.receipts.late_money import start_watch
from kasuwa.methods.payment.rules.replies import reply_completed
from kasuwa.methods.payment.rules.split_settlement import fee_posts, settle_payment
from kasuwa.transactions.purpose import (
    TransactionEffects,
    TransactionPurpose,
    effects_of_purpose,
    get_purpose_rules,
    make_subject_field,
)
from kasuwa.transactions.transactions import (
    FAILED,
    SUCCESSFUL,
    Transaction,
    TransactionOutcome,
    encode_text,
    end_transaction,
)

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def finish_accounts(work: PaymentJobData) -> tuple[str, ...]:
    """Returns the accounts that an ordinary end posts to.

    Those of a split, a settlement day or a purpose are requested by NeedsMore.
    """
    currency = work.currency
    accounts = (
        chart.wallet(currency),
        rail_account(work.method, currency),
        chart.income("collection", currency),
        chart.tax("vat", currency),
    )
    has_unapplied = work.method == "bank_transfer" or work.vendor
    return (*accounts, unapplied_account(currency)) if has_unapplied else accounts


class PaymentOutcome(msgspec.Struct, frozen=True):
    """The final status of a payment.

    The code is the rail's. If the payment was ended here it is EXPIRED, OTP_ATTEMPTS_EXHAUSTED or None.
    """

    status: str
    code: str | None
    message: str


def end_payment(
    row: Transaction,
    payment: Payment,
    job: Job | None,
    outcome: PaymentOutcome,
    context: Context,
    rows: LoadedRows,
) -> Decision | NeedsMore:
    """Ends a payment. `job` is None for a transfer into a personalized account, which was never pending."""
    detail = read_detail(payment, context.vault.unseal)
    event_fields = build_event_fields(row, detail)
    ending = TransactionOutcome(
        status=outcome.status,
        code=outcome.code,
        message=outcome.message,
        method=payment.method,
        scenario=context.scenario if job is None else JOB_DATA_DECODER.decode(job.work).scenario,
        charged=payment.charged,
        event_fields=event_fields,
    )
    end = end_transaction(context, row, ending)
    paid = outcome.status == SUCCESSFUL
    done, saved = tokenize_card(payment, end.row, detail, context) if paid else (discard_card(payment), ())
    added = effects_of_purpose(end.row, detail.purpose, context, rows)
    if isinstance(added, NeedsMore):
        return added
    if added.surplus:
        event_fields = {**event_fields, "unapplied_amount": format_minor(added.surplus)}
        end = end_transaction(context, row, msgspec.structs.replace(ending, event_fields=event_fields))
        done = record_surplus(done, added)
    settling = settle_payment(end.row, done, detail, context, rows) if paid else TransactionEffects()
    if isinstance(settling, NeedsMore):
        return settling
    receipt = mail_receipt(end.row, done, detail, context, rows) if paid else Effects()
    if isinstance(receipt, NeedsMore):
        return receipt
    following = start_plans(end.row, done, detail, context, rows)
    done = record_plan(done, following)
    decision = Decision(
        reply=added.reply or reply_completed(end.row, done, detail),
        groups=end_groups(end.row, payment, detail, (*settling.posts, *added.posts), context),
        rows=(end.row, done, *saved),
        jobs=end.jobs,
        jobs_done=() if job is None else (job,),
        events=(end.event,),
    )
    for part in (settling, added, following, receipt):
        decision.add(part)
    decision.jobs += () if paid else start_watch(payment, job, outcome.code, context)
    return decision


def record_surplus(payment: Payment, added: TransactionEffects) -> Payment:
    """Records how much of a payment its purpose could not use. Verify shows that part, and it can be refunded."""
    facts = msgspec.structs.replace(FACTS_DECODER.decode(payment.facts), surplus=added.surplus)
    return msgspec.structs.replace(payment, facts=encode_text(facts))


def record_plan(payment: Payment, following: Effects) -> Payment:
    """Records the plan that a payment has started. A dispute of the payment names it."""
    plan = next((row for row in following.rows if isinstance(row, Plan)), None)
    if plan is None:
        return payment
    facts = msgspec.structs.replace(FACTS_DECODER.decode(payment.facts), plan_id=plan.plan_id)
    return msgspec.structs.replace(payment, facts=encode_text(facts))


def build_event_fields(row: Transaction, detail: PaymentDetail) -> dict[str, str]:
    """Returns the fields that a payment's event has besides the common ones.

    These are the merchant's reference, the loan or savings account and, if money came in on one, the personalized
    account. Contract: resources#personalized-accounts, events#payload
    """
    fields = {"customer_txnref": row.order_ref} if row.order_ref else {}
    fields |= make_subject_field(detail.purpose)
    if not detail.account_reference:
        return fields
    return {
        **fields,
        "account_reference": detail.account_reference,
        "account": detail.inbound_account_number,
        "account_details": detail.business_name,
        "bankname": detail.provider,
    }


# --- the money ------------------------------------------------------------------------------------------------------


def end_groups(
    row: Transaction,
    payment: Payment,
    detail: PaymentDetail,
    added: tuple[Posting, ...],
    context: Context,
) -> tuple[PostingGroup, ...]:
    """Returns the posting groups of the end. An ordinary payment is one group.

    If a purpose takes the amount in full, the fee is a second group that captures its hold on the wallet.
    """
    wallet = chart.wallet(row.currency)
    own = purpose_account(detail.purpose, row.currency, context)
    held = find_hold(row)
    if payment.received:
        back = Posting(
            unapplied_account(row.currency), rail_account(payment.method, row.currency), payment.received, "applied"
        )
        if row.status == FAILED:
            back = msgspec.structs.replace(back, kind="returned to the payer")
        added = (back, *added)
    if row.status == FAILED:
        voided = (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, releases=held),) if held is not None else ()
        return (*voided, PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=added)) if added else voided
    if own is None:
        return (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=added),) if added else ()
    first = Posting(rail_account(payment.method, row.currency), own, payment.charged, "payment")
    groups: tuple[PostingGroup, ...] = (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=(first, *added)),)
    if held is None:
        return groups
    return (*groups, PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=fee_posts(row, wallet), releases=held))


def purpose_account(purpose: TransactionPurpose | None, currency: str, context: Context) -> str | None:
    """Returns the account to which the purpose takes the amount in full, or None."""
    if purpose is None:
        return None
    account = get_purpose_rules(purpose, context).destination_account
    return None if account is None else str(account(purpose.reference, currency))


# --- the card -------------------------------------------------------------------------------------------------------


def discard_card(payment: Payment) -> Payment:
    """Ends the payment without saving its card."""
    return msgspec.structs.replace(payment, stage=DONE, sealed_card=None, token=None)


def tokenize_card(
    payment: Payment, row: Transaction, detail: PaymentDetail, context: Context
) -> tuple[Payment, tuple[Row, ...]]:
    """Ends the payment and saves its card under a new token, by which the merchant may charge it again."""
    summary = detail.card or FACTS_DECODER.decode(payment.facts).card
    if payment.sealed_card is None or summary is None:
        return msgspec.structs.replace(payment, stage=DONE), ()
    card = context.unseal(sealed_card_aad(row.txn_ref), payment.sealed_card)
    assert SEALED_CARD_DECODER.decode(card)
    token = f"{random_token_prefix(context)}.{int(context.now.timestamp())}"
    saved = SavedCard(
        key=saved_card_key(row.merchant_id, token),
        merchant_id=row.merchant_id,
        token=token,
        sealed=context.seal(saved_card_aad(token), card),
        detail=encode_text(summary),
        created_at=context.now,
    )
    return msgspec.structs.replace(payment, stage=DONE, sealed_card=None, token=token), (saved,)


def random_token_prefix(context: Context) -> str:
    random_bytes = blake2b(context.entropy, digest_size=8, person=b"card token").digest()
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in random_bytes)
