"""Reverses a repayment that was not honored: the loan becomes what it would be without it.

The acts of the loan are replayed without the repayment, and the difference is posted: its allocation goes back, every
later repayment is allocated anew, penalties and arrears are those of a loan that it never paid, and a loan that it
closed opens again. No cash moves: the dispute, the rail or the merchant has taken it back already.

A dispute that is lost, and a rail that takes a payment back, do the same by themselves, for the amount that they take.
A dispute that is won in the end gives the loan its repayment again. The merchant's lending settings can turn that off.

What a later repayment paid too much is used first, as far as it was not refunded. What is being refunded stays the
client's.

Contract: loans#reverse
"""

from collections.abc import Iterable, Mapping

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
    Row,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.ledger.posting_kinds import LOAN_PARTS
from kasuwa.methods.clients.model import Client, adjust_credit, adjust_open_accounts, client_key, refuse_inactive
from kasuwa.methods.loans.group_model import reopen_group_loan
from kasuwa.methods.loans.model import (
    AGREED_ACCOUNTS,
    EARNED_ACCOUNTS,
    GUARANTEE_ACT,
    LENDING_OVERPAID,
    LENDING_PRINCIPAL,
    LENDING_RECOVERED,
    MORE_THAN_OWED,
    OWING_STATES,
    REPAYMENT_PURPOSE,
    UNKNOWN_LOAN,
    WAIVED_ACCOUNTS,
    Loan,
    LoanAct,
    changed_installments,
    difference_posts,
    find_installments,
    loan_account,
    loan_key,
    need_loan,
)
from kasuwa.methods.loans.rules.guarantor_holds import (
    count_unpaid_principal,
    need_pledged,
    need_secured_loan,
    restore_holds,
)
from kasuwa.methods.loans.rules.history import GivenAct, LoanHistory, LoanTotals, find_acts, replay
from kasuwa.methods.loans.rules.loan_event import tell_of_loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position
from kasuwa.methods.loans.rules.loan_record import explain_reversal, make_loan_record, make_parts
from kasuwa.methods.loans.rules.origination import change_state, reschedule_arrears_check
from kasuwa.methods.loans.rules.pause_collection import pause_collection
from kasuwa.methods.loans.rules.provision import release_provision
from kasuwa.methods.loans.rules.repay import KIND as WALLET_REPAYMENT
from kasuwa.methods.loans.rules.repay import (
    end_credit_refund,
    end_repayment,
    penalty_posts,
)
from kasuwa.methods.loans.wire import Reallocation, ReverseReply, ReverseRequest
from kasuwa.methods.payment.model import DETAIL_DECODER, FACTS_DECODER, Payment, payment_key
from kasuwa.methods.payment.model import KIND as PAYMENT
from kasuwa.terms.loan_schedule import LendingSettings
from kasuwa.transactions.purpose import SUBJECT_DETAIL_DECODER, PurposeRules, TakenEffects, TakenMoney
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, encode_text, transaction_key

# Refusals, in order of precedence.
UNKNOWN_REPAYMENT = Refusal(
    INVALID_REQUEST,
    "Invalid Repayment Reference: send the txnRef of a repayment of a loan",
    error_code="repayment_not_found",
)
NOT_SUCCESSFUL = Refusal(
    INVALID_REQUEST, "Only a successful repayment can be reversed", error_code="repayment_not_successful"
)
ALREADY_REVERSED = Refusal(
    INVALID_REQUEST,
    "The repayment was reversed already: the loan does not count it",
    error_code="repayment_already_reversed",
)
UNKNOWN_HISTORY = Refusal(
    INVALID_REQUEST,
    "The loan was repaid before version 1.1.0, which does not say what it would be without this repayment; record the "
    "difference with your operator",
    error_code="loan_history_unknown",
)
REFUND_IN_PROGRESS = Refusal(
    INVALID_REQUEST,
    "What this repayment paid too much is being refunded; reverse it when that has ended",
    error_code="repayment_being_refunded",
)
PAID_BY_GUARANTORS = Refusal(
    INVALID_REQUEST,
    "Guarantors paid this out of their savings: it was honored and cannot be reversed",
    error_code="repayment_of_guarantors",
)
CLIENT_INACTIVE = Refusal(
    INVALID_REQUEST,
    "The loan would be owed again, but the client is {status}",
    error_code="reversal_client_inactive",
)


class Rewriting(msgspec.Struct, frozen=True):
    """A loan whose acts are counted otherwise than before, and what that changes."""

    before: LoanHistory
    after: LoanHistory
    loan: Loan
    client: Client
    effects: Effects  # without the client
    surpluses: Mapping[str, int]  # of payments that can be refunded otherwise than before, by their references


# --- the loan without a repayment -------------------------------------------------------------------------------------


def rewrite_loan(loan: Loan, changed: LoanAct, context: Context, rows: LoadedRows) -> Rewriting | Refusal | NeedsMore:
    """Replays the loan with one act changed. Its postings are in a group of the act's reference."""
    stored, acts = find_installments(loan, rows), find_acts(loan, rows)
    if stored is None or isinstance(acts, NeedsMore):
        return NeedsMore(join_needs(need_secured_loan(loan), acts.needs if isinstance(acts, NeedsMore) else Needs()))
    payments = find_payments(acts, rows)
    if isinstance(payments, NeedsMore):
        return NeedsMore(join_needs(payments.needs, need_pledged(loan, rows)))
    position = compute_position(loan, stored, lagos_day(context.now))
    before = replay(loan, tuple(give_stored(act, payments.get(act.reference)) for act in acts), position)
    if (before.position.lines, before.position.loan.state) != (position.lines, position.loan.state):
        return UNKNOWN_HISTORY
    acts = tuple(changed if act.n == changed.n else act for act in acts)
    anew = tuple(give_anew(act, payments.get(act.reference)) for act in acts)
    after = replay(loan, anew, position)
    unpaid_before, unpaid = count_unpaid_principal(position.lines), count_unpaid_principal(after.position.lines)
    holds = restore_holds(loan, unpaid_before, unpaid, rows)
    if isinstance(holds, NeedsMore):
        return holds
    client = rows.get(Client, client_key(loan.merchant_id, loan.client_id))
    assert client is not None
    is_open_after, was_open = after.position.loan.state in OWING_STATES, loan.state in OWING_STATES
    refusal = refuse_inactive(client) if is_open_after and not was_open else None
    if refusal is not None:
        return CLIENT_INACTIVE.fill(status=client.status)
    groups = reopen_group_loan(loan, rows) if is_open_after and not was_open else ()
    if isinstance(groups, NeedsMore):
        return groups
    client = adjust_open_accounts(client, is_open_after - was_open)
    client = adjust_credit(client, after.totals.credit - before.totals.credit)
    provided = release_provision(restate_loan(loan, after, context))
    loan_after = provided.loan
    position_after = msgspec.structs.replace(after.position, loan=loan_after)
    moved = difference_of_totals(loan.loan_id, before.totals, after.totals)
    posts = (*penalty_posts(stored, position), *moved, *provided.posts)
    stored_acts = {act.given.act.key: act.given.act for act in before.acts}
    changed_acts = tuple(one for one in (apply_anew(item) for item in anew) if one != stored_acts[one.key])
    effects = Effects(
        groups=(PostingGroup(changed.reference, MORE_THAN_OWED, postings=posts),) if posts else (),
        rows=(*changed_installments(stored, after.position.lines, context.now), *changed_acts, *groups),
    )
    effects.add(holds)
    add_arrears_check(effects, position_after, context, rows)
    surpluses = {
        act.given.act.reference: act.given.refunded + act.credit
        for act in after.acts
        if act.given.act.reference in payments
        and FACTS_DECODER.decode(payments[act.given.act.reference].facts).surplus != act.given.refunded + act.credit
    }
    return Rewriting(before, after, loan_after, client, effects, surpluses)


def join_needs(first: Needs, second: Needs) -> Needs:
    return Needs((*first.rows, *second.rows), (*first.accounts, *second.accounts))


def find_payments(acts: Iterable[LoanAct], rows: LoadedRows) -> dict[str, Payment] | NeedsMore:
    """Returns the payments among the repayments of a loan by their references, or what must be loaded first."""
    keys = {act.reference: payment_key(act.merchant_id, act.reference) for act in acts if act.reference}
    if not all(rows.is_loaded(key) for key in keys.values()):
        return NeedsMore(Needs(tuple((Payment, key) for key in keys.values())))
    payments = {reference: rows.get(Payment, key) for reference, key in keys.items()}
    return {reference: payment for reference, payment in payments.items() if payment is not None}


def give_stored(act: LoanAct, payment: Payment | None) -> GivenAct:
    """Returns an act as the loan counts it now. It is given something by repayments alone."""
    if not act.reference:
        return GivenAct(act, 0)
    refunded = 0 if payment is None else payment.refunded
    rest = 0 if act.is_reversed else act.amount - refunded - act.lost - act.applied
    return GivenAct(act, act.applied, refunded, rest)


def give_anew(act: LoanAct, payment: Payment | None) -> GivenAct:
    """Returns an act as the loan is to count it: without what was taken back, was refunded or is being refunded."""
    if not act.reference:
        return GivenAct(act, 0)
    refunded, refunding = (0, 0) if payment is None else (payment.refunded, payment.refunding)
    if act.is_reversed:
        return GivenAct(act, 0, refunded)
    return GivenAct(act, max(0, act.amount - refunded - refunding - act.lost), refunded, refunding)


def apply_anew(item: GivenAct) -> LoanAct:
    return msgspec.structs.replace(item.act, applied=item.applied)


def restate_loan(loan: Loan, history: LoanHistory, context: Context) -> Loan:
    """Returns the loan's row after a replay."""
    after = history.position.loan
    changed = loan if after.state == loan.state else change_state(loan, context, after.state)
    closed_at = None if history.closed_by is None else history.closed_by.made_at
    return msgspec.structs.replace(
        changed, aged_to=after.aged_to, closed_at=closed_at, renewed=after.renewed, extra=after.extra
    )


def add_arrears_check(effects: Effects, position: LoanPosition, context: Context, rows: LoadedRows) -> None:
    """Adds the arrears check that the loan needs, or ends the one that it needs no more."""
    job = rows.get(Job, job_key(position.loan.key))
    if position.loan.state not in OWING_STATES:
        effects.jobs_done += () if job is None else (job,)
    else:
        effects.jobs += reschedule_arrears_check(position, context, rows)


def difference_of_totals(loan_id: str, before: LoanTotals, after: LoanTotals) -> tuple[Posting, ...]:
    """Returns the postings that make what was posted of a loan equal to the totals of its replay."""
    postings: list[Posting] = []
    for part in LOAN_PARTS:
        own, anew = loan_account(part, loan_id), f"{part} by the schedule computed anew"
        given_up = f"{part} written off"
        moves = (
            (AGREED_ACCOUNTS[part], own, "charged", (anew, anew)),
            (own, EARNED_ACCOUNTS[part], "earned", (f"{part} repaid", f"{part} reversed")),
            (own, EARNED_ACCOUNTS[part], "capitalized", (f"{part} capitalized", f"{part} capitalized")),
            (own, WAIVED_ACCOUNTS[part], "written_off", (given_up, given_up)),
            (WAIVED_ACCOUNTS[part], LENDING_RECOVERED, "recovered", (f"{part} recovered", f"{part} reversed")),
        )
        for debit, credit, total, kinds in moves:
            difference = getattr(getattr(after, total), part) - getattr(getattr(before, total), part)
            postings += difference_posts(debit, credit, difference, kinds)
    principal, kind = loan_account("principal", loan_id), "principal capitalized"
    capital = after.capitalized.total - before.capitalized.total
    postings += difference_posts(LENDING_PRINCIPAL, principal, capital, (kind, kind))
    credit = loan_account("credit", loan_id)
    kinds = ("paid too much", "credit used")
    return (*postings, *difference_posts(LENDING_OVERPAID, credit, after.credit - before.credit, kinds))


# --- by the merchant --------------------------------------------------------------------------------------------------


def need_reverse(request: ReverseRequest, merchant: Merchant) -> Needs:
    merchant_id, txn_ref = merchant.merchant_id, request.txn_ref
    return Needs(
        (
            (Transaction, transaction_key(merchant_id, WALLET_REPAYMENT, txn_ref)),
            (Transaction, transaction_key(merchant_id, PAYMENT, txn_ref)),
            (Payment, payment_key(merchant_id, txn_ref)),
        )
    )


def decide_reverse(
    request: ReverseRequest, context: Context, rows: LoadedRows
) -> Decision[ReverseReply] | Refusal | NeedsMore:
    """Reverses a repayment, by the merchant's word that it was not honored."""
    repayment = find_repayment(request.txn_ref, context, rows)
    if repayment is None:
        return UNKNOWN_REPAYMENT
    row, loan_id = repayment
    if row.status != SUCCESSFUL:
        return NOT_SUCCESSFUL
    key = loan_key(context.merchant.merchant_id, loan_id)
    if not rows.is_loaded(key):
        return NeedsMore(need_loan(context.merchant, loan_id))
    loan = rows.get(Loan, key)
    if loan is None:
        return UNKNOWN_LOAN
    acts = find_acts(loan, rows)
    if isinstance(acts, NeedsMore):
        return NeedsMore(join_needs(need_secured_loan(loan), acts.needs))
    act = next((act for act in acts if act.reference == request.txn_ref), None)
    if act is None:
        return UNKNOWN_HISTORY
    if act.kind == GUARANTEE_ACT:
        return PAID_BY_GUARANTORS
    payment = rows.get(Payment, payment_key(loan.merchant_id, request.txn_ref))
    if payment is not None and payment.refunding:
        return REFUND_IN_PROGRESS
    refunded = 0 if payment is None else payment.refunded
    if act.is_reversed or act.lost >= act.amount - refunded:
        return ALREADY_REVERSED
    changed = msgspec.structs.replace(act, is_reversed=True)
    done = rewrite_loan(loan, changed, context, rows)
    if not isinstance(done, Rewriting):
        return done
    reply = reply_reversal(request, done, act, context)
    if request.dry_run:
        reply.message, reply.dry_run = "This is what the reversal would do; nothing was changed", True
        reply.explained = explain_reversal(done.before, done.after, act)
        return Decision(reply=reply)
    pausing = pause_collection(done.after.position, request.txn_ref, row.order_ref, act.applied, context, rows)
    if isinstance(pausing, NeedsMore):
        return pausing
    decision = record_reversal(done, request, act, reply, context, rows)
    decision.add(pausing)
    return decision


def find_repayment(txn_ref: str, context: Context, rows: LoadedRows) -> tuple[Transaction, str] | None:
    """Returns the transaction of a repayment and the id of its loan, or None if the reference is of none."""
    merchant_id = context.merchant.merchant_id
    row = rows.get(Transaction, transaction_key(merchant_id, WALLET_REPAYMENT, txn_ref))
    if row is not None:
        return row, SUBJECT_DETAIL_DECODER.decode(row.detail).loan_id
    row = rows.get(Transaction, transaction_key(merchant_id, PAYMENT, txn_ref))
    payment = rows.get(Payment, payment_key(merchant_id, txn_ref))
    purpose = None if payment is None else DETAIL_DECODER.decode(payment.detail).purpose
    if row is None or purpose is None or purpose.purpose != REPAYMENT_PURPOSE:
        return None
    return row, purpose.reference


def record_reversal(
    done: Rewriting, request: ReverseRequest, act: LoanAct, reply: ReverseReply, context: Context, rows: LoadedRows
) -> Decision[ReverseReply]:
    notified = tell_of_loan(
        done.loan,
        "repayment_reversed",
        done.after.position,
        context,
        amount=act.applied,
        repayment_ref=request.txn_ref,
        reason=request.reason,
    )
    decision = Decision(reply=reply, rows=(notified.loan, done.client, *surplus_rows(done, rows)))
    decision.add(done.effects)
    decision.add(notified.effects)
    return decision


def surplus_rows(done: Rewriting, rows: LoadedRows, own: str = "") -> tuple[Row, ...]:
    """Returns the payments of which another part can be refunded than before, without the payment `own`."""
    changed = []
    for reference, surplus in done.surpluses.items():
        payment = rows.get(Payment, payment_key(done.loan.merchant_id, reference))
        if payment is not None and reference != own:
            facts = msgspec.structs.replace(FACTS_DECODER.decode(payment.facts), surplus=surplus)
            changed.append(msgspec.structs.replace(payment, facts=encode_text(facts)))
    return tuple(changed)


def reply_reversal(request: ReverseRequest, done: Rewriting, act: LoanAct, context: Context) -> ReverseReply:
    was = next(item for item in done.before.acts if item.given.act.n == act.n)
    anew = [
        Reallocation(
            txn_ref=after.given.act.reference,
            amount=format_minor(after.given.applied),
            allocation=make_parts(after.paid),
            credit=format_minor(after.credit),
        )
        for before, after in zip(done.before.acts, done.after.acts, strict=True)
        if after.given.act.reference and after.given.act.n != act.n and before.paid != after.paid
    ]
    return ReverseReply(
        message="Repayment Reversed",
        txn_ref=request.txn_ref,
        loan_id=done.loan.loan_id,
        amount=format_minor(act.applied),
        refunded_amount=format_minor(was.given.refunded),
        allocation=make_parts(was.paid),
        reallocated=anew,
        data=make_loan_record(
            done.loan, done.after.position.lines, context.now, credit=max(0, done.after.totals.credit)
        ),
    )


# --- by a dispute or a rail -------------------------------------------------------------------------------------------


def on_repayment_taken(taken: TakenMoney, context: Context, rows: LoadedRows) -> TakenEffects | NeedsMore:
    """Reverses as much of a repayment as a dispute or its rail took, or counts it again if that was given back. Never
    refuses: what cannot be done is a notice to the operator."""
    # What was taken from the loan before the setting was changed comes back to it all the same.
    if taken.amount > 0 and context.merchant.terms(LendingSettings).on_dispute == "ignore":
        return TakenEffects()
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, taken.reference))
    assert loan is not None
    acts = find_acts(loan, rows)
    if isinstance(acts, NeedsMore):
        return NeedsMore(join_needs(need_secured_loan(loan), acts.needs))
    act = next((act for act in acts if act.reference == taken.txn_ref), None)
    if act is None:
        return TakenEffects(notices=(explain_untouched(taken, UNKNOWN_HISTORY),))
    changed = msgspec.structs.replace(act, lost=max(0, min(act.amount, act.lost + taken.amount)))
    if changed == act:
        return TakenEffects()
    if act.is_reversed:
        return TakenEffects(rows=(changed,))
    done = rewrite_loan(loan, changed, context, rows)
    if isinstance(done, NeedsMore):
        return done
    if isinstance(done, Refusal):
        return TakenEffects(notices=(explain_untouched(taken, done),))
    pausing = pause_taken(done.after.position, taken, context, rows)
    if isinstance(pausing, NeedsMore):
        return pausing
    step = "repayment_reversed" if taken.amount > 0 else "repayment_reinstated"
    notified = tell_of_loan(
        done.loan,
        step,
        done.after.position,
        context,
        amount=abs(changed.lost - act.lost),
        repayment_ref=taken.txn_ref,
        reason=taken.reason,
    )
    effects = TakenEffects(
        rows=(notified.loan, done.client, *surplus_rows(done, rows, taken.txn_ref)),
        surplus=done.surpluses.get(taken.txn_ref),
    )
    effects.add(done.effects)
    effects.add(notified.effects)
    effects.add(pausing)
    return effects


def pause_taken(after: LoanPosition, taken: TakenMoney, context: Context, rows: LoadedRows) -> Effects | NeedsMore:
    """Pauses the automatic collection of a loan if it had collected what was taken."""
    if taken.amount <= 0:
        return Effects()
    return pause_collection(after, taken.txn_ref, None, taken.amount, context, rows)


def explain_untouched(taken: TakenMoney, refusal: Refusal) -> OperatorNotice:
    amount = format_minor(abs(taken.amount))
    what = "was taken back" if taken.amount > 0 else "was given back"
    message = f"{amount} of a repayment of loan {taken.reference} {what}, but the loan is as before: {refusal.message}"
    return OperatorNotice(taken.txn_ref, message)


REPAYMENT_PURPOSE_RULES = PurposeRules(
    REPAYMENT_PURPOSE, need_loan, end_repayment, on_refund=end_credit_refund, on_taken=on_repayment_taken
)
