"""The end of a payment: its postings, its token, its event, and what follows from it."""

from functools import partial
from hashlib import blake2b

import msgspec

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, NeedsMore, Posting, PostingGroup, Row
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import PurposeEffects, TransactionPurpose, effects_of_purpose, subject_of
from kasuwa.core.references import hold_key
from kasuwa.core.transactions import FAILED, SUCCESSFUL, Transaction, encode_text, end_transaction
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Hold
from kasuwa.methods.payment.model import (
    DETAIL_DECODER,
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
from kasuwa.methods.payment.rules.replies import reply_completed
from kasuwa.methods.payment.rules.scheduled_charges import start_plans
from kasuwa.methods.payment.rules.split_settlement import SettlementEffects, fee_posts, settle_payment

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def finish_accounts(work: PaymentJobData) -> tuple[str, ...]:
    """The accounts of an ordinary end; what a split, a settlement day or a purpose needs besides is asked for later."""
    currency = work.currency
    usual = (
        chart.wallet(currency),
        rail_account(work.method, currency),
        chart.income("collection", currency),
        chart.tax("vat", currency),
    )
    return (*usual, unapplied_account(currency)) if work.method == "bank_transfer" else usual


def end_payment(
    row: Transaction,
    payment: Payment,
    job: Job | None,
    final_status: str,
    code: str | None,
    message: str,
    context: Context,
    seen: LoadedRows,
) -> Decision | NeedsMore:
    """What was never awaited has no job."""
    detail = DETAIL_DECODER.decode(payment.detail)
    finish = partial(
        end_transaction,
        context,
        row,
        final_status,
        code,
        message,
        payment.method,
        context.scenario if job is None else JOB_DATA_DECODER.decode(job.work).scenario,
        charged=payment.charged,
    )
    event_fields = build_event_fields(row, detail)
    end = finish(event_fields=event_fields)
    paid = final_status == SUCCESSFUL
    done, saved = tokenize_card(payment, end.row, detail, context) if paid else (discard_card(payment), ())
    added = effects_of_purpose(end.row, detail.purpose, context, seen)
    if isinstance(added, PurposeEffects) and added.surplus:
        end = finish(event_fields={**event_fields, "unappliedAmount": format_minor(added.surplus)})
        done = record_surplus(done, added.surplus)
    settling = settle_payment(end.row, done, detail, context, seen) if paid else SettlementEffects()
    following = start_plans(end.row, done, detail, context, seen)
    for part in (added, settling, following):
        if isinstance(part, NeedsMore):
            return part
    assert not isinstance(added, NeedsMore)
    assert not isinstance(settling, NeedsMore)
    assert not isinstance(following, NeedsMore)
    return Decision(
        reply=added.reply or reply_completed(end.row, done),
        groups=(
            *end_groups(end.row, payment, detail, (*settling.posts, *added.posts), context, seen),
            *added.groups,
        ),
        rows=(end.row, done, *saved, *settling.rows, *added.rows, *following.rows),
        jobs=(*end.jobs, *settling.jobs, *added.jobs, *following.jobs),
        jobs_done=(*(() if job is None else (job,)), *added.jobs_done, *following.jobs_done),
        events=(end.event,),
        notices=added.notices,
    )


def record_surplus(payment: Payment, surplus: int) -> Payment:
    """A payment of which its purpose had no use for a part: verify shows it, and it can be refunded."""
    facts = msgspec.structs.replace(FACTS_DECODER.decode(payment.facts), surplus=surplus)
    return msgspec.structs.replace(payment, facts=encode_text(facts))


def build_event_fields(row: Transaction, detail: PaymentDetail) -> dict[str, str]:
    """What a payment's event carries besides: the merchant's own reference and, of money that came in on a
    personalized account, that account. (Contract: resources#personalized-accounts, events#payload)"""
    told = {"customer_txnref": row.order_ref} if row.order_ref else {}
    told |= subject_of(detail.purpose)
    if not detail.account_reference:
        return told
    return {
        **told,
        "accountReference": detail.account_reference,
        "account": detail.inbound_account_number,
        "accountDetails": detail.business_name,
        "bankname": detail.provider,
    }


# --- the money ------------------------------------------------------------------------------------------------------


def end_groups(
    row: Transaction,
    payment: Payment,
    detail: PaymentDetail,
    added: tuple[Posting, ...],
    context: Context,
    seen: LoadedRows,
) -> tuple[PostingGroup, ...]:
    """An ordinary payment is one group. Where a purpose takes the amount whole, the fee has its own, under its hold."""
    wallet = chart.wallet(row.currency)
    own = purpose_account(detail.purpose, row.currency, context)
    hold = None if own is None or seen.get(Hold, hold_key(row.key)) is None else hold_key(row.key)
    if payment.received:
        back = Posting(
            unapplied_account(row.currency), rail_account(payment.method, row.currency), payment.received, "applied"
        )
        if row.status == FAILED:
            back = msgspec.structs.replace(back, kind="returned to the payer")
        added = (back, *added)
    if row.status == FAILED:
        voided = (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, closes_hold=hold),) if hold is not None else ()
        return (*voided, PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=added)) if added else voided
    if own is None:
        return (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=added),) if added else ()
    first = Posting(rail_account(payment.method, row.currency), own, payment.charged, "payment")
    groups: tuple[PostingGroup, ...] = (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=(first, *added)),)
    if hold is None:
        return groups
    return (*groups, PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=fee_posts(row, wallet), closes_hold=hold))


def purpose_account(purpose: TransactionPurpose | None, currency: str, context: Context) -> str | None:
    if purpose is None:
        return None
    account = context.purposes[purpose.purpose].destination_account
    return None if account is None else str(account(purpose.reference, currency))


# --- the card -------------------------------------------------------------------------------------------------------


def discard_card(payment: Payment) -> Payment:
    return msgspec.structs.replace(payment, stage=DONE, sealed_card=None, token=None)


def tokenize_card(
    payment: Payment, row: Transaction, detail: PaymentDetail, context: Context
) -> tuple[Payment, tuple[Row, ...]]:
    """A card that was charged gets a token, by which this merchant may charge it again."""
    if payment.sealed_card is None or detail.card is None:
        return msgspec.structs.replace(payment, stage=DONE), ()
    kept = context.unseal(sealed_card_aad(row.txn_ref), payment.sealed_card)
    assert SEALED_CARD_DECODER.decode(kept)
    token = f"{random_token_prefix(context)}.{int(context.now.timestamp())}"
    saved = SavedCard(
        key=saved_card_key(row.merchant_id, token),
        merchant_id=row.merchant_id,
        token=token,
        sealed=context.seal(saved_card_aad(token), kept),
        detail=encode_text(detail.card),
        created_at=context.now,
    )
    return msgspec.structs.replace(payment, stage=DONE, sealed_card=None, token=token), (saved,)


def random_token_prefix(context: Context) -> str:
    random_bytes = blake2b(context.entropy, digest_size=8, person=b"card token").digest()
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in random_bytes)
