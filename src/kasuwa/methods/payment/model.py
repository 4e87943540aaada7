"""Payments: rows, stages, account names and the data that their jobs carry.

A transaction is pending, successful or failed. While it is pending, the payment's stage says what it waits for:

    card      opening ─> initiated ─┬─> charging ─┬─(PIN)─────────────────────────> done
                                    │             └─> awaiting_otp, awaiting_3ds ─┐
                                    └──────────(OTP or 3-D Secure at once)────────┴─> validating ─> done
    account   charging ─> awaiting_otp ─> validating ─> done
    token     charging ─> done
    others    charging ─> awaiting_payer ─> done        (mobile money on a page: awaiting_payer ─> validating ─> done)

From every stage with a rail call in flight a payment moves to `asking` (OUTCOME_UNKNOWN) if the answer is lost, until
the rail has told the outcome. A payment is done when its transaction is final: paid, declined or expired.
A pending payment has exactly one job; its kind (OPEN, CHARGE, VALIDATE, QUERY, EXPIRE) is the next thing to do.

A card that is entered on a vendor's page is begun like the other methods: charging ─> awaiting_payer ─> done. A payment
that failed at a vendor is watched for three days, because its payer may still pay there (receipts/late_money.py).

Postings of a successful payment, in its currency. S is the wallet, or `settling:<day>` until that day if the
merchant settles later, or the account that the payment's purpose names:

    rail:<card|debit|mobile> → S     what the payer was charged
    S → income:collection            fee           (a purpose's own account pays none: wallet → …, under a hold)
    S → tax:vat                      VAT on it
    S → beneficiary:<ref_code>       each part of a split

Plans are in plan_model.py, beneficiaries and settlement batches in settlement_model.py. Payments begin in
rules/begin.py and end in rules/finish.py.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import ClassVar

import msgspec

from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import LoadedRows, Refusal, Row
from kasuwa.core.references import row_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.ledger import chart
from kasuwa.rails.ports.rejections import RecordedRejection
from kasuwa.rails.sandbox.magic import DEFAULT_OUTCOME, SandboxOutcome
from kasuwa.transactions.pricing import Price
from kasuwa.transactions.purpose import TransactionPurpose
from kasuwa.transactions.splits import SplitShare

# Transaction kind of payments.
KIND = "payment"

# Job kinds.
OPEN = "payment.open"  # opens a card session at the rail (initiate)
CHARGE = "payment.charge"
VALIDATE = "payment.validate"  # sends the payer's OTP or answer on a hosted page
QUERY = "payment.ask"  # queries the outcome of the step that was sent last
EXPIRE = "payment.expire"  # fails the payment when the payer's time is over; calls no rail
WATCH = "payment.watch"  # queries a vendor about a failed payment, which its payer may still pay there

# Stages: what a pending payment waits for.
OPENING = "opening"
INITIATED = "initiated"
CHARGING = "charging"
AWAITING_OTP = "awaiting_otp"
AWAITING_3DS = "awaiting_3ds"
VALIDATING = "validating"
AWAITING_PAYER = "awaiting_payer"
OUTCOME_UNKNOWN = "asking"
DONE = "done"
# A rail call is in flight. A duplicate request waits for its answer.
RAIL_CALL_STAGES = frozenset({OPENING, CHARGING, VALIDATING})

PENDING_MESSAGE = "PENDING"

# Kind of the token index entries that find a payment by the token of its hosted page.
PAGE = "page"

# Facts of a vendor's answers that are kept with the payment and handed back with its later orders.
RAIL_FACTS = ("url", "rail_id", "account_number", "account_name", "bank_name")
# Authentications in which the payer acts at the vendor: on its page, by telephone, by a transfer.
PAYER_ACTS_ELSEWHERE = frozenset({"redirect", "device", "ussd"})

# Time that the payer has to complete a payment. Contract: payment#validate, payment#ussd
PAYER_TIMEOUT = timedelta(minutes=10)

# Failure codes of payments that were ended here and not by the rail's answer.
EXPIRED = "expired"
OTP_ATTEMPTS_EXHAUSTED = "tries"
ABANDONED = "abandoned"  # its payer chose another way to pay the same checkout
ENDED_HERE = frozenset({EXPIRED, OTP_ATTEMPTS_EXHAUSTED, ABANDONED})

# Refusals, in order of precedence.
UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS,
    "The wallet does not cover the fee of this payment; fund it and try again",
    error_code="insufficient_funds",
)


class RailRoute(msgspec.Struct, frozen=True):
    """The rail that carries a payment method."""

    rail: str  # attribute of `Rails`, job lane and part of the ledger account
    fault_rail: str  # rail name under which the sandbox injects faults for this method
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


# --- account names --------------------------------------------------------------------------------------------------


def rail_account(method: str, currency: str) -> str:
    return chart.rail(RAIL_ROUTES[method].rail, currency)


def unapplied_account(currency: str) -> str:
    """Returns the account of money that was transferred in and does not cover its payment yet.

    It is applied in full when the payment is covered, or returned to the payer.
    """
    return f"unapplied:main:{currency}"


# --- payments -------------------------------------------------------------------------------------------------------


class CardSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """The card data that may be stored in clear and shown."""

    hash: str  # keyed; equal for the same card of the same merchant
    mask: str  # first six and last four digits
    bin: str
    brand: str | None
    type: str | None
    issuer: str | None
    country: str | None
    vendor: str = ""  # that keeps the card; empty if its number is kept here
    vendor_account: str = ""  # our account with the vendor


class RecurrentTerms(msgspec.Struct, frozen=True):
    """The recurrence requested with a payment. Without `value` it is that of the first charge."""

    frequency: str
    value: str | None


class InstallmentTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The installment plan requested with a payment."""

    total: int
    # Due time (ISO 8601) and amount in minor units of each charge after the first.
    later_charges: tuple[tuple[str, int], ...] = msgspec.field(name="later")
    # The price of each of them, by the tariff with which the payment was begun. Empty until then.
    prices: tuple[Price, ...] = ()


class PaymentDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The request data of a payment (column payment.detail). Only the charge step of a card adds to it.

    Personal fields are stored apart, encrypted (payer_model.py)."""

    country: str = "NG"
    fullname: str = ""
    email: str = ""
    phone: str = ""  # of a payer on a page; the one that is paid with is `payer`
    ip: str = ""  # the payer's address
    fingerprint: str = ""  # the payer's device
    meta: str = ""  # a JSON object as text
    redirect_url: str = ""
    # The name that the payer is shown: of the shop, or of the account to transfer into.
    business_name: str = ""
    # Who bears the fee: merchant or customer.
    bearer: str = "merchant"
    # Whether the request named the bearer. Otherwise it comes from the tariff.
    is_bearer_explicit: bool = msgspec.field(default=False, name="bearer_said")
    # The payer at the rail: account number or phone number.
    payer: str = ""
    # The payer's account number, if `payer` is a phone number and the rail needs both.
    payer_account: str = ""
    # Bank code, USSD bank, mobile-money provider, or the name of the bank that is transferred into.
    provider: str = ""
    # The payer's mobile network, if the provider serves several.
    network: str = ""
    # Unguessable token of the payer's hosted page. Empty if there is none.
    page_token: str = msgspec.field(default="", name="page")
    # Account number that the payer was shown to transfer into.
    inbound_account_number: str = msgspec.field(default="", name="shown")
    qr: str = ""  # EMVCo payload
    enrolment: bool = False  # whether this is the phone's first payment to the merchant
    card: CardSummary | None = None
    split: tuple[SplitShare, ...] = ()
    recurrent: RecurrentTerms | None = None
    installments: InstallmentTerms | None = msgspec.field(default=None, name="instalments")  # the stored spelling
    # What the payment is for if another slice made it: a loan repayment, a savings deposit, a plan's charge.
    purpose: TransactionPurpose | None = None
    # Value of `state` in a reply with status 202 that asks for an OTP.
    otp_reply_state: str = msgspec.field(default="", name="state")
    # Reference of the personalized account that was paid into.
    account_reference: str = ""
    # The vendor that collects the payment. Empty for a rail that is no vendor's.
    vendor: str = ""


DETAIL_DECODER: "msgspec.json.Decoder[PaymentDetail]" = msgspec.json.Decoder(PaymentDetail)


class PaymentFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Data learned while a payment is processed (column payment.facts)."""

    fraud: str = "ok"
    ussd_code: str = ""
    # Facts of a vendor that later calls, or the payer, need (RAIL_FACTS).
    rail: dict[str, str] = {}
    # The card that the payer used on a vendor's page.
    card: CardSummary | None = None
    # Number of refunds that return money which the payment could not use: paid too late, or too much.
    returns: int = 0
    # The part that the payment's purpose could not use, because the loan was repaid meanwhile. The wallet has it.
    surplus: int = 0
    # Whether its payer wants to pay another way: it ends as soon as its rail says that it is not paid.
    is_abandoned: bool = False
    # The recurrent payment or installment plan that it started.
    plan_id: str = ""
    # Transfers for the payment that were sent back.
    rejections: tuple[RecordedRejection, ...] = ()


FACTS_DECODER: "msgspec.json.Decoder[PaymentFacts]" = msgspec.json.Decoder(PaymentFacts)


def merge_rail_facts(known: Mapping[str, str], facts: Mapping[str, str]) -> dict[str, str]:
    """Returns the facts that are kept of a vendor's answers, with those of a further one."""
    return {**known, **{name: facts[name] for name in RAIL_FACTS if name in facts}}


class StoredSplit(msgspec.Struct, frozen=True):
    """The shares of a split in a stored PaymentDetail, not decoded."""

    split: msgspec.Raw = msgspec.Raw()

    @property
    def text(self) -> str | None:
        return bytes(self.split).decode() or None


STORED_SPLIT = msgspec.json.Decoder(StoredSplit)


class Payment(Row):
    """A payment's state beside its transaction, under the same reference. Amounts are in minor units."""

    table: ClassVar[str] = "payment"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "stage",
        "auth",
        "session",
        "tries",
        "sealed_card",
        "token",
        "received",
        "refunded",
        "refunding",
        "refunds",
        "facts",
        "disputed",
    )
    coded_columns: ClassVar[tuple[str, ...]] = ("txn_ref", "method", "charged", "settled", "detail")
    coded_parts: ClassVar[Mapping[str, str]] = {"detail": "detail ->> 'split'"}

    txn_ref: str
    method: str
    charged: int  # what the payer pays
    settled: int  # what the merchant gets, before a split
    expires_at: datetime
    detail: str  # a PaymentDetail without its personal fields, see payer_model.py
    stage: str
    auth: str  # authentication that the rail asks for: PIN, OTP, 3DSecure, device …
    session: str  # the rail's own reference
    tries: int  # wrong OTPs so far
    sealed_card: bytes | None  # the encrypted card, from initiate until it is tokenized or discarded
    token: str | None  # of the saved card
    received: int  # transferred in so far (bank_transfer)
    refunded: int
    refunding: int  # amount of the refunds in progress
    refunds: int  # number of refunds that have ended
    facts: str  # a PaymentFacts
    disputed: int = 0  # amount of its disputes that were not won: it cannot be refunded as well
    payer_sealed: bytes | None = None  # the encrypted PayerData; None if nothing is known of the payer, or erased
    row_code: bytes | None = None

    @property
    def coded_detail(self) -> str | None:
        """The shares of a split as they are stored: the part of the detail that decides where money goes. The rest is
        encrypted anew. A detail that the service cannot have written counts as a whole."""
        if '"split"' not in self.detail:
            return None
        try:
            return STORED_SPLIT.decode(self.detail).text
        except msgspec.MsgspecError:
            return self.detail

    @property
    def is_open(self) -> bool:
        return self.stage != DONE

    @property
    def undisputed(self) -> int:
        """The amount that was neither refunded nor disputed."""
        return self.charged - self.refunded - self.refunding - self.disputed


def share_of_price(price: int, before: int, amount: int) -> int:
    """Returns how much of a refund counts for the price of a payment, of which `before` was refunded already.

    Refunds pay back the price first, and a fee that the payer bore last. Contract: payment#refunded-of-price
    """
    return max(0, min(before + amount, price) - min(before, price))


@lru_cache(maxsize=8192)
def payment_key(merchant_id: int, txn_ref: str) -> bytes:
    return row_key(merchant_id, "payment", txn_ref)


class RailReversal(Row):
    """Marks a transaction that its rail reversed. Two operators have decided that it is booked."""

    table: ClassVar[str] = "rail_reversal"

    txn_ref: str
    approval_id: int

    @property
    def is_open(self) -> bool:
        return False


def reversal_key(merchant_id: int, txn_ref: str) -> bytes:
    return row_key(merchant_id, RailReversal.table, txn_ref)


class EnrolledPhone(Row):
    """A phone that has paid this merchant before. Its key is a keyed hash of the number."""

    table: ClassVar[str] = "enrolled_phone"

    @property
    def is_open(self) -> bool:
        return False


# --- saved cards ----------------------------------------------------------------------------------------------------


class SavedCard(Row):
    """A card that its merchant may charge again by its token.

    An erased card has an empty `sealed`, and `find_chargeable_card` does not return it. Its token stays taken.
    """

    table: ClassVar[str] = "saved_card"
    mutable_columns: ClassVar[tuple[str, ...]] = ("sealed", "detail")

    token: str
    sealed: bytes  # an encrypted SealedCardData
    detail: str  # a CardSummary
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return True


CARD_SUMMARY_DECODER: "msgspec.json.Decoder[CardSummary]" = msgspec.json.Decoder(CardSummary)


def saved_card_key(merchant_id: int, token: str) -> bytes:
    return row_key(merchant_id, "saved card", token)


def find_chargeable_card(merchant_id: int, token: str, rows: LoadedRows) -> SavedCard | None:
    """Returns the saved card of a token, or None if there is none or it was erased."""
    saved = rows.get(SavedCard, saved_card_key(merchant_id, token))
    return saved if saved is not None and saved.sealed else None


def saved_card_aad(token: str) -> str:
    """Returns the associated data of a saved card's encryption: it decrypts under its own token only."""
    return f"saved_card.sealed {token}"


def sealed_card_aad(txn_ref: str) -> str:
    """Returns the associated data of the encryption of Payment.sealed_card."""
    return f"payment.sealed_card {txn_ref}"


class SealedCardData(msgspec.Struct, frozen=True, omit_defaults=True):
    """Plaintext of a sealed card: enough to charge it again. CVV and PIN are never stored.

    It is a card's number, or the token by which a vendor knows the card.
    """

    number: str = ""
    expiry_month: str = ""
    expiry_year: str = ""
    vendor: str = ""
    vendor_token: str = ""
    email: str = ""  # the address that the vendor's token was made with
    vendor_account: str = ""  # our account with the vendor

    def __repr__(self) -> str:
        return "SealedCardData(…)"


SEALED_CARD_DECODER: "msgspec.json.Decoder[SealedCardData]" = msgspec.json.Decoder(SealedCardData)


# --- jobs -----------------------------------------------------------------------------------------------------------


class PaymentJobData(msgspec.Struct, frozen=True, omit_defaults=True):
    """Data of a payment's or refund's job (column job.work) that its rows do not hold."""

    sent_at: float  # Unix time at which the last step was sent
    method: str
    amount: int
    currency: str
    # Job kind of the step that was sent to the rail last. A QUERY job asks about this one.
    last_step: str = msgspec.field(default="", name="step")
    session: str = ""
    # The payer's fullname, email, payer and payer_account: an encrypted PayerData in base64. The fields themselves are
    # filled in where the rail is called, and never stored.
    sealed_payer: str = ""
    payer: str = ""
    payer_account: str = ""
    provider: str = ""
    network: str = ""
    attempt: int = 1  # of a plan's charge for its due date
    token: str = ""
    # The saved card to charge, encrypted, in base64.
    sealed_card: str = msgspec.field(default="", name="sealed")
    # Merchant name that the payer sees.
    merchant_name: str = msgspec.field(default="", name="shop")
    # Whether this deployment issued the card: its number is in our ranges.
    is_own_card: bool = msgspec.field(default=False, name="issued")
    # Reference of the payment that a refund pays back.
    refund_of: str = ""
    # Whether a refund returns money that no payment could use, out of the account of unapplied money.
    is_return: bool = False
    # The vendor that has the payment, and its facts that later calls need (RAIL_FACTS).
    vendor: str = ""
    rail_facts: dict[str, str] = {}
    email: str = ""  # the payer's
    fullname: str = ""
    # Where the payer is sent after the vendor's page.
    return_url: str = ""
    # Unix time at which the payer's time is over.
    expires_at: float = 0
    # Whether the payer enters the card on the vendor's page.
    is_hosted: bool = msgspec.field(default=False, name="hosted")
    # Outcomes that magic test values in the request select. None in the live environment.
    test_outcomes: SandboxOutcome = msgspec.field(default=DEFAULT_OUTCOME, name="told")
    scenario: Scenario = NO_SCENARIO


JOB_DATA_DECODER: "msgspec.json.Decoder[PaymentJobData]" = msgspec.json.Decoder(PaymentJobData)


def count_from_sending(work: PaymentJobData, is_sent: bool, now: datetime) -> PaymentJobData:
    """Returns the job data with the time at which a vendor's order was really sent.

    A vendor may have refused it for days before, without effect. The day after which an order that is not found counts
    as failed begins when it was sent.
    """
    return msgspec.structs.replace(work, sent_at=now.timestamp()) if work.vendor and is_sent else work
