"""Rules of manual postings: one operator proposes, another decides, once.

The verdict is a row in the merchant's books, written in the same commit as the posting. The first verdict stands, and
later ones get it as their reply.

posting      debit → credit                  any two accounts of one merchant and currency
write-off    a claim that will not be paid   income:write_off → account
             a debt nobody will claim        account → income:write_off
reversal     came back after success         rail → the account that paid a transfer, bill or refund
             was paid after failure          the account that got its money back → rail
             a payment was taken back        wallet → rail
suspense     assigned, or returned by its rail (methods/payment/rules/receipts/suspense.py)

A reversal is booked once for a transaction, whose own state stays final. Fees stay as they are. What the wallet lacks
is owed, as for a dispute that is lost: the rail has the money. The merchant has an event about it.
Contract: events#reversals
"""

from typing import ClassVar, Literal

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    AuditEntry,
    Context,
    Decision,
    Effects,
    Event,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    Row,
)
from kasuwa.core.money import CURRENCIES, format_minor, parse_minor
from kasuwa.core.references import account_key, movement_reference, row_key
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.ledger import chart
from kasuwa.methods.disputes.rules.debt import debt_job, need_debt_job
from kasuwa.methods.payment.model import Payment, RailReversal, payment_key, reversal_key
from kasuwa.methods.payment.rules.receipts.suspense import SuspenseProposal, decide_suspense, need_suspense
from kasuwa.methods.payment.rules.taken import take_from_purpose
from kasuwa.projections.rail_movement import RailMovement
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.transactions import SUCCESSFUL, make_delivery_jobs

INSUFFICIENT_FUNDS_REFUSAL = Refusal(
    INSUFFICIENT_FUNDS, "The debited account does not cover the amount", error_code="account_insufficient"
)
MAX_ACCOUNT_NAME_LENGTH = 120

REVERSAL = "reversal"  # kind of the event
REVERSAL_REFERENCE = "RV"
# How the money of a reversed transaction moved, by the account of its rail.
METHODS = {"bank": "transfer", "biller": "bill"}


ALREADY_REVERSED = Refusal(
    INVALID_REQUEST,
    "The reversal of this transaction is booked already. Reject the proposal.",
    error_code="already_reversed",
)
NOT_LEFT = Refusal(
    INVALID_REQUEST,
    "A part of this payment was refunded or disputed since it was proposed. Reject the proposal.",
    error_code="payment_changed",
)


class ProposedPosting(msgspec.Struct, frozen=True, omit_defaults=True):
    """A proposed posting, in minor units. Stored as JSON in approval.proposal."""

    debit: str
    credit: str
    amount: int
    kind: str
    reverses: str = ""  # the transaction that its rail reversed
    suspense: SuspenseProposal | None = None  # the money in suspense that it assigns or returns
    refund_of: str = ""  # the payment, if the reversed transaction is its refund


VerdictState = Literal["approved", "rejected"]


class ManualPosting(Row):
    """The verdict on a proposed posting. The posting of an approved one is in the same commit.

    `decided_by` is the user_id of the deciding operator.
    """

    table: ClassVar[str] = "manual_posting"

    approval_id: int
    state: str
    decided_by: int

    @property
    def is_open(self) -> bool:
        return False


class Verdict(msgspec.Struct, frozen=True):
    """An operator's decision on a proposed posting, with its audit entry."""

    approval_id: int
    state: VerdictState
    decided_by: int
    posting: ProposedPosting
    audit_entry: AuditEntry


def account_fault(name: str) -> str | None:
    """Returns what is wrong with the form of an account name, or None."""
    parts = name.split(":")
    is_valid = len(parts) == 3 and parts[0] in chart.ACCOUNT_KINDS and all(parts) and parts[2] in CURRENCIES
    if not is_valid or len(name) > MAX_ACCOUNT_NAME_LENGTH:
        return "must be kind:owner:currency with one of these kinds: " + ", ".join(sorted(chart.ACCOUNT_KINDS))
    return None


def parse_posting(debit: str, credit: str, amount: str, kind: str) -> ProposedPosting | tuple[FieldError, ...]:
    """Parses a submitted posting. Returns it, or all of its field errors."""
    minor = parse_minor(amount)
    faults = [
        FieldError(field, fault)
        for field, name in (("debit", debit), ("credit", credit))
        if (fault := account_fault(name))
    ]
    if not minor:
        faults.append(FieldError("amount", "must be above zero, with at most two decimals"))
    if not faults and (debit == credit or debit.rpartition(":")[2] != credit.rpartition(":")[2]):
        faults.append(FieldError("credit", "must be another account of the same currency"))
    return tuple(faults) if faults or not minor else ProposedPosting(debit, credit, minor, kind)


def propose_reversal(movement: RailMovement, reference: str) -> ProposedPosting:
    """Returns the posting that books what a rail says late of a transaction."""
    kind = "paid by the rail" if movement.credit.startswith("rail:") else "reversed by the rail"
    return ProposedPosting(
        movement.debit, movement.credit, movement.amount, kind, reference, refund_of=movement.refund_of
    )


def write_off_accounts(account: str, balance: int) -> tuple[str, str]:
    """Returns (debit, credit) of a write-off, so that it moves the balance towards zero."""
    income = chart.income("write_off", account.rpartition(":")[2])
    return (income, account) if balance < 0 else (account, income)


def posting_key(merchant_id: int, approval_id: int) -> bytes:
    return row_key(merchant_id, "manual_posting", str(approval_id))


def need_verdict(verdict: Verdict, merchant: Merchant) -> Needs:
    key = posting_key(merchant.merchant_id, verdict.approval_id)
    accounts = (verdict.posting.debit, verdict.posting.credit) if verdict.state == "approved" else ()
    if verdict.posting.suspense is not None:
        return Needs(((ManualPosting, key), *need_suspense(verdict.posting.suspense, merchant.merchant_id)), accounts)
    if not verdict.posting.reverses:
        return Needs(((ManualPosting, key),), accounts)
    merchant_id, posting = merchant.merchant_id, verdict.posting
    reversal = (RailReversal, reversal_key(merchant_id, posting.reverses))
    payment = (Payment, get_payment_key(posting, merchant_id))  # None for a transfer or bill
    rows: tuple[tuple[type[Row], bytes], ...] = ((ManualPosting, key), reversal, payment)
    if accounts and is_taken_from_wallet(posting):
        debt, wallet = chart.dispute_debt(get_currency(posting)), account_key(merchant_id, posting.debit)
        rows = (*rows, need_debt_job(merchant_id, get_currency(posting)), (chart.Account, wallet))
        return Needs(rows, (*accounts, debt))
    return Needs(rows, accounts)


def get_payment_key(posting: ProposedPosting, merchant_id: int) -> bytes:
    """Returns the key of the payment that a reversal is about: its own, or that of its refund."""
    return payment_key(merchant_id, posting.refund_of or posting.reverses)


def get_currency(posting: ProposedPosting) -> str:
    return posting.debit.rpartition(":")[2]


def is_taken_from_wallet(posting: ProposedPosting) -> bool:
    return bool(posting.reverses) and posting.debit == chart.wallet(get_currency(posting))


def decide_verdict(verdict: Verdict, context: Context, rows: LoadedRows) -> Decision | Refusal | NeedsMore:
    """Decides a proposal. The reply is the verdict that stands: this one, or an earlier one."""
    key = posting_key(context.merchant.merchant_id, verdict.approval_id)
    known = rows.get(ManualPosting, key)
    if known is not None:
        return Decision(reply=known)
    row = ManualPosting(key, context.merchant.merchant_id, verdict.approval_id, verdict.state, verdict.decided_by)
    if verdict.state == "rejected":
        return Decision(reply=row, rows=(row,), audit_entries=(verdict.audit_entry,))
    proposed = verdict.posting
    if proposed.suspense is not None:
        decided = decide_suspense(proposed.suspense, verdict.approval_id, context, rows)
        if isinstance(decided, Decision):
            decided.reply, decided.rows = row, (row, *decided.rows)
            decided.audit_entries += (verdict.audit_entry,)
        return decided
    if proposed.reverses:
        return book_reversal(verdict, row, context, rows)
    posting = Posting(proposed.debit, proposed.credit, proposed.amount, proposed.kind)
    group = PostingGroup(f"approval {verdict.approval_id}", INSUFFICIENT_FUNDS_REFUSAL, postings=(posting,))
    return Decision(reply=row, groups=(group,), rows=(row,), audit_entries=(verdict.audit_entry,))


def book_reversal(
    verdict: Verdict, row: ManualPosting, context: Context, loaded_rows: LoadedRows
) -> Decision | Refusal | NeedsMore:
    """Books what a rail says late of a transaction, once."""
    proposed = verdict.posting
    mark = reversal_key(row.merchant_id, proposed.reverses)
    if loaded_rows.get(RailReversal, mark) is not None:
        return ALREADY_REVERSED
    rows: tuple[Row, ...] = (row, RailReversal(mark, row.merchant_id, proposed.reverses, verdict.approval_id))
    payment = loaded_rows.get(Payment, get_payment_key(proposed, row.merchant_id))
    effects = Effects()
    if payment is not None and proposed.credit.startswith("rail:"):
        if payment.undisputed < proposed.amount:
            return NOT_LEFT
        # The payer has it: it cannot be refunded or disputed as well.
        taken = take_from_purpose(payment, proposed.amount, proposed.kind, context, loaded_rows)
        if isinstance(taken, NeedsMore):
            return taken
        rows = (*rows, msgspec.structs.replace(taken.payment, disputed=payment.disputed + proposed.amount))
        effects = taken.effects
    event = make_reversal_event(proposed, payment, context)
    postings = reversal_postings(proposed, row.merchant_id, loaded_rows)
    is_owed = postings[-1].debit == chart.dispute_debt(get_currency(proposed))
    debts = debt_job(get_currency(proposed), context.now, context, loaded_rows) if is_owed else ()
    group = PostingGroup(f"approval {verdict.approval_id}", INSUFFICIENT_FUNDS_REFUSAL, postings=postings)
    decision = Decision(
        reply=row,
        groups=(group,),
        rows=rows,
        jobs=(*make_delivery_jobs(context, row, event, NO_SCENARIO), *debts),
        events=(event,),
        audit_entries=(verdict.audit_entry,),
        numbers_used=1,
    )
    decision.add(effects)
    return decision


def reversal_postings(proposed: ProposedPosting, merchant_id: int, rows: LoadedRows) -> tuple[Posting, ...]:
    """Returns the postings of a reversal. What the wallet lacks is taken from the account of debts."""
    whole = Posting(proposed.debit, proposed.credit, proposed.amount, proposed.kind)
    if not is_taken_from_wallet(proposed):
        return (whole,)
    wallet = rows.get(chart.Account, account_key(merchant_id, proposed.debit))
    there = min(proposed.amount, 0 if wallet is None else max(0, wallet.available))
    owed = msgspec.structs.replace(
        whole, debit=chart.dispute_debt(get_currency(proposed)), amount=proposed.amount - there
    )
    return tuple(posting for posting in (msgspec.structs.replace(whole, amount=there), owed) if posting.amount)


def make_reversal_event(proposed: ProposedPosting, payment: Payment | None, context: Context) -> Event:
    """Returns the event of a transaction that its rail took back, or paid in the end."""
    reference = movement_reference(REVERSAL_REFERENCE, context.permutation(context.number), lagos_day(context.now))
    is_debit = proposed.credit.startswith("rail:")
    rail_kind = (proposed.credit if is_debit else proposed.debit).split(":")[1]
    payload = {
        "status": 200,
        "txn_status": SUCCESSFUL,
        "txn_ref": reference,
        "charged_amount": format_minor(proposed.amount),
        "payment_method": METHODS.get(rail_kind, "transfer") if payment is None else payment.method,
        "endpoint": context.merchant.environment,
        "currency": get_currency(proposed),
        "reversal_of": proposed.reverses,
        "direction": "debit" if is_debit else "credit",
    }
    return Event(reference, REVERSAL, msgspec.json.encode(build_event(REVERSAL, payload)))
