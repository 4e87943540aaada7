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

from kasuwa.core.calendar import lagos_day, moment_of, settlement_time
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, More, Needs, Notice, Post, Row, Seen
from kasuwa.core.purpose import Addition, Errand, Purpose
from kasuwa.core.references import job_key, opaque_id, row_key
from kasuwa.core.splits import share_out
from kasuwa.core.transactions import SUCCESSFUL, Transaction
from kasuwa.ledger import chart
from kasuwa.methods.disburse.decide import Order, send_money
from kasuwa.methods.payment.decide import WALLET_SHORT, Detail, Payment, rail_account
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


def decide_beneficiary(request: BeneficiaryRequest, context: Context, seen: Seen) -> Decision:
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


class Gathering(Row):
    """Money that is moved on one day: a merchant's settlement, or a beneficiary's payout."""

    table: ClassVar[str] = "gathering"
    changing: ClassVar[tuple[str, ...]] = ("amount", "state")

    kind: str
    owner: str
    day: str
    currency: str
    amount: int
    state: str

    @property
    def reference(self) -> str:
        return gathering_reference(self.kind, self.owner, self.day, self.currency)


def gathering_reference(kind: str, owner: str, day: str, currency: str) -> str:
    return f"{kind} {owner} {day} {currency}"


def gathering_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, "gathering", reference)


class Gather(msgspec.Struct, frozen=True):
    """An amount to be added to what is gathered for a day."""

    kind: str
    owner: str
    due: datetime
    currency: str
    amount: int

    @property
    def reference(self) -> str:
        return gathering_reference(self.kind, self.owner, f"{lagos_day(self.due):%Y%m%d}", self.currency)

    def key(self, merchant_id: int) -> bytes:
        return gathering_key(merchant_id, self.reference)


def gather(wanted: Gather, context: Context, seen: Seen) -> tuple[Gathering, tuple[Job, ...]]:
    merchant_id = context.merchant.merchant_id
    key = wanted.key(merchant_id)
    found = seen.get(Gathering, key)
    if found is not None and found.state == DUE:
        return msgspec.structs.replace(found, amount=found.amount + wanted.amount), ()
    day = f"{lagos_day(wanted.due):%Y%m%d}"
    row = Gathering(key, merchant_id, wanted.kind, wanted.owner, day, wanted.currency, wanted.amount, DUE)
    kind = SETTLE if wanted.kind == SETTLEMENT else PAY_OUT
    job = Job(
        job_key(key), merchant_id, kind, LANE, wanted.reference, key, wanted.due, wanted.due, None, 0, 0, None, "{}"
    )
    return row, (job,)


# --- settling -------------------------------------------------------------------------------------------------------


class Settling(msgspec.Struct, frozen=True):
    """What a successful payment moves, and what it adds to later days."""

    posts: tuple[Post, ...] = ()
    rows: tuple[Row, ...] = ()
    jobs: tuple[Job, ...] = ()


def settling_account(due: datetime, currency: str) -> str:
    return f"settling:{lagos_day(due):%Y%m%d}:{currency}"


def beneficiary_account(ref_code: str, currency: str) -> str:
    return f"beneficiary:{ref_code}:{currency}"


def fee_posts(row: Transaction, payer: str) -> tuple[Post, ...]:
    posts = (
        Post(payer, chart.income("collection", row.currency), row.fee, "collection fee"),
        Post(payer, chart.tax("vat", row.currency), row.vat, "VAT on fee"),
    )
    return tuple(post for post in posts if post.amount)


def settle(row: Transaction, payment: Payment, detail: Detail, context: Context, seen: Seen) -> Settling | More:
    """The postings of a payment whose money is the merchant's; a purpose that takes it whole has its own."""
    if detail.errand is not None and context.purposes[detail.errand.purpose].account is not None:
        return Settling()
    if not payment.charged:
        return Settling()
    days = context.merchant.settlement_days
    due = settlement_time(context.now, days)
    place = settling_account(due, row.currency) if days else chart.wallet(row.currency)
    parts = share_out(payment.settled, detail.split)
    wanted = payouts(detail, parts, due, row.currency)
    rest = payment.settled - sum(parts)
    if days and rest:
        wanted.append(Gather(SETTLEMENT, "merchant", due, row.currency, rest))
    unseen = [one for one in wanted if not seen.has(one.key(row.merchant_id))]
    if unseen:
        return More(need_gatherings(wanted, place, row))
    gathered = [gather(one, context, seen) for one in wanted]
    shares = tuple(
        Post(place, beneficiary_account(part.ref_code, row.currency), amount, "split")
        for part, amount in zip(detail.split, parts, strict=True)
        if amount
    )
    paid = Post(rail_account(payment.method, row.currency), place, payment.charged, "payment")
    return Settling(
        posts=(paid, *fee_posts(row, place), *shares),
        rows=tuple(found for found, _ in gathered),
        jobs=tuple(job for _, jobs in gathered for job in jobs),
    )


def payouts(detail: Detail, parts: tuple[int, ...], settled_at: datetime, currency: str) -> list[Gather]:
    """Each part is paid out with the first daily run after the money is settled. Spec silent: D27"""
    due = moment_of(lagos_day(settled_at) + timedelta(days=1))
    return [
        Gather(PAYOUT, part.ref_code, due, currency, amount)
        for part, amount in zip(detail.split, parts, strict=True)
        if amount
    ]


def need_gatherings(wanted: list[Gather], place: str, row: Transaction) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = tuple((Gathering, one.key(row.merchant_id)) for one in wanted)
    owners = [beneficiary_account(one.owner, row.currency) for one in wanted if one.kind == PAYOUT]
    return Needs(rows, (place, *owners))


# --- the day has come -------------------------------------------------------------------------------------------------


def need_gathered(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    kind, owner, day, currency = job.reference.split(" ")
    rows: tuple[tuple[type[Row], bytes], ...] = ((Gathering, job.subject), (Job, job.key))
    if kind == SETTLEMENT:
        return Needs(rows, (f"settling:{day}:{currency}", chart.wallet(currency)))
    beneficiary = (Beneficiary, beneficiary_key(merchant.merchant_id, owner))
    return Needs((*rows, beneficiary), (beneficiary_account(owner, currency), chart.wallet(currency)))


def decide_gathered(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision:
    row, here = seen.get(Gathering, job.subject), seen.get(Job, job.key)
    if row is None or here is None or row.state != DUE:
        return Decision(jobs_done=() if here is None else (here,))
    if row.kind == SETTLEMENT:
        post = Post(f"settling:{row.day}:{row.currency}", chart.wallet(row.currency), row.amount, "settlement")
        done = msgspec.structs.replace(row, state=DONE)
        return Decision(groups=(Group(row.reference, WALLET_SHORT, posts=(post,)),), rows=(done,), jobs_done=(here,))
    return send_payout(row, here, context, seen)


def send_payout(row: Gathering, job: Job, context: Context, seen: Seen) -> Decision:
    beneficiary = seen.get(Beneficiary, beneficiary_key(row.merchant_id, row.owner))
    assert beneficiary is not None
    order = Order(
        beneficiary.bank_code,
        beneficiary.account_number,
        context.merchant.name,
        f"Payout {row.day}",
        beneficiary_account(row.owner, row.currency),
        Errand(PAYOUT, row.reference),
    )
    decision = send_money(order, row.amount, context, context.number, letters="PO", free=True)
    decision.rows = (*decision.rows, msgspec.structs.replace(row, state=SENT))
    decision.jobs_done = (job,)
    return decision


def need_payout(merchant: Merchant, reference: str) -> Needs:
    return Needs(((Gathering, gathering_key(merchant.merchant_id, reference)),))


def end_payout(row: Transaction, reference: str, context: Context, seen: Seen) -> Addition:
    """Paid out, or tried again tomorrow: the money is still in the beneficiary's account."""
    gathering = seen.get(Gathering, gathering_key(row.merchant_id, reference))
    assert gathering is not None
    if not row.is_final:
        return Addition()
    if row.status == SUCCESSFUL:
        return Addition(rows=(msgspec.structs.replace(gathering, state=DONE),))
    due = moment_of(lagos_day(context.now) + timedelta(days=1))
    key = job_key(gathering.key)
    again = Job(key, row.merchant_id, PAY_OUT, LANE, reference, gathering.key, due, due, None, 0, 0, None, "{}")
    notice = Notice(row.txn_ref, f"the payout {reference} failed ({row.message}) and is tried again tomorrow")
    return Addition(rows=(msgspec.structs.replace(gathering, state=DUE),), jobs=(again,), notices=(notice,))


SPLIT_PAYOUT = Purpose(PAYOUT, need_payout, end_payout)
