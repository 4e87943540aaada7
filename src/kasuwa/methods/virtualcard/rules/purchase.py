"""Rules of purchases with a virtual card. A purchase is authorized or declined at once. Refunds are in refund.py.

Postings of a purchase, under its txnRef:

    approved    card → rail:issuer                              the amount
                card → fx, fx → rail:issuer                     in another currency, at the operator's rate

Purchases come from a shop of the sandbox (`PUT /sandbox` card_purchase), or from a payment to this or another merchant
through the `Issuer` port (issuer_port.py), with an idempotency key.
"""

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
from kasuwa.core.references import movement_reference
from kasuwa.core.scenario import Scenario, take_call_scenario
from kasuwa.core.token_index import TokenIndexEntry, own_token_key
from kasuwa.core.vault import is_equal_constant_time
from kasuwa.ledger import chart
from kasuwa.methods.clients.model import Client, client_key
from kasuwa.methods.virtualcard.card_decider import encode_decision, need_deciders
from kasuwa.methods.virtualcard.card_limits import CardUsage, usage_key
from kasuwa.methods.virtualcard.model import (
    BLOCKED,
    CARD_PURCHASE,
    DECLINED,
    DONE,
    PAN_ENTRY,
    TERMINATED,
    UNKNOWN_CARD,
    Card,
    CardEntry,
    card_key,
    derive_cvv,
    get_balance,
    has_all_rows,
    make_card_records,
    unseal_pan,
)
from kasuwa.methods.virtualcard.rules.controls import count_purchase, find_limit_decline, read_limits
from kasuwa.methods.virtualcard.rules.decider import awaits_answer, find_answer_decline, make_question
from kasuwa.methods.virtualcard.rules.declines import (
    CARD_BLOCKED_DECLINE,
    CARD_EXPIRED_DECLINE,
    CARD_TERMINATED_DECLINE,
    CURRENCY_NOT_SUPPORTED,
    INSUFFICIENT_FUNDS,
    ISSUER_UNREACHABLE,
    WRONG_CVV,
    AuthorizationRequest,
    Decline,
    response_code_meanings,
)
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT
from kasuwa.methods.virtualcard.wire import PurchaseReply, PurchaseRequest
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion
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


class PurchaseDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """Card, amount and shop of a purchase, stored as its detail. Its first five fields are hashed to detect duplicates,
    so they must not change."""

    card: str  # its reference
    amount: int  # in the shop's currency
    currency: str  # the shop's
    merchant_name: str = ""
    category: str | None = None
    # Those that follow are not hashed (digest_purchase).
    merchant_id: str | None = None
    country: str | None = None
    channel: str | None = None


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
    if currency == card.currency:
        return bill_purchase(card, amount, amount, currency)
    foreign = {card.currency, currency} - {HOME}
    rate = context.merchant.terms(ExchangeRates).by_currency.get(foreign.pop()) if len(foreign) == 1 else None
    if rate is None:
        return None
    billed = kobo_to_buy(rate, amount) if card.currency == HOME else foreign_to_raise(rate, amount)
    return bill_purchase(card, billed, amount, currency)


def bill_purchase(card: Card, billed: int, amount: int, currency: str) -> PurchaseCost:
    """Returns the cost of a purchase of `amount` in the shop's currency for which the card is billed `billed`."""
    rail = chart.rail(RAIL, currency)
    if currency == card.currency:
        return PurchaseCost(billed, (Posting(card.account, rail, billed, "card purchase"),))
    sold = Posting(card.account, chart.fx_position_account(card.currency), billed, "card purchase")
    return PurchaseCost(billed, (sold, Posting(chart.fx_position_account(currency), rail, amount, "card purchase")))


def purchase_accounts(card: Card, currency: str) -> tuple[str, ...]:
    rail = chart.rail(RAIL, currency)
    if currency == card.currency:
        return card.account, rail
    return card.account, rail, chart.fx_position_account(card.currency), chart.fx_position_account(currency)


def need_card_rows(card: Card, currency: str) -> Needs:
    """Returns the rows that a purchase in a currency is decided on besides the card."""
    usage = (CardUsage, usage_key(card.merchant_id, card.reference))
    deciders = need_deciders(card.merchant_id, card.reference).rows
    if card.client_id:
        deciders = (*deciders, (Client, client_key(card.merchant_id, card.client_id)))
    return Needs((*deciders, usage) if read_limits(card).needs_usage else deciders, purchase_accounts(card, currency))


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
    over = find_limit_decline(card, request, cost.amount, context, rows)
    if over is not None:
        return over
    return INSUFFICIENT_FUNDS if cost.amount > get_balance(card, rows) else None


def judge_purchase(
    card: Card,
    request: AuthorizationRequest,
    cost: PurchaseCost | None,
    decline: Decline | None,
    rows: LoadedRows,
    answer: DeciderAnswer | None,
    *,
    is_hold: bool,
) -> Decline | DeciderQuestion | None:
    """Returns the first reason to decline, what the decider must be asked first, or None. `decline` is that of the
    card's own rules."""
    if decline is not None or cost is None:
        return decline or CURRENCY_NOT_SUPPORTED
    question = make_question(card, request, cost.amount, rows, is_hold=is_hold)
    if question is None:
        return None
    return question if awaits_answer(question, answer) else find_answer_decline(answer)


def derive_card_cvv(card: Card, context: Context) -> str:
    return derive_cvv(context, unseal_pan(context, card), card.expiration)


def authorize_purchase(
    card: Card,
    request: AuthorizationRequest,
    key: str | None,
    scenario: Scenario,
    context: Context,
    rows: LoadedRows,
    answer: DeciderAnswer | None,
) -> tuple[Transaction, Decision] | DeciderQuestion | NeedsMore:
    """Authorizes or declines a purchase. Returns its final transaction, and its decision without a reply, or what the
    decider must be asked first."""
    currency = request.currency or card.currency
    wanted = need_card_rows(card, currency)
    if not has_all_rows(wanted, card.merchant_id, rows):
        return NeedsMore(wanted)
    cost = price_purchase(card, request.amount, currency, context)
    own = scripted_decline(scenario) or find_decline(card, request, cost, context, rows)
    verdict = judge_purchase(card, request, cost, own, rows, answer, is_hold=False)
    if isinstance(verdict, DeciderQuestion):
        return verdict
    detail, decline = make_detail(card, request), verdict
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
                event_fields={**event_fields, "decline_reason": refused.reason},
            ),
        )
        return end.row, record_purchase(card, end, DECLINED, context, answer, refused.reason)
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
    decision = record_purchase(card, end, DONE, context, answer)
    # find_decline checked the balance under the lock, so the account's floor never refuses here.
    decision.groups = (PostingGroup(row.txn_ref, CARD_INSUFFICIENT, postings=cost.posts),) if cost.posts else ()
    decision.rows = (*decision.rows, *count_purchase(card, cost.amount, context, rows))
    return end.row, decision


def make_detail(card: Card, request: AuthorizationRequest) -> PurchaseDetail:
    return PurchaseDetail(
        card=card.reference,
        amount=request.amount,
        currency=request.currency or card.currency,
        merchant_name=request.merchant_name,
        category=request.category,
        merchant_id=request.merchant_id,
        country=None if request.country is None else request.country.upper(),
        channel=request.channel,
    )


def scripted_decline(scenario: Scenario) -> Decline | None:
    """Returns the decline that the sandbox scenario asks for, or None. A simulated connection failure declines as
    code 91 (issuer inoperative)."""
    if scenario.http is not None:
        return Decline(ISSUER_UNREACHABLE, "issuer_declined")
    return None if scenario.rr in (None, APPROVED) else Decline(str(scenario.rr), "issuer_declined")


def begin_purchase(
    card: Card,
    detail: PurchaseDetail,
    cost: PurchaseCost | None,
    key: str | None,
    context: Context,
    authorization_ref: str | None = None,
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
            batch_ref=authorization_ref,
            digest=digest_purchase(detail, context),
            detail=detail,
        ),
    )


def digest_purchase(detail: PurchaseDetail, context: Context) -> bytes:
    hashed = msgspec.structs.replace(detail, merchant_id=None, country=None, channel=None)
    return context.digest(msgspec.msgpack.encode(hashed))


def record_purchase(
    card: Card,
    end: FinalTransaction,
    status: str,
    context: Context,
    answer: DeciderAnswer | None,
    decline_reason: str | None = None,
) -> Decision:
    row = end.row
    entry = CardEntry(
        CARD_PURCHASE,
        row.amount,
        status=status,
        txn_ref=row.txn_ref,
        currency=row.currency,
        decline_reason=decline_reason,
        decision=encode_decision(answer),
        order_key=None if row.order_ref == row.txn_ref else row.order_ref,
    )
    lines = make_card_records(context, card, context.number + 1, entry)
    return Decision(rows=(row, *lines), jobs=end.jobs, events=(end.event,), numbers_used=2)


# --- sandbox ------------------------------------------------------------------------------------------------


def need_purchase(request: PurchaseRequest, merchant: Merchant) -> Needs:
    if request.reference is None:
        return Needs()
    return Needs(((Card, card_key(merchant.merchant_id, request.reference)),))


def decide_purchase(
    request: PurchaseRequest, context: Context, rows: LoadedRows, answer: DeciderAnswer | None = None
) -> Decision[PurchaseReply] | Refusal | NeedsMore:
    card = find_card(request, context, rows)
    if not isinstance(card, Card):
        return card
    random_number = int.from_bytes(context.entropy[:8], "big")
    scenario, faults = take_call_scenario(context.scenario, context.injected_faults, RAIL, "purchase", random_number)
    authorized = authorize_purchase(card, read_purchase(request), None, scenario, context, rows, answer)
    if isinstance(authorized, NeedsMore):
        return authorized
    if isinstance(authorized, DeciderQuestion):
        return Decision(question=authorized)
    row, decision = authorized
    decision.reply = reply = PurchaseReply(txn_status=row.status, txn_ref=row.txn_ref, bank_message=row.message)  # type: ignore[arg-type]
    if row.status == FAILED:
        reply.message = f"Declined: the card's issuer says: {row.message}"
    decision.sandbox = replace_faults(faults)
    return decision


def read_purchase(request: PurchaseRequest) -> AuthorizationRequest:
    return AuthorizationRequest(
        amount=int(request.amount),
        currency=None if request.currency is None else str(request.currency),
        merchant_name=request.merchant_name or "",
        category=request.category or request.mcc,
        cvv=request.cvv,
        expiry=request.expiry,
        merchant_id=request.merchant_id,
        country=request.country,
        channel=request.channel or "online",
    )


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
