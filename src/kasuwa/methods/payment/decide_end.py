"""The end of a payment: its postings, its token, its event, and what follows from it."""

from functools import partial
from hashlib import blake2b

import msgspec

from kasuwa.core.decision import Context, Decision, Group, Job, More, Post, Row, Seen
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import Addition, Errand, ask_purpose, subject_of
from kasuwa.core.references import hold_key
from kasuwa.core.transactions import FAILED, SUCCESSFUL, Transaction, encode_text, end_transaction
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Hold
from kasuwa.methods.payment.decide import (
    DETAIL,
    DONE,
    FACTS,
    KEPT,
    WALLET_SHORT,
    WORK,
    Detail,
    Payment,
    SavedCard,
    Work,
    rail_account,
    saved_card_key,
    saved_card_place,
    sealed_card_place,
)
from kasuwa.methods.payment.decide_plan import follow_up
from kasuwa.methods.payment.decide_reply import reply_completed
from kasuwa.methods.payment.decide_split import Settling, fee_posts, settle

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def ending_accounts(work: Work) -> tuple[str, ...]:
    """The accounts of an ordinary end; what a split, a settlement day or a purpose needs besides is asked for later."""
    currency = work.currency
    usual = (
        chart.wallet(currency),
        rail_account(work.method, currency),
        chart.income("collection", currency),
        chart.tax("vat", currency),
    )
    return (*usual, unapplied(currency)) if work.method == "bank_transfer" else usual


def unapplied(currency: str) -> str:
    """What customers have paid in and does not make up its payment: it is applied whole, or returned."""
    return f"unapplied:main:{currency}"


def end_payment(
    row: Transaction,
    payment: Payment,
    job: Job | None,
    ending: str,
    code: str | None,
    message: str,
    context: Context,
    seen: Seen,
) -> Decision | More:
    """What was never awaited has no job."""
    detail = DETAIL.decode(payment.detail)
    finish = partial(
        end_transaction,
        context,
        row,
        ending,
        code,
        message,
        payment.method,
        context.scenario if job is None else WORK.decode(job.work).scenario,
        charged=payment.charged,
    )
    told = told_of(row, detail)
    end = finish(told=told)
    paid = ending == SUCCESSFUL
    done, saved = keep_card(payment, end.row, detail, context) if paid else (forget_card(payment), ())
    added = ask_purpose(end.row, detail.errand, context, seen)
    if isinstance(added, Addition) and added.surplus:
        end = finish(told={**told, "unappliedAmount": format_minor(added.surplus)})
        done = keep_surplus(done, added.surplus)
    settling = settle(end.row, done, detail, context, seen) if paid else Settling()
    following = follow_up(end.row, done, detail, context, seen)
    for part in (added, settling, following):
        if isinstance(part, More):
            return part
    assert not isinstance(added, More)
    assert not isinstance(settling, More)
    assert not isinstance(following, More)
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


def keep_surplus(payment: Payment, surplus: int) -> Payment:
    """A payment of which its purpose had no use for a part: verify shows it, and it can be refunded."""
    facts = msgspec.structs.replace(FACTS.decode(payment.facts), surplus=surplus)
    return msgspec.structs.replace(payment, facts=encode_text(facts))


def told_of(row: Transaction, detail: Detail) -> dict[str, str]:
    """What a payment's event carries besides: the merchant's own reference and, of money that came in on a
    personalized account, that account. (D37, D39)"""
    told = {"customer_txnref": row.order_ref} if row.order_ref else {}
    told |= subject_of(detail.errand)
    if not detail.account_reference:
        return told
    return {
        **told,
        "accountReference": detail.account_reference,
        "account": detail.shown,
        "accountDetails": detail.business_name,
        "bankname": detail.provider,
    }


# --- the money ------------------------------------------------------------------------------------------------------


def end_groups(
    row: Transaction, payment: Payment, detail: Detail, added: tuple[Post, ...], context: Context, seen: Seen
) -> tuple[Group, ...]:
    """An ordinary payment is one group. Where a purpose takes the amount whole, the fee has its own, under its hold."""
    wallet = chart.wallet(row.currency)
    own = purpose_account(detail.errand, row.currency, context)
    hold = None if own is None or seen.get(Hold, hold_key(row.key)) is None else hold_key(row.key)
    if payment.received:
        back = Post(unapplied(row.currency), rail_account(payment.method, row.currency), payment.received, "applied")
        if row.status == FAILED:
            back = msgspec.structs.replace(back, kind="returned to the payer")
        added = (back, *added)
    if row.status == FAILED:
        voided = (Group(row.txn_ref, WALLET_SHORT, ends=hold),) if hold is not None else ()
        return (*voided, Group(row.txn_ref, WALLET_SHORT, posts=added)) if added else voided
    if own is None:
        return (Group(row.txn_ref, WALLET_SHORT, posts=added),) if added else ()
    first = Post(rail_account(payment.method, row.currency), own, payment.charged, "payment")
    groups: tuple[Group, ...] = (Group(row.txn_ref, WALLET_SHORT, posts=(first, *added)),)
    if hold is None:
        return groups
    return (*groups, Group(row.txn_ref, WALLET_SHORT, posts=fee_posts(row, wallet), ends=hold))


def purpose_account(errand: Errand | None, currency: str, context: Context) -> str | None:
    if errand is None:
        return None
    account = context.purposes[errand.purpose].account
    return None if account is None else str(account(errand.reference, currency))


# --- the card -------------------------------------------------------------------------------------------------------


def forget_card(payment: Payment) -> Payment:
    return msgspec.structs.replace(payment, stage=DONE, sealed_card=None, token=None)


def keep_card(payment: Payment, row: Transaction, detail: Detail, context: Context) -> tuple[Payment, tuple[Row, ...]]:
    """A card that was charged gets a token, by which this merchant may charge it again."""
    if payment.sealed_card is None or detail.card is None:
        return msgspec.structs.replace(payment, stage=DONE), ()
    kept = context.unseal(sealed_card_place(row.txn_ref), payment.sealed_card)
    assert KEPT.decode(kept)
    token = f"{token_letters(context)}.{int(context.now.timestamp())}"
    saved = SavedCard(
        key=saved_card_key(row.merchant_id, token),
        merchant_id=row.merchant_id,
        token=token,
        sealed=context.seal(saved_card_place(token), kept),
        detail=encode_text(detail.card),
        created_at=context.now,
    )
    return msgspec.structs.replace(payment, stage=DONE, sealed_card=None, token=token), (saved,)


def token_letters(context: Context) -> str:
    chance = blake2b(context.entropy, digest_size=8, person=b"card token").digest()
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in chance)
