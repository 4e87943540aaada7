"""Rules of refunds of purchases, whole or in parts, up to the amount of the purchase.

Postings, under the refund's own txnRef:

    rail:issuer → card                       reverses the purchase, at the rate of the purchase
    rail:issuer → fx, fx → card              if the shop has another currency
    … → wallet in place of card              for a terminated card, whose balance went to the wallet too

A dispute that the cardholder wins is a refund too. An open one loses what the shop refunds meanwhile.
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
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
from kasuwa.ledger import chart
from kasuwa.methods.virtualcard.model import (
    CARD_REFUND,
    DECLINED,
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
from kasuwa.methods.virtualcard.rules.declines import response_code_meanings
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT, find_funding_source, money_accounts
from kasuwa.methods.virtualcard.rules.issuer_orders import INVALID
from kasuwa.methods.virtualcard.rules.purchase import (
    APPROVED,
    KIND,
    METHOD,
    PURCHASE_DETAIL_DECODER,
    RAIL,
    PurchaseDetail,
    digest_purchase,
    purchase_accounts,
)
from kasuwa.methods.virtualcard.rules.steps_of_dispute import follow_refund
from kasuwa.methods.virtualcard.wire import PurchaseReply, RefundRequest
from kasuwa.transactions.transactions import (
    FAILED,
    SUCCESSFUL,
    NewTransaction,
    Transaction,
    TransactionOutcome,
    begin_transaction,
    end_transaction,
    transaction_key,
)

REFUND_KIND = "card_refund"
REFERENCE_TYPE = "RF"

# Refusals, in order of precedence.
UNKNOWN_PURCHASE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")
PURCHASE_DECLINED = Refusal(
    INVALID_REQUEST, "The purchase was declined; there is nothing to give back", error_code="purchase_declined"
)
TOO_MUCH = refuse_fields(
    FieldError("amount", "above zero, and not more than is left of the purchase", "refund_too_large")
)
TOO_LITTLE_REFUNDED = refuse_fields(
    FieldError("amount", "more: it is less than the smallest unit of the card's currency", "refund_too_small")
)


class PurchaseRefund(msgspec.Struct, frozen=True):
    """A refund that is possible: the paid purchase with its card and record, and the amounts to refund."""

    row: Transaction  # of the purchase
    detail: PurchaseDetail
    card: Card
    record: CardRecord
    shop_amount: int  # in the shop's currency
    card_amount: int  # in the card's currency, at the rate of the purchase


def find_purchase_refund(
    order_ref: str, amount: int | None, context: Context, rows: LoadedRows
) -> PurchaseRefund | Refusal | NeedsMore:
    """Returns the refund of a purchase, or why it is not possible. Without an amount, all that is left is refunded."""
    merchant_id = context.merchant.merchant_id
    row = rows.get(Transaction, transaction_key(merchant_id, KIND, order_ref))
    if row is None:
        return UNKNOWN_PURCHASE
    if row.status != SUCCESSFUL:
        return PURCHASE_DECLINED
    detail = PURCHASE_DETAIL_DECODER.decode(row.detail)
    record_id, card_id = record_key(merchant_id, row.txn_ref), card_key(merchant_id, detail.card)
    wanted = Needs(((CardRecord, record_id), (Card, card_id)))
    if not has_all_rows(wanted, merchant_id, rows):
        return NeedsMore(wanted)
    record, card = rows.get(CardRecord, record_id), rows.get(Card, card_id)
    assert record is not None
    assert card is not None
    shop_amount = detail.amount - record.refunded if amount is None else amount
    if not 0 < shop_amount <= detail.amount - record.refunded:
        return TOO_MUCH
    card_amount = prorate_refund(row.amount, detail.amount, record.refunded, shop_amount)
    if not card_amount:
        return TOO_LITTLE_REFUNDED
    return PurchaseRefund(row, detail, card, record, shop_amount, card_amount)


def prorate_refund(billed: int, total: int, refunded: int, amount: int) -> int:
    """Returns the card's part of a refund of `amount`, after `refunded` of `total` was refunded already.

    It is the difference of two rounded-down sums, so all parts together are exactly the billed amount.
    """
    return billed * (refunded + amount) // total - billed * refunded // total


def refund_purchase(
    refund: PurchaseRefund, key: str | None, context: Context, rows: LoadedRows, dispute_id: str = ""
) -> tuple[Transaction, Decision] | Refusal | NeedsMore:
    """Refunds a purchase, for the dispute that is won with it if one is named. Returns the refund's final transaction,
    and its decision without a reply."""
    card, detail = refund.card, refund.detail
    accounts = {*purchase_accounts(card, detail.currency), *money_accounts(card.account, card.currency)}
    wanted = Needs((), tuple(sorted(accounts)))
    if not has_all_rows(wanted, card.merchant_id, rows):
        return NeedsMore(wanted)
    posts = refund_posts(refund, context, rows)
    if isinstance(posts, Refusal):
        return posts
    left = detail.amount - refund.record.refunded - refund.shop_amount
    is_awarded = refund.record.dispute_id == dispute_id
    followed = Effects() if is_awarded else follow_refund(refund.record, left, context, rows)
    if isinstance(followed, NeedsMore):
        return followed
    amounts = refund.shop_amount, refund.card_amount, card.currency
    row = begin_refund(refund.row, detail, amounts, key, context)
    event_fields = {"reference": card.reference, "refund_of": refund.row.txn_ref}
    if dispute_id:
        event_fields["dispute_id"] = dispute_id
    end = end_transaction(
        context,
        row,
        TransactionOutcome(
            status=SUCCESSFUL,
            code=APPROVED,
            message=response_code_meanings()[APPROVED],
            method=METHOD,
            scenario=NO_SCENARIO,
            event_fields=event_fields,
        ),
    )
    event = msgspec.structs.replace(end.event, object=refund.row.txn_ref, object_seq=refund.record.refunds + 2)
    narration = REFUND_TO_WALLET if card.state == TERMINATED else CARD_REFUND
    lines = make_card_records(
        context, card, context.number + 1, CardEntry(narration, refund.card_amount, txn_ref=row.txn_ref)
    )
    counted = msgspec.structs.replace(
        refund.record, refunded=refund.record.refunded + refund.shop_amount, refunds=refund.record.refunds + 1
    )
    decision = Decision(
        groups=(PostingGroup(row.txn_ref, CARD_INSUFFICIENT, postings=posts),),
        rows=(end.row, counted, *lines),
        jobs=end.jobs,
        events=(event,),
        numbers_used=2,
    )
    decision.add(followed)
    return end.row, decision


def refund_posts(refund: PurchaseRefund, context: Context, rows: LoadedRows) -> tuple[Posting, ...] | Refusal:
    card, detail, kind = refund.card, refund.detail, "card refund"
    source = chart.rail(RAIL, detail.currency)
    lead: tuple[Posting, ...] = ()
    if detail.currency != card.currency:
        lead = (Posting(source, chart.fx_position_account(detail.currency), refund.shop_amount, kind),)
        source = chart.fx_position_account(card.currency)
    if card.state != TERMINATED:
        return (*lead, Posting(source, card.account, refund.card_amount, kind))
    funding_source = find_funding_source(card.currency, context, rows)
    return (
        funding_source
        if isinstance(funding_source, Refusal)
        else (*lead, *funding_source.credit_wallet(source, refund.card_amount, kind))
    )


def begin_refund(
    purchase: Transaction, detail: PurchaseDetail, amounts: tuple[int, int, str], key: str | None, context: Context
) -> Transaction:
    """Returns the transaction of a refund. `amounts` are the shop's, and that of the transaction with its currency."""
    shop_amount, amount, currency = amounts
    detail = msgspec.structs.replace(detail, amount=shop_amount)
    return begin_transaction(
        context,
        NewTransaction(
            kind=REFUND_KIND,
            txn_ref=movement_reference(REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now)),
            amount=amount,
            currency=currency,
            order_ref=key,
            batch_ref=purchase.txn_ref,
            digest=digest_purchase(detail, context),
            detail=detail,
        ),
    )


def decline_refund(
    purchase: Transaction, amount: int, key: str, refusal: Refusal, context: Context, rows: LoadedRows
) -> tuple[Transaction, Decision] | NeedsMore:
    """Declines a refund that was ordered under `key`. Returns its final transaction, and its decision without a
    reply."""
    detail = PURCHASE_DETAIL_DECODER.decode(purchase.detail)
    card_id = card_key(purchase.merchant_id, detail.card)
    if not rows.is_loaded(card_id):
        return NeedsMore(Needs(((Card, card_id),)))
    card = rows.get(Card, card_id)
    assert card is not None
    end = end_transaction(
        context,
        begin_refund(purchase, detail, (amount, amount, detail.currency), key, context),
        TransactionOutcome(
            status=FAILED,
            code=INVALID,
            message=refusal.message,
            method=METHOD,
            scenario=NO_SCENARIO,
            event_fields={"reference": card.reference, "refund_of": purchase.txn_ref},
        ),
    )
    entry = CardEntry(CARD_REFUND, amount, status=DECLINED, txn_ref=end.row.txn_ref, currency=detail.currency)
    lines = make_card_records(context, card, context.number + 1, entry)
    return end.row, Decision(rows=(end.row, *lines), jobs=end.jobs, events=(end.event,), numbers_used=2)


# --- sandbox ------------------------------------------------------------------------------------------------


def need_refund(request: RefundRequest, merchant: Merchant) -> Needs:
    return Needs(((Transaction, transaction_key(merchant.merchant_id, KIND, request.txn_ref)),))


def decide_refund(
    request: RefundRequest, context: Context, rows: LoadedRows
) -> Decision[PurchaseReply] | Refusal | NeedsMore:
    refund = find_purchase_refund(
        request.txn_ref, None if request.amount is None else int(request.amount), context, rows
    )
    if not isinstance(refund, PurchaseRefund):
        return refund
    refunded = refund_purchase(refund, None, context, rows)
    if not isinstance(refunded, tuple):
        return refunded
    row, decision = refunded
    decision.reply = PurchaseReply(txn_status="successful", txn_ref=row.txn_ref, bank_message=row.message)
    return decision
