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
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    NewHold,
    PostingGroup,
    Refusal,
    Row,
)
from kasuwa.core.merchant import check_amount_limits
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import TransactionPurpose
from kasuwa.core.references import fee_hold_key, hold_key, movement_reference, row_key
from kasuwa.core.scenario import Scenario
from kasuwa.core.tariff import FeeBreakdown, calculate_cashcode_fees
from kasuwa.core.token_index import TokenIndexEntry, make_token_entry, token_key
from kasuwa.core.transactions import PENDING, Transaction, begin_transaction, encode_text, make_job, transaction_key
from kasuwa.core.vault import derive
from kasuwa.ledger import chart
from kasuwa.methods.cashcode.wire import GenerateReply, GenerateRequest

KIND = "cashcode"
CURRENCY = "NGN"
EXPIRE = "cashcode.expire"
LANE = "schedule"
# The two letters of a code's txnRef, and of a cash-out's. Contract: #references
REFERENCE_TYPE = "CC"

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("cash", CURRENCY)
INCOME = chart.income(KIND, CURRENCY)
VAT = chart.tax("vat", CURRENCY)

# Refusals, in order of precedence.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request")
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the amount and its fee; fund it and try again"
)
FEE_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the fee of this cashcode; fund it and try again"
)

ACTIVE = "active"
REDEEMED = "redeemed"
EXPIRED = "expired"
CANCELLED = "cancelled"
LOCKED = "locked"

# How long a code lives, in minutes. Contract: cashcode#generate
DEFAULT_MINUTES = 1440
MIN_LIFETIME_MINUTES = 5
MAX_LIFETIME_MINUTES = 10_080

CODE_DIGITS = 10
GENERATED = "Cashcode generated; it is shown this once"


class Cashcode(Row):
    """What a code needs besides its transaction; both are keyed by its order reference."""

    table: ClassVar[str] = "cashcode"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "tries", "paid")

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


class CashcodeDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a code's transaction is for, where that is more than its merchant's own order."""

    purpose: TransactionPurpose | None = msgspec.field(default=None, name="errand")


class ExpiryJobData(msgspec.Struct, frozen=True):
    """What the job that ends an unused code knows."""

    order_ref: str
    scenario: Scenario


DETAIL_DECODER: "msgspec.json.Decoder[CashcodeDetail]" = msgspec.json.Decoder(CashcodeDetail)
JOB_DATA_DECODER: "msgspec.json.Decoder[ExpiryJobData]" = msgspec.json.Decoder(ExpiryJobData)


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


def check_amount(merchant: Merchant, amount: int) -> str | None:
    return check_amount_limits(merchant, CURRENCY, amount)


def check_lifetime(merchant: Merchant, minutes: int | None) -> str | None:
    if minutes is None or MIN_LIFETIME_MINUTES <= minutes <= MAX_LIFETIME_MINUTES:
        return None
    return f"minutes, from {MIN_LIFETIME_MINUTES} to {MAX_LIFETIME_MINUTES}"


# --- a code is asked for ------------------------------------------------------------------------------------


def need_generate(request: GenerateRequest, merchant: Merchant) -> Needs:
    merchant_id, order_ref = merchant.merchant_id, request.order_ref
    first = (Transaction, transaction_key(merchant_id, KIND, order_ref))
    return Needs((first, (Cashcode, cashcode_key(merchant_id, order_ref))), (WALLET,))


def decide_generate(
    request: GenerateRequest, context: Context, seen: LoadedRows
) -> Decision[GenerateReply] | Refusal | NeedsMore:
    digest = digest_request(request, context)
    merchant_id = context.merchant.merchant_id
    first = seen.get(Transaction, transaction_key(merchant_id, KIND, request.order_ref))
    if first is not None:
        code = seen.get(Cashcode, cashcode_key(merchant_id, request.order_ref))
        assert code is not None
        return Decision(reply=reply_generate(first, code)) if first.digest == digest else REFERENCE_USED
    order = CashcodeOrder(
        amount=int(request.amount),
        pin=request.pin,
        channel=request.channel,
        order_ref=request.order_ref,
        lifetime_minutes=DEFAULT_MINUTES if request.life_time is None else int(request.life_time),
        digest=digest,
    )
    issued = issue_code(order, context, seen)
    if isinstance(issued, NeedsMore):
        return issued
    decision = issued.decision
    decision.reply = reply_generate(issued.row, issued.code, code_digits=issued.code_digits)
    decision.replay_reply = reply_generate(issued.row, issued.code)
    return decision


class RequestDigestFields(msgspec.Struct, frozen=True):
    """What two requests under one orderRef must have in common to be the same. It is hashed and kept for ever, so its
    fields never change: a field that GenerateRequest gains later is not one of these."""

    amount: int
    pin: str
    channel: str
    orderRef: str
    life_time: int | None


def digest_request(request: GenerateRequest, context: Context) -> bytes:
    life_time = None if request.life_time is None else int(request.life_time)
    compared = RequestDigestFields(int(request.amount), request.pin, request.channel, request.order_ref, life_time)
    return context.digest(msgspec.msgpack.encode(compared))


def reply_generate(row: Transaction, code: Cashcode, *, code_digits: str | None = None) -> GenerateReply:
    """A repeat is told all but the code. Contract: #repeats"""
    return GenerateReply(
        order_ref=row.order_ref,
        cashcode=msgspec.UNSET if code_digits is None else code_digits,
        amount=format_minor(row.amount),
        channel=code.channel,  # type: ignore[arg-type]
        expires_at=utc_text(code.expires_at),
        txn_status=row.status,  # type: ignore[arg-type]
        message=row.message,
    )


# --- making one, for whoever asks ---------------------------------------------------------------------------


class CashcodeOrder(msgspec.Struct, frozen=True, kw_only=True):
    """A code to be made. Without an order reference its own txnRef is it. `source` pays the amount, and `short`
    answers where it does not cover it; the fee is always the wallet's. `errand` is what it is made for."""

    amount: int
    pin: str
    channel: str
    lifetime_minutes: int = DEFAULT_MINUTES
    digest: bytes
    order_ref: str | None = None
    source_account: str = WALLET
    insufficient_refusal: Refusal = WALLET_INSUFFICIENT
    purpose: TransactionPurpose | None = None


class IssuedCashcode(msgspec.Struct):
    """A new code: the digits to be shown once, its rows, and the decision that keeps it, with no reply yet."""

    code_digits: str
    row: Transaction
    code: Cashcode
    decision: Decision


def issue_code(order: CashcodeOrder, context: Context, seen: LoadedRows) -> IssuedCashcode | NeedsMore:
    """Who borrows this asks for the source's and the wallet's accounts, and hands `More` on."""
    code_digits = generate_code(order, context, seen)
    if isinstance(code_digits, NeedsMore):
        return code_digits
    merchant_id = context.merchant.merchant_id
    txn_ref = movement_reference(REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now))
    order_ref = order.order_ref or txn_ref
    charge = calculate_cashcode_fees(context.merchant.tariff, order.channel)
    row = begin_transaction(
        context,
        KIND,
        txn_ref,
        order.amount,
        order_ref=order_ref,
        fees=charge,
        status=PENDING,
        message=GENERATED,
        digest=order.digest,
        detail=CashcodeDetail(order.purpose),
    )
    code = Cashcode(
        key=cashcode_key(merchant_id, order_ref),
        merchant_id=merchant_id,
        txn_ref=txn_ref,
        order_ref=order_ref,
        channel=order.channel,
        source=order.source_account,
        pin=hash_pin(context, order_ref, order.pin),
        expires_at=context.now + timedelta(minutes=order.lifetime_minutes),
        state=ACTIVE,
        tries=0,
        paid=0,
    )
    work = encode_text(ExpiryJobData(order_ref, context.scenario))
    job = make_job(context, EXPIRE, LANE, row, txn_ref, code.expires_at, work)
    job.key = expiry_key(merchant_id, order_ref)
    decision = Decision(
        groups=hold_cost(order, row, charge),
        rows=(row, code, make_token_entry(context, KIND, code_digits, order_ref)),
        jobs=(job,),
        numbers_used=1,
    )
    return IssuedCashcode(code_digits, row, code, decision)


def generate_code(order: CashcodeOrder, context: Context, seen: LoadedRows) -> str | NeedsMore:
    """Ten digits that no code of any merchant has or had, so that the directory's answer is always one."""
    whose = order.order_ref or (order.purpose.reference if order.purpose is not None else "")
    turn = 0
    while True:
        random_bytes = derive(context.entropy, f"cashcode {whose} {turn}")
        drawn = str(int.from_bytes(random_bytes[:16], "big") % 10**CODE_DIGITS).zfill(CODE_DIGITS)
        key = token_key(context.vault, KIND, drawn)
        if not seen.is_loaded(key):
            return NeedsMore(Needs(((TokenIndexEntry, key),)))
        if seen.get(TokenIndexEntry, key) is None:
            return drawn
        turn += 1


def hold_cost(order: CashcodeOrder, row: Transaction, charge: FeeBreakdown) -> tuple[PostingGroup, ...]:
    """Each account answers for itself: the source where the amount is too much, the wallet where the fee is."""
    if order.source_account == WALLET:
        whole = NewHold(hold_key(row.key), WALLET, order.amount + charge.total)
        return (PostingGroup(row.txn_ref, order.insufficient_refusal, new_holds=(whole,)),)
    amount = PostingGroup(
        row.txn_ref,
        order.insufficient_refusal,
        new_holds=(NewHold(hold_key(row.key), order.source_account, order.amount),),
    )
    if not charge.total:
        return (amount,)
    fee = NewHold(fee_hold_key(row.key), WALLET, charge.total)
    return (amount, PostingGroup(row.txn_ref, FEE_INSUFFICIENT, new_holds=(fee,)))
