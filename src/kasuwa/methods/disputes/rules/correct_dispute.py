"""Corrects a dispute that has ended: its rail says in the end that it was won, or lost.

The rail has the money, so its final word counts, however late it comes. What cannot be corrected in the books is a
notice: two operators decide it by a posting. The posting table is in model.py. Contract: payment#disputes
"""

import msgspec

from kasuwa.core.decision import (
    Context,
    Decision,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
)
from kasuwa.core.money import format_minor
from kasuwa.ledger import chart
from kasuwa.methods.disputes.model import ALREADY_ENDED, LOST, UNKNOWN_DISPUTE, WON, Dispute, dispute_key
from kasuwa.methods.disputes.rules.card_of_dispute import pay_card, take_card
from kasuwa.methods.disputes.rules.debt import debt_job
from kasuwa.methods.disputes.rules.end_dispute import LOST_REASON, dispute_rows, end_dispute, take_groups
from kasuwa.methods.disputes.rules.open_dispute import WALLET_INSUFFICIENT, available_in, missing_accounts
from kasuwa.methods.disputes.rules.steps_of_dispute import reply_dispute, take_step, taken_postings
from kasuwa.methods.disputes.wire import DisputeChanged, OutcomeRequest
from kasuwa.methods.payment.model import Payment, payment_key
from kasuwa.methods.payment.rules.taken import take_from_purpose


def need_outcome(request: OutcomeRequest, merchant: Merchant) -> Needs:
    return Needs(dispute_rows(merchant.merchant_id, request.dispute_id))


def decide_outcome(
    request: OutcomeRequest, context: Context, rows: LoadedRows
) -> Decision[DisputeChanged] | Refusal | NeedsMore:
    """Applies the decision of the payer's bank, as a merchant simulates it in the test environment. There it may also
    contradict the first one. In live a rail alone does that: one operator must not give money back."""
    dispute = rows.get(Dispute, dispute_key(context.merchant.merchant_id, request.dispute_id))
    if dispute is None:
        return UNKNOWN_DISPUTE
    if dispute.is_open:
        return end_dispute(dispute, request.outcome, context, rows)
    if context.merchant.environment != "test" or not contradicts(dispute, request.outcome):
        return ALREADY_ENDED
    return correct_dispute(dispute, request.outcome, context, rows)


def contradicts(dispute: Dispute, outcome: str) -> bool:
    """Whether an outcome is not how a dispute has ended."""
    return (dispute.state == WON) != (outcome == WON)


def correct_dispute(
    dispute: Dispute, outcome: str, context: Context, rows: LoadedRows
) -> Decision[DisputeChanged] | NeedsMore:
    """Ends a dispute otherwise than it has ended. `seen` has its `dispute_rows`."""
    key = payment_key(dispute.merchant_id, dispute.txn_ref)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Payment, key),)))
    missing = missing_accounts(dispute.method, dispute.currency, dispute.merchant_id, rows)
    if missing is not None:
        return missing
    payment = rows.get(Payment, key)
    assert payment is not None
    return give_back(dispute, payment, context, rows) if outcome == WON else take_again(dispute, payment, context, rows)


def give_back(
    dispute: Dispute, payment: Payment, context: Context, rows: LoadedRows
) -> Decision[DisputeChanged] | NeedsMore:
    """Gives amount, fee and VAT back to the wallet. A debt of the dispute that is still owed is then collected."""
    postings = tuple(
        Posting(posting.credit, posting.debit, posting.amount, posting.kind) for posting in taken_postings(dispute)
    )
    step = take_step(msgspec.structs.replace(dispute, state=WON, ended_at=context.now), WON, context)
    owed = -available_in(chart.dispute_debt(dispute.currency), dispute.merchant_id, rows)
    debts = debt_job(dispute.currency, context.now, context, rows) if owed > 0 else ()
    card = take_card(dispute, step.row, payment, context)
    taken = take_from_purpose(payment, -dispute.amount, "dispute won", context, rows)
    if isinstance(taken, NeedsMore):
        return taken
    decision = Decision(
        reply=reply_dispute(step.row),
        groups=(PostingGroup(dispute.dispute_id, WALLET_INSUFFICIENT, postings=postings),),
        rows=(step.row, msgspec.structs.replace(taken.payment, disputed=payment.disputed - dispute.amount)),
        jobs=(*step.jobs, *debts, *(() if card is None else (card,))),
        events=(step.event,),
        follow_up=card,
    )
    decision.add(taken.effects)
    return decision


def take_again(
    dispute: Dispute, payment: Payment, context: Context, rows: LoadedRows
) -> Decision[DisputeChanged] | NeedsMore:
    """Takes amount, fee and VAT although the dispute was won before. Its hold is gone: all of it is owed, and collected
    from the wallet at once."""
    if payment.undisputed < dispute.amount:
        return Decision(reply=reply_dispute(dispute), notices=(explain_refunded(dispute, payment),))
    step = take_step(msgspec.structs.replace(dispute, state=LOST, ended_at=context.now), LOST, context)
    debts = debt_job(dispute.currency, context.now, context, rows)
    card = pay_card(step.row, payment, context)
    taken = take_from_purpose(payment, dispute.amount, LOST_REASON, context, rows)
    if isinstance(taken, NeedsMore):
        return taken
    decision = Decision(
        reply=reply_dispute(step.row),
        groups=take_groups(dispute, covered=0, held=None),
        rows=(step.row, msgspec.structs.replace(taken.payment, disputed=payment.disputed + dispute.amount)),
        jobs=(*step.jobs, *debts, *(() if card is None else (card,))),
        events=(step.event,),
        follow_up=card,
    )
    decision.add(taken.effects)
    return decision


def explain_refunded(dispute: Dispute, payment: Payment) -> OperatorNotice:
    amount, rest = (f"{dispute.currency} {format_minor(minor)}" for minor in (dispute.amount, payment.undisputed))
    message = (
        f"the dispute of {dispute.txn_ref} was won, and its rail now says lost: it took {amount}, but only {rest} was "
        "not refunded or disputed since. Propose a posting of what the merchant owes"
    )
    return OperatorNotice(dispute.dispute_id, message)
