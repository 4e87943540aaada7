"""Issues cashcodes. finish.py ends them, redeem.py draws cash.

Postings of a cashcode (all in NGN). The source is the wallet, or for a cash-out the savings account:

    generated    hold     source                     amount
                 hold     wallet                     fee + VAT (one hold with the amount where the source is the wallet)
    redeemed     source → rail:cash                  what was drawn: the amount, or less by POS and WEB
                 wallet → income:cashcode            fee
                 wallet → tax:vat                    VAT
    expired, cancelled, locked: the holds are voided, nothing moves

Other slices call `issue_code` with their own source account and purpose. The rule of the purpose is asked when the
code ends, in whichever state.
"""

from datetime import timedelta

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    HeldAmount,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    PostingGroup,
    Refusal,
    make_job,
)
from kasuwa.core.dry_run import preview_decision
from kasuwa.core.keyring import derive
from kasuwa.core.money import format_minor
from kasuwa.core.references import movement_reference
from kasuwa.core.token_index import TokenIndexEntry, make_token_entry, own_token_key
from kasuwa.ledger.holds import find_fee_hold, find_hold
from kasuwa.merchants.merchant_settings import check_amount_limits
from kasuwa.methods.cashcode.model import (
    ACTIVE,
    CURRENCY,
    EXPIRE,
    KIND,
    LANE,
    REFERENCE_TYPE,
    WALLET,
    Cashcode,
    CashcodeDetail,
    ExpiryJobData,
    cashcode_key,
    expiry_key,
    hash_pin,
)
from kasuwa.methods.cashcode.wire import GenerateReply, GenerateRequest
from kasuwa.terms.tariff import Tariff, calculate_cashcode_fees
from kasuwa.transactions.purpose import TransactionPurpose
from kasuwa.transactions.transactions import (
    PENDING,
    NewTransaction,
    Transaction,
    begin_transaction,
    encode_text,
    transaction_key,
)
from kasuwa.wire.explain_fees import explain_fees
from kasuwa.wire.interest_wire import DryRunFigure

# Refusals, in order of precedence.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request", error_code="order_ref_reused")
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS,
    "The wallet does not cover the amount and its fee; fund it and try again",
    error_code="insufficient_funds",
)
FEE_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS,
    "The wallet does not cover the fee of this cashcode; fund it and try again",
    error_code="insufficient_funds",
)

# The lifetime of a code, in minutes. Contract: cashcode#generate
DEFAULT_MINUTES = 1440
MIN_LIFETIME_MINUTES = 5
MAX_LIFETIME_MINUTES = 10_080

CODE_DIGITS = 10
GENERATED = "Cashcode generated; it is shown this once"


# --- checks of the fields -----------------------------------------------------------------------------------


def check_amount(merchant: Merchant, amount: int) -> str | None:
    return check_amount_limits(merchant, CURRENCY, amount)


def check_lifetime(merchant: Merchant, minutes: int | None) -> str | None:
    if minutes is None or MIN_LIFETIME_MINUTES <= minutes <= MAX_LIFETIME_MINUTES:
        return None
    return f"minutes, from {MIN_LIFETIME_MINUTES} to {MAX_LIFETIME_MINUTES}"


# --- generate -----------------------------------------------------------------------------------------------


def need_generate(request: GenerateRequest, merchant: Merchant) -> Needs:
    merchant_id, order_ref = merchant.merchant_id, request.order_ref
    first, code = transaction_key(merchant_id, KIND, order_ref), cashcode_key(merchant_id, order_ref)
    return Needs(((Transaction, first), (Cashcode, code)), (WALLET,), (first, code))


def decide_generate(
    request: GenerateRequest, context: Context, rows: LoadedRows
) -> Decision[GenerateReply] | Refusal | NeedsMore:
    digest = digest_request(request, context)
    merchant_id = context.merchant.merchant_id
    first = rows.get(Transaction, transaction_key(merchant_id, KIND, request.order_ref))
    if first is not None:
        code = rows.get(Cashcode, cashcode_key(merchant_id, request.order_ref))
        assert code is not None
        if first.digest != digest:
            return REFERENCE_USED
        repeated = Decision(reply=reply_generate(first, code))
        return preview_decision(repeated, ()) if request.dry_run else repeated
    order = CashcodeOrder(
        amount=int(request.amount),
        pin=request.pin,
        channel=request.channel,
        order_ref=request.order_ref,
        lifetime_minutes=DEFAULT_MINUTES if request.life_time is None else int(request.life_time),
        digest=digest,
    )
    issued = issue_code(order, context, rows)
    if isinstance(issued, NeedsMore):
        return issued
    decision = issued.decision
    decision.reply = reply_generate(issued.row, issued.code, code_digits=issued.code_digits)
    decision.replay_reply = reply_generate(issued.row, issued.code)
    return preview_code(issued, context) if request.dry_run else decision


def preview_code(issued: "IssuedCashcode", context: Context) -> Decision[GenerateReply]:
    """Returns the dry run of a code. It would have other digits, so none are shown."""
    tariff, row = context.merchant.terms(Tariff), issued.row
    charge = calculate_cashcode_fees(tariff, issued.code.channel)
    figures = [
        DryRunFigure("amount", format_minor(row.amount), "held in the wallet until the code ends"),
        *explain_fees(charge, "cashcode", tariff.vat_percent_on_fees),
        DryRunFigure("held", format_minor(row.amount + charge.total), "the amount, its fee and VAT"),
    ]
    return preview_decision(issued.decision, figures, cashcode=msgspec.UNSET)


class RequestDigestFields(msgspec.Struct, frozen=True):
    """The fields that must be equal for two requests with one orderRef to count as the same request.

    Their digest is stored for good, so never change these fields. Do not add fields that GenerateRequest gains later.
    """

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
    """Returns the reply; without `code_digits` for a repeated request. Contract: #repeats"""
    return GenerateReply(
        order_ref=row.order_ref,
        cashcode=msgspec.UNSET if code_digits is None else code_digits,
        amount=format_minor(row.amount),
        channel=code.channel,  # type: ignore[arg-type]
        expires_at=utc_text(code.expires_at),
        txn_status=row.status,  # type: ignore[arg-type]
        message=row.message,
    )


# --- issuing a code, also for other slices -------------------------------------------------------------------


class CashcodeOrder(msgspec.Struct, frozen=True, kw_only=True):
    """A code to be issued."""

    amount: int
    pin: str
    channel: str
    lifetime_minutes: int = DEFAULT_MINUTES
    digest: bytes  # identifies a repeated request
    order_ref: str | None = None  # None: the code's own txnRef is used
    source_account: str = WALLET  # pays the amount; the wallet always pays the fee
    insufficient_refusal: Refusal = WALLET_INSUFFICIENT  # if the source does not cover the amount
    purpose: TransactionPurpose | None = None  # the cash-out that it is issued for


class IssuedCashcode(msgspec.Struct):
    """A new code: the digits to be shown once, its rows, and the decision that stores it, without a reply."""

    code_digits: str
    row: Transaction
    code: Cashcode
    decision: Decision


def issue_code(order: CashcodeOrder, context: Context, rows: LoadedRows) -> IssuedCashcode | NeedsMore:
    """Returns the new code, or NeedsMore, which the caller must return.

    The caller's needs must include the accounts of the source and of the wallet.
    """
    code_digits = generate_code(order, context, rows)
    if isinstance(code_digits, NeedsMore):
        return code_digits
    merchant_id = context.merchant.merchant_id
    txn_ref = movement_reference(REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now))
    order_ref = order.order_ref or txn_ref
    charge = calculate_cashcode_fees(context.merchant.terms(Tariff), order.channel)
    source = order.source_account
    row = begin_transaction(
        context,
        NewTransaction(
            kind=KIND,
            txn_ref=txn_ref,
            amount=order.amount,
            order_ref=order_ref,
            fees=charge,
            status=PENDING,
            message=GENERATED,
            digest=order.digest,
            detail=CashcodeDetail(order.purpose),
            held=HeldAmount(source, order.amount + charge.total if source == WALLET else order.amount),
        ),
    )
    code = Cashcode(
        key=cashcode_key(merchant_id, order_ref),
        merchant_id=merchant_id,
        txn_ref=txn_ref,
        order_ref=order_ref,
        channel=order.channel,
        source=source,
        pin=hash_pin(context, order_ref, order.pin),
        expires_at=context.now + timedelta(minutes=order.lifetime_minutes),
        state=ACTIVE,
        tries=0,
        paid=0,
    )
    job = make_job(
        key=expiry_key(merchant_id, order_ref),
        merchant_id=merchant_id,
        kind=EXPIRE,
        lane=LANE,
        reference=txn_ref,
        subject=row.key,
        due=code.expires_at,
        work=encode_text(ExpiryJobData(order_ref, context.scenario)),
    )
    decision = Decision(
        groups=hold_cost(order, row),
        rows=(row, code, make_token_entry(context, KIND, code_digits, order_ref)),
        jobs=(job,),
        numbers_used=1,
    )
    return IssuedCashcode(code_digits, row, code, decision)


def generate_code(order: CashcodeOrder, context: Context, rows: LoadedRows) -> str | NeedsMore:
    """Returns ten digits that no code of any merchant ever had, so that the token index finds at most one code."""
    salt = order.order_ref or (order.purpose.reference if order.purpose is not None else "")
    attempt = 0
    while True:
        random_bytes = derive(context.entropy, f"cashcode {salt} {attempt}")
        digits = str(int.from_bytes(random_bytes[:16], "big") % 10**CODE_DIGITS).zfill(CODE_DIGITS)
        key = own_token_key(context, KIND, digits)
        if not rows.is_loaded(key):
            return NeedsMore(Needs(((TokenIndexEntry, key),)))
        if rows.get(TokenIndexEntry, key) is None:
            return digits
        attempt += 1


def hold_cost(order: CashcodeOrder, row: Transaction) -> tuple[PostingGroup, ...]:
    """Returns one hold if the wallet pays amount and fee, else one for each, with a refusal of its own."""
    amount, fees = PostingGroup(row.txn_ref, order.insufficient_refusal, holds=find_hold(row)), find_fee_hold(row)
    return (amount,) if fees is None else (amount, PostingGroup(row.txn_ref, FEE_INSUFFICIENT, holds=fees))
