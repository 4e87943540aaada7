"""Payments: their rows, what may be asked, and how one begins.

Postings of a successful payment, in its currency. S is the wallet, or `settling:<day>` until that day where the
merchant settles later, or the account that the payment's purpose names:

    rail:<card|debit|mobile> → S     what the payer was charged
    S → income:collection            fee           (a purpose's own account pays none: wallet → …, under a hold)
    S → tax:vat                      VAT on it
    S → beneficiary:<ref_code>       each part of a split

Refunds are in decide_refund.py, inbound transfers in decide_inbound.py, what a rail's answer means in
decide_answer.py and decide_end.py, schedules in decide_plan.py.
"""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import ClassVar

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST, NOT_COVERED
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, Refusal, Reserve, Row, Seen
from kasuwa.core.directory import list_as
from kasuwa.core.inbound import ACCOUNT, PAYMENT
from kasuwa.core.magic import NOTHING_TOLD, Told, told_by_card
from kasuwa.core.pricing import Price
from kasuwa.core.purpose import Errand, subject_of
from kasuwa.core.references import hold_key, job_key, payment_reference, row_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario, plan_call
from kasuwa.core.splits import Part
from kasuwa.core.transactions import PENDING, Transaction, begin_trail, encode_text, transaction_key
from kasuwa.ledger import chart
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.rails.ports import CardSecrets

KIND = "payment"
OPEN = "payment.open"
CHARGE = "payment.charge"
VALIDATE = "payment.validate"
ASK = "payment.ask"
EXPIRE = "payment.expire"

# What a payment waits for. While it is at the rail, a copy of the request waits for it too.
OPENING = "opening"
INITIATED = "initiated"
CHARGING = "charging"
AWAITING_OTP = "awaiting_otp"
AWAITING_3DS = "awaiting_3ds"
VALIDATING = "validating"
AWAITING_PAYER = "awaiting_payer"
ASKING = "asking"
DONE = "done"
AT_THE_RAIL = frozenset({OPENING, CHARGING, VALIDATING})

PENDING_MESSAGE = "PENDING"

# The directory's word for a payer's page.
PAGE = "page"

# How long a payer may take. Spec silent: D16, D20
PATIENCE = timedelta(minutes=10)

# Why a payment failed, where that was not the rail's answer.
EXPIRED = "expired"
TRIES_USED_UP = "tries"

# Refusals, in order of precedence.
UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")
WALLET_SHORT = Refusal(NOT_COVERED, "The wallet does not cover the fee of this payment; fund it and try again")


class Channel(msgspec.Struct, frozen=True):
    """Through which rail a payment type goes, under which name its faults are planned, and whether it can pay back."""

    rail: str
    fault: str
    pays_back: bool


CHANNELS = {
    "card": Channel("card", "card", True),
    "token": Channel("card", "card", True),
    "account": Channel("debit", "bank", True),
    "bank_transfer": Channel("debit", "bank", True),
    "ussd": Channel("mobile", "mobile", False),
    "phone": Channel("mobile", "mobile", True),
    "qrpay": Channel("mobile", "mobile", False),
    "mobile_money": Channel("mobile", "mobile", True),
}


def rail_account(method: str, currency: str) -> str:
    return chart.rail(CHANNELS[method].rail, currency)


# --- the rows -------------------------------------------------------------------------------------------------------


class CardFacts(msgspec.Struct, frozen=True):
    """What may be kept and shown of a card."""

    hash: str
    mask: str
    bin: str
    brand: str | None
    type: str | None
    issuer: str | None
    country: str | None


class RecurrentWish(msgspec.Struct, frozen=True):
    """What is to follow the first charge."""

    frequency: str
    value: str | None


class InstalmentWish(msgspec.Struct, frozen=True):
    total: int
    later: tuple[tuple[str, int], ...]


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a payment was asked with; a card's charge may add to it. `bearer_said`: the request names the bearer, else
    it is the tariff's. `shown` is the account number that was paid into, at the bank `provider` and in the name of
    `business_name`; `account_reference` says whose personalized account that is. `ip` and `fingerprint` are the payer's
    address and device; `meta` is a JSON object as text."""

    country: str = "NG"
    fullname: str = ""
    email: str = ""
    ip: str = ""
    fingerprint: str = ""
    meta: str = ""
    redirect_url: str = ""
    business_name: str = ""
    bearer: str = "merchant"
    bearer_said: bool = False
    payer: str = ""
    provider: str = ""
    page: str = ""
    shown: str = ""
    qr: str = ""
    enrolment: bool = False
    card: CardFacts | None = None
    split: tuple[Part, ...] = ()
    recurrent: RecurrentWish | None = None
    instalments: InstalmentWish | None = None
    errand: Errand | None = None
    state: str = ""
    account_reference: str = ""


DETAIL: "msgspec.json.Decoder[Detail]" = msgspec.json.Decoder(Detail)


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the rail told on the way."""

    fraud: str = "ok"
    ussd_code: str = ""
    # What its purpose had no use for: a loan that was repaid meanwhile, savings that were closed.
    surplus: int = 0


FACTS: "msgspec.json.Decoder[Facts]" = msgspec.json.Decoder(Facts)


class Payment(Row):
    """A payment beside its transaction: where it stands, and what has become of its money. `sealed_card` is the card's
    number, kept from the charge until its token is made."""

    table: ClassVar[str] = "payment"
    changing: ClassVar[tuple[str, ...]] = (
        *("stage", "auth", "session", "tries", "sealed_card", "token"),
        *("received", "refunded", "refunding", "refunds", "facts"),
    )

    txn_ref: str
    method: str
    charged: int
    settled: int
    expires_at: datetime
    detail: str
    stage: str
    auth: str
    session: str
    tries: int
    sealed_card: bytes | None
    token: str | None
    received: int
    refunded: int
    refunding: int
    refunds: int
    facts: str

    @property
    def is_open(self) -> bool:
        return self.stage != DONE


@lru_cache(maxsize=8192)
def payment_key(merchant_id: int, txn_ref: str) -> bytes:
    return row_key(merchant_id, "payment", txn_ref)


class SavedCard(Row):
    """A card that may be charged again by its token. The number is sealed; the rest may be shown. One whose holder was
    forgotten has nothing sealed: it is found by `find_saved` no more."""

    table: ClassVar[str] = "saved_card"
    changing: ClassVar[tuple[str, ...]] = ("sealed", "detail")

    token: str
    sealed: bytes
    detail: str
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return True


SAVED: "msgspec.json.Decoder[CardFacts]" = msgspec.json.Decoder(CardFacts)


def saved_card_key(merchant_id: int, token: str) -> bytes:
    return row_key(merchant_id, "saved card", token)


def find_saved(merchant_id: int, token: str, seen: Seen) -> SavedCard | None:
    """The card of a token, where it can still be charged."""
    saved = seen.get(SavedCard, saved_card_key(merchant_id, token))
    return saved if saved is not None and saved.sealed else None


def saved_card_place(token: str) -> str:
    return f"saved_card.sealed {token}"


class KeptCard(msgspec.Struct, frozen=True):
    """What is sealed of a card: enough to charge it again, and nothing that authenticates its holder."""

    number: str
    expiry_month: str
    expiry_year: str

    def __repr__(self) -> str:
        return "KeptCard(…)"


KEPT: "msgspec.json.Decoder[KeptCard]" = msgspec.json.Decoder(KeptCard)


class Work(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a payment's job knows besides its rows. `step` is the job kind of the step that was sent last: a job that
    asks is about that one. `sealed` is a saved card, in base64; `shop` is what the payer knows the merchant as;
    `issued` says that the card is of our own ranges; `refund_of` is the payment that a refund gives back; `told` is
    what the values sent tell the test environment."""

    sent_at: float
    method: str
    amount: int
    currency: str
    step: str = ""
    session: str = ""
    payer: str = ""
    provider: str = ""
    attempt: int = 1
    token: str = ""
    sealed: str = ""
    shop: str = ""
    issued: bool = False
    refund_of: str = ""
    told: Told = NOTHING_TOLD
    scenario: Scenario = NO_SCENARIO


WORK: "msgspec.json.Decoder[Work]" = msgspec.json.Decoder(Work)


# --- beginning ------------------------------------------------------------------------------------------------------


class Ask(msgspec.Struct, frozen=True):
    """A payment that was found right, whatever its type: all that differs is data from here on."""

    method: str
    currency: str
    price: Price
    detail: Detail
    customer_txnref: str = ""
    card: CardSecrets | None = None
    saved: SavedCard | None = None
    sealed_saved: str = ""
    attempt: int = 1
    rows: tuple[Row, ...] = ()

    def __repr__(self) -> str:
        return f"Ask({self.method})"


def begin(ask: Ask, context: Context, kind: str, number: int | None = None) -> Decision:
    """The rows of a payment, and the job that takes it to its rail."""
    number = context.number if number is None else number
    row = make_transaction(ask, number, context)
    luck = int.from_bytes(context.entropy[:8], "big") + number
    scenario, faults = plan_call(context.scenario, context.faults, CHANNELS[ask.method].fault, luck)
    payment = make_payment(ask, row, kind, context)
    work = Work(
        sent_at=context.now.timestamp(),
        method=ask.method,
        amount=ask.price.charged,
        currency=ask.currency,
        step=kind,
        payer=ask.detail.payer,
        provider=ask.detail.provider,
        attempt=ask.attempt,
        token="" if ask.saved is None else ask.saved.token,
        sealed=ask.sealed_saved,
        shop=context.merchant.name,
        issued=ask.card is not None and context.issuing.covers(ask.card.number),
        told=told_by_secrets(ask.card, context.merchant),
        scenario=scenario,
    )
    job = payment_job(row, ask.method, kind, context.now, work)
    return Decision(
        reply=PaymentReply(
            txn_ref=row.txn_ref, txn_status="pending", message=PENDING_MESSAGE, **subject_of(ask.detail.errand)
        ),
        groups=hold_fee(row, ask.detail.errand, context),
        rows=(row, payment, *ask.rows, *found_by(ask.detail, row.txn_ref, context)),
        jobs=(job,),
        numbers=1,
        then=job,
        beside=ask.card,
        faults=faults,
    )


def told_by_secrets(card: CardSecrets | None, merchant: Merchant) -> Told:
    """What a card tells the test environment; in live, nothing."""
    if card is None or merchant.environment != "test":
        return NOTHING_TOLD
    return told_by_card(card.number, card.cvv, card.pin)


def found_by(detail: Detail, txn_ref: str, context: Context) -> tuple[Row, ...]:
    """What a payer shows to be found again: the address of a page, an account number."""
    page = (list_as(context, PAGE, detail.page, txn_ref),) if detail.page else ()
    account = (list_as(context, ACCOUNT, detail.shown, f"{PAYMENT} {txn_ref}"),) if detail.shown else ()
    return (*page, *account)


def make_transaction(ask: Ask, number: int, context: Context) -> Transaction:
    merchant_id = context.merchant.merchant_id
    txn_ref = payment_reference(context.permutation(number), lagos_day(context.now))
    return Transaction(
        key=transaction_key(merchant_id, KIND, txn_ref),
        merchant_id=merchant_id,
        kind=KIND,
        txn_ref=txn_ref,
        order_ref=ask.customer_txnref,
        batch_ref=None,
        currency=ask.currency,
        amount=ask.price.amount,
        fee=ask.price.fee,
        vat=ask.price.vat,
        duty=0,
        status=PENDING,
        code=None,
        message=PENDING_MESSAGE,
        digest=b"",
        detail=encode_text({"method": ask.method}),
        trail=begin_trail(context.now, "requested", ask.method),
        created_at=context.now,
        final_at=None,
    )


def make_payment(ask: Ask, row: Transaction, kind: str, context: Context) -> Payment:
    sealed = None
    if ask.card is not None:
        kept = KeptCard(ask.card.number, ask.card.expiry_month, ask.card.expiry_year)
        sealed = context.seal(sealed_card_place(row.txn_ref), msgspec.json.encode(kept))
    return Payment(
        key=payment_key(row.merchant_id, row.txn_ref),
        merchant_id=row.merchant_id,
        txn_ref=row.txn_ref,
        method=ask.method,
        charged=ask.price.charged,
        settled=ask.price.settled,
        expires_at=context.now + PATIENCE,
        detail=encode_text(ask.detail),
        stage=OPENING if kind == OPEN else CHARGING,
        auth="",
        session="",
        tries=0,
        sealed_card=sealed,
        token=None if ask.saved is None else ask.saved.token,
        received=0,
        refunded=0,
        refunding=0,
        refunds=0,
        facts=encode_text(Facts()),
    )


def sealed_card_place(txn_ref: str) -> str:
    return f"payment.sealed_card {txn_ref}"


def payment_job(row: Transaction, method: str, kind: str, due: datetime, work: Work) -> Job:
    lane = CHANNELS[method].rail
    key = job_key(row.key)
    return Job(key, row.merchant_id, kind, lane, row.txn_ref, row.key, due, due, None, 0, 0, None, encode_text(work))


def hold_fee(row: Transaction, errand: Errand | None, context: Context) -> tuple[Group, ...]:
    """Where the money is to go whole to somebody's account, the merchant's wallet must have the fee ready."""
    fees = row.fee + row.vat
    if errand is None or context.purposes[errand.purpose].account is None or not fees:
        return ()
    reserve = Reserve(hold_key(row.key), chart.wallet(row.currency), fees)
    return (Group(row.txn_ref, WALLET_SHORT, reserves=(reserve,)),)


def at_the_rail(job: Job, kind: str, work: Work, context: Context) -> Job:
    """The payment's one job, taken to the rail now by whoever asked."""
    work = msgspec.structs.replace(work, step=kind)
    return msgspec.structs.replace(job, kind=kind, due=context.now, attempt=0, work=encode_text(work))
