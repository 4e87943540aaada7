"""Settlement of successful payments: fee, VAT, the parts of a split, and the rest to the merchant.

Money that moves on a later day is collected in settlement batches (settlement_model.py). A merchant that settles T+n
has its money in `settling:<day>` until then. A beneficiary's part is in its own account and is paid out to its bank by
a transfer without a fee.

    settlement   settling:<day> → wallet
    reserve      reserve:<day> → wallet               (a part of each payment, kept back for some days)
    payout       beneficiary:<ref_code> → rail:bank   (a transfer: see disburse)

Contract: payment#split
"""

from datetime import date, datetime, timedelta

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
    make_job,
)
from kasuwa.core.references import job_key, opaque_id
from kasuwa.ledger import chart
from kasuwa.methods.disburse.model import TransferDetail
from kasuwa.methods.disburse.rules.transfer import send_money
from kasuwa.methods.payment.model import WALLET_INSUFFICIENT, Payment, PaymentDetail, rail_account
from kasuwa.methods.payment.settlement_model import (
    DONE,
    DUE,
    PAYOUT,
    RESERVE,
    SENT,
    SETTLEMENT,
    Beneficiary,
    SettlementBatch,
    batch_reference,
    beneficiary_account,
    beneficiary_key,
    pending_settlement_account,
    reserve_account,
    settlement_batch_key,
)
from kasuwa.methods.payment.wire import BeneficiaryRequest
from kasuwa.methods.payment.wire_reply import BeneficiaryReply
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.reserve import ReserveTerms, reserve_part
from kasuwa.transactions.purpose import PurposeRules, TransactionEffects, TransactionPurpose, get_purpose_rules
from kasuwa.transactions.settlements import SettlementMovement, make_settlement_event
from kasuwa.transactions.splits import split_amount
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, encode_text

SETTLE = "settlement.settle"
PAY_OUT = "payout.send"
RELEASE = "settlement.release"
JOB_KINDS = {SETTLEMENT: SETTLE, PAYOUT: PAY_OUT, RESERVE: RELEASE}
LANE = "schedule"
# Accounts in which money waits for its day, by the kind of its batch.
WAITING_ACCOUNTS = {SETTLEMENT: "settling", RESERVE: "reserve"}


def need_beneficiary(request: BeneficiaryRequest, merchant: Merchant) -> Needs:
    return Needs()


def decide_beneficiary(request: BeneficiaryRequest, context: Context, rows: LoadedRows) -> Decision[BeneficiaryReply]:
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


# --- batches --------------------------------------------------------------------------------------------------------


class BatchAddition(msgspec.Struct, frozen=True):
    """An amount to add to the batch of an owner and day."""

    kind: str
    owner: str
    due: datetime
    currency: str
    amount: int
    # Of a settlement: fee, VAT, split parts and reserve, which were deducted before the amount was left.
    deductions: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def reference(self) -> str:
        return batch_reference(self.kind, self.owner, f"{lagos_day(self.due):%Y%m%d}", self.currency)

    def key(self, merchant_id: int) -> bytes:
        return settlement_batch_key(merchant_id, self.reference)


class BatchJobData(msgspec.Struct, frozen=True):
    """The data of the job of a due batch. Stored as `Job.work`."""

    kind: str
    owner: str
    day: str  # YYYYMMDD
    currency: str


BATCH_JOB_DECODER: "msgspec.json.Decoder[BatchJobData]" = msgspec.json.Decoder(BatchJobData)


def add_to_batch(
    addition: BatchAddition, context: Context, rows: LoadedRows
) -> tuple[SettlementBatch, tuple[Job, ...]]:
    """Adds an amount to its batch. Creates the batch and its job if there is none that is still due."""
    merchant_id = context.merchant.merchant_id
    key = addition.key(merchant_id)
    batch = rows.get(SettlementBatch, key)
    fee, vat, split, reserved = addition.deductions
    if batch is not None and batch.state == DUE:
        added = msgspec.structs.replace(
            batch,
            amount=batch.amount + addition.amount,
            fee=batch.fee + fee,
            vat=batch.vat + vat,
            split=batch.split + split,
            reserved=batch.reserved + reserved,
        )
        return added, ()
    day = f"{lagos_day(addition.due):%Y%m%d}"
    row = SettlementBatch(
        key,
        merchant_id,
        addition.kind,
        addition.owner,
        day,
        addition.currency,
        addition.amount,
        DUE,
        *addition.deductions,
    )
    job = make_job(
        key=job_key(key),
        merchant_id=merchant_id,
        kind=JOB_KINDS[addition.kind],
        lane=LANE,
        reference=addition.reference,
        subject=key,
        due=addition.due,
        work=encode_text(BatchJobData(addition.kind, addition.owner, day, addition.currency)),
    )
    return row, (job,)


# --- settlement -----------------------------------------------------------------------------------------------------


def fee_posts(row: Transaction, payer: str) -> tuple[Posting, ...]:
    posts = (
        Posting(payer, chart.income("collection", row.currency), row.fee, "collection fee"),
        Posting(payer, chart.tax("vat", row.currency), row.vat, "collection VAT"),
    )
    return tuple(post for post in posts if post.amount)


def settle_payment(
    row: Transaction, payment: Payment, detail: PaymentDetail, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Posts a successful payment to the merchant, now or for a later day, and to its split.

    Returns no postings if a purpose takes the amount in full: its own rules post it.
    """
    if detail.purpose is not None and get_purpose_rules(detail.purpose, context).destination_account is not None:
        return TransactionEffects()
    if not payment.charged:
        return TransactionEffects()
    days = context.merchant.settlement_days
    due = settlement_time(context.now, days)
    destination = pending_settlement_account(due, row.currency) if days else chart.wallet(row.currency)
    parts = split_amount(payment.settled, detail.split)
    additions = plan_payouts(detail, parts, due, row.currency)
    rest = payment.settled - sum(parts)
    reserve = reserve_part(context.merchant.terms(ReserveTerms), payment.charged, rest)
    if reserve:
        additions.append(plan_reserve(reserve, due, row.currency, context))
    if days:
        deductions = (row.fee, row.vat, sum(parts), reserve)
        additions.append(BatchAddition(SETTLEMENT, "merchant", due, row.currency, rest - reserve, deductions))
    # The batch of a later day is asked for with its account, also by a payment of which the fee leaves nothing.
    if not all(rows.is_loaded(one.key(row.merchant_id)) for one in additions):
        return NeedsMore(need_batches(additions, destination, row))
    batches = [add_to_batch(one, context, rows) for one in additions if one.amount or any(one.deductions)]
    shares = tuple(
        Posting(destination, beneficiary_account(part.ref_code, row.currency), amount, "split")
        for part, amount in zip(detail.split, parts, strict=True)
        if amount
    )
    reserved = tuple(
        Posting(destination, reserve_account(one.due, row.currency), one.amount, "reserve")
        for one in additions
        if one.kind == RESERVE
    )
    paid = Posting(rail_account(payment.method, row.currency), destination, payment.charged, "payment")
    return TransactionEffects(
        posts=(paid, *fee_posts(row, destination), *shares, *reserved),
        rows=tuple(batch for batch, _ in batches),
        jobs=tuple(job for _, jobs in batches for job in jobs),
    )


def plan_payouts(
    detail: PaymentDetail, parts: tuple[int, ...], settled_at: datetime, currency: str
) -> list[BatchAddition]:
    """Returns the batch additions for the split parts, due the day after settlement. Contract: payment#split"""
    due = lagos_moment(lagos_day(settled_at) + timedelta(days=1))
    return [
        BatchAddition(PAYOUT, part.ref_code, due, currency, amount)
        for part, amount in zip(detail.split, parts, strict=True)
        if amount
    ]


def plan_reserve(amount: int, settled_at: datetime, currency: str, context: Context) -> BatchAddition:
    """Returns the batch addition for the part that is kept back, counted from the settlement day."""
    due = lagos_moment(lagos_day(settled_at) + timedelta(days=context.merchant.terms(ReserveTerms).days))
    return BatchAddition(RESERVE, "merchant", due, currency, amount)


def need_batches(additions: list[BatchAddition], destination: str, row: Transaction) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = tuple((SettlementBatch, one.key(row.merchant_id)) for one in additions)
    owners = [beneficiary_account(one.owner, row.currency) for one in additions if one.kind == PAYOUT]
    reserves = [reserve_account(one.due, row.currency) for one in additions if one.kind == RESERVE]
    return Needs(rows, (destination, *owners, *reserves))


# --- due batches ------------------------------------------------------------------------------------------------------


def need_due_batch(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    batch = BATCH_JOB_DECODER.decode(job.work)
    wallet = chart.wallet(batch.currency)
    rows: tuple[tuple[type[Row], bytes], ...] = ((SettlementBatch, job.subject), (Job, job.key))
    if batch.kind != PAYOUT:
        return Needs(rows, (f"{WAITING_ACCOUNTS[batch.kind]}:{batch.day}:{batch.currency}", wallet))
    beneficiary = (Beneficiary, beneficiary_key(merchant.merchant_id, batch.owner))
    return Needs((*rows, beneficiary), (beneficiary_account(batch.owner, batch.currency), wallet))


def decide_due_batch(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Settles a due batch to the wallet, or pays it out to the beneficiary's bank."""
    row, current_job = rows.get(SettlementBatch, job.subject), rows.get(Job, job.key)
    if row is None or current_job is None or row.state != DUE:
        return Decision(jobs_done=() if current_job is None else (current_job,))
    if row.kind == PAYOUT:
        return send_payout(row, current_job, context, rows)
    return credit_wallet(row, current_job, context)


def credit_wallet(row: SettlementBatch, job: Job, context: Context) -> Decision:
    """Moves a settlement, or a released reserve, to the wallet."""
    if not row.amount:
        # Fees and split parts have taken all of it. The batch has the lines of its settlement.
        return Decision(rows=(msgspec.structs.replace(row, state=DONE),), jobs_done=(job,))
    waiting = f"{WAITING_ACCOUNTS[row.kind]}:{row.day}:{row.currency}"
    kind, step = ("settlement", "settled") if row.kind == SETTLEMENT else ("reserve released", "released")
    post = Posting(waiting, chart.wallet(row.currency), row.amount, kind)
    moved = SettlementMovement(step=step, reference=row.reference, amount=row.amount, currency=row.currency)
    event, deliveries = make_settlement_event(moved, row, context)
    return Decision(
        groups=(PostingGroup(row.reference, WALLET_INSUFFICIENT, postings=(post,)),),
        rows=(msgspec.structs.replace(row, state=DONE),),
        jobs=deliveries,
        jobs_done=(job,),
        events=(event,),
    )


def send_payout(row: SettlementBatch, job: Job, context: Context, rows: LoadedRows) -> Decision:
    beneficiary = rows.get(Beneficiary, beneficiary_key(row.merchant_id, row.owner))
    assert beneficiary is not None
    order = TransferDetail(
        beneficiary.bank_code,
        beneficiary.account_number,
        context.merchant.name,
        f"Payout {row.day}",
        beneficiary_account(row.owner, row.currency),
        TransactionPurpose(PAYOUT, row.reference, beneficiary=row.owner),
    )
    decision = send_money(order, row.amount, context, context.number, reference_type="PO", is_free=True)
    decision.rows = (*decision.rows, msgspec.structs.replace(row, state=SENT))
    decision.jobs_done += (job,)
    return decision


def need_payout(merchant: Merchant, reference: str) -> Needs:
    return Needs(((SettlementBatch, settlement_batch_key(merchant.merchant_id, reference)),))


def end_payout(row: Transaction, reference: str, context: Context, rows: LoadedRows) -> TransactionEffects | NeedsMore:
    """Applies the end of a payout's transfer. The amount of a failed one is paid out with that of the next day, so that
    there is one transfer a day however many have failed. An operator is notified."""
    batch = rows.get(SettlementBatch, settlement_batch_key(row.merchant_id, reference))
    assert batch is not None
    if not row.is_final:
        return TransactionEffects()
    if row.status == SUCCESSFUL:
        return TransactionEffects(rows=(msgspec.structs.replace(batch, state=DONE),))
    due = lagos_moment(max(lagos_day(context.now), date.fromisoformat(batch.day)) + timedelta(days=1))
    addition = BatchAddition(PAYOUT, batch.owner, due, batch.currency, batch.amount)
    key = addition.key(row.merchant_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((SettlementBatch, key),)))
    following, jobs = add_to_batch(addition, context, rows)
    notice = OperatorNotice(row.txn_ref, f"the payout {reference} failed ({row.message}) and is tried again tomorrow")
    return TransactionEffects(
        rows=(msgspec.structs.replace(batch, state=DONE), following), jobs=jobs, notices=(notice,)
    )


SPLIT_PAYOUT = PurposeRules(PAYOUT, need_payout, end_payout)
