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
    Fault,
    Merchant,
    More,
    Needs,
    Refusal,
    Row,
    Seen,
    refuse_fields,
)
from kasuwa.core.directory import Entry, directory_key
from kasuwa.core.money import format_minor
from kasuwa.core.references import row_key
from kasuwa.core.secrets import same
from kasuwa.methods.cashcode.decide import KIND, LOCKED, REDEEMED, hash_pin
from kasuwa.methods.cashcode.decide_end import (
    ACCOUNTS,
    MESSAGES,
    Standing,
    end_code,
    need_code,
    refuse_ended,
    stand,
)
from kasuwa.methods.cashcode.wire import RedeemReply, RedeemRequest

# Refusals, in order of precedence; what has ended stands between the unknown code and the wrong PIN.
TOO_MANY_GUESSES = Refusal(INVALID_REQUEST, "Too many tries with codes that do not exist; wait a while")
UNKNOWN_CODE = Refusal(INVALID_REQUEST, "Invalid Cashcode")
WRONG_PIN = Refusal(NOT_VALIDATED, "Wrong PIN")
LOCKED_NOW = Refusal(NOT_VALIDATED, "Wrong PIN; the cashcode is locked now")

# Four digits are guessed in no time: the third wrong PIN locks. Spec silent: D32
MOST_TRIES = 3

# Ten digits are not, as long as nobody may try thousands: so many unknown codes in so long a time, then no code of the
# merchant is paid until that time is over. Honest tellers mistype a code now and then, and stay far below it.
MOST_GUESSES = 20
GUESS_WINDOW = timedelta(minutes=10)


class Guesses(Row):
    """How many codes that do not exist a merchant's tellers have named since when."""

    table: ClassVar[str] = "cashcode_guess"
    changing: ClassVar[tuple[str, ...]] = ("wrong", "since")

    wrong: int
    since: datetime

    @property
    def is_open(self) -> bool:
        return False  # wrong codes are rare: read when one redeems


def guesses_key(merchant_id: int) -> bytes:
    return row_key(merchant_id, "cashcode_guess", "")


def need_redeem(request: RedeemRequest, merchant: Merchant) -> Needs:
    return Needs(((Guesses, guesses_key(merchant.merchant_id)),), ACCOUNTS)


def decide_redeem(request: RedeemRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    merchant_id = context.merchant.merchant_id
    guesses = current_guesses(context, seen)
    if guesses.wrong >= MOST_GUESSES:
        return TOO_MANY_GUESSES
    key = directory_key(context.vault, KIND, request.cashcode)
    if not seen.has(key):
        return More(Needs(((Entry, key),)))
    entry = seen.get(Entry, key)
    if entry is None or entry.merchant_id != merchant_id:
        return Decision(reply=UNKNOWN_CODE, rows=(msgspec.structs.replace(guesses, wrong=guesses.wrong + 1),))
    needs = need_code(merchant_id, entry.reference)
    if not all(seen.has(asked) for _, asked in needs.rows):
        return More(needs)
    standing = stand(merchant_id, entry.reference, seen)
    assert standing is not None, "what the directory names is there"
    return redeem(standing, request, context, seen)


def current_guesses(context: Context, seen: Seen) -> Guesses:
    """A window that is over begins anew."""
    key = guesses_key(context.merchant.merchant_id)
    guesses = seen.get(Guesses, key)
    if guesses is None or context.now - guesses.since >= GUESS_WINDOW:
        return Guesses(key, context.merchant.merchant_id, 0, context.now)
    return guesses


def redeem(standing: Standing, request: RedeemRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    code, row = standing.code, standing.row
    ended = refuse_ended(code, context)
    if ended is not None:
        return ended
    if not same(code.pin, hash_pin(context, code.order_ref, request.pin)):
        return count_wrong_pin(standing, context, seen)
    faults = [fault for fault in (wrong_channel(standing, request), wrong_amount(standing, request)) if fault]
    if faults:
        return refuse_fields(*faults)
    paid = int(request.amount)
    decision = end_code(standing, REDEEMED, paid, context, seen)
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


def count_wrong_pin(standing: Standing, context: Context, seen: Seen) -> Decision | More:
    """The refusal is kept count of; the third wrong PIN also ends the code and gives its money back."""
    counted = msgspec.structs.replace(standing.code, tries=standing.code.tries + 1)
    if counted.tries < MOST_TRIES:
        return Decision(reply=WRONG_PIN, rows=(counted,))
    decision = end_code(msgspec.structs.replace(standing, code=counted), LOCKED, 0, context, seen)
    if isinstance(decision, Decision):
        decision.reply = LOCKED_NOW
    return decision


def wrong_channel(standing: Standing, request: RedeemRequest) -> Fault | None:
    meant = standing.code.channel
    return None if request.channel == meant else Fault("channel", f"this cashcode is for {meant}")


def wrong_amount(standing: Standing, request: RedeemRequest) -> Fault | None:
    """A cash machine pays the whole amount; terminals and pages up to it, and the rest returns. Spec silent: D32"""
    whole = standing.row.amount
    if standing.code.channel == "ATM":
        return None if request.amount == whole else Fault("amount", f"exactly {format_minor(whole)}")
    return None if request.amount <= whole else Fault("amount", f"at most {format_minor(whole)}")
