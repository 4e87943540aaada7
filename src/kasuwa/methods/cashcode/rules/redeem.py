"""Drawing cash: the code is found by its keyed hash, its PIN compared in constant time, and wrong tries count.

Who asks knows the digits alone: a rail's call-back finds the merchant in the directory and then asks this rule as the
merchant's own tellers do. The rule finds the code once more, under the merchant's lock, so of a hundred who name one
code at once exactly one is paid.
"""

from datetime import datetime, timedelta
from typing import ClassVar

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
    Row,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import row_key
from kasuwa.core.token_index import TokenIndexEntry, token_key
from kasuwa.core.vault import is_equal_constant_time
from kasuwa.methods.cashcode.rules.finish import (
    ACCOUNTS,
    MESSAGES,
    CashcodeRows,
    end_code,
    find_cashcode,
    need_code,
    refuse_ended,
)
from kasuwa.methods.cashcode.rules.issue import KIND, LOCKED, REDEEMED, hash_pin
from kasuwa.methods.cashcode.wire import RedeemReply, RedeemRequest

# Refusals, in order of precedence; what has ended stands between the unknown code and the wrong PIN.
TOO_MANY_FAILED_ATTEMPTS = Refusal(INVALID_REQUEST, "Too many tries with codes that do not exist; wait a while")
UNKNOWN_CODE = Refusal(INVALID_REQUEST, "Invalid Cashcode")
WRONG_PIN = Refusal(NOT_VALIDATED, "Wrong PIN")
LOCKED_NOW = Refusal(NOT_VALIDATED, "Wrong PIN; the cashcode is locked now")

# Four digits are guessed in no time: the third wrong PIN locks. Contract: cashcode#generate
MAX_WRONG_PINS = 3

# Ten digits are not, as long as nobody may try thousands: so many unknown codes in so long a time, then no code of the
# merchant is paid until that time is over. Honest tellers mistype a code now and then, and stay far below it.
MAX_FAILED_ATTEMPTS = 20
FAILED_ATTEMPT_WINDOW = timedelta(minutes=10)


class FailedAttempts(Row):
    """How many codes that do not exist a merchant's tellers have named since when."""

    table: ClassVar[str] = "cashcode_guess"
    mutable_columns: ClassVar[tuple[str, ...]] = ("wrong", "since")

    wrong: int
    since: datetime

    @property
    def is_open(self) -> bool:
        return False  # wrong codes are rare: read when one redeems


def failed_attempts_key(merchant_id: int) -> bytes:
    return row_key(merchant_id, "cashcode_guess", "")


def need_redeem(request: RedeemRequest, merchant: Merchant) -> Needs:
    return Needs(((FailedAttempts, failed_attempts_key(merchant.merchant_id)),), ACCOUNTS)


def decide_redeem(
    request: RedeemRequest, context: Context, seen: LoadedRows
) -> Decision[RedeemReply | Refusal] | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    guesses = current_failed_attempts(context, seen)
    if guesses.wrong >= MAX_FAILED_ATTEMPTS:
        return TOO_MANY_FAILED_ATTEMPTS
    key = token_key(context.vault, KIND, request.cashcode)
    if not seen.is_loaded(key):
        return NeedsMore(Needs(((TokenIndexEntry, key),)))
    entry = seen.get(TokenIndexEntry, key)
    if entry is None or entry.merchant_id != merchant_id:
        return Decision(reply=UNKNOWN_CODE, rows=(msgspec.structs.replace(guesses, wrong=guesses.wrong + 1),))
    needs = need_code(merchant_id, entry.reference)
    if not all(seen.is_loaded(asked) for _, asked in needs.rows):
        return NeedsMore(needs)
    cashcode = find_cashcode(merchant_id, entry.reference, seen)
    assert cashcode is not None, "what the directory names is there"
    return redeem(cashcode, request, context, seen)


def current_failed_attempts(context: Context, seen: LoadedRows) -> FailedAttempts:
    """A window that is over begins anew."""
    key = failed_attempts_key(context.merchant.merchant_id)
    guesses = seen.get(FailedAttempts, key)
    if guesses is None or context.now - guesses.since >= FAILED_ATTEMPT_WINDOW:
        return FailedAttempts(key, context.merchant.merchant_id, 0, context.now)
    return guesses


def redeem(
    cashcode: CashcodeRows, request: RedeemRequest, context: Context, seen: LoadedRows
) -> Decision | Refusal | NeedsMore:
    code, row = cashcode.code, cashcode.row
    ended = refuse_ended(code, context)
    if ended is not None:
        return ended
    if not is_equal_constant_time(code.pin, hash_pin(context, code.order_ref, request.pin)):
        return count_wrong_pin(cashcode, context, seen)
    faults = [fault for fault in (find_channel_fault(cashcode, request), find_amount_fault(cashcode, request)) if fault]
    if faults:
        return refuse_fields(*faults)
    paid = int(request.amount)
    decision = end_code(cashcode, REDEEMED, paid, context, seen)
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


def count_wrong_pin(cashcode: CashcodeRows, context: Context, seen: LoadedRows) -> Decision | NeedsMore:
    """The refusal is kept count of; the third wrong PIN also ends the code and gives its money back."""
    counted = msgspec.structs.replace(cashcode.code, tries=cashcode.code.tries + 1)
    if counted.tries < MAX_WRONG_PINS:
        return Decision(reply=WRONG_PIN, rows=(counted,))
    decision = end_code(msgspec.structs.replace(cashcode, code=counted), LOCKED, 0, context, seen)
    if isinstance(decision, Decision):
        decision.reply = LOCKED_NOW
    return decision


def find_channel_fault(cashcode: CashcodeRows, request: RedeemRequest) -> FieldError | None:
    meant = cashcode.code.channel
    return None if request.channel == meant else FieldError("channel", f"this cashcode is for {meant}")


def find_amount_fault(cashcode: CashcodeRows, request: RedeemRequest) -> FieldError | None:
    """A cash machine pays the whole amount; terminals and pages up to it, and the rest returns.

    Contract: cashcode#generate
    """
    whole = cashcode.row.amount
    if cashcode.code.channel == "ATM":
        return None if request.amount == whole else FieldError("amount", f"exactly {format_minor(whole)}")
    return None if request.amount <= whole else FieldError("amount", f"at most {format_minor(whole)}")
