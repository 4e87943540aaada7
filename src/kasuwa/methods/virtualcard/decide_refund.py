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
    Fault,
    Group,
    Merchant,
    More,
    Needs,
    Post,
    Refusal,
    Seen,
    refuse_fields,
)
from kasuwa.core.references import movement_reference
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.core.transactions import SUCCESSFUL, Transaction, begin_transaction, end_transaction, transaction_key
from kasuwa.ledger import chart
from kasuwa.methods.virtualcard.decide import (
    CARD_REFUND,
    REFUND_TO_WALLET,
    TERMINATED,
    Card,
    CardRecord,
    Told,
    card_key,
    record_key,
    sees_all,
    write_lines,
)
from kasuwa.methods.virtualcard.decide_money import CARD_SHORT, find_purse, money_accounts
from kasuwa.methods.virtualcard.decide_purchase import (
    APPROVED,
    BASKET,
    KIND,
    METHOD,
    RAIL,
    Basket,
    digest_of,
    meanings,
    purchase_accounts,
)
from kasuwa.methods.virtualcard.wire import PurchaseReply, RefundRequest

REFUND_KIND = "card_refund"
LETTERS = "RF"

# Refusals, in order of precedence.
UNKNOWN_PURCHASE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")
NOT_PAID = Refusal(INVALID_REQUEST, "The purchase was declined; there is nothing to give back")
TOO_MUCH = refuse_fields(Fault("amount", "above zero, and not more than is left of the purchase"))


class Sale(msgspec.Struct, frozen=True):
    """A purchase that was paid, with its card and its line, and what of it is given back."""

    row: Transaction
    basket: Basket
    card: Card
    record: CardRecord
    asked: int
    back: int


def see_sale(order_ref: str, amount: int | None, context: Context, seen: Seen) -> Sale | Refusal | More:
    merchant_id = context.merchant.merchant_id
    row = seen.get(Transaction, transaction_key(merchant_id, KIND, order_ref))
    if row is None:
        return UNKNOWN_PURCHASE
    if row.status != SUCCESSFUL:
        return NOT_PAID
    basket = BASKET.decode(row.detail)
    places = record_key(merchant_id, row.txn_ref), card_key(merchant_id, basket.card)
    wanted = Needs(((CardRecord, places[0]), (Card, places[1])))
    if not sees_all(wanted, merchant_id, seen):
        return More(wanted)
    record, card = seen.get(CardRecord, places[0]), seen.get(Card, places[1])
    assert record is not None
    assert card is not None
    asked = basket.amount - record.refunded if amount is None else amount
    back = part_of(row.amount, basket.amount, record.refunded, asked)
    if not 0 < asked <= basket.amount - record.refunded or not back:
        return TOO_MUCH
    return Sale(row, basket, card, record, asked, back)


def part_of(billed: int, whole: int, done: int, asked: int) -> int:
    """What the card gets of what it paid: all parts together are exactly that, and none comes to more before."""
    return billed * (done + asked) // whole - billed * done // whole


def give_back(
    sale: Sale, key: str | None, context: Context, seen: Seen
) -> tuple[Transaction, Decision] | Refusal | More:
    card, basket = sale.card, sale.basket
    accounts = {*purchase_accounts(card, basket.currency), *money_accounts(card.account, card.currency)}
    wanted = Needs((), tuple(sorted(accounts)))
    if not sees_all(wanted, card.merchant_id, seen):
        return More(wanted)
    posts = refund_posts(sale, context, seen)
    if isinstance(posts, Refusal):
        return posts
    row = begin_refund(sale, key, context)
    told = {"reference": card.reference, "refundOf": sale.row.txn_ref}
    end = end_transaction(context, row, SUCCESSFUL, APPROVED, meanings()[APPROVED], METHOD, NO_SCENARIO, told=told)
    event = msgspec.structs.replace(end.event, object=sale.row.txn_ref, object_seq=sale.record.refunds + 2)
    narration = REFUND_TO_WALLET if card.state == TERMINATED else CARD_REFUND
    lines = write_lines(context, card, context.number + 1, Told(narration, sale.back, txn_ref=row.txn_ref))
    counted = msgspec.structs.replace(
        sale.record, refunded=sale.record.refunded + sale.asked, refunds=sale.record.refunds + 1
    )
    return end.row, Decision(
        groups=(Group(row.txn_ref, CARD_SHORT, posts=posts),),
        rows=(end.row, counted, *lines),
        jobs=end.jobs,
        events=(event,),
        numbers=2,
    )


def refund_posts(sale: Sale, context: Context, seen: Seen) -> tuple[Post, ...] | Refusal:
    card, basket, kind = sale.card, sale.basket, "card refund"
    source = chart.rail(RAIL, basket.currency)
    lead: tuple[Post, ...] = ()
    if basket.currency != card.currency:
        lead = (Post(source, chart.position(basket.currency), sale.asked, kind),)
        source = chart.position(card.currency)
    if card.state != TERMINATED:
        return (*lead, Post(source, card.account, sale.back, kind))
    purse = find_purse(card.currency, context, seen)
    return purse if isinstance(purse, Refusal) else (*lead, *purse.give(source, sale.back, kind))


def begin_refund(sale: Sale, key: str | None, context: Context) -> Transaction:
    txn_ref = movement_reference(LETTERS, context.permutation(context.number), lagos_day(context.now))
    basket = msgspec.structs.replace(sale.basket, amount=sale.asked)
    return begin_transaction(
        context,
        REFUND_KIND,
        txn_ref,
        sale.back,
        currency=sale.card.currency,
        order_ref=key,
        batch_ref=sale.row.txn_ref,
        digest=digest_of(basket, context),
        detail=basket,
    )


# --- a shop of the sandbox ----------------------------------------------------------------------------------


def need_refund(request: RefundRequest, merchant: Merchant) -> Needs:
    return Needs(((Transaction, transaction_key(merchant.merchant_id, KIND, request.txn_ref)),))


def decide_refund(request: RefundRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    sale = see_sale(request.txn_ref, None if request.amount is None else int(request.amount), context, seen)
    if not isinstance(sale, Sale):
        return sale
    given = give_back(sale, None, context, seen)
    if not isinstance(given, tuple):
        return given
    row, decision = given
    decision.reply = PurchaseReply(txn_status="successful", txn_ref=row.txn_ref, bank_message=row.message)
    return decision
