"""Rules of purchases with a virtual card. A purchase is authorized or declined at once. Refunds are in refund.py.

Postings of a purchase, under its txnRef:

    approved    card → rail:issuer                              the amount
                card → fx, fx → rail:issuer                     in another currency, at the operator's rate

Purchases come from a shop of the sandbox (`PUT /sandbox` card_purchase), or from a payment to this or another merchant
through the `Issuer` port (issuer_port.py), with an idempotency key.
"""

from functools import cache

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import (
    Context,
    Decision,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    replace_faults,
)
from kasuwa.core.money import format_minor
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.references import movement_reference
from kasuwa.core.scenario import Scenario, take_call_scenario
from kasuwa.core.token_index import TokenIndexEntry, own_token_key
from kasuwa.core.vault import is_equal_constant_time
from kasuwa.ledger import chart
from kasuwa.methods.virtualcard.model import (
    BLOCKED,
    CARD_LIMITS_DECODER,
    CARD_PURCHASE,
    DECLINED,
    DONE,
    PAN_ENTRY,
    TERMINATED,
    UNKNOWN_CARD,
    Card,
    CardEntry,
    CardLimits,
    card_key,
    derive_cvv,
    get_balance,
    has_all_rows,
    make_card_records,
    unseal_pan,
)
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT
from kasuwa.methods.virtualcard.wire import PurchaseReply, PurchaseRequest
from kasuwa.terms.conversion import HOME, ExchangeRates, foreign_to_raise, kobo_to_buy
from kasuwa.transactions.transactions import (
    FAILED,
    SUCCESSFUL,
    FinalTransaction,
    NewTransaction,
    Transaction,
    TransactionOutcome,
    begin_transaction,
    end_transaction,
)

KIND = "card_purchase"
REFERENCE_TYPE = "CP"
METHOD = "virtual_card"
RAIL = "issuer"

APPROVED = "00"
ISSUER_UNREACHABLE = "91"


@cache
def response_code_meanings() -> dict[str, str]:
    return {row["code"]: row["meaning"] for row in load_reference_data("response_codes")["iso8583"]}


class Decline(msgspec.Struct, frozen=True):
    """A declined purchase: the ISO 8583 response code, and a reason if the meaning of the code is too general."""

    code: str
    reason: str = ""  # default: the meaning of the code

    @property
    def message(self) -> str:
        return self.reason or response_code_meanings().get(self.code, "Declined")


# Declines, in order of precedence.
CARD_TERMINATED_DECLINE = Decline("78", "The card is terminated")
CARD_BLOCKED_DECLINE = Decline("62", "The card is blocked")
CARD_EXPIRED_DECLINE = Decline("54")
WRONG_CVV = Decline("82")
CURRENCY_NOT_SUPPORTED = Decline("57", "The card does not pay in this currency")
OVER_TRANSACTION_LIMIT = "Exceeds the card's limit of {} for one transaction"
OVER_DAILY_LIMIT = "Exceeds the card's limit of {} for a day"
OVER_MONTHLY_LIMIT = "Exceeds the card's limit of {} for a month"
OVER_LIMIT_CODE = "61"
WRONG_CATEGORY = Decline("57", "The card may not be used in this category of shops")
INSUFFICIENT_FUNDS = Decline("51")


class AuthorizationRequest(msgspec.Struct, frozen=True):
    """A shop's request to charge a card, from the sandbox or the Issuer port."""

    amount: int
    currency: str | None  # None means the card's
    merchant_name: str
    category: str | None
    cvv: str | None  # checked if given
    expiry: str | None  # checked if given


class PurchaseDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """Card, amount and shop of a purchase, stored as its detail. It is hashed to detect duplicates, so its fields must
    not change."""

    card: str  # its reference
    amount: int  # in the shop's currency
    currency: str  # the shop's
    merchant_name: str = ""
    category: str | None = None


PURCHASE_DETAIL_DECODER: "msgspec.json.Decoder[PurchaseDetail]" = msgspec.json.Decoder(PurchaseDetail)


# --- cost ---------------------------------------------------------------------------------------------------


class PurchaseCost(msgspec.Struct, frozen=True):
    """The amount that the card pays, and the postings from the card to the rail in the shop's currency."""

    amount: int
    posts: tuple[Posting, ...]


def price_purchase(card: Card, amount: int, currency: str, context: Context) -> PurchaseCost | None:
    """Returns the cost of a purchase, or None if there is no rate between the currencies. An amount of zero, by which a
    shop verifies a card, has no postings."""
    if not amount:
        return PurchaseCost(0, ())
    rail = chart.rail(RAIL, currency)
    if currency == card.currency:
        return PurchaseCost(amount, (Posting(card.account, rail, amount, "card purchase"),))
    foreign = {card.currency, currency} - {HOME}
    rate = context.merchant.terms(ExchangeRates).by_currency.get(foreign.pop()) if len(foreign) == 1 else None
    if rate is None:
        return None
    billed = kobo_to_buy(rate, amount) if card.currency == HOME else foreign_to_raise(rate, amount)
    sold = Posting(card.account, chart.fx_position_account(card.currency), billed, "card purchase")
    return PurchaseCost(billed, (sold, Posting(chart.fx_position_account(currency), rail, amount, "card purchase")))


def purchase_accounts(card: Card, currency: str) -> tuple[str, ...]:
    rail = chart.rail(RAIL, currency)
    if currency == card.currency:
        return card.account, rail
    return card.account, rail, chart.fx_position_account(card.currency), chart.fx_position_account(currency)


# --- authorization ------------------------------------------------------------------------------------------


def find_decline(
    card: Card, request: AuthorizationRequest, cost: PurchaseCost | None, context: Context, rows: LoadedRows
) -> Decline | None:
    """Returns the first reason to decline, or None."""
    if card.state == TERMINATED:
        return CARD_TERMINATED_DECLINE
    if card.state == BLOCKED:
        return CARD_BLOCKED_DECLINE
    if card.is_expired(context.now) or request.expiry not in (None, card.expiration):
        return CARD_EXPIRED_DECLINE
    if request.cvv is not None and not is_equal_constant_time(
        request.cvv.encode(), derive_card_cvv(card, context).encode()
    ):
        return WRONG_CVV
    if cost is None:
        return CURRENCY_NOT_SUPPORTED
    bounds = CARD_LIMITS_DECODER.decode(card.limits)
    over = find_exceeded_limit(card, bounds, cost.amount, context)
    if over is not None:
        return over
    if bounds.categories and request.category not in bounds.categories:
        return WRONG_CATEGORY
    return INSUFFICIENT_FUNDS if cost.amount > get_balance(card, rows) else None


def derive_card_cvv(card: Card, context: Context) -> str:
    return derive_cvv(context, unseal_pan(context, card), card.expiration)


def find_exceeded_limit(card: Card, bounds: CardLimits, amount: int, context: Context) -> Decline | None:
    spent = add_spending(card, amount, context)
    checks = (
        (OVER_TRANSACTION_LIMIT, bounds.per_transaction, amount),
        (OVER_DAILY_LIMIT, bounds.per_day, spent.spent_day),
        (OVER_MONTHLY_LIMIT, bounds.per_month, spent.spent_month),
    )
    for words, most, would_be in checks:
        if most is not None and would_be > most:
            return Decline(OVER_LIMIT_CODE, words.format(f"{card.currency} {format_minor(most)}"))
    return None


def add_spending(card: Card, amount: int, context: Context) -> Card:
    """Returns the card with the amount added to what was spent in the current Lagos day and month.

    Refunds do not reduce it: a limit bounds what a thief can spend, and refunds must not make room for more.
    """
    today = lagos_day(context.now).isoformat()
    day = card.spent_day if card.spent_on == today else 0
    month = card.spent_month if card.spent_on[:7] == today[:7] else 0
    return msgspec.structs.replace(card, spent_on=today, spent_day=day + amount, spent_month=month + amount)


def authorize_purchase(
    card: Card, request: AuthorizationRequest, key: str | None, scenario: Scenario, context: Context, rows: LoadedRows
) -> tuple[Transaction, Decision] | NeedsMore:
    """Authorizes or declines a purchase. Returns its final transaction, and its decision without a reply."""
    currency = request.currency or card.currency
    wanted = Needs((), purchase_accounts(card, currency))
    if not has_all_rows(wanted, card.merchant_id, rows):
        return NeedsMore(wanted)
    cost = price_purchase(card, request.amount, currency, context)
    decline = scripted_decline(scenario) or find_decline(card, request, cost, context, rows)
    detail = PurchaseDetail(card.reference, request.amount, currency, request.merchant_name, request.category)
    event_fields = {"reference": card.reference}
    if decline is not None or cost is None:
        refused = decline or CURRENCY_NOT_SUPPORTED
        row = begin_purchase(card, detail, None, key, context)
        end = end_transaction(
            context,
            row,
            TransactionOutcome(
                status=FAILED,
                code=refused.code,
                message=refused.message,
                method=METHOD,
                scenario=scenario,
                event_fields=event_fields,
            ),
        )
        return end.row, record_purchase(card, end, DECLINED, context)
    row = begin_purchase(card, detail, cost, key, context)
    end = end_transaction(
        context,
        row,
        TransactionOutcome(
            status=SUCCESSFUL,
            code=APPROVED,
            message=response_code_meanings()[APPROVED],
            method=METHOD,
            scenario=scenario,
            event_fields=event_fields,
        ),
    )
    decision = record_purchase(card, end, DONE, context)
    # find_decline checked the balance under the lock, so the account's floor never refuses here.
    decision.groups = (PostingGroup(row.txn_ref, CARD_INSUFFICIENT, postings=cost.posts),) if cost.posts else ()
    decision.rows = (*decision.rows, add_spending(card, cost.amount, context))
    return end.row, decision


def scripted_decline(scenario: Scenario) -> Decline | None:
    """Returns the decline that the sandbox scenario asks for, or None. A simulated connection failure declines as
    code 91 (issuer inoperative)."""
    if scenario.http is not None:
        return Decline(ISSUER_UNREACHABLE)
    return None if scenario.rr in (None, APPROVED) else Decline(str(scenario.rr))


def begin_purchase(
    card: Card, detail: PurchaseDetail, cost: PurchaseCost | None, key: str | None, context: Context
) -> Transaction:
    """Returns the transaction of a purchase. Its amount is what the card pays or, if it was declined (no cost), what
    the shop asked for."""
    txn_ref = movement_reference(REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now))
    return begin_transaction(
        context,
        NewTransaction(
            kind=KIND,
            txn_ref=txn_ref,
            amount=detail.amount if cost is None else cost.amount,
            currency=detail.currency if cost is None else card.currency,
            order_ref=key,
            digest=digest_purchase(detail, context),
            detail=detail,
        ),
    )


def digest_purchase(detail: PurchaseDetail, context: Context) -> bytes:
    return context.digest(msgspec.msgpack.encode(detail))


def record_purchase(card: Card, end: FinalTransaction, status: str, context: Context) -> Decision:
    row = end.row
    entry = CardEntry(CARD_PURCHASE, row.amount, status=status, txn_ref=row.txn_ref, currency=row.currency)
    lines = make_card_records(context, card, context.number + 1, entry)
    return Decision(rows=(row, *lines), jobs=end.jobs, events=(end.event,), numbers_used=2)


# --- sandbox ------------------------------------------------------------------------------------------------


def need_purchase(request: PurchaseRequest, merchant: Merchant) -> Needs:
    if request.reference is None:
        return Needs()
    return Needs(((Card, card_key(merchant.merchant_id, request.reference)),))


def decide_purchase(
    request: PurchaseRequest, context: Context, rows: LoadedRows
) -> Decision[PurchaseReply] | Refusal | NeedsMore:
    card = find_card(request, context, rows)
    if not isinstance(card, Card):
        return card
    random_number = int.from_bytes(context.entropy[:8], "big")
    scenario, faults = take_call_scenario(context.scenario, context.injected_faults, RAIL, random_number)
    category = request.category or request.mcc
    currency = None if request.currency is None else str(request.currency)
    authorization = AuthorizationRequest(
        int(request.amount), currency, request.merchant_name or "", category, request.cvv, request.expiry
    )
    authorized = authorize_purchase(card, authorization, None, scenario, context, rows)
    if isinstance(authorized, NeedsMore):
        return authorized
    row, decision = authorized
    decision.reply = reply = PurchaseReply(txn_status=row.status, txn_ref=row.txn_ref, bank_message=row.message)  # type: ignore[arg-type]
    if row.status == FAILED:
        reply.message = f"Declined: the card's issuer says: {row.message}"
    decision.sandbox = replace_faults(faults)
    return decision


def find_card(request: PurchaseRequest, context: Context, rows: LoadedRows) -> Card | Refusal | NeedsMore:
    """Returns the card by its reference, or by its number if it is a card of this merchant."""
    merchant_id, reference = context.merchant.merchant_id, request.reference
    if reference is None:
        place = own_token_key(context, PAN_ENTRY, request.cardpan or "")
        if not rows.is_loaded(place):
            return NeedsMore(Needs(((TokenIndexEntry, place),)))
        entry = rows.get(TokenIndexEntry, place)
        if entry is None or entry.merchant_id != merchant_id:
            return UNKNOWN_CARD
        reference = entry.reference
    key = card_key(merchant_id, reference)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Card, key),)))
    return rows.get(Card, key) or UNKNOWN_CARD
