"""Ends cashcodes: redeemed, expired, cancelled or locked. All go through `end_code`, which writes the event.

Contract: cashcode#generate, events#payload
"""

from collections.abc import Iterator

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    Row,
)
from kasuwa.core.dry_run import preview_decision
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key
from kasuwa.ledger.holds import find_fee_hold, find_hold
from kasuwa.methods.cashcode.model import (
    ACTIVE,
    CANCELLED,
    DETAIL_DECODER,
    EXPIRED,
    INCOME,
    JOB_DATA_DECODER,
    KIND,
    LOCKED,
    RAIL,
    REDEEMED,
    VAT,
    WALLET,
    Cashcode,
    cashcode_key,
    expiry_key,
)
from kasuwa.methods.cashcode.rules.issue import WALLET_INSUFFICIENT
from kasuwa.methods.cashcode.wire import CancelReply, OrderRequest
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.purpose import (
    TransactionEffects,
    TransactionPurpose,
    effects_of_purpose,
    get_purpose_rules,
    make_subject_field,
)
from kasuwa.transactions.transactions import (
    FAILED,
    SUCCESSFUL,
    Transaction,
    TransactionOutcome,
    end_transaction,
    transaction_key,
)
from kasuwa.wire.interest_wire import DryRunFigure

# Refusals, in order of precedence.
UNKNOWN_ORDER = Refusal(INVALID_REQUEST, "Invalid Order Reference", error_code="cashcode_order_not_found")
ENDED_REFUSALS = {
    REDEEMED: Refusal(INVALID_REQUEST, "This cashcode was used", error_code="cashcode_used"),
    LOCKED: Refusal(INVALID_REQUEST, "This cashcode is locked", error_code="cashcode_locked"),
    CANCELLED: Refusal(INVALID_REQUEST, "This cashcode was cancelled", error_code="cashcode_cancelled"),
    EXPIRED: Refusal(INVALID_REQUEST, "This cashcode has expired", error_code="cashcode_expired"),
}

MESSAGES = {
    REDEEMED: "Cash was paid",
    EXPIRED: "The cashcode expired unused",
    CANCELLED: "The cashcode was cancelled",
    LOCKED: "The cashcode is locked after three wrong PINs",
}

ACCOUNTS = (WALLET, RAIL, INCOME, VAT)


class CashcodeRows(msgspec.Struct):
    """The rows of one cashcode: its own, its transaction, and its expiry job (None once it has ended)."""

    code: Cashcode
    row: Transaction
    expiry: Job | None


def need_code(merchant_id: int, order_ref: str) -> Needs:
    """Returns the rows and accounts that ending a code needs, apart from a source that is not the wallet."""
    transaction = transaction_key(merchant_id, KIND, order_ref)
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Cashcode, cashcode_key(merchant_id, order_ref)),
        (Transaction, transaction),
        (Job, expiry_key(merchant_id, order_ref)),
    )
    return Needs(rows, ACCOUNTS)


def find_cashcode(merchant_id: int, order_ref: str, rows: LoadedRows) -> CashcodeRows | None:
    code = rows.get(Cashcode, cashcode_key(merchant_id, order_ref))
    row = rows.get(Transaction, transaction_key(merchant_id, KIND, order_ref))
    if code is None or row is None:
        return None
    return CashcodeRows(code, row, rows.get(Job, expiry_key(merchant_id, order_ref)))


def refuse_ended(code: Cashcode, context: Context) -> Refusal | None:
    """Returns why a code cannot be used any more, or None. It is expired even if its expiry job has not run yet."""
    if code.state != ACTIVE:
        return ENDED_REFUSALS[code.state]
    return ENDED_REFUSALS[EXPIRED] if context.now >= code.expires_at else None


# --- ending a code ------------------------------------------------------------------------------------------


def end_code(cashcode: CashcodeRows, state: str, paid: int, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Returns the decision that ends an active code, without a reply. Includes the effects of the code's purpose."""
    code, row, expiry = cashcode.code, cashcode.row, cashcode.expiry
    assert expiry is not None, "an active code has an expiry job"
    purpose = DETAIL_DECODER.decode(row.detail).purpose
    unseen = need_source(code, purpose, context, rows)
    if unseen is not None:
        return unseen
    end = end_transaction(
        context,
        row,
        TransactionOutcome(
            status=SUCCESSFUL if state == REDEEMED else FAILED,
            message=MESSAGES[state],
            method=KIND,
            scenario=JOB_DATA_DECODER.decode(expiry.work).scenario,
            charged=paid,
            event_fields=build_event_fields(row, purpose),
        ),
    )
    effects = effects_of_purpose(end.row, purpose, context, rows)
    if isinstance(effects, NeedsMore):
        return effects
    ended = msgspec.structs.replace(code, state=state, paid=paid)
    decision: Decision = Decision(
        groups=end_holds(ended, row, paid, effects),
        rows=(end.row, ended),
        jobs=end.jobs,
        jobs_done=(expiry,),
        events=(end.event,),
    )
    decision.add(effects)
    return decision


def need_source(
    code: Cashcode, purpose: TransactionPurpose | None, context: Context, rows: LoadedRows
) -> NeedsMore | None:
    """Asks for the source account and the rows of the purpose, which are known only once the code is loaded.

    Returns None if they are loaded already.
    """
    if rows.is_loaded(account_key(code.merchant_id, code.source)):
        return None
    needs = (
        Needs() if purpose is None else get_purpose_rules(purpose, context).needs(context.merchant, purpose.reference)
    )
    return NeedsMore(Needs(needs.rows, (*needs.accounts, code.source)))


def build_event_fields(row: Transaction, purpose: TransactionPurpose | None) -> dict[str, str]:
    """Returns the reference fields of the event: a cashcode's txnRef is its orderRef, a cash-out has its own txnRef.

    Contract: events#payload
    """
    if purpose is not None:
        return {"txn_ref": row.txn_ref, **make_subject_field(purpose)}
    return {"txn_ref": row.order_ref, "order_ref": row.order_ref}


def end_holds(code: Cashcode, row: Transaction, paid: int, effects: TransactionEffects) -> tuple[PostingGroup, ...]:
    """Returns the groups that close the holds. If nothing was paid, they post nothing and void the holds."""
    drawn = (Posting(code.source, RAIL, paid, "cash drawn"),) if paid else ()
    charged = charge_posts(row) if paid else ()
    held, fee_held = find_hold(row), find_fee_hold(row)
    if fee_held is None:
        posts = (*drawn, *charged, *effects.posts)
        return (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=posts, releases=held),)
    return (
        PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=(*drawn, *effects.posts), releases=held),
        PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=charged, releases=fee_held),
    )


def charge_posts(row: Transaction) -> tuple[Posting, ...]:
    posts = (Posting(WALLET, INCOME, row.fee, "cashcode fee"), Posting(WALLET, VAT, row.vat, "cashcode VAT"))
    return tuple(post for post in posts if post.amount)


# --- expiry -------------------------------------------------------------------------------------------------


def need_expiry(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return need_code(merchant.merchant_id, JOB_DATA_DECODER.decode(job.work).order_ref)


def decide_expiry(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Expires an active code whose lifetime is over. Does nothing if the code ended after the job was claimed."""
    cashcode = find_cashcode(context.merchant.merchant_id, JOB_DATA_DECODER.decode(job.work).order_ref, rows)
    assert cashcode is not None
    if cashcode.code.state != ACTIVE:
        return Decision()
    if context.now < cashcode.code.expires_at and cashcode.expiry is not None:
        return Decision(jobs=(cashcode.expiry,))  # not due yet: put the job back
    return end_code(cashcode, EXPIRED, 0, context, rows)


# --- cancel -------------------------------------------------------------------------------------------------


def need_cancel(request: OrderRequest, merchant: Merchant) -> Needs:
    return need_code(merchant.merchant_id, request.order_ref)


def decide_cancel(
    request: OrderRequest, context: Context, rows: LoadedRows
) -> Decision[CancelReply] | Refusal | NeedsMore:
    """Cancels an active code. Cancelling a cancelled code succeeds and changes nothing."""
    cashcode = find_cashcode(context.merchant.merchant_id, request.order_ref, rows)
    if cashcode is None:
        return UNKNOWN_ORDER
    reply = CancelReply(
        order_ref=request.order_ref, txn_status="failed", state="cancelled", message=MESSAGES[CANCELLED]
    )
    if cashcode.code.state == CANCELLED:
        repeated = Decision(reply=reply)
        return preview_decision(repeated, ()) if request.dry_run else repeated
    refusal = refuse_ended(cashcode.code, context)
    if refusal is not None:
        return refusal
    decision = end_code(cashcode, CANCELLED, 0, context, rows)
    if isinstance(decision, NeedsMore):
        return decision
    decision.reply = reply
    return preview_decision(decision, explain_release(decision)) if request.dry_run else decision


def explain_release(decision: Decision[CancelReply]) -> Iterator[DryRunFigure]:
    yield DryRunFigure("state after", CANCELLED, f"{ACTIVE} now")
    for group in decision.groups:
        if group.releases is not None:
            held = group.releases
            yield DryRunFigure("released", format_minor(held.amount), f"available again in {held.account}")
