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
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    NewHold,
    PostingGroup,
    Refusal,
    Row,
    replace_faults,
)
from kasuwa.core.inbound_accounts import ACCOUNT, PAYMENT
from kasuwa.core.magic import DEFAULT_OUTCOME, SandboxOutcome, outcome_of_card
from kasuwa.core.pricing import Price
from kasuwa.core.purpose import TransactionPurpose, subject_of
from kasuwa.core.references import hold_key, job_key, payment_reference, row_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario, take_call_scenario
from kasuwa.core.splits import SplitShare
from kasuwa.core.token_index import make_token_entry
from kasuwa.core.transactions import PENDING, Transaction, begin_trail, encode_text, transaction_key
from kasuwa.ledger import chart
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.rails.ports import CardSecrets

KIND = "payment"
OPEN = "payment.open"
CHARGE = "payment.charge"
VALIDATE = "payment.validate"
QUERY = "payment.ask"
EXPIRE = "payment.expire"

# What a payment waits for. While it is at the rail, a copy of the request waits for it too.
OPENING = "opening"
INITIATED = "initiated"
CHARGING = "charging"
AWAITING_OTP = "awaiting_otp"
AWAITING_3DS = "awaiting_3ds"
VALIDATING = "validating"
AWAITING_PAYER = "awaiting_payer"
OUTCOME_UNKNOWN = "asking"
DONE = "done"
RAIL_CALL_STAGES = frozenset({OPENING, CHARGING, VALIDATING})

PENDING_MESSAGE = "PENDING"

# The directory's word for a payer's page.
PAGE = "page"

# How long a payer may take. Contract: payment#validate, payment#ussd
PAYER_TIMEOUT = timedelta(minutes=10)

# Why a payment failed, where that was not the rail's answer.
EXPIRED = "expired"
OTP_ATTEMPTS_EXHAUSTED = "tries"

# Refusals, in order of precedence.
UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the fee of this payment; fund it and try again"
)


class RailRoute(msgspec.Struct, frozen=True):
    """Through which rail a payment type goes, under which name its faults are planned, and whether it can pay back."""

    rail: str
    fault_rail: str
    can_refund: bool


RAIL_ROUTES = {
    "card": RailRoute("card", "card", True),
    "token": RailRoute("card", "card", True),
    "account": RailRoute("debit", "bank", True),
    "bank_transfer": RailRoute("debit", "bank", True),
    "ussd": RailRoute("mobile", "mobile", False),
    "phone": RailRoute("mobile", "mobile", True),
    "qrpay": RailRoute("mobile", "mobile", False),
    "mobile_money": RailRoute("mobile", "mobile", True),
}


def rail_account(method: str, currency: str) -> str:
    return chart.rail(RAIL_ROUTES[method].rail, currency)


# --- the rows -------------------------------------------------------------------------------------------------------


class CardSummary(msgspec.Struct, frozen=True):
    """What may be kept and shown of a card."""

    hash: str
    mask: str
    bin: str
    brand: str | None
    type: str | None
    issuer: str | None
    country: str | None


class RecurrentTerms(msgspec.Struct, frozen=True):
    """What is to follow the first charge."""

    frequency: str
    value: str | None


class InstallmentTerms(msgspec.Struct, frozen=True):
    total: int
    later_charges: tuple[tuple[str, int], ...] = msgspec.field(name="later")


class PaymentDetail(msgspec.Struct, frozen=True, omit_defaults=True):
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
    is_bearer_explicit: bool = msgspec.field(default=False, name="bearer_said")
    payer: str = ""
    provider: str = ""
    page_token: str = msgspec.field(default="", name="page")
    inbound_account_number: str = msgspec.field(default="", name="shown")
    qr: str = ""
    enrolment: bool = False
    card: CardSummary | None = None
    split: tuple[SplitShare, ...] = ()
    recurrent: RecurrentTerms | None = None
    installments: InstallmentTerms | None = msgspec.field(default=None, name="instalments")
    purpose: TransactionPurpose | None = msgspec.field(default=None, name="errand")
    otp_reply_state: str = msgspec.field(default="", name="state")
    account_reference: str = ""


DETAIL_DECODER: "msgspec.json.Decoder[PaymentDetail]" = msgspec.json.Decoder(PaymentDetail)


class PaymentFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the rail told on the way."""

    fraud: str = "ok"
    ussd_code: str = ""
    # What its purpose had no use for: a loan that was repaid meanwhile, savings that were closed.
    surplus: int = 0


FACTS_DECODER: "msgspec.json.Decoder[PaymentFacts]" = msgspec.json.Decoder(PaymentFacts)


class Payment(Row):
    """A payment beside its transaction: where it stands, and what has become of its money. `sealed_card` is the card's
    number, kept from the charge until its token is made."""

    table: ClassVar[str] = "payment"
    mutable_columns: ClassVar[tuple[str, ...]] = (
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
    mutable_columns: ClassVar[tuple[str, ...]] = ("sealed", "detail")

    token: str
    sealed: bytes
    detail: str
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return True


CARD_SUMMARY_DECODER: "msgspec.json.Decoder[CardSummary]" = msgspec.json.Decoder(CardSummary)


def saved_card_key(merchant_id: int, token: str) -> bytes:
    return row_key(merchant_id, "saved card", token)


def find_chargeable_card(merchant_id: int, token: str, seen: LoadedRows) -> SavedCard | None:
    """The card of a token, where it can still be charged."""
    saved = seen.get(SavedCard, saved_card_key(merchant_id, token))
    return saved if saved is not None and saved.sealed else None


def saved_card_aad(token: str) -> str:
    return f"saved_card.sealed {token}"


class SealedCardData(msgspec.Struct, frozen=True):
    """What is sealed of a card: enough to charge it again, and nothing that authenticates its holder."""

    number: str
    expiry_month: str
    expiry_year: str

    def __repr__(self) -> str:
        return "KeptCard(…)"


SEALED_CARD_DECODER: "msgspec.json.Decoder[SealedCardData]" = msgspec.json.Decoder(SealedCardData)


class PaymentJobData(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a payment's job knows besides its rows. `step` is the job kind of the step that was sent last: a job that
    asks is about that one. `sealed` is a saved card, in base64; `shop` is what the payer knows the merchant as;
    `issued` says that the card is of our own ranges; `refund_of` is the payment that a refund gives back; `told` is
    what the values sent tell the test environment."""

    sent_at: float
    method: str
    amount: int
    currency: str
    last_step: str = msgspec.field(default="", name="step")
    session: str = ""
    payer: str = ""
    provider: str = ""
    attempt: int = 1
    token: str = ""
    sealed_card: str = msgspec.field(default="", name="sealed")
    merchant_name: str = msgspec.field(default="", name="shop")
    is_own_card: bool = msgspec.field(default=False, name="issued")
    refund_of: str = ""
    test_outcomes: SandboxOutcome = msgspec.field(default=DEFAULT_OUTCOME, name="told")
    scenario: Scenario = NO_SCENARIO


JOB_DATA_DECODER: "msgspec.json.Decoder[PaymentJobData]" = msgspec.json.Decoder(PaymentJobData)


# --- beginning ------------------------------------------------------------------------------------------------------


class PaymentOrder(msgspec.Struct, frozen=True):
    """A payment that was found right, whatever its type: all that differs is data from here on."""

    method: str
    currency: str
    price: Price
    detail: PaymentDetail
    customer_txnref: str = ""
    card_secrets: CardSecrets | None = None
    saved_card: SavedCard | None = None
    sealed_card: str = ""
    attempt: int = 1
    rows: tuple[Row, ...] = ()

    def __repr__(self) -> str:
        return f"Ask({self.method})"


def begin_payment(order: PaymentOrder, context: Context, kind: str, number: int | None = None) -> Decision:
    """The rows of a payment, and the job that takes it to its rail."""
    number = context.number if number is None else number
    row = make_transaction(order, number, context)
    random_number = int.from_bytes(context.entropy[:8], "big") + number
    scenario, faults = take_call_scenario(
        context.scenario, context.injected_faults, RAIL_ROUTES[order.method].fault_rail, random_number
    )
    payment = make_payment(order, row, kind, context)
    work = PaymentJobData(
        sent_at=context.now.timestamp(),
        method=order.method,
        amount=order.price.charged,
        currency=order.currency,
        last_step=kind,
        payer=order.detail.payer,
        provider=order.detail.provider,
        attempt=order.attempt,
        token="" if order.saved_card is None else order.saved_card.token,
        sealed_card=order.sealed_card,
        merchant_name=context.merchant.name,
        is_own_card=order.card_secrets is not None and context.issuing.is_own_number(order.card_secrets.number),
        test_outcomes=read_card_test_outcomes(order.card_secrets, context.merchant),
        scenario=scenario,
    )
    job = payment_job(row, order.method, kind, context.now, work)
    return Decision(
        reply=PaymentReply(
            txn_ref=row.txn_ref, txn_status="pending", message=PENDING_MESSAGE, **subject_of(order.detail.purpose)
        ),
        groups=hold_fee(row, order.detail.purpose, context),
        rows=(row, payment, *order.rows, *directory_entries(order.detail, row.txn_ref, context)),
        jobs=(job,),
        numbers_used=1,
        follow_up=job,
        secrets=order.card_secrets,
        sandbox=replace_faults(faults),
    )


def read_card_test_outcomes(card: CardSecrets | None, merchant: Merchant) -> SandboxOutcome:
    """What a card tells the test environment; in live, nothing."""
    if card is None or merchant.environment != "test":
        return DEFAULT_OUTCOME
    return outcome_of_card(card.number, card.cvv, card.pin)


def directory_entries(detail: PaymentDetail, txn_ref: str, context: Context) -> tuple[Row, ...]:
    """What a payer shows to be found again: the address of a page, an account number."""
    page = (make_token_entry(context, PAGE, detail.page_token, txn_ref),) if detail.page_token else ()
    account = (
        (make_token_entry(context, ACCOUNT, detail.inbound_account_number, f"{PAYMENT} {txn_ref}"),)
        if detail.inbound_account_number
        else ()
    )
    return (*page, *account)


def make_transaction(order: PaymentOrder, number: int, context: Context) -> Transaction:
    merchant_id = context.merchant.merchant_id
    txn_ref = payment_reference(context.permutation(number), lagos_day(context.now))
    return Transaction(
        key=transaction_key(merchant_id, KIND, txn_ref),
        merchant_id=merchant_id,
        kind=KIND,
        txn_ref=txn_ref,
        order_ref=order.customer_txnref,
        batch_ref=None,
        currency=order.currency,
        amount=order.price.amount,
        fee=order.price.fee,
        vat=order.price.vat,
        duty=0,
        status=PENDING,
        code=None,
        message=PENDING_MESSAGE,
        digest=b"",
        detail=encode_text({"method": order.method}),
        trail=begin_trail(context.now, "requested", order.method),
        created_at=context.now,
        final_at=None,
    )


def make_payment(order: PaymentOrder, row: Transaction, kind: str, context: Context) -> Payment:
    sealed = None
    if order.card_secrets is not None:
        kept = SealedCardData(
            order.card_secrets.number, order.card_secrets.expiry_month, order.card_secrets.expiry_year
        )
        sealed = context.seal(sealed_card_aad(row.txn_ref), msgspec.json.encode(kept))
    return Payment(
        key=payment_key(row.merchant_id, row.txn_ref),
        merchant_id=row.merchant_id,
        txn_ref=row.txn_ref,
        method=order.method,
        charged=order.price.charged,
        settled=order.price.settled,
        expires_at=context.now + PAYER_TIMEOUT,
        detail=encode_text(order.detail),
        stage=OPENING if kind == OPEN else CHARGING,
        auth="",
        session="",
        tries=0,
        sealed_card=sealed,
        token=None if order.saved_card is None else order.saved_card.token,
        received=0,
        refunded=0,
        refunding=0,
        refunds=0,
        facts=encode_text(PaymentFacts()),
    )


def sealed_card_aad(txn_ref: str) -> str:
    return f"payment.sealed_card {txn_ref}"


def payment_job(row: Transaction, method: str, kind: str, due: datetime, work: PaymentJobData) -> Job:
    lane = RAIL_ROUTES[method].rail
    key = job_key(row.key)
    return Job(key, row.merchant_id, kind, lane, row.txn_ref, row.key, due, due, None, 0, 0, None, encode_text(work))


def hold_fee(row: Transaction, purpose: TransactionPurpose | None, context: Context) -> tuple[PostingGroup, ...]:
    """Where the money is to go whole to somebody's account, the merchant's wallet must have the fee ready."""
    fees = row.fee + row.vat
    if purpose is None or context.purposes[purpose.purpose].destination_account is None or not fees:
        return ()
    reserve = NewHold(hold_key(row.key), chart.wallet(row.currency), fees)
    return (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, new_holds=(reserve,)),)


def requeue_for_rail(job: Job, kind: str, work: PaymentJobData, context: Context) -> Job:
    """The payment's one job, taken to the rail now by whoever asked."""
    work = msgspec.structs.replace(work, last_step=kind)
    return msgspec.structs.replace(job, kind=kind, due=context.now, attempt=0, work=encode_text(work))
