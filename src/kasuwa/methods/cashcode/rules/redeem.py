"""Redeems cashcodes: finds the code by a keyed hash, compares the PIN in constant time and counts failed attempts.

A rail's call-back knows only the digits: it finds the merchant in the token index and then applies this rule, like the
merchant's own tellers. The rule looks the code up again under the merchant's lock, so of many concurrent redemptions
of one code exactly one is paid.
"""

from datetime import timedelta

import msgspec

from kasuwa.core.codes import INVALID_REQUEST, NOT_VALIDATED
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.token_index import TokenIndexEntry, own_token_key
from kasuwa.core.vault import is_equal_constant_time
from kasuwa.methods.cashcode.model import KIND, LOCKED, REDEEMED, FailedAttempts, failed_attempts_key, hash_pin
from kasuwa.methods.cashcode.rules.finish import (
    ACCOUNTS,
    MESSAGES,
    CashcodeRows,
    end_code,
    find_cashcode,
    need_code,
    refuse_ended,
)
from kasuwa.methods.cashcode.wire import RedeemReply, RedeemRequest

# Refusals, in order of precedence. Those of an ended code come between UNKNOWN_CODE and WRONG_PIN.
TOO_MANY_FAILED_ATTEMPTS = Refusal(INVALID_REQUEST, "Too many tries with codes that do not exist; wait a while")
UNKNOWN_CODE = Refusal(INVALID_REQUEST, "Invalid Cashcode")
WRONG_PIN = Refusal(NOT_VALIDATED, "Wrong PIN")
LOCKED_NOW = Refusal(NOT_VALIDATED, "Wrong PIN; the cashcode is locked now")

# A PIN has four digits and is quickly guessed, so the third wrong one locks the code. Contract: cashcode#generate
MAX_WRONG_PINS = 3

# Ten digits cannot be guessed unless thousands can be tried. After this many unknown codes within the window, no code
# of the merchant is redeemed until the window is over. Tellers who mistype a code now and then stay far below it.
MAX_FAILED_ATTEMPTS = 20
FAILED_ATTEMPT_WINDOW = timedelta(minutes=10)


def need_redeem(request: RedeemRequest, merchant: Merchant) -> Needs:
    return Needs(((FailedAttempts, failed_attempts_key(merchant.merchant_id)),), ACCOUNTS)


def decide_redeem(
    request: RedeemRequest, context: Context, rows: LoadedRows
) -> Decision[RedeemReply | Refusal] | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    attempts = current_failed_attempts(context, rows)
    if attempts.wrong >= MAX_FAILED_ATTEMPTS:
        return TOO_MANY_FAILED_ATTEMPTS
    key = own_token_key(context, KIND, request.cashcode)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((TokenIndexEntry, key),)))
    entry = rows.get(TokenIndexEntry, key)
    if entry is None or entry.merchant_id != merchant_id:
        return Decision(reply=UNKNOWN_CODE, rows=(msgspec.structs.replace(attempts, wrong=attempts.wrong + 1),))
    needs = need_code(merchant_id, entry.reference)
    if not all(rows.is_loaded(needed_key) for _, needed_key in needs.rows):
        return NeedsMore(needs)
    cashcode = find_cashcode(merchant_id, entry.reference, rows)
    assert cashcode is not None, "the token index refers to an existing code"
    return redeem(cashcode, request, context, rows)


def current_failed_attempts(context: Context, rows: LoadedRows) -> FailedAttempts:
    """Returns the count of the current window, 0 if the last window is over."""
    key = failed_attempts_key(context.merchant.merchant_id)
    attempts = rows.get(FailedAttempts, key)
    if attempts is None or context.now - attempts.since >= FAILED_ATTEMPT_WINDOW:
        return FailedAttempts(key, context.merchant.merchant_id, 0, context.now)
    return attempts


def redeem(
    cashcode: CashcodeRows, request: RedeemRequest, context: Context, rows: LoadedRows
) -> Decision | Refusal | NeedsMore:
    code, row = cashcode.code, cashcode.row
    ended = refuse_ended(code, context)
    if ended is not None:
        return ended
    if not is_equal_constant_time(code.pin, hash_pin(context, code.order_ref, request.pin)):
        return count_wrong_pin(cashcode, context, rows)
    faults = [fault for fault in (find_channel_fault(cashcode, request), find_amount_fault(cashcode, request)) if fault]
    if faults:
        return refuse_fields(*faults)
    paid = int(request.amount)
    decision = end_code(cashcode, REDEEMED, paid, context, rows)
    if isinstance(decision, Decision):
        decision.reply = RedeemReply(
            order_ref=row.order_ref,
            txn_status="successful",
            amount=format_minor(paid),
            returned=format_minor(row.amount - paid),
            channel=request.channel,
            message=MESSAGES[REDEEMED],
        )
    return decision


def count_wrong_pin(cashcode: CashcodeRows, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Refuses the redemption and counts it. The third wrong PIN locks the code and releases its holds."""
    counted = msgspec.structs.replace(cashcode.code, tries=cashcode.code.tries + 1)
    if counted.tries < MAX_WRONG_PINS:
        return Decision(reply=WRONG_PIN, rows=(counted,))
    decision = end_code(msgspec.structs.replace(cashcode, code=counted), LOCKED, 0, context, rows)
    if isinstance(decision, Decision):
        decision.reply = LOCKED_NOW
    return decision


def find_channel_fault(cashcode: CashcodeRows, request: RedeemRequest) -> FieldError | None:
    channel = cashcode.code.channel
    return None if request.channel == channel else FieldError("channel", f"this cashcode is for {channel}")


def find_amount_fault(cashcode: CashcodeRows, request: RedeemRequest) -> FieldError | None:
    """Returns an error unless an ATM pays the exact amount, or POS and WEB at most the amount.

    Contract: cashcode#generate
    """
    whole = cashcode.row.amount
    if cashcode.code.channel == "ATM":
        return None if request.amount == whole else FieldError("amount", f"exactly {format_minor(whole)}")
    return None if request.amount <= whole else FieldError("amount", f"at most {format_minor(whole)}")
