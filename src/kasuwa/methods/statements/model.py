"""Statements of account: what one covers, how movements are classed, and the link to a file.

A statement covers the postings from one number to another. The first posting of a day is found by its time, so that
consecutive statements cover every posting once. Contract: resources#statements
"""

from datetime import datetime, timedelta
from enum import Enum

import msgspec

from kasuwa.core.calendar import lagos_moment
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Refusal, refuse_fields
from kasuwa.wire.fields import LagosDate

UNKNOWN_ACCOUNT = Refusal(
    INVALID_REQUEST, "Invalid Account Reference", (FieldError("id", "no such account"),), error_code="account_not_found"
)
TOO_LONG_FOR_PDF = refuse_fields(
    FieldError("format", "more than 5,000 movements: use csv, or fewer days", "statement_too_long_for_pdf")
)

MAX_DAYS = 366
LINK_LIFETIME = timedelta(hours=1)
# Movements of one PDF. A longer one would keep a process busy for seconds.
MAX_PDF_MOVEMENTS = 5_000
# Postings of a merchant over which the totals of a page are summed: half a second.
MAX_POSTINGS_SUMMED = 1_000_000


class Source(Enum):
    """The index that the postings of an account are read by."""

    WALLET = "wallet"  # all postings of the merchant: nearly all of them move the NGN wallet
    OWNED = "owned"  # by the name of one account
    PRODUCT = "product"  # by the id of a loan or savings account, which may have several accounts


class StatementAccount(msgspec.Struct, frozen=True):
    """An account, as statements read it."""

    kind: str  # wallet, card, savings, loan or beneficiary
    source: Source
    name: str  # of the account, or the id of a loan or savings account
    currency: str
    title: str  # what people read, such as "Wallet"


class StatementTerms(msgspec.Struct, frozen=True, array_like=True):
    """The statement that a link stands for. Sealed in the link."""

    merchant_id: int
    account: str
    id: str
    currency: str
    first_day: str  # YYYY-MM-DD
    last_day: str
    format: str
    expires: int  # seconds since the epoch, in the merchant's business time
    proof: str = ""  # of a certificate: the token of its proof
    has_names: bool = True  # of a register: whether it names the members


# The endings of the addresses that links of each format have. Certificates and their proofs are of fixed deposits.
CERTIFICATE, CERTIFICATE_PROOF = "certificate", "proof"
# Registers of shareholders are of a class of shares, which is no account.
REGISTER_ACCOUNT = "shares"
REGISTER_CSV, REGISTER_PDF = "register_csv", "register_pdf"
ENDINGS = {
    "csv": "csv",
    "pdf": "pdf",
    CERTIFICATE: "pdf",
    CERTIFICATE_PROOF: "json",
    REGISTER_CSV: "csv",
    REGISTER_PDF: "pdf",
}

TERMS_DECODER: "msgspec.json.Decoder[StatementTerms]" = msgspec.json.Decoder(StatementTerms)

# The associated data of a link's encryption. It belongs to no merchant: the merchant is inside.
LINK_AAD = "statement link"
LINK_OWNER = 0


class Movement(msgspec.Struct, frozen=True):
    """A movement on an account. Amounts are in minor units."""

    seq: int
    side: int  # 0 if it left an account, 1 if it entered one
    at: datetime
    reference: str
    kind: str
    counterparty: str
    amount: int  # negative if the balance falls
    balance: int


class Total(msgspec.Struct):
    """Sum and number of movements of one class."""

    amount: int = 0
    count: int = 0


CLASSES = ("collected", "fees", "vat", "refunds", "disputes", "reserve", "payouts", "interest", "tax", "other")
REFUND_KINDS = ("refund", "card refund", "returned to the payer", "paid back")
COLLECTED_KINDS = frozenset({"payment", "settlement", "inbound transfer", "collection", "late payment"})


def classify_movement(kind: str, counterparty: str, amount: int) -> str:
    """Returns the class of a movement in the totals. The counterparty says it where the kind has many spellings."""
    sort, _, owner = counterparty.partition(":")
    if sort == "tax" or kind.startswith("tax "):
        return "vat" if owner.startswith("vat") else "tax"
    if kind == "VAT on fee":
        return "vat"
    if kind == "interest" or kind.startswith("interest "):
        return "interest"
    if kind in ("dispute", "dispute advance", "dispute debt"):
        return "disputes"
    if kind in ("reserve", "reserve released"):
        return "reserve"
    if sort == "income" or kind.endswith(" fee"):
        return "fees"
    if kind.startswith(REFUND_KINDS):
        return "refunds"
    if kind in COLLECTED_KINDS or (kind == "split" and amount > 0):
        return "collected"
    if amount < 0 and (sort in ("rail", "beneficiary") or kind in ("split", "savings cash-out", "card purchase")):
        return "payouts"
    return "other"


def make_period(first: LagosDate, last: LagosDate) -> tuple[datetime, datetime]:
    """Returns the beginning of the first day and the end of the last, which is not part of the period."""
    return lagos_moment(first.plain(), 0), lagos_moment(last.plain() + timedelta(days=1), 0)
