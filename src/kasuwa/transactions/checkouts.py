"""Checkouts: one payer is asked for one amount on a page of ours, whatever it is for.

Each attempt to pay is an ordinary payment whose purpose names the checkout. A new attempt begins only after the one
before has ended, and none begins after one has succeeded, so at most one succeeds. The decision that ends an attempt
also marks the checkout, in the same commit.

    open ──> paid       an attempt has succeeded
         └─> expired    its time is over and no attempt is open

A checkout is opened for a source: by the API (`checkout`), by a payment link (`link`), or by another slice, which
registers a CheckoutSource and so takes part in the decisions on its checkouts. Contract: payment#checkout
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, Literal

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    Event,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
    make_job,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key, movement_reference, row_key
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.core.token_index import make_page_entry
from kasuwa.core.vault import Unsealer
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.purpose import CHECKOUT
from kasuwa.transactions.sealed_payers import fill_empty
from kasuwa.transactions.splits import SplitShare
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, Transaction, encode_text, make_delivery_jobs

OPEN, PAID, EXPIRED = "open", "paid", "expired"

# Sources of checkouts that have no rules of their own.
API_SOURCE, LINK_SOURCE = "checkout", "link"

# Kind of the token index entries that find a checkout by the token of its page.
CHECKOUT_PAGE = "checkout page"
TOKEN_DIGITS = 48

# The job that ends a checkout whose time is over, and its lane.
EXPIRE = "checkout.expire"
LANE = "schedule"

# Two letters of a checkout's reference. Contract: #references
REFERENCE_LETTERS = "CK"
REFERENCE_PREFIX = f"GP|{REFERENCE_LETTERS}|"


class CheckoutItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of what is paid for."""

    name: str
    quantity: int = 1
    amount: int = 0  # of one, in minor units
    reference: str = ""  # of the source's own, such as a kind of ticket


class CheckoutDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The terms of a checkout (column checkout.detail). The payer's data are stored apart, encrypted, until it ends."""

    page_token: str = msgspec.field(default="", name="page")  # unguessable
    title: str = ""  # what is paid for
    description: str = ""
    items: tuple[CheckoutItem, ...] = ()
    channels: tuple[str, ...] = ()  # payment types that may be used
    bearer: Literal["", "merchant", "customer"] = ""  # of the fee; empty for the tariff's default
    country: str = "NG"
    split: tuple[SplitShare, ...] = ()
    frequency: str = ""  # of a recurrent payment: daily, weekly or monthly; empty if it is not recurrent
    frequency_value: str = ""
    # An installment plan: its total, and what is due by date (DD-MM-YYYY), as the request had it.
    installment_total: int = 0
    schedule: dict[str, str] = {}
    redirect_url: str = ""
    message: str = ""  # shown to the payer after the payment
    meta: str = ""  # a JSON object as text
    asks_phone: bool = False  # the page asks for a telephone number
    # The payer, as far as known.
    fullname: str = ""
    email: str = ""
    phone: str = ""
    is_payer_given: bool = False  # the merchant named the payer's address: the page does not ask for it


DETAIL_DECODER: "msgspec.json.Decoder[CheckoutDetail]" = msgspec.json.Decoder(CheckoutDetail)


class Checkout(Row):
    """One checkout."""

    table: ClassVar[str] = "checkout"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "state",
        "payment_ref",
        "attempt_ref",
        "attempts",
        "detail",
        "ended_at",
        "payer_sealed",
    )

    txn_ref: str
    source: str
    source_id: str  # empty for the API's own
    customer_txnref: str  # the merchant's reference; empty if there is none
    currency: str
    amount: int  # in minor units, without a fee that the payer bears
    state: str
    payment_ref: str  # of the attempt that succeeded; empty if none did
    attempt_ref: str  # of the newest attempt; empty if there is none
    attempts: int  # begun so far
    expires_at: datetime
    detail: str  # a CheckoutDetail without the payer's data
    created_at: datetime
    ended_at: datetime | None
    payer_sealed: bytes | None = None  # an encrypted CheckoutPayer; None if nothing is known of the payer

    @property
    def is_open(self) -> bool:
        """False: most checkouts wait for a day and are not paid, too long to be kept in memory."""
        return False


@lru_cache(maxsize=8192)
def checkout_key(merchant_id: int, txn_ref: str) -> bytes:
    return row_key(merchant_id, "checkout", txn_ref)


def checkout_url(public_url: str, page_token: str) -> str:
    return f"{public_url}/pay/checkout/{page_token}"


# --- the payer --------------------------------------------------------------------------------------------------


class CheckoutPayer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The personal fields of a CheckoutDetail, under the same names."""

    fullname: str = ""
    email: str = ""
    phone: str = ""
    meta: str = ""

    def __repr__(self) -> str:
        return "CheckoutPayer(…)"


NO_PAYER = CheckoutPayer()
PAYER_DECODER: "msgspec.json.Decoder[CheckoutPayer]" = msgspec.json.Decoder(CheckoutPayer)


def payer_aad(txn_ref: str) -> str:
    return f"checkout.payer_sealed {txn_ref}"


def remove_payer(detail: CheckoutDetail) -> CheckoutDetail:
    return msgspec.structs.replace(detail, **dict.fromkeys(CheckoutPayer.__struct_fields__, ""))


def seal_checkout_detail(detail: CheckoutDetail, txn_ref: str, context: Context) -> tuple[str, bytes | None]:
    """Returns the columns `detail` and `payer_sealed` of a checkout."""
    payer = CheckoutPayer(detail.fullname, detail.email, detail.phone, detail.meta)
    sealed = None if payer == NO_PAYER else context.seal(payer_aad(txn_ref), msgspec.json.encode(payer))
    return encode_text(remove_payer(detail)), sealed


def read_checkout_detail(checkout: Checkout, unseal: Unsealer) -> CheckoutDetail:
    """Returns the terms of a checkout with the payer's data. A rule that needs none of those decodes `detail`."""
    detail = DETAIL_DECODER.decode(checkout.detail)
    if checkout.payer_sealed is None:
        return detail
    plain = unseal(checkout.merchant_id, payer_aad(checkout.txn_ref), bytes(checkout.payer_sealed))
    payer = PAYER_DECODER.decode(plain)
    return fill_empty(detail, payer, CheckoutPayer.__struct_fields__)


# --- opening ----------------------------------------------------------------------------------------------------


class NewCheckout(msgspec.Struct, frozen=True, kw_only=True):
    """A checkout that is to be opened."""

    amount: int
    currency: str
    detail: CheckoutDetail  # without a page token, unless the page made one
    expires_at: datetime
    source: str = API_SOURCE
    source_id: str = ""
    customer_txnref: str = ""


def begin_checkout(new: NewCheckout, context: Context, number: int | None = None) -> tuple[Checkout, Decision]:
    """Returns a new checkout and the decision that writes it with its token and the job that ends it. It takes one
    reference number. `number` is by default the context's."""
    merchant_id = context.merchant.merchant_id
    number = context.number if number is None else number
    txn_ref = movement_reference(REFERENCE_LETTERS, context.permutation(number), lagos_day(context.now))
    token = new.detail.page_token or context.draw_page_token(f"checkout {number}")[:TOKEN_DIGITS]
    detail, payer_sealed = seal_checkout_detail(msgspec.structs.replace(new.detail, page_token=token), txn_ref, context)
    checkout = Checkout(
        key=checkout_key(merchant_id, txn_ref),
        merchant_id=merchant_id,
        txn_ref=txn_ref,
        source=new.source,
        source_id=new.source_id,
        customer_txnref=new.customer_txnref,
        currency=new.currency,
        amount=new.amount,
        state=OPEN,
        payment_ref="",
        attempt_ref="",
        attempts=0,
        expires_at=new.expires_at,
        detail=detail,
        created_at=context.now,
        ended_at=None,
        payer_sealed=payer_sealed,
    )
    entry = make_page_entry(context, CHECKOUT_PAGE, token, txn_ref)
    jobs = (expiry_job(checkout, new.expires_at),)
    return checkout, Decision(rows=(checkout, entry), jobs=jobs, numbers_used=1)


def expiry_job(checkout: Checkout, due: datetime) -> Job:
    """Returns the job that ends a checkout. An open checkout has one, and an ended one none."""
    return make_job(
        key=job_key(checkout.key),
        merchant_id=checkout.merchant_id,
        kind=EXPIRE,
        lane=LANE,
        reference=checkout.txn_ref,
        subject=checkout.key,
        due=due,
    )


# --- the end ----------------------------------------------------------------------------------------------------


def end_checkout(
    checkout: Checkout, paid: Transaction | None, fields: dict[str, Any], context: Context
) -> tuple[Checkout, Event, tuple[Job, ...]]:
    """Returns the ended checkout, its event and the jobs that deliver it.

    `paid` is the transaction of the attempt that succeeded, or None if the time is over. `fields` are further fields of
    the event: `charged_amount` and `payment_method`.
    """
    ended = msgspec.structs.replace(
        checkout,
        state=EXPIRED if paid is None else PAID,
        payment_ref="" if paid is None else paid.txn_ref,
        detail=encode_text(remove_payer(DETAIL_DECODER.decode(checkout.detail))),
        ended_at=context.now,
        payer_sealed=None,
    )
    payload = {
        "status": 200,
        "txn_status": FAILED if paid is None else SUCCESSFUL,
        "txn_ref": checkout.txn_ref,
        "charged_amount": format_minor(0),
        "payment_method": CHECKOUT,
        "endpoint": context.merchant.environment,
        "currency": checkout.currency,
        "customer_txnref": checkout.customer_txnref or None,
        "payment_ref": ended.payment_ref or None,
        "source": checkout.source,
        "source_id": checkout.source_id or None,
        **fields,
    }
    event = Event(checkout.txn_ref, CHECKOUT, msgspec.json.encode(build_event(CHECKOUT, payload)))
    return ended, event, make_delivery_jobs(context, checkout, event, NO_SCENARIO)


# --- sources ----------------------------------------------------------------------------------------------------


class CheckoutSource(msgspec.Struct, frozen=True):
    """The rules of the slice that opens checkouts for a source. They run within the decisions on its checkouts.

    Register it in methods/tables.py. What they return is written in the same commit.
    """

    name: str
    # needs(merchant, checkout): the rows and accounts that the rules must see. More may be asked for by NeedsMore.
    needs: Callable[[Merchant, Checkout], Needs]
    # on_attempt(checkout, context, rows): before an attempt begins. A Refusal is shown to the payer: sold out, void.
    on_attempt: Callable[[Checkout, Context, LoadedRows], Effects | Refusal | NeedsMore] | None = None
    # on_paid(checkout, transaction, context, rows): an attempt has succeeded. `transaction` is that of its payment.
    on_paid: Callable[[Checkout, Transaction, Context, LoadedRows], Effects | NeedsMore] | None = None
    # on_attempt_failed(checkout, context, rows): an attempt has failed. The payer may begin another.
    on_attempt_failed: Callable[[Checkout, Context, LoadedRows], Effects | NeedsMore] | None = None
    # on_expired(checkout, context, rows): the checkout ends unpaid.
    on_expired: Callable[[Checkout, Context, LoadedRows], Effects | NeedsMore] | None = None
    # on_refund(checkout, amount, context, rows): an amount of its payment was refunded. The row of the payment, which
    # has the sum of the earlier refunds, is not changed yet.
    on_refund: Callable[[Checkout, int, Context, LoadedRows], Effects | NeedsMore] | None = None


class CheckoutSources(msgspec.Struct, frozen=True):
    """The rules of all sources by name, among the terms of the deployment."""

    rules: Mapping[str, CheckoutSource] = {}


def find_source(checkout: Checkout, context: Context, rows: LoadedRows) -> CheckoutSource | NeedsMore | None:
    """Returns the rules of a checkout's source once their rows are loaded, or None if it has none."""
    rules = context.terms(CheckoutSources).rules.get(checkout.source)
    if rules is None:
        return None
    needs = rules.needs(context.merchant, checkout)
    return rules if all(rows.is_loaded(key) for _, key in needs.rows) else NeedsMore(needs)
