"""The rules of cashcodes: how one is made. How it ends is in decide_end.py, and how cash is drawn in decide_redeem.py.

Postings of a cashcode (all in NGN). The source is the wallet; for a cash-out it is the account that is cashed out:

    generated    hold     source                     amount
                 hold     wallet                     fee + VAT (one hold with the amount where the source is the wallet)
    redeemed     source → rail:cash                  what was drawn: the amount, or less by POS and WEB
                 wallet → income:cashcode            fee
                 wallet → tax:vat                    VAT
    expired, cancelled, locked: the holds are voided, nothing moves

The code is shown once and kept nowhere: the directory finds its order by a keyed hash, and the PIN is one as well.
Another slice borrows `issue_code` for a code that is paid out of an account of its own; its errand's rule is asked at
the end, whichever it is.
"""

from datetime import datetime, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.codes import INVALID_REQUEST, NOT_COVERED
from kasuwa.core.decision import Context, Decision, Group, Merchant, More, Needs, Refusal, Reserve, Row, Seen
from kasuwa.core.directory import Entry, directory_key, list_as
from kasuwa.core.merchant import outside_limits
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import Errand
from kasuwa.core.references import fee_hold_key, hold_key, movement_reference, row_key
from kasuwa.core.scenario import Scenario
from kasuwa.core.secrets import derive
from kasuwa.core.tariff import Charge, charge_cashcode
from kasuwa.core.transactions import PENDING, Transaction, begin_transaction, encode_text, schedule, transaction_key
from kasuwa.ledger import chart
from kasuwa.methods.cashcode.wire import GenerateReply, GenerateRequest

KIND = "cashcode"
CURRENCY = "NGN"
EXPIRE = "cashcode.expire"
LANE = "schedule"
# The two letters of a code's txnRef, and of a cash-out's. Spec silent: D6
LETTERS = "CC"

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("cash", CURRENCY)
INCOME = chart.income(KIND, CURRENCY)
VAT = chart.tax("vat", CURRENCY)

# Refusals, in order of precedence.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request")
WALLET_SHORT = Refusal(NOT_COVERED, "The wallet does not cover the amount and its fee; fund it and try again")
FEE_SHORT = Refusal(NOT_COVERED, "The wallet does not cover the fee of this cashcode; fund it and try again")

ACTIVE = "active"
REDEEMED = "redeemed"
EXPIRED = "expired"
CANCELLED = "cancelled"
LOCKED = "locked"

# How long a code lives, in minutes. Spec silent: D32
DEFAULT_MINUTES = 1440
LEAST_MINUTES = 5
MOST_MINUTES = 10_080

CODE_DIGITS = 10
GENERATED = "Cashcode generated; it is shown this once"


class Cashcode(Row):
    """What a code needs besides its transaction; both are keyed by its order reference."""

    table: ClassVar[str] = "cashcode"
    changing: ClassVar[tuple[str, ...]] = ("state", "tries", "paid")

    txn_ref: str
    order_ref: str
    channel: str
    source: str
    pin: bytes
    expires_at: datetime
    state: str
    tries: int
    paid: int

    @property
    def is_open(self) -> bool:
        return self.state == ACTIVE


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a code's transaction is for, where that is more than its merchant's own order."""

    errand: Errand | None = None


class Work(msgspec.Struct, frozen=True):
    """What the job that ends an unused code knows."""

    order_ref: str
    scenario: Scenario


DETAIL: "msgspec.json.Decoder[Detail]" = msgspec.json.Decoder(Detail)
WORK: "msgspec.json.Decoder[Work]" = msgspec.json.Decoder(Work)


# --- keys ---------------------------------------------------------------------------------------------------


def cashcode_key(merchant_id: int, order_ref: str) -> bytes:
    return row_key(merchant_id, "cashcode", order_ref)


def expiry_key(merchant_id: int, order_ref: str) -> bytes:
    """Whatever ends a code early takes its expiry away, so that job is found by the code's reference."""
    return row_key(merchant_id, "job", f"{EXPIRE} {order_ref}")


def hash_pin(context: Context, order_ref: str, pin: str) -> bytes:
    """Keyed, and bound to its code: the same PIN of two codes has two hashes."""
    return context.digest(f"cashcode pin {context.merchant.merchant_id} {order_ref} {pin}".encode())


# --- what may be asked --------------------------------------------------------------------------------------


def amount_fits(merchant: Merchant, amount: int) -> str | None:
    return outside_limits(merchant, CURRENCY, amount)


def life_time_fits(merchant: Merchant, minutes: int | None) -> str | None:
    if minutes is None or LEAST_MINUTES <= minutes <= MOST_MINUTES:
        return None
    return f"minutes, from {LEAST_MINUTES} to {MOST_MINUTES}"


# --- a code is asked for ------------------------------------------------------------------------------------


def need_generate(request: GenerateRequest, merchant: Merchant) -> Needs:
    merchant_id, order_ref = merchant.merchant_id, request.order_ref
    first = (Transaction, transaction_key(merchant_id, KIND, order_ref))
    return Needs((first, (Cashcode, cashcode_key(merchant_id, order_ref))), (WALLET,))


def decide_generate(request: GenerateRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    digest = digest_of(request, context)
    merchant_id = context.merchant.merchant_id
    first = seen.get(Transaction, transaction_key(merchant_id, KIND, request.order_ref))
    if first is not None:
        code = seen.get(Cashcode, cashcode_key(merchant_id, request.order_ref))
        assert code is not None
        return Decision(reply=reply_generate(first, code)) if first.digest == digest else REFERENCE_USED
    order = CashOrder(
        amount=int(request.amount),
        pin=request.pin,
        channel=request.channel,
        order_ref=request.order_ref,
        minutes=DEFAULT_MINUTES if request.life_time is None else int(request.life_time),
        digest=digest,
    )
    issued = issue_code(order, context, seen)
    if isinstance(issued, More):
        return issued
    decision = issued.decision
    decision.reply = reply_generate(issued.row, issued.code, shown=issued.shown)
    decision.repeat = reply_generate(issued.row, issued.code)
    return decision


class Compared(msgspec.Struct, frozen=True):
    """What two requests under one orderRef must have in common to be the same. It is hashed and kept for ever, so its
    fields never change: a field that GenerateRequest gains later is not one of these."""

    amount: int
    pin: str
    channel: str
    orderRef: str
    life_time: int | None


def digest_of(request: GenerateRequest, context: Context) -> bytes:
    life_time = None if request.life_time is None else int(request.life_time)
    compared = Compared(int(request.amount), request.pin, request.channel, request.order_ref, life_time)
    return context.digest(msgspec.msgpack.encode(compared))


def reply_generate(row: Transaction, code: Cashcode, *, shown: str | None = None) -> GenerateReply:
    """A repeat is told all but the code. Spec silent: D7"""
    return GenerateReply(
        order_ref=row.order_ref,
        cashcode=msgspec.UNSET if shown is None else shown,
        amount=format_minor(row.amount),
        channel=code.channel,  # type: ignore[arg-type]
        expires_at=utc_text(code.expires_at),
        txn_status=row.status,  # type: ignore[arg-type]
        message=row.message,
    )


# --- making one, for whoever asks ---------------------------------------------------------------------------


class CashOrder(msgspec.Struct, frozen=True, kw_only=True):
    """A code to be made. Without an order reference its own txnRef is it. `source` pays the amount, and `short`
    answers where it does not cover it; the fee is always the wallet's. `errand` is what it is made for."""

    amount: int
    pin: str
    channel: str
    minutes: int = DEFAULT_MINUTES
    digest: bytes
    order_ref: str | None = None
    source: str = WALLET
    short: Refusal = WALLET_SHORT
    errand: Errand | None = None


class Issued(msgspec.Struct):
    """A new code: the digits to be shown once, its rows, and the decision that keeps it, with no reply yet."""

    shown: str
    row: Transaction
    code: Cashcode
    decision: Decision


def issue_code(order: CashOrder, context: Context, seen: Seen) -> Issued | More:
    """Who borrows this asks for the source's and the wallet's accounts, and hands `More` on."""
    drawn = draw_code(order, context, seen)
    if isinstance(drawn, More):
        return drawn
    merchant_id = context.merchant.merchant_id
    txn_ref = movement_reference(LETTERS, context.permutation(context.number), lagos_day(context.now))
    order_ref = order.order_ref or txn_ref
    charge = charge_cashcode(context.merchant.tariff, order.channel)
    row = begin_transaction(
        context,
        KIND,
        txn_ref,
        order.amount,
        order_ref=order_ref,
        charge=charge,
        status=PENDING,
        message=GENERATED,
        digest=order.digest,
        detail=Detail(order.errand),
    )
    code = Cashcode(
        key=cashcode_key(merchant_id, order_ref),
        merchant_id=merchant_id,
        txn_ref=txn_ref,
        order_ref=order_ref,
        channel=order.channel,
        source=order.source,
        pin=hash_pin(context, order_ref, order.pin),
        expires_at=context.now + timedelta(minutes=order.minutes),
        state=ACTIVE,
        tries=0,
        paid=0,
    )
    work = encode_text(Work(order_ref, context.scenario))
    job = schedule(context, EXPIRE, LANE, row, txn_ref, code.expires_at, work)
    job.key = expiry_key(merchant_id, order_ref)
    decision = Decision(
        groups=hold_cost(order, row, charge),
        rows=(row, code, list_as(context, KIND, drawn, order_ref)),
        jobs=(job,),
        numbers=1,
    )
    return Issued(drawn, row, code, decision)


def draw_code(order: CashOrder, context: Context, seen: Seen) -> str | More:
    """Ten digits that no code of any merchant has or had, so that the directory's answer is always one."""
    whose = order.order_ref or (order.errand.reference if order.errand is not None else "")
    turn = 0
    while True:
        luck = derive(context.entropy, f"cashcode {whose} {turn}")
        drawn = str(int.from_bytes(luck[:16], "big") % 10**CODE_DIGITS).zfill(CODE_DIGITS)
        key = directory_key(context.vault, KIND, drawn)
        if not seen.has(key):
            return More(Needs(((Entry, key),)))
        if seen.get(Entry, key) is None:
            return drawn
        turn += 1


def hold_cost(order: CashOrder, row: Transaction, charge: Charge) -> tuple[Group, ...]:
    """Each account answers for itself: the source where the amount is too much, the wallet where the fee is."""
    if order.source == WALLET:
        whole = Reserve(hold_key(row.key), WALLET, order.amount + charge.total)
        return (Group(row.txn_ref, order.short, reserves=(whole,)),)
    amount = Group(row.txn_ref, order.short, reserves=(Reserve(hold_key(row.key), order.source, order.amount),))
    if not charge.total:
        return (amount,)
    fee = Reserve(fee_hold_key(row.key), WALLET, charge.total)
    return (amount, Group(row.txn_ref, FEE_SHORT, reserves=(fee,)))
