"""Holds a deposit that arrived above the limits of its client's tier, and ends it. held_model.py lists the postings.

One job ends it: at the time when the deposit goes back, or as soon as the client's tier has risen
(methods/clients/rules/manage_client.py makes it due). While a dispute of the payment is open, it waits. What disputes
took from the wallet meanwhile goes to the wallet. Contract: clients#held
"""

from collections.abc import Iterable
from datetime import timedelta

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Row,
    make_job,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, job_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import Client, client_key, held_key
from kasuwa.methods.clients.rules.check_limits import find_client, find_excess
from kasuwa.methods.investments.held_model import (
    END_HELD,
    HELD,
    RELEASED,
    RETURNED,
    HeldDeposit,
)
from kasuwa.methods.investments.model import CURRENCY, WALLET, Savings, SavingsChanges, has_unseen_rows, need_savings
from kasuwa.methods.investments.rules.post_interest import LANES
from kasuwa.methods.investments.rules.savings import receive_deposit
from kasuwa.methods.payment.model import (
    FACTS_DECODER,
    WALLET_INSUFFICIENT,
    Payment,
    payment_key,
    unapplied_account,
)
from kasuwa.methods.payment.model import KIND as PAYMENT
from kasuwa.methods.payment.rules.receipts.late_money import ABOVE_LIMIT, begin_return
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.client_tiers import TierTerms
from kasuwa.transactions.object_events import ObjectEvent, make_object_event
from kasuwa.transactions.purpose import HELD_INBOUND, PurposeRules, TakenEffects, TakenMoney, TransactionEffects
from kasuwa.transactions.transactions import Transaction, encode_text, transaction_key

EVENT = "held_deposit"
SUSPENSE = chart.suspense(CURRENCY)
# When a deposit is tried again that cannot end because its payment is disputed, or because its money was moved out of
# suspense by hand.
TRY_AGAIN = timedelta(days=1)
NOT_THERE = "{amount} of the held deposit {reference} is not in suspense:inbound any more: a manual posting moved it"
WALLET_HAS_BOTH = (
    "{amount} of the payment {reference} came back to the wallet, which was given it out of the held deposit before. "
    "The client lacks it: propose a posting, or have the merchant deposit it"
)


def hold_deposit(
    payment: Transaction, savings: Savings, excess: str, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Returns the effects of a deposit whose money is held instead of being saved."""
    held = hold_payment(payment, savings.client_id, excess, context, rows, savings_id=savings.savings_id)
    if isinstance(held, NeedsMore):
        return held
    held.posts = (Posting(chart.savings(savings.savings_id), SUSPENSE, payment.amount, "deposit held"),)
    return held


def hold_inbound(
    payment: Transaction, client_id: str, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Returns the effects of a transfer into a client's personalized account. The payment brings it to suspense."""
    excess = find_excess(client_id, payment.amount, context, rows, SUSPENSE)
    if isinstance(excess, NeedsMore):
        return excess
    return hold_payment(payment, client_id, excess, context, rows)


def hold_payment(
    payment: Transaction, client_id: str, excess: str, context: Context, rows: LoadedRows, savings_id: str = ""
) -> TransactionEffects | NeedsMore:
    client = find_client(client_id, context, rows)
    if isinstance(client, NeedsMore):
        return client
    held = HeldDeposit(
        key=held_key(payment.merchant_id, payment.txn_ref),
        merchant_id=payment.merchant_id,
        txn_ref=payment.txn_ref,
        savings_id=savings_id,
        client_id=client_id,
        amount=payment.amount,
        reason=excess,
        state=HELD,
        held_at=context.now,
        due_at=context.now + timedelta(days=context.merchant.terms(TierTerms).held_days),
    )
    job = make_job(
        key=job_key(held.key),
        merchant_id=held.merchant_id,
        kind=END_HELD,
        lane=LANES[0],
        reference=held.txn_ref,
        subject=held.key,
        due=held.due_at,
    )
    event = report(held, 1, context)
    text = f"NGN {format_minor(held.amount)} for client {client_id} is held until {utc_text(held.due_at)}: {excess}"
    return TransactionEffects(
        rows=(held, msgspec.structs.replace(client, held=",".join((*client.held_refs, held.txn_ref)))),
        jobs=(job, *event.jobs),
        events=(event.event,),
        notices=(OperatorNotice(held.txn_ref, text),),
    )


def need_inbound(merchant: Merchant, client_id: str) -> Needs:
    return Needs(((Client, client_key(merchant.merchant_id, client_id)),), (SUSPENSE,))


def suspense_account(client_id: str, currency: str) -> str:
    return SUSPENSE


def on_refund(client_id: str, amount: int, context: Context, rows: LoadedRows) -> TransactionEffects:
    """Returns no effects: what was released is the merchant's, and its wallet pays the refund."""
    return TransactionEffects()


def on_taken(taken: TakenMoney, context: Context, rows: LoadedRows) -> TakenEffects | NeedsMore:
    """Remembers what a dispute or the rail took of a payment while its deposit is held, or gave back."""
    key = held_key(context.merchant.merchant_id, taken.txn_ref)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((HeldDeposit, key),)))
    held = rows.get(HeldDeposit, key)
    if held is None:
        return TakenEffects()
    if held.state == HELD:
        return TakenEffects(rows=(msgspec.structs.replace(held, lost=max(0, held.lost + taken.amount)),))
    # What came into a personalized account is the wallet's either way once it was released.
    if taken.amount > 0 or not held.covered or (held.state == RELEASED and not held.savings_id):
        return TakenEffects()
    amount = format_minor(min(-taken.amount, held.covered))
    text = WALLET_HAS_BOTH.format(amount=amount, reference=held.txn_ref)
    return TakenEffects(notices=(OperatorNotice(held.txn_ref, text),))


HELD_PURPOSE_RULES = PurposeRules(
    HELD_INBOUND, need_inbound, hold_inbound, suspense_account, on_refund=on_refund, on_taken=on_taken
)


def held_object(txn_ref: str) -> str:
    """Returns the object of the events of a held deposit. The payment's own event, and its refunds', have another."""
    return f"{txn_ref}:held"


def report(held: HeldDeposit, number: int, context: Context) -> ObjectEvent:
    fields = {
        "txn_ref": held.txn_ref,
        "txn_status": "successful",
        "charged_amount": format_minor(held.amount),
        "payment_method": "wallet",
        "currency": CURRENCY,
        "savings_id": held.savings_id or None,
        "client_id": held.client_id,
        "step": held.state,
        "reason": held.reason,
        "held_until": utc_text(held.due_at),
    }
    return make_object_event(context, EVENT, held, held_object(held.txn_ref), number, fields)


# --- the end --------------------------------------------------------------------------------------------------------


def need_held(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    accounts = (SUSPENSE, WALLET, unapplied_account(CURRENCY))
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Job, job.key),
        (HeldDeposit, job.subject),
        (Account, account_key(merchant.merchant_id, SUSPENSE)),
        (Transaction, transaction_key(merchant.merchant_id, PAYMENT, job.reference)),
        (Payment, payment_key(merchant.merchant_id, job.reference)),
    )
    return Needs(rows, accounts)


def decide_held(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Releases a held deposit if its client may have it by now, and sends it back when its time is over."""
    current, held = rows.get(Job, job.key), rows.get(HeldDeposit, job.subject)
    if current is None or held is None or held.state != HELD:
        return Decision(jobs_done=() if current is None else (current,))
    needs = need_savings(held.merchant_id, (held.savings_id,) if held.savings_id else ())
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    excess = find_excess(held.client_id, held.rest, context, rows)
    if isinstance(excess, NeedsMore):
        return excess
    client = find_client(held.client_id, context, rows)
    if isinstance(client, NeedsMore):
        return client
    payment = rows.get(Payment, payment_key(held.merchant_id, held.txn_ref))
    assert payment is not None
    suspense = rows.get(Account, account_key(held.merchant_id, SUSPENSE))
    if suspense is None or suspense.available < held.amount:
        again = msgspec.structs.replace(current, due=context.now + TRY_AGAIN, attempt=current.attempt + 1)
        text = NOT_THERE.format(amount=format_minor(held.amount), reference=held.txn_ref)
        return Decision(jobs=(again,), notices=(OperatorNotice(held.txn_ref, text),))
    if excess and context.now < held.due_at:
        return Decision(jobs=(msgspec.structs.replace(current, due=held.due_at),))
    if payment.disputed > held.lost:  # by one that is open: nothing was taken by it yet, and it may be lost
        return Decision(jobs=(msgspec.structs.replace(current, due=context.now + TRY_AGAIN),))
    end = send_back if excess or not held.rest else release if held.savings_id else release_to_wallet
    decision = end(held, current, SavingsChanges(context, rows), context, rows)
    if isinstance(decision, Decision) and not held.savings_id:
        decision.rows = (*decision.rows, without_held(client, held))
    return decision


def release_to_wallet(
    held: HeldDeposit, job: Job, changes: SavingsChanges, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Brings what came into a personalized account to the merchant's wallet, without a fee. From then on it can be
    refunded."""
    payment = rows.get(Payment, payment_key(held.merchant_id, held.txn_ref))
    assert payment is not None
    facts = msgspec.structs.replace(FACTS_DECODER.decode(payment.facts), surplus=held.amount)
    refundable = msgspec.structs.replace(payment, facts=encode_text(facts))
    brought = Posting(SUSPENSE, WALLET, held.amount, "deposit released")
    group = PostingGroup(held.txn_ref, WALLET_INSUFFICIENT, postings=(brought,))
    return end_held(held, RELEASED, job, Decision(groups=(group,), rows=(refundable,)), context)


def release(
    held: HeldDeposit, job: Job, changes: SavingsChanges, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Brings the money to the savings, where it repays thrift debts first as any deposit."""
    changes.count_deposit(held.savings_id, -1)
    changes.record_own_movement(held.savings_id)
    more = receive_deposit(changes, held.savings_id, held.rest) or changes.missing_clients()
    if more is not None:
        return more
    brought = Posting(SUSPENSE, chart.savings(held.savings_id), held.rest, "deposit released")
    group = PostingGroup(held.txn_ref, WALLET_INSUFFICIENT, postings=(brought, *changes.posts))
    return end_held(held, RELEASED, job, Decision(groups=(group, *cover_loss(held)), rows=changes.rows), context)


def cover_loss(held: HeldDeposit) -> tuple[PostingGroup, ...]:
    """Returns the posting to the wallet of what disputes took from it, so that nobody gets that twice. The savings or
    the payer get the rest."""
    if not held.covered:
        return ()
    covers = Posting(SUSPENSE, WALLET, held.covered, "deposit kept for a dispute")
    return (PostingGroup(held.txn_ref, WALLET_INSUFFICIENT, postings=(covers,)),)


def send_back(
    held: HeldDeposit, job: Job, changes: SavingsChanges, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Refunds the payment, but for what disputes took of it from the wallet."""
    row = rows.get(Transaction, transaction_key(held.merchant_id, PAYMENT, held.txn_ref))
    payment = rows.get(Payment, payment_key(held.merchant_id, held.txn_ref))
    assert row is not None
    assert payment is not None
    if held.savings_id:
        changes.count_deposit(held.savings_id, -1)
        changes.close_emptied((held.savings_id,))
    more = changes.missing_clients()
    if more is not None:
        return more
    decision: Decision = Decision(groups=cover_loss(held), rows=changes.rows)
    if held.rest:
        decision.add(begin_return(row, payment, held.rest, ABOVE_LIMIT, context, source=SUSPENSE))
    return end_held(held, RETURNED, job, decision, context)


def end_held(held: HeldDeposit, state: str, job: Job, decision: Decision, context: Context) -> Decision:
    ended = msgspec.structs.replace(held, state=state, ended_at=context.now)
    event = report(ended, 2, context)
    decision.rows = (*forget_held(decision.rows, held), ended)
    decision.events += (event.event,)
    decision.jobs += event.jobs
    decision.jobs_done += (job,)
    return decision


def forget_held(rows: Iterable[Row], held: HeldDeposit) -> tuple[Row, ...]:
    """Returns the rows with the client that no longer has the held deposit."""
    return tuple(without_held(row, held) if isinstance(row, Client) else row for row in rows)


def without_held(client: Client, held: HeldDeposit) -> Client:
    if client.client_id != held.client_id:
        return client
    staying = [txn_ref for txn_ref in client.held_refs if txn_ref != held.txn_ref]
    return msgspec.structs.replace(client, held=",".join(staying))
