"""Purchases with a virtual card: authorised or declined at once, and refunded.

Postings of a purchase, under its txnRef:

    approved    card → rail:issuer                              the amount
                card → fx, fx → rail:issuer                     in another currency, at the operator's rate
    refunded    see decide_refund.py

A shop is either the sandbox's (`PUT /sandbox` card_purchase) or a payment of this or another merchant, which comes
through the `Issuer` port (decide_issuer.py), under a key of its own.
"""

from functools import cache

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.catalogue import load
from kasuwa.core.decision import (
    Context,
    Decision,
    Group,
    Merchant,
    More,
    Needs,
    Post,
    Refusal,
    Seen,
)
from kasuwa.core.directory import Entry, directory_key
from kasuwa.core.money import format_minor
from kasuwa.core.rates import HOME, cost_abroad, cost_in_home
from kasuwa.core.references import movement_reference
from kasuwa.core.scenario import Scenario, plan_call
from kasuwa.core.secrets import same
from kasuwa.core.transactions import FAILED, SUCCESSFUL, Ending, Transaction, begin_transaction, end_transaction
from kasuwa.ledger import chart
from kasuwa.methods.virtualcard.decide import (
    BLOCKED,
    BOUNDS,
    CARD_PURCHASE,
    DECLINED,
    DONE,
    PAN,
    TERMINATED,
    UNKNOWN_CARD,
    Bounds,
    Card,
    Told,
    balance_of,
    card_key,
    cvv_of,
    open_pan,
    sees_all,
    write_lines,
)
from kasuwa.methods.virtualcard.decide_money import CARD_SHORT
from kasuwa.methods.virtualcard.wire import PurchaseReply, PurchaseRequest

KIND = "card_purchase"
LETTERS = "CP"
METHOD = "virtual_card"
RAIL = "issuer"

APPROVED = "00"
UNREACHABLE = "91"


@cache
def meanings() -> dict[str, str]:
    return {row["code"]: row["meaning"] for row in load("response_codes")["iso8583"]}


class Decline(msgspec.Struct, frozen=True):
    """Why a card does not pay: the issuer's code, and its reason where the code alone does not say it."""

    code: str
    reason: str = ""

    @property
    def message(self) -> str:
        return self.reason or meanings().get(self.code, "Declined")


# In order of precedence.
IS_TERMINATED = Decline("78", "The card is terminated")
IS_BLOCKED = Decline("62", "The card is blocked")
IS_EXPIRED = Decline("54")
WRONG_CVV = Decline("82")
NO_EXCHANGE = Decline("57", "The card does not pay in this currency")
OVER_ONCE = "Exceeds the card's limit of {} for one transaction"
OVER_DAY = "Exceeds the card's limit of {} for a day"
OVER_MONTH = "Exceeds the card's limit of {} for a month"
OVER_CODE = "61"
WRONG_CATEGORY = Decline("57", "The card may not be used in this category of shops")
IS_SHORT = Decline("51")


class Asked(msgspec.Struct, frozen=True):
    """What a shop asks for, whichever way it came. CVV and expiry are checked where they were given."""

    amount: int
    currency: str | None
    merchant_name: str
    category: str | None
    cvv: str | None
    expiry: str | None


class Basket(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of a purchase as its detail: the card, and what the shop asked for in its own currency."""

    card: str
    amount: int
    currency: str
    merchant_name: str = ""
    category: str | None = None


BASKET: "msgspec.json.Decoder[Basket]" = msgspec.json.Decoder(Basket)


# --- what it costs ------------------------------------------------------------------------------------------


class Bill(msgspec.Struct, frozen=True):
    """What the card pays, and the postings by which the shop's rail gets what it asked for."""

    amount: int
    posts: tuple[Post, ...]


def make_bill(card: Card, amount: int, currency: str, context: Context) -> Bill | None:
    """None where nobody changes the one currency into the other. A shop may ask for nothing, to see whether a card is
    good: then nothing moves."""
    if not amount:
        return Bill(0, ())
    rail = chart.rail(RAIL, currency)
    if currency == card.currency:
        return Bill(amount, (Post(card.account, rail, amount, "card purchase"),))
    foreign = {card.currency, currency} - {HOME}
    rate = context.merchant.exchange.get(foreign.pop()) if len(foreign) == 1 else None
    if rate is None:
        return None
    billed = cost_in_home(rate, amount) if card.currency == HOME else cost_abroad(rate, amount)
    sold = Post(card.account, chart.position(card.currency), billed, "card purchase")
    return Bill(billed, (sold, Post(chart.position(currency), rail, amount, "card purchase")))


def purchase_accounts(card: Card, currency: str) -> tuple[str, ...]:
    rail = chart.rail(RAIL, currency)
    if currency == card.currency:
        return card.account, rail
    return card.account, rail, chart.position(card.currency), chart.position(currency)


# --- whether it is paid -------------------------------------------------------------------------------------


def find_decline(card: Card, asked: Asked, bill: Bill | None, context: Context, seen: Seen) -> Decline | None:
    if card.state == TERMINATED:
        return IS_TERMINATED
    if card.state == BLOCKED:
        return IS_BLOCKED
    if card.is_expired(context.now) or asked.expiry not in (None, card.expiration):
        return IS_EXPIRED
    if asked.cvv is not None and not same(asked.cvv.encode(), cvv_of_card(card, context).encode()):
        return WRONG_CVV
    if bill is None:
        return NO_EXCHANGE
    bounds = BOUNDS.decode(card.limits)
    over = find_over(card, bounds, bill.amount, context)
    if over is not None:
        return over
    if bounds.categories and asked.category not in bounds.categories:
        return WRONG_CATEGORY
    return IS_SHORT if bill.amount > balance_of(card, seen) else None


def cvv_of_card(card: Card, context: Context) -> str:
    return cvv_of(context, open_pan(context, card), card.expiration)


def find_over(card: Card, bounds: Bounds, amount: int, context: Context) -> Decline | None:
    spent = spend(card, amount, context)
    checks = (
        (OVER_ONCE, bounds.per_transaction, amount),
        (OVER_DAY, bounds.per_day, spent.spent_day),
        (OVER_MONTH, bounds.per_month, spent.spent_month),
    )
    for words, most, would_be in checks:
        if most is not None and would_be > most:
            return Decline(OVER_CODE, words.format(f"{card.currency} {format_minor(most)}"))
    return None


def spend(card: Card, amount: int, context: Context) -> Card:
    """The card with so much more spent, in the Lagos day and month that it now is. What is refunded later stays
    spent: a limit bounds what a thief could take, and would not if shops could give it back."""
    today = lagos_day(context.now).isoformat()
    day = card.spent_day if card.spent_on == today else 0
    month = card.spent_month if card.spent_on[:7] == today[:7] else 0
    return msgspec.structs.replace(card, spent_on=today, spent_day=day + amount, spent_month=month + amount)


def authorise(
    card: Card, asked: Asked, key: str | None, scenario: Scenario, context: Context, seen: Seen
) -> tuple[Transaction, Decision] | More:
    """The final transaction, and all that follows from it but the reply."""
    currency = asked.currency or card.currency
    wanted = Needs((), purchase_accounts(card, currency))
    if not sees_all(wanted, card.merchant_id, seen):
        return More(wanted)
    bill = make_bill(card, asked.amount, currency, context)
    decline = told_decline(scenario) or find_decline(card, asked, bill, context, seen)
    basket = Basket(card.reference, asked.amount, currency, asked.merchant_name, asked.category)
    told = {"reference": card.reference}
    if decline is not None or bill is None:
        refused = decline or NO_EXCHANGE
        row = begin_purchase(card, basket, None, key, context)
        end = end_transaction(context, row, FAILED, refused.code, refused.message, METHOD, scenario, told=told)
        return end.row, record_purchase(card, end, DECLINED, context)
    row = begin_purchase(card, basket, bill, key, context)
    end = end_transaction(context, row, SUCCESSFUL, APPROVED, meanings()[APPROVED], METHOD, scenario, told=told)
    decision = record_purchase(card, end, DONE, context)
    # The balance was seen under its lock; were it wrong all the same, the floor refuses.
    decision.groups = (Group(row.txn_ref, CARD_SHORT, posts=bill.posts),) if bill.posts else ()
    decision.rows = (*decision.rows, spend(card, bill.amount, context))
    return end.row, decision


def told_decline(scenario: Scenario) -> Decline | None:
    """As the test environment was told: an answer, or a line that is cut, which a shop hears as "inoperative"."""
    if scenario.http is not None:
        return Decline(UNREACHABLE)
    return None if scenario.rr in (None, APPROVED) else Decline(str(scenario.rr))


def begin_purchase(card: Card, basket: Basket, bill: Bill | None, key: str | None, context: Context) -> Transaction:
    """A purchase is what the card pays for it; one that is declined has no bill, and is what the shop asked for."""
    txn_ref = movement_reference(LETTERS, context.permutation(context.number), lagos_day(context.now))
    return begin_transaction(
        context,
        KIND,
        txn_ref,
        basket.amount if bill is None else bill.amount,
        currency=basket.currency if bill is None else card.currency,
        order_ref=key,
        digest=digest_of(basket, context),
        detail=basket,
    )


def digest_of(basket: Basket, context: Context) -> bytes:
    return context.digest(msgspec.msgpack.encode(basket))


def record_purchase(card: Card, end: Ending, status: str, context: Context) -> Decision:
    row = end.row
    told = Told(CARD_PURCHASE, row.amount, status=status, txn_ref=row.txn_ref, currency=row.currency)
    lines = write_lines(context, card, context.number + 1, told)
    return Decision(rows=(row, *lines), jobs=end.jobs, events=(end.event,), numbers=2)


# --- a shop of the sandbox ----------------------------------------------------------------------------------


def need_purchase(request: PurchaseRequest, merchant: Merchant) -> Needs:
    if request.reference is None:
        return Needs()
    return Needs(((Card, card_key(merchant.merchant_id, request.reference)),))


def decide_purchase(request: PurchaseRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    card = find_card(request, context, seen)
    if not isinstance(card, Card):
        return card
    luck = int.from_bytes(context.entropy[:8], "big")
    scenario, faults = plan_call(context.scenario, context.faults, RAIL, luck)
    category = request.category or request.mcc
    currency = None if request.currency is None else str(request.currency)
    asked = Asked(int(request.amount), currency, request.merchant_name or "", category, request.cvv, request.expiry)
    authorised = authorise(card, asked, None, scenario, context, seen)
    if isinstance(authorised, More):
        return authorised
    row, decision = authorised
    decision.reply = reply = PurchaseReply(txn_status=row.status, txn_ref=row.txn_ref, bank_message=row.message)  # type: ignore[arg-type]
    if row.status == FAILED:
        reply.message = f"Declined: the card's issuer says: {row.message}"
    decision.faults = faults
    return decision


def find_card(request: PurchaseRequest, context: Context, seen: Seen) -> Card | Refusal | More:
    """By its reference, or by its number where that is a card of this merchant."""
    merchant_id, reference = context.merchant.merchant_id, request.reference
    if reference is None:
        place = directory_key(context.vault, PAN, request.cardpan or "")
        if not seen.has(place):
            return More(Needs(((Entry, place),)))
        entry = seen.get(Entry, place)
        if entry is None or entry.merchant_id != merchant_id:
            return UNKNOWN_CARD
        reference = entry.reference
    key = card_key(merchant_id, reference)
    if not seen.has(key):
        return More(Needs(((Card, key),)))
    return seen.get(Card, key) or UNKNOWN_CARD
