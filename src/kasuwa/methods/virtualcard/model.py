"""Virtual cards: their rows, how a rule sees one, how it is shown, and what is done to it without money.

    active  ⇄ blocked          block, unblock; three unpaid monthly fees block too
    active, blocked → terminated, for good

Money is in decide_money.py, purchases in decide_purchase.py, the monthly fee in decide_fees.py.
"""

from datetime import datetime
from typing import ClassVar

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    AuditEntry,
    Context,
    Decision,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
)
from kasuwa.core.money import format_grouped, format_minor
from kasuwa.core.references import account_key, row_key
from kasuwa.core.transactions import encode_text
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.virtualcard.wire import (
    CardData,
    CardReply,
    CardRequest,
    DoneReply,
    GetRequest,
    LimitsReply,
    LimitsRequest,
    LimitsShown,
    SpendingLimits,
)

ACTIVE = "active"
BLOCKED = "blocked"
TERMINATED = "terminated"

DONE = "Successful"
DECLINED = "Failed"

# The kind under which a card's number is listed in the directory.
PAN_ENTRY = "pan"
HIDDEN_CVV = "***"

# Refusals, in order of precedence.
UNKNOWN_CARD = Refusal(INVALID_REQUEST, "Invalid Card Reference")
CARD_TERMINATED = Refusal(INVALID_REQUEST, "The card is terminated")


# --- rows ---------------------------------------------------------------------------------------------------


class Card(Row):
    table: ClassVar[str] = "card"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "limits", "spent_on", "spent_day", "spent_month", "unpaid")

    reference: str
    short_id: str
    currency: str
    network: str
    mask: str
    sealed_pan: bytes
    expiration: str
    state: str
    detail: str
    limits: str
    spent_on: str
    spent_day: int
    spent_month: int
    unpaid: int
    fee_job: bytes
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return self.state != TERMINATED

    @property
    def account(self) -> str:
        return chart.card(self.short_id, self.currency)

    def is_expired(self, now: datetime) -> bool:
        """A card is good to the end of its month."""
        return f"{lagos_day(now).isoformat()[:7]}" > self.expiration


class CardRecord(Row):
    """One line of a card's transactions. A purchase's is found by its txnRef, to count what came back of it."""

    table: ClassVar[str] = "card_record"
    mutable_columns: ClassVar[tuple[str, ...]] = ("refunded", "refunds")

    card: bytes
    number: int
    shown_id: int
    txn_ref: str | None
    narration: str
    status: str
    currency: str
    amount: int
    fee: int
    refunded: int
    refunds: int
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return False


class Cardholder(msgspec.Struct, frozen=True):
    """Who a card was made for, kept as its detail."""

    address: str
    name: str
    city: str
    state: str
    postal_code: str
    country: str


CARDHOLDER_DECODER: "msgspec.json.Decoder[Cardholder]" = msgspec.json.Decoder(Cardholder)


class CardLimits(msgspec.Struct, frozen=True, omit_defaults=True):
    """A card's spending limits in minor units; no categories means all."""

    per_transaction: int | None = None
    per_day: int | None = None
    per_month: int | None = None
    categories: tuple[str, ...] = ()


CARD_LIMITS_DECODER: "msgspec.json.Decoder[CardLimits]" = msgspec.json.Decoder(CardLimits)


def card_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, "card", reference)


def record_key(merchant_id: int, name: str) -> bytes:
    return row_key(merchant_id, "card_record", name)


class CardEntry(msgspec.Struct, frozen=True):
    """What a line of a card's transactions says; its currency is the card's unless it is said."""

    narration: str
    amount: int
    fee: int = 0
    status: str = DONE
    txn_ref: str | None = None
    currency: str | None = None


# How the lines of a card's transactions change its balance. The others are about the wallet: what it paid for the card,
# and what came back to it. All lines of a card, the successful ones by these signs, add up to its balance.
CARD_FUNDING = "Card Funding"
CARD_REFUND = "Card Refund"
CARD_PURCHASE = "Card Purchase"
CARD_WITHDRAWAL = "Card Withdrawal"
CARD_TERMINATION = "Card Termination"
MONTHLY_FEE = "Monthly Fee"
CARD_FUNDING_DEBIT = "Card Funding Debit"
CARD_ISSUANCE_FEE = "Card Issuance Fee"
REFUND_TO_WALLET = "Card Refund to Wallet"
VAT_ON_MONTHLY_FEE = f"VAT on {MONTHLY_FEE}"

BALANCE_SIGNS = {
    CARD_FUNDING: 1,
    CARD_REFUND: 1,
    CARD_PURCHASE: -1,
    CARD_WITHDRAWAL: -1,
    CARD_TERMINATION: -1,
    MONTHLY_FEE: -1,
    VAT_ON_MONTHLY_FEE: -1,
}


def balance_effect(narration: str, status: str, amount: int) -> int:
    """What a line changed of the card's balance, in minor units: nothing if it failed or is about the wallet."""
    return BALANCE_SIGNS.get(narration, 0) * amount if status == DONE else 0


def vat_entries(vat: int, narration: str) -> tuple[CardEntry, ...]:
    """The VAT on a fee, as a line of its own. (Contract: virtualcard#create)"""
    return (CardEntry(narration, vat),) if vat else ()


def make_card_records(context: Context, card: Card, first_number: int, *lines: CardEntry) -> tuple[CardRecord, ...]:
    """Records in the order in which it happened, each with a reference number of its own."""
    return tuple(
        CardRecord(
            key=record_key(card.merchant_id, line.txn_ref or str(number)),
            merchant_id=card.merchant_id,
            card=card.key,
            number=number,
            shown_id=context.permutation(number),
            txn_ref=line.txn_ref,
            narration=line.narration,
            status=line.status,
            currency=line.currency or card.currency,
            amount=line.amount,
            fee=line.fee,
            refunded=0,
            refunds=0,
            created_at=context.now,
        )
        for number, line in enumerate(lines, start=first_number)
    )


# --- seeing -------------------------------------------------------------------------------------------------


def has_all_rows(needs: Needs, merchant_id: int, seen: LoadedRows) -> bool:
    keys = [key for _, key in needs.rows] + [account_key(merchant_id, name) for name in needs.accounts]
    return all(seen.is_loaded(key) for key in keys)


def need_card(request: CardRequest | GetRequest | LimitsRequest, merchant: Merchant) -> Needs:
    return Needs(((Card, card_key(merchant.merchant_id, request.reference)),))


def find_open_card(reference: str, context: Context, seen: LoadedRows) -> Card | Refusal:
    """A card that can still be changed."""
    card = seen.get(Card, card_key(context.merchant.merchant_id, reference))
    if card is None:
        return UNKNOWN_CARD
    return CARD_TERMINATED if card.state == TERMINATED else card


def balance_of(card: Card, seen: LoadedRows) -> int:
    """What can be spent with a card. Its account is locked with it, so nothing comes between."""
    account = seen.get(Account, account_key(card.merchant_id, card.account))
    return 0 if account is None else account.available


# --- showing ------------------------------------------------------------------------------------------------


def derive_cvv(context: Context, pan: str, expiration: str) -> str:
    """Derived, never kept: who has the database and not the key has no CVV."""
    return context.vault.derive_digits(f"cvv {pan} {expiration}", 3)


def pan_aad(card_key: bytes) -> str:
    return f"card.sealed_pan {card_key.hex()}"


def unseal_pan(context: Context, card: Card) -> str:
    return context.unseal(pan_aad(card.key), card.sealed_pan).decode()


def show_card(card: Card, balance: int) -> CardData:
    """Without number and CVV."""
    holder = CARDHOLDER_DECODER.decode(card.detail)
    return CardData(
        reference=card.reference,
        balance=format_grouped(balance),
        currency=card.currency,  # type: ignore[arg-type]
        maskedpan=card.mask,
        city=holder.city,
        state=holder.state,
        address=holder.address,
        postal_code=holder.postal_code,
        expiration=card.expiration,
        card_type=card.network,
        name_on_card=holder.name,
        status=card.state,  # type: ignore[arg-type]
    )


def show_limits(card: Card) -> LimitsShown:
    bounds = CARD_LIMITS_DECODER.decode(card.limits)
    figures = (bounds.per_transaction, bounds.per_day, bounds.per_month)
    once, day, month = (None if figure is None else format_minor(figure) for figure in figures)
    return LimitsShown(per_transaction=once, per_day=day, per_month=month, categories=list(bounds.categories))


def reply_card(card: Card, data: CardData, message: str) -> CardReply:
    bounded = CARD_LIMITS_DECODER.decode(card.limits) != CardLimits()
    return CardReply(message=message, card_data=data, limits=show_limits(card) if bounded else UNSET)


def decide_get(request: GetRequest, context: Context, seen: LoadedRows) -> Decision[CardReply] | Refusal | NeedsMore:
    card = seen.get(Card, card_key(context.merchant.merchant_id, request.reference))
    if card is None:
        return UNKNOWN_CARD
    wanted = Needs((), (card.account,))
    if not has_all_rows(wanted, card.merchant_id, seen):
        return NeedsMore(wanted)
    data = show_card(card, balance_of(card, seen))
    if not request.reveal:
        hidden = msgspec.structs.replace(data, cardpan=card.mask, cvv=HIDDEN_CVV)
        return Decision(reply=reply_card(card, hidden, "Card found"))
    pan = unseal_pan(context, card)
    shown = msgspec.structs.replace(data, cardpan=pan, cvv=derive_cvv(context, pan, card.expiration))
    deed = AuditEntry(f"merchant {context.merchant.mid}", "card number shown", card.reference)
    return Decision(reply=reply_card(card, shown, "Card found"), audit_entries=(deed,))


# --- blocking, unblocking, limits ---------------------------------------------------------------------------


def decide_block(request: CardRequest, context: Context, seen: LoadedRows) -> Decision[DoneReply] | Refusal:
    card = find_open_card(request.reference, context, seen)
    if isinstance(card, Refusal):
        return card
    rows = () if card.state == BLOCKED else (msgspec.structs.replace(card, state=BLOCKED),)
    return Decision(reply=DoneReply(message="Card blocked successfully"), rows=rows)


def decide_unblock(request: CardRequest, context: Context, seen: LoadedRows) -> Decision[DoneReply] | Refusal:
    """A card that its unpaid fees blocked has three months again."""
    card = find_open_card(request.reference, context, seen)
    if isinstance(card, Refusal):
        return card
    rows = () if card.state == ACTIVE else (msgspec.structs.replace(card, state=ACTIVE, unpaid=0),)
    return Decision(reply=DoneReply(message="Card unblocked successfully"), rows=rows)


def check_limits_not_empty(merchant: Merchant, limits: SpendingLimits | None) -> str | None:
    if limits is None or limits != SpendingLimits():
        return None
    return "at least one of per_transaction, per_day, per_month and categories"


def encode_limits(limits: SpendingLimits | None) -> str:
    if limits is None:
        return encode_text(CardLimits())
    figures = (limits.per_transaction, limits.per_day, limits.per_month)
    once, day, month = (None if figure is None else int(figure) for figure in figures)
    return encode_text(CardLimits(once, day, month, tuple(sorted(set(limits.categories or ())))))


def decide_limits(request: LimitsRequest, context: Context, seen: LoadedRows) -> Decision[LimitsReply] | Refusal:
    card = find_open_card(request.reference, context, seen)
    if isinstance(card, Refusal):
        return card
    changed = msgspec.structs.replace(card, limits=encode_limits(request.limits))
    return Decision(reply=LimitsReply(message="Limits set", data=show_limits(changed)), rows=(changed,))
