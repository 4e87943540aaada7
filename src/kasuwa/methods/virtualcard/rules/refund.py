"""Purchases that are given back, whole or in parts, never more than was paid.

Postings, under the refund's own txnRef:

    rail:issuer → card                       the way of the purchase back, at the rate that it was made at
    rail:issuer → fx, fx → card              where the shop's currency is another
    … → wallet in place of card              of a terminated card: nothing moves on it any more, and what was left
                                             on it went to the wallet too (decide_money.py)
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    refuse_fields,
)
from kasuwa.core.references import movement_reference
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.core.transactions import SUCCESSFUL, Transaction, begin_transaction, end_transaction, transaction_key
from kasuwa.ledger import chart
from kasuwa.methods.virtualcard.model import (
    CARD_REFUND,
    REFUND_TO_WALLET,
    TERMINATED,
    Card,
    CardEntry,
    CardRecord,
    card_key,
    has_all_rows,
    make_card_records,
    record_key,
)
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT, find_funding_source, money_accounts
from kasuwa.methods.virtualcard.rules.purchase import (
    APPROVED,
    KIND,
    METHOD,
    PURCHASE_DETAIL_DECODER,
    RAIL,
    PurchaseDetail,
    digest_purchase,
    purchase_accounts,
    response_code_meanings,
)
from kasuwa.methods.virtualcard.wire import PurchaseReply, RefundRequest

REFUND_KIND = "card_refund"
REFERENCE_TYPE = "RF"

# Refusals, in order of precedence.
UNKNOWN_PURCHASE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")
PURCHASE_DECLINED = Refusal(INVALID_REQUEST, "The purchase was declined; there is nothing to give back")
TOO_MUCH = refuse_fields(FieldError("amount", "above zero, and not more than is left of the purchase"))


class PurchaseRefund(msgspec.Struct, frozen=True):
    """A purchase that was paid, with its card and its line, and what of it is given back."""

    row: Transaction
    detail: PurchaseDetail
    card: Card
    record: CardRecord
    shop_amount: int
    card_amount: int


def find_purchase_refund(
    order_ref: str, amount: int | None, context: Context, seen: LoadedRows
) -> PurchaseRefund | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    row = seen.get(Transaction, transaction_key(merchant_id, KIND, order_ref))
    if row is None:
        return UNKNOWN_PURCHASE
    if row.status != SUCCESSFUL:
        return PURCHASE_DECLINED
    detail = PURCHASE_DETAIL_DECODER.decode(row.detail)
    places = record_key(merchant_id, row.txn_ref), card_key(merchant_id, detail.card)
    wanted = Needs(((CardRecord, places[0]), (Card, places[1])))
    if not has_all_rows(wanted, merchant_id, seen):
        return NeedsMore(wanted)
    record, card = seen.get(CardRecord, places[0]), seen.get(Card, places[1])
    assert record is not None
    assert card is not None
    asked = detail.amount - record.refunded if amount is None else amount
    back = prorate_refund(row.amount, detail.amount, record.refunded, asked)
    if not 0 < asked <= detail.amount - record.refunded or not back:
        return TOO_MUCH
    return PurchaseRefund(row, detail, card, record, asked, back)


def prorate_refund(billed: int, whole: int, done: int, asked: int) -> int:
    """What the card gets of what it paid: all parts together are exactly that, and none comes to more before."""
    return billed * (done + asked) // whole - billed * done // whole


def refund_purchase(
    refund: PurchaseRefund, key: str | None, context: Context, seen: LoadedRows
) -> tuple[Transaction, Decision] | Refusal | NeedsMore:
    card, detail = refund.card, refund.detail
    accounts = {*purchase_accounts(card, detail.currency), *money_accounts(card.account, card.currency)}
    wanted = Needs((), tuple(sorted(accounts)))
    if not has_all_rows(wanted, card.merchant_id, seen):
        return NeedsMore(wanted)
    posts = refund_posts(refund, context, seen)
    if isinstance(posts, Refusal):
        return posts
    row = begin_refund(refund, key, context)
    event_fields = {"reference": card.reference, "refundOf": refund.row.txn_ref}
    end = end_transaction(
        context,
        row,
        SUCCESSFUL,
        APPROVED,
        response_code_meanings()[APPROVED],
        METHOD,
        NO_SCENARIO,
        event_fields=event_fields,
    )
    event = msgspec.structs.replace(end.event, object=refund.row.txn_ref, object_seq=refund.record.refunds + 2)
    narration = REFUND_TO_WALLET if card.state == TERMINATED else CARD_REFUND
    lines = make_card_records(
        context, card, context.number + 1, CardEntry(narration, refund.card_amount, txn_ref=row.txn_ref)
    )
    counted = msgspec.structs.replace(
        refund.record, refunded=refund.record.refunded + refund.shop_amount, refunds=refund.record.refunds + 1
    )
    return end.row, Decision(
        groups=(PostingGroup(row.txn_ref, CARD_INSUFFICIENT, postings=posts),),
        rows=(end.row, counted, *lines),
        jobs=end.jobs,
        events=(event,),
        numbers_used=2,
    )


def refund_posts(refund: PurchaseRefund, context: Context, seen: LoadedRows) -> tuple[Posting, ...] | Refusal:
    card, detail, kind = refund.card, refund.detail, "card refund"
    source = chart.rail(RAIL, detail.currency)
    lead: tuple[Posting, ...] = ()
    if detail.currency != card.currency:
        lead = (Posting(source, chart.fx_position_account(detail.currency), refund.shop_amount, kind),)
        source = chart.fx_position_account(card.currency)
    if card.state != TERMINATED:
        return (*lead, Posting(source, card.account, refund.card_amount, kind))
    funding_source = find_funding_source(card.currency, context, seen)
    return (
        funding_source
        if isinstance(funding_source, Refusal)
        else (*lead, *funding_source.credit_wallet(source, refund.card_amount, kind))
    )


def begin_refund(refund: PurchaseRefund, key: str | None, context: Context) -> Transaction:
    txn_ref = movement_reference(REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now))
    detail = msgspec.structs.replace(refund.detail, amount=refund.shop_amount)
    return begin_transaction(
        context,
        REFUND_KIND,
        txn_ref,
        refund.card_amount,
        currency=refund.card.currency,
        order_ref=key,
        batch_ref=refund.row.txn_ref,
        digest=digest_purchase(detail, context),
        detail=detail,
    )


# --- a shop of the sandbox ----------------------------------------------------------------------------------


def need_refund(request: RefundRequest, merchant: Merchant) -> Needs:
    return Needs(((Transaction, transaction_key(merchant.merchant_id, KIND, request.txn_ref)),))


def decide_refund(
    request: RefundRequest, context: Context, seen: LoadedRows
) -> Decision[PurchaseReply] | Refusal | NeedsMore:
    refund = find_purchase_refund(
        request.txn_ref, None if request.amount is None else int(request.amount), context, seen
    )
    if not isinstance(refund, PurchaseRefund):
        return refund
    given = refund_purchase(refund, None, context, seen)
    if not isinstance(given, tuple):
        return given
    row, decision = given
    decision.reply = PurchaseReply(txn_status="successful", txn_ref=row.txn_ref, bank_message=row.message)
    return decision
