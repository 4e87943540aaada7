"""Rows, states and reply records of virtual cards. Postings are listed in the rules that make them.

    active ◀── unblock ── block, or three unpaid monthly fees ──▶ blocked
    active, blocked ── terminate ──▶ terminated

The balance of a card is that of its ledger account, `card:<short_id>:<currency>`, without what open authorizations
hold. Contract: virtualcard#create
"""

from datetime import datetime
from typing import ClassVar

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    LoadedRows,
    Merchant,
    Needs,
    Refusal,
    Row,
)
from kasuwa.core.money import format_grouped
from kasuwa.core.references import account_key, row_key
from kasuwa.core.vault import Unsealer
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.virtualcard.card_decider import CardDecider, show_decider
from kasuwa.methods.virtualcard.card_limits import has_limits, show_limits
from kasuwa.methods.virtualcard.wire import (
    CardData,
    CardReply,
    CardRequest,
    LimitsRequest,
)

ACTIVE = "active"
BLOCKED = "blocked"
TERMINATED = "terminated"

DONE = "Successful"
DECLINED = "Failed"

# The kind of card numbers in the token index.
PAN_ENTRY = "pan"
HIDDEN_CVV = "***"

# Refusals, in order of precedence.
UNKNOWN_CARD = Refusal(INVALID_REQUEST, "Invalid Card Reference", error_code="card_not_found")
CARD_TERMINATED = Refusal(INVALID_REQUEST, "The card is terminated", error_code="card_terminated")


# --- rows ---------------------------------------------------------------------------------------------------


class Card(Row):
    """A virtual card. Its number is stored encrypted; its CVV is derived and never stored."""

    table: ClassVar[str] = "virtual_card"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "limits", "spent_on", "spent_day", "spent_month", "unpaid")
    coded_columns: ClassVar[tuple[str, ...]] = (
        "reference",
        "short_id",
        "currency",
        "expiration",
        "state",
        "limits",
        "spent_on",
        "spent_day",
        "spent_month",
    )

    reference: str
    short_id: str  # last part of the reference, names the account
    currency: str
    network: str
    mask: str  # the masked card number
    sealed_pan: bytes  # the encrypted card number
    expiration: str  # month, as 2029-01
    state: str
    limits: str  # CardLimits as JSON
    spent_on: str  # Lagos day of the last purchase; the two sums belong to its day and month
    spent_day: int
    spent_month: int
    unpaid: int  # monthly fees missed in a row
    fee_job: bytes  # key of the monthly fee job
    created_at: datetime
    holder_sealed: bytes  # an encrypted Cardholder; empty if the client was erased
    client_id: str = ""  # whose limits by tier apply; "" if it is nobody's
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return self.state != TERMINATED

    @property
    def account(self) -> str:
        return chart.card(self.short_id, self.currency)

    def is_expired(self, now: datetime) -> bool:
        """Returns whether the card's month of expiry is over."""
        return f"{lagos_day(now).isoformat()[:7]}" > self.expiration


class CardRecord(Row):
    """One line of a card's transactions. The key of a purchase's record is made of its txnRef, so refunds find it."""

    table: ClassVar[str] = "virtual_card_entry"
    mutable_columns: ClassVar[tuple[str, ...]] = ("refunded", "refunds", "dispute_id")

    card: bytes  # key of the card
    number: int  # the merchant's running number
    shown_id: int  # the number as replies show it, permuted
    txn_ref: str | None  # of purchases and refunds
    narration: str
    status: str  # DONE or DECLINED
    currency: str
    amount: int
    fee: int
    refunded: int  # of a purchase, in the shop's currency
    refunds: int  # number of refunds of a purchase
    created_at: datetime
    decline_reason: str | None = None  # of a declined purchase, one of DeclineReason
    decision: str | None = None  # what the merchant's decider said of a purchase: a StoredDecision as JSON
    dispute_id: str | None = None  # the last dispute of a purchase
    order_key: str | None = None  # the order of a shop of this deployment, by which its purchase is found

    @property
    def is_open(self) -> bool:
        return False


class Cardholder(msgspec.Struct, frozen=True):
    """The holder of a card and the billing address."""

    address: str
    name: str
    city: str
    state: str
    postal_code: str
    country: str

    def __repr__(self) -> str:
        return "Cardholder(…)"


ERASED_HOLDER = Cardholder("", "", "", "", "", "")
CARDHOLDER_DECODER: "msgspec.json.Decoder[Cardholder]" = msgspec.json.Decoder(Cardholder)


def card_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, "card", reference)


def record_key(merchant_id: int, name: str) -> bytes:
    return row_key(merchant_id, "card_record", name)


class CardEntry(msgspec.Struct, frozen=True):
    """The content of a card record that is to be made."""

    narration: str
    amount: int
    fee: int = 0
    status: str = DONE
    txn_ref: str | None = None
    currency: str | None = None  # default: the card's
    decline_reason: str | None = None  # of a declined purchase
    decision: str | None = None  # what the merchant's decider said of it
    is_further: bool = False  # not the first of its txnRef, by which the first is found
    order_key: str | None = None  # of a purchase that a shop of this deployment ordered


# Narrations of card records. Those in BALANCE_SIGNS change the card's balance: the successful records of a card, each
# with its sign, add up to the balance. The others are about the wallet.
CARD_FUNDING = "Card Funding"
CARD_REFUND = "Card Refund"
CARD_PURCHASE = "Card Purchase"
CARD_AUTHORIZATION = "Card Authorization"
CARD_AUTHORIZATION_END = "Card Authorization Released"
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
    CARD_AUTHORIZATION: -1,
    CARD_AUTHORIZATION_END: 1,
    CARD_WITHDRAWAL: -1,
    CARD_TERMINATION: -1,
    MONTHLY_FEE: -1,
    VAT_ON_MONTHLY_FEE: -1,
}


def balance_effect(narration: str, status: str, amount: int) -> int:
    """Returns the change of the card's balance in minor units: zero if the record failed or is about the wallet."""
    return BALANCE_SIGNS.get(narration, 0) * amount if status == DONE else 0


def vat_entries(vat: int, narration: str) -> tuple[CardEntry, ...]:
    """Returns the VAT on a fee as an entry of its own, or nothing if it is zero. Contract: virtualcard#fees"""
    return (CardEntry(narration, vat),) if vat else ()


def make_card_records(context: Context, card: Card, first_number: int, *lines: CardEntry) -> tuple[CardRecord, ...]:
    """Returns the records of `lines` in order, numbered from `first_number`."""
    return tuple(
        CardRecord(
            key=record_key(card.merchant_id, str(number) if line.is_further else line.txn_ref or str(number)),
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
            decline_reason=line.decline_reason,
            decision=line.decision,
            order_key=line.order_key,
        )
        for number, line in enumerate(lines, start=first_number)
    )


# --- needs --------------------------------------------------------------------------------------------------


def has_all_rows(needs: Needs, merchant_id: int, rows: LoadedRows) -> bool:
    keys = [key for _, key in needs.rows] + [account_key(merchant_id, name) for name in needs.accounts]
    return all(rows.is_loaded(key) for key in keys)


def need_card(request: CardRequest | LimitsRequest, merchant: Merchant) -> Needs:
    return Needs(((Card, card_key(merchant.merchant_id, request.reference)),))


def find_open_card(reference: str, context: Context, rows: LoadedRows) -> Card | Refusal:
    """Returns the card, or a refusal if it is unknown or terminated."""
    card = rows.get(Card, card_key(context.merchant.merchant_id, reference))
    if card is None:
        return UNKNOWN_CARD
    return CARD_TERMINATED if card.state == TERMINATED else card


def get_balance(card: Card, rows: LoadedRows) -> int:
    """Returns the available balance of a card. It is read under the merchant's lock."""
    account = rows.get(Account, account_key(card.merchant_id, card.account))
    return 0 if account is None else account.available


def get_held(card: Card, rows: LoadedRows) -> int:
    """Returns what open authorizations hold of a card."""
    account = rows.get(Account, account_key(card.merchant_id, card.account))
    return 0 if account is None else account.held


# --- records of replies -------------------------------------------------------------------------------------


def derive_cvv(context: Context, pan: str, expiration: str) -> str:
    """Derives the CVV. It is never stored, so the database without the vault's key does not reveal it."""
    return context.vault.derive_digits(f"cvv {pan} {expiration}", 3)


def pan_aad(card_key: bytes) -> str:
    return f"card.sealed_pan {card_key.hex()}"


def unseal_pan(context: Context, card: Card) -> str:
    return context.unseal(pan_aad(card.key), card.sealed_pan).decode()


def holder_aad(card_key: bytes) -> str:
    return f"virtual_card.holder_sealed {card_key.hex()}"


def read_holder(merchant_id: int, key: bytes, sealed: bytes, unseal: Unsealer) -> Cardholder:
    """Returns the holder of a card from its column `holder_sealed`: one without data if they were erased."""
    if not sealed:
        return ERASED_HOLDER
    return CARDHOLDER_DECODER.decode(unseal(merchant_id, holder_aad(key), sealed))


def show_card(card: Card, balance: int, unseal: Unsealer) -> CardData:
    """Returns the record of a card without number and CVV."""
    holder = read_holder(card.merchant_id, card.key, card.holder_sealed, unseal)
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


def reply_card(card: Card, data: CardData, message: str, decider: CardDecider | None = None) -> CardReply:
    return CardReply(
        message=message,
        card_data=data,
        limits=show_limits(card.limits) if has_limits(card.limits) else UNSET,
        decider=UNSET if decider is None else show_decider(decider),
    )
