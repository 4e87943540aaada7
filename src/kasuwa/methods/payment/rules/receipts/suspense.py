"""Money in suspense: two operators assign it to a merchant, or have its rail return it to the sender.

    assigned    suspense:inbound → wallet          to the merchant in whose books it is
                suspense:inbound → rail:debit      to another merchant, in whose books
                rail:debit → wallet                it arrives
    returning   hold  suspense:inbound             the rail is asked to refund it, and asked after it
    returned    suspense:inbound → rail:debit
    failed      the hold is voided: it stays in suspense, and is decided anew

One receipt is decided once. The verdict of the operators is in the same commit (console/operator/manual_posting.py).
"""

from datetime import datetime, timedelta
from typing import ClassVar, Literal

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import (
    Context,
    Decision,
    HeldAmount,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
    Row,
    make_job,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key, movement_reference, row_key
from kasuwa.ledger import chart
from kasuwa.methods.payment.model import (
    JOB_DATA_DECODER,
    WALLET_INSUFFICIENT,
    PaymentJobData,
    count_from_sending,
    rail_account,
)
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import TRANSACTION_FACT, Answer
from kasuwa.transactions.inbound_accounts import ALREADY_DECIDED, MOVED_ON, NOT_IN_SUSPENSE, InboundReceipt, receipt_key
from kasuwa.transactions.requery import final_status, next_requery_at
from kasuwa.transactions.transactions import encode_text

SEND_RETURN, QUERY_RETURN = "payment.return_receipt", "payment.ask_return"
LANE = "debit"
METHOD = "bank_transfer"

ASSIGNED, RECEIVED, RETURNING, RETURNED, FAILED = "assigned", "received", "returning", "returned", "failed"

# Kinds of the postings.
ASSIGN_POSTING = "assigned from suspense"
RETURN_POSTING = "returned from suspense"


class SuspenseProposal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A proposal about a receipt in suspense. Stored as JSON within approval.proposal."""

    action: Literal["assign", "return"]
    rail: str
    rail_reference: str
    target_mid: str = ""  # who gets it
    target_id: int = 0  # the merchant who gets it, if it is another one than the one in whose books it is


class SuspenseDecision(Row):
    """The decision about money in suspense, and how far it is."""

    table: ClassVar[str] = "suspense_decision"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "state",
        "approval_id",
        "other_merchant_id",
        "reference",
        "message",
        "decided_at",
    )

    rail: str
    rail_reference: str
    state: str
    amount: int
    currency: str
    approval_id: int
    other_merchant_id: int  # who got it, or whose suspense it was in; 0 if that is the same merchant
    reference: str  # ours, by which the rail knows the return
    message: str  # the rail's words, if it could not be returned
    decided_at: datetime

    @property
    def is_open(self) -> bool:
        return self.state == RETURNING


def decision_key(merchant_id: int, rail: str, rail_reference: str) -> bytes:
    return row_key(merchant_id, SuspenseDecision.table, f"{rail} {rail_reference}")


def choose_accounts(proposal: SuspenseProposal, currency: str) -> tuple[str, str]:
    """Returns (debit, credit) of the posting in the books that have the money in suspense."""
    to_wallet = proposal.action == "assign" and not proposal.target_id
    return chart.suspense(currency), chart.wallet(currency) if to_wallet else rail_account(METHOD, currency)


# --- the verdict ---------------------------------------------------------------------------------------------------


def need_suspense(proposal: SuspenseProposal, merchant_id: int) -> tuple[tuple[type[Row], bytes], ...]:
    place = (merchant_id, proposal.rail, proposal.rail_reference)
    return (SuspenseDecision, decision_key(*place)), (InboundReceipt, receipt_key(*place))


def decide_suspense(
    proposal: SuspenseProposal, approval_id: int, context: Context, rows: LoadedRows
) -> Decision | Refusal:
    """Applies an approved proposal in the books that have the money in suspense."""
    place = (context.merchant.merchant_id, proposal.rail, proposal.rail_reference)
    receipt, known = rows.get(InboundReceipt, receipt_key(*place)), rows.get(SuspenseDecision, decision_key(*place))
    if receipt is None or receipt.txn_ref:
        return NOT_IN_SUSPENSE
    if known is not None and known.state != FAILED:
        return ALREADY_DECIDED
    row = make_decision(proposal, receipt, approval_id, context)
    if proposal.action == "return":
        return begin_return(row, receipt, context)
    posting = Posting(*choose_accounts(proposal, receipt.currency), receipt.amount, ASSIGN_POSTING)
    group = PostingGroup(f"approval {approval_id}", MOVED_ON, postings=(posting,))
    return Decision(rows=(row,), groups=(group,))


def make_decision(
    proposal: SuspenseProposal, receipt: InboundReceipt, approval_id: int, context: Context
) -> SuspenseDecision:
    is_return = proposal.action == "return"
    number = context.permutation(context.number)
    return SuspenseDecision(
        key=decision_key(receipt.merchant_id, receipt.rail, receipt.rail_reference),
        merchant_id=receipt.merchant_id,
        rail=receipt.rail,
        rail_reference=receipt.rail_reference,
        state=RETURNING if is_return else ASSIGNED,
        amount=receipt.amount,
        currency=receipt.currency,
        approval_id=approval_id,
        other_merchant_id=proposal.target_id,
        reference=movement_reference("RF", number, lagos_day(context.now)) if is_return else "",
        message="",
        decided_at=context.now,
    )


def begin_return(row: SuspenseDecision, receipt: InboundReceipt, context: Context) -> Decision:
    """Holds the money and has its rail refund it."""
    work = PaymentJobData(
        sent_at=context.now.timestamp(),
        method=METHOD,
        amount=row.amount,
        currency=row.currency,
        session=row.rail_reference,
        refund_of=row.rail_reference,
        vendor=row.rail,
        rail_facts={TRANSACTION_FACT: row.rail_reference},
    )
    job = make_job(
        key=job_key(row.key),
        merchant_id=row.merchant_id,
        kind=SEND_RETURN,
        lane=LANE,
        reference=row.reference,
        subject=row.key,
        due=context.now,
        work=encode_text(work),
        rail=row.rail,
        rail_account=receipt.rail_account,
    )
    group = PostingGroup(row.reference, MOVED_ON, holds=find_held(row))
    return Decision(rows=(row,), groups=(group,), jobs=(job,), numbers_used=1)


def find_held(row: SuspenseDecision) -> HeldAmount:
    """Returns what is held in suspense while the rail refunds it."""
    return HeldAmount(chart.suspense(row.currency), row.amount)


# --- the books of the merchant who gets it ---------------------------------------------------------------------------


class AssignedMoney(msgspec.Struct, frozen=True):
    """Money that was assigned to a merchant out of another one's suspense."""

    rail: str
    rail_reference: str
    amount: int
    currency: str
    approval_id: int
    from_merchant_id: int


def need_assigned(money: AssignedMoney, merchant: Merchant) -> Needs:
    key = decision_key(merchant.merchant_id, money.rail, money.rail_reference)
    return Needs(((SuspenseDecision, key),), (rail_account(METHOD, money.currency), chart.wallet(money.currency)))


def decide_assigned(money: AssignedMoney, context: Context, rows: LoadedRows) -> Decision:
    """Books it to the wallet, once. Its submission may be repeated after a crash."""
    key = decision_key(context.merchant.merchant_id, money.rail, money.rail_reference)
    if rows.get(SuspenseDecision, key) is not None:
        return Decision()
    row = SuspenseDecision(
        key=key,
        merchant_id=context.merchant.merchant_id,
        rail=money.rail,
        rail_reference=money.rail_reference,
        state=RECEIVED,
        amount=money.amount,
        currency=money.currency,
        approval_id=money.approval_id,
        other_merchant_id=money.from_merchant_id,
        reference="",
        message="",
        decided_at=context.now,
    )
    accounts = rail_account(METHOD, money.currency), chart.wallet(money.currency)
    posting = Posting(*accounts, money.amount, ASSIGN_POSTING)
    group = PostingGroup(f"approval {money.approval_id}", WALLET_INSUFFICIENT, postings=(posting,))
    return Decision(rows=(row,), groups=(group,))


# --- the rail's answer to a return ---------------------------------------------------------------------------------


def need_return_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    currency = JOB_DATA_DECODER.decode(job.work).currency
    rows = (SuspenseDecision, job.subject), (Job, job.key)
    return Needs(rows, (chart.suspense(currency), rail_account(METHOD, currency)))


def decide_return_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Ends the return, or has the rail asked again on the requery schedule."""
    row, current = rows.get(SuspenseDecision, job.subject), rows.get(Job, job.key)
    if row is None or current is None or current.reference != job.reference or row.state != RETURNING:
        return Decision()
    is_sent = job.kind == SEND_RETURN and answer.status != orders.UNAVAILABLE
    work = count_from_sending(JOB_DATA_DECODER.decode(current.work), is_sent, context.now)
    age = context.now.timestamp() - work.sent_at
    ending = final_status(answer, age)
    notices = (OperatorNotice(row.reference, answer.notice),) if answer.notice and not current.attempt else ()
    if ending is None:
        kind = SEND_RETURN if answer.status == orders.UNAVAILABLE and current.kind == SEND_RETURN else QUERY_RETURN
        due = max(next_requery_at(context.now, age), context.now + timedelta(seconds=answer.retry_after))
        if "refund_id" in answer.facts:
            work = msgspec.structs.replace(work, rail_facts={**work.rail_facts, "refund_id": answer.facts["refund_id"]})
        again = msgspec.structs.replace(
            current, kind=kind, due=due, attempt=current.attempt + 1, work=encode_text(work), is_rail_fixed=True
        )
        return Decision(jobs=(again,), notices=notices)
    is_returned = ending == orders.SUCCESSFUL
    accounts = chart.suspense(row.currency), rail_account(METHOD, row.currency)
    group = PostingGroup(
        row.reference,
        WALLET_INSUFFICIENT,
        postings=(Posting(*accounts, row.amount, RETURN_POSTING),) if is_returned else (),
        releases=find_held(row),
    )
    ended = msgspec.structs.replace(
        row, state=RETURNED if is_returned else FAILED, message="" if is_returned else answer.message
    )
    notice_text = (
        f"{row.currency} {format_minor(row.amount)} of {row.rail} {row.rail_reference} could not be returned and stays "
        f"in suspense: {answer.message}"
    )
    failed = () if is_returned else (OperatorNotice(row.reference, notice_text),)
    return Decision(rows=(ended,), groups=(group,), jobs_done=(current,), notices=(*notices, *failed))
