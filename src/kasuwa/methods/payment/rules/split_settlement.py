"""Where a payment's money goes: fee, VAT, the parts of a split, and the merchant's rest, at once or on a later day.

What is to be moved on a later day is gathered: one row and one job for each owner, day and currency, however many
payments add to it. A merchant that settles T+n has its money in `settling:<day>` until then; a beneficiary's part lies
in its own account and is paid out to its bank by a transfer, without a fee.

    settlement   settling:<day> → wallet
    payout       beneficiary:<ref_code> → rail:bank   (a transfer: see disburse)
"""

from datetime import datetime, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment, settlement_time
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
)
from kasuwa.core.purpose import PurposeEffects, PurposeRules, TransactionPurpose
from kasuwa.core.references import job_key, opaque_id, row_key
from kasuwa.core.splits import split_amount
from kasuwa.core.transactions import SUCCESSFUL, Transaction
from kasuwa.ledger import chart
from kasuwa.methods.disburse.rules.transfer import TransferDetail, send_money
from kasuwa.methods.payment.model import WALLET_INSUFFICIENT, Payment, PaymentDetail, rail_account
from kasuwa.methods.payment.wire import BeneficiaryRequest
from kasuwa.methods.payment.wire_reply import BeneficiaryReply
from kasuwa.rails.ports import Answer

SETTLE = "settlement.settle"
PAY_OUT = "payout.send"
LANE = "schedule"

DUE = "due"
SENT = "sent"
DONE = "done"

SETTLEMENT = "settlement"
PAYOUT = "payout"


class Beneficiary(Row):
    """Somebody who gets a part of split payments, and the account it is paid out to."""

    table: ClassVar[str] = "beneficiary"

    ref_code: str
    name: str
    bank_code: str
    account_number: str
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return False


def beneficiary_key(merchant_id: int, ref_code: str) -> bytes:
    return row_key(merchant_id, "beneficiary", ref_code)


def need_beneficiary(request: BeneficiaryRequest, merchant: Merchant) -> Needs:
    return Needs()


def decide_beneficiary(request: BeneficiaryRequest, context: Context, seen: LoadedRows) -> Decision[BeneficiaryReply]:
    ref_code = opaque_id("RS", context.entropy)
    key = beneficiary_key(context.merchant.merchant_id, ref_code)
    row = Beneficiary(
        key,
        context.merchant.merchant_id,
        ref_code,
        request.name,
        request.bank_code,
        request.account_number,
        context.now,
    )
    return Decision(reply=BeneficiaryReply(ref_code=ref_code), rows=(row,))


# --- gathering ------------------------------------------------------------------------------------------------------


class SettlementBatch(Row):
    """Money that is moved on one day: a merchant's settlement, or a beneficiary's payout."""

    table: ClassVar[str] = "gathering"
    mutable_columns: ClassVar[tuple[str, ...]] = ("amount", "state")

    kind: str
    owner: str
    day: str
    currency: str
    amount: int
    state: str

    @property
    def reference(self) -> str:
        return batch_reference(self.kind, self.owner, self.day, self.currency)


def batch_reference(kind: str, owner: str, day: str, currency: str) -> str:
    return f"{kind} {owner} {day} {currency}"


def settlement_batch_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, "gathering", reference)


class BatchAddition(msgspec.Struct, frozen=True):
    """An amount to be added to what is gathered for a day."""

    kind: str
    owner: str
    due: datetime
    currency: str
    amount: int

    @property
    def reference(self) -> str:
        return batch_reference(self.kind, self.owner, f"{lagos_day(self.due):%Y%m%d}", self.currency)

    def key(self, merchant_id: int) -> bytes:
        return settlement_batch_key(merchant_id, self.reference)


def add_to_batch(
    addition: BatchAddition, context: Context, seen: LoadedRows
) -> tuple[SettlementBatch, tuple[Job, ...]]:
    merchant_id = context.merchant.merchant_id
    key = addition.key(merchant_id)
    found = seen.get(SettlementBatch, key)
    if found is not None and found.state == DUE:
        return msgspec.structs.replace(found, amount=found.amount + addition.amount), ()
    day = f"{lagos_day(addition.due):%Y%m%d}"
    row = SettlementBatch(key, merchant_id, addition.kind, addition.owner, day, addition.currency, addition.amount, DUE)
    kind = SETTLE if addition.kind == SETTLEMENT else PAY_OUT
    job = Job(
        job_key(key),
        merchant_id,
        kind,
        LANE,
        addition.reference,
        key,
        addition.due,
        addition.due,
        None,
        0,
        0,
        None,
        "{}",
    )
    return row, (job,)


# --- settling -------------------------------------------------------------------------------------------------------


class SettlementEffects(msgspec.Struct, frozen=True):
    """What a successful payment moves, and what it adds to later days."""

    posts: tuple[Posting, ...] = ()
    rows: tuple[Row, ...] = ()
    jobs: tuple[Job, ...] = ()


def pending_settlement_account(due: datetime, currency: str) -> str:
    return f"settling:{lagos_day(due):%Y%m%d}:{currency}"


def beneficiary_account(ref_code: str, currency: str) -> str:
    return f"beneficiary:{ref_code}:{currency}"


def fee_posts(row: Transaction, payer: str) -> tuple[Posting, ...]:
    posts = (
        Posting(payer, chart.income("collection", row.currency), row.fee, "collection fee"),
        Posting(payer, chart.tax("vat", row.currency), row.vat, "VAT on fee"),
    )
    return tuple(post for post in posts if post.amount)


def settle_payment(
    row: Transaction, payment: Payment, detail: PaymentDetail, context: Context, seen: LoadedRows
) -> SettlementEffects | NeedsMore:
    """The postings of a payment whose money is the merchant's; a purpose that takes it whole has its own."""
    if detail.purpose is not None and context.purposes[detail.purpose.purpose].destination_account is not None:
        return SettlementEffects()
    if not payment.charged:
        return SettlementEffects()
    days = context.merchant.settlement_days
    due = settlement_time(context.now, days)
    place = pending_settlement_account(due, row.currency) if days else chart.wallet(row.currency)
    parts = split_amount(payment.settled, detail.split)
    wanted = plan_payouts(detail, parts, due, row.currency)
    rest = payment.settled - sum(parts)
    if days and rest:
        wanted.append(BatchAddition(SETTLEMENT, "merchant", due, row.currency, rest))
    unseen = [one for one in wanted if not seen.is_loaded(one.key(row.merchant_id))]
    if unseen:
        return NeedsMore(need_batches(wanted, place, row))
    gathered = [add_to_batch(one, context, seen) for one in wanted]
    shares = tuple(
        Posting(place, beneficiary_account(part.ref_code, row.currency), amount, "split")
        for part, amount in zip(detail.split, parts, strict=True)
        if amount
    )
    paid = Posting(rail_account(payment.method, row.currency), place, payment.charged, "payment")
    return SettlementEffects(
        posts=(paid, *fee_posts(row, place), *shares),
        rows=tuple(found for found, _ in gathered),
        jobs=tuple(job for _, jobs in gathered for job in jobs),
    )


def plan_payouts(
    detail: PaymentDetail, parts: tuple[int, ...], settled_at: datetime, currency: str
) -> list[BatchAddition]:
    """Each part is paid out with the first daily run after the money is settled. Contract: payment#split"""
    due = lagos_moment(lagos_day(settled_at) + timedelta(days=1))
    return [
        BatchAddition(PAYOUT, part.ref_code, due, currency, amount)
        for part, amount in zip(detail.split, parts, strict=True)
        if amount
    ]


def need_batches(wanted: list[BatchAddition], place: str, row: Transaction) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = tuple((SettlementBatch, one.key(row.merchant_id)) for one in wanted)
    owners = [beneficiary_account(one.owner, row.currency) for one in wanted if one.kind == PAYOUT]
    return Needs(rows, (place, *owners))


# --- the day has come -------------------------------------------------------------------------------------------------


def need_due_batch(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    kind, owner, day, currency = job.reference.split(" ")
    rows: tuple[tuple[type[Row], bytes], ...] = ((SettlementBatch, job.subject), (Job, job.key))
    if kind == SETTLEMENT:
        return Needs(rows, (f"settling:{day}:{currency}", chart.wallet(currency)))
    beneficiary = (Beneficiary, beneficiary_key(merchant.merchant_id, owner))
    return Needs((*rows, beneficiary), (beneficiary_account(owner, currency), chart.wallet(currency)))


def decide_due_batch(job: Job, answer: Answer, context: Context, seen: LoadedRows) -> Decision:
    row, current_job = seen.get(SettlementBatch, job.subject), seen.get(Job, job.key)
    if row is None or current_job is None or row.state != DUE:
        return Decision(jobs_done=() if current_job is None else (current_job,))
    if row.kind == SETTLEMENT:
        post = Posting(f"settling:{row.day}:{row.currency}", chart.wallet(row.currency), row.amount, "settlement")
        done = msgspec.structs.replace(row, state=DONE)
        return Decision(
            groups=(PostingGroup(row.reference, WALLET_INSUFFICIENT, postings=(post,)),),
            rows=(done,),
            jobs_done=(current_job,),
        )
    return send_payout(row, current_job, context, seen)


def send_payout(row: SettlementBatch, job: Job, context: Context, seen: LoadedRows) -> Decision:
    beneficiary = seen.get(Beneficiary, beneficiary_key(row.merchant_id, row.owner))
    assert beneficiary is not None
    order = TransferDetail(
        beneficiary.bank_code,
        beneficiary.account_number,
        context.merchant.name,
        f"Payout {row.day}",
        beneficiary_account(row.owner, row.currency),
        TransactionPurpose(PAYOUT, row.reference),
    )
    decision = send_money(order, row.amount, context, context.number, reference_type="PO", is_free=True)
    decision.rows = (*decision.rows, msgspec.structs.replace(row, state=SENT))
    decision.jobs_done = (job,)
    return decision


def need_payout(merchant: Merchant, reference: str) -> Needs:
    return Needs(((SettlementBatch, settlement_batch_key(merchant.merchant_id, reference)),))


def end_payout(row: Transaction, reference: str, context: Context, seen: LoadedRows) -> PurposeEffects:
    """Paid out, or tried again tomorrow: the money is still in the beneficiary's account."""
    batch = seen.get(SettlementBatch, settlement_batch_key(row.merchant_id, reference))
    assert batch is not None
    if not row.is_final:
        return PurposeEffects()
    if row.status == SUCCESSFUL:
        return PurposeEffects(rows=(msgspec.structs.replace(batch, state=DONE),))
    due = lagos_moment(lagos_day(context.now) + timedelta(days=1))
    key = job_key(batch.key)
    again = Job(key, row.merchant_id, PAY_OUT, LANE, reference, batch.key, due, due, None, 0, 0, None, "{}")
    notice = OperatorNotice(row.txn_ref, f"the payout {reference} failed ({row.message}) and is tried again tomorrow")
    return PurposeEffects(rows=(msgspec.structs.replace(batch, state=DUE),), jobs=(again,), notices=(notice,))


SPLIT_PAYOUT = PurposeRules(PAYOUT, need_payout, end_payout)
