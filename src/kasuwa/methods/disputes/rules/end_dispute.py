"""Ends a dispute: won, lost, accepted or expired. The posting table is in model.py.

An outcome that comes again changes nothing. One that contradicts the first is in correct_dispute.py.
Contract: payment#disputes
"""

from collections.abc import Iterable

import msgspec

from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    HeldAmount,
    Job,
    LoadedRows,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Row,
)
from kasuwa.core.references import job_key
from kasuwa.ledger import chart
from kasuwa.methods.disputes.model import WON, Dispute, dispute_key
from kasuwa.methods.disputes.rules.card_of_dispute import pay_card, tell_card
from kasuwa.methods.disputes.rules.debt import debt_job
from kasuwa.methods.disputes.rules.open_dispute import WALLET_INSUFFICIENT, available_in, missing_accounts
from kasuwa.methods.disputes.rules.steps_of_dispute import reply_dispute, take_step, taken_postings
from kasuwa.methods.disputes.wire import DisputeChanged
from kasuwa.methods.payment.model import Payment, payment_key
from kasuwa.methods.payment.rules.taken import take_from_purpose

# Why a dispute takes money from what its payment was made for.
LOST_REASON = "dispute lost"


def dispute_rows(merchant_id: int, dispute_id: str) -> tuple[tuple[type[Row], bytes], ...]:
    """Returns the rows that every change of a dispute needs."""
    key = dispute_key(merchant_id, dispute_id)
    return (Dispute, key), (Job, job_key(key))


def end_dispute(
    dispute: Dispute, state: str, context: Context, loaded_rows: LoadedRows
) -> Decision[DisputeChanged] | NeedsMore:
    """Ends an open dispute. `seen` has its `dispute_rows`."""
    key = payment_key(dispute.merchant_id, dispute.txn_ref)
    if not loaded_rows.is_loaded(key):
        return NeedsMore(Needs(((Payment, key),)))
    missing = missing_accounts(dispute.method, dispute.currency, dispute.merchant_id, loaded_rows)
    if missing is not None:
        return missing
    payment, job = loaded_rows.get(Payment, key), loaded_rows.get(Job, job_key(dispute.key))
    assert payment is not None
    step = take_step(msgspec.structs.replace(dispute, state=state, ended_at=context.now), state, context)
    rows: tuple[Row, ...] = (step.row,)
    effects = Effects()
    if state == WON:
        rows = (*rows, msgspec.structs.replace(payment, disputed=payment.disputed - dispute.amount))
    else:
        taken = take_from_purpose(payment, dispute.amount, LOST_REASON, context, loaded_rows)
        if isinstance(taken, NeedsMore):
            return taken
        rows, effects = (*rows, *((taken.payment,) if taken.payment != payment else ())), taken.effects
    card = tell_card(step.row, context) if state == WON else pay_card(step.row, payment, context)
    # What was lent for the hold, or is owed for what it did not cover, is collected at once.
    owed = -available_in(chart.dispute_debt(dispute.currency), dispute.merchant_id, loaded_rows)
    has_debt = owed > 0 or (state != WON and dispute.covered < dispute.total)
    debts = debt_job(dispute.currency, context.now, context, loaded_rows) if has_debt else ()
    decision = Decision(
        reply=reply_dispute(step.row),
        groups=end_groups(dispute, state),
        rows=rows,
        jobs=(*step.jobs, *debts, *(() if card is None else (card,))),
        jobs_done=() if job is None else (job,),
        events=(step.event,),
        follow_up=card,
    )
    decision.add(effects)
    return decision


def end_groups(dispute: Dispute, state: str) -> tuple[PostingGroup, ...]:
    """Returns the groups that void or capture the hold, and that the operator pays for what the hold lacks."""
    held = dispute.held
    if state == WON:
        return (PostingGroup(dispute.dispute_id, WALLET_INSUFFICIENT, releases=held),) if held is not None else ()
    return take_groups(dispute, dispute.covered, held)


def take_groups(dispute: Dispute, covered: int, held: HeldAmount | None) -> tuple[PostingGroup, ...]:
    """Returns the groups that take a dispute from the wallet as far as it covers it, and from a debt beyond that."""
    reference, postings = dispute.dispute_id, taken_postings(dispute)
    paid = tuple(split_off(postings, covered))
    owed = tuple(charge_debt(postings, paid, chart.dispute_debt(dispute.currency)))
    groups = (PostingGroup(reference, WALLET_INSUFFICIENT, postings=paid, releases=held),) if paid else ()
    return (*groups, PostingGroup(reference, WALLET_INSUFFICIENT, postings=owed)) if owed else groups


def split_off(postings: Iterable[Posting], amount: int) -> Iterable[Posting]:
    """Yields the postings as far as an amount covers them, in their order."""
    for posting in postings:
        part = min(posting.amount, amount)
        amount -= part
        if part:
            yield msgspec.structs.replace(posting, amount=part)


def charge_debt(postings: Iterable[Posting], paid: Iterable[Posting], debt: str) -> Iterable[Posting]:
    """Yields what `paid` leaves of the postings, taken from the account of the debt."""
    done = {posting.credit: posting.amount for posting in paid}
    for posting in postings:
        rest = posting.amount - done.get(posting.credit, 0)
        if rest:
            yield msgspec.structs.replace(posting, debit=debt, amount=rest)
