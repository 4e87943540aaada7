"""Charges that follow by themselves: recurrent payments and instalments.
Contract: payment#recurrent, payment#installment

A plan has one job while it waits for its next due date, and none while a charge is under way: the end of that charge
is asked through the plan's purpose, and writes the next job in the same commit. So no due date is charged twice and
none is missed, whoever dies when.
"""

from base64 import b64encode
from datetime import datetime
from functools import cache
from typing import ClassVar, Literal

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, NeedsMore, Refusal, Row
from kasuwa.core.money import format_minor
from kasuwa.core.pricing import card_class, price_collection
from kasuwa.core.purpose import PurposeEffects, PurposeRules, TransactionPurpose
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.references import job_key, opaque_id, row_key
from kasuwa.core.schedule import Recurrence, make_recurrence, next_due, next_retry
from kasuwa.core.transactions import SUCCESSFUL, Transaction, encode_text
from kasuwa.methods.payment.model import (
    CARD_SUMMARY_DECODER,
    CHARGE,
    Payment,
    PaymentDetail,
    PaymentOrder,
    SavedCard,
    begin_payment,
    find_chargeable_card,
    saved_card_key,
)
from kasuwa.methods.payment.wire import RecurrentRequest
from kasuwa.methods.payment.wire_reply import RecurrentChanged, RecurrentReply
from kasuwa.rails.ports import Answer

RECURRENT = "recurrent"
INSTALLMENT = "instalment"
LANE = "schedule"
CHARGE_JOB_KINDS = {RECURRENT: "recurrent.charge", INSTALLMENT: "instalment.charge"}

ACTIVE = "active"
PAUSED = "paused"
STOPPED = "stopped"
FINISHED = "finished"
# How an installment plan ends otherwise: by its merchant, with some of the total collected, or with nothing of it.
CANCELLED = "cancelled"
INCOMPLETE = "incomplete"
UNPAID = "unpaid"

# Cycles that fail one after another before a plan is paused. Contract: payment#recurrent
MAX_MISSED_CYCLES = 3

UNKNOWN_PLAN = Refusal(INVALID_REQUEST, "No recurrent payment has this id")
PLAN_FINISHED = Refusal(INVALID_REQUEST, "This recurrent payment is over")


@cache
def retry_classes() -> dict[str, str]:
    return {row["code"]: row["retry_class"] for row in load_reference_data("response_codes")["iso8583"]}


class PlanTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a plan charges and when; it never changes. `later` are an instalment plan's dates and amounts."""

    amount: int = 0
    total: int = 0
    frequency: Literal["daily", "weekly", "monthly"] = "daily"
    value: int = 0
    later_charges: tuple[tuple[str, int], ...] = msgspec.field(default=(), name="later")
    detail: PaymentDetail = PaymentDetail()
    customer_txnref: str = ""


TERMS_DECODER: "msgspec.json.Decoder[PlanTerms]" = msgspec.json.Decoder(PlanTerms)


class Plan(Row):
    """`cycle_due` is the due date that is charged next or now, `attempt` its tries so far, `misses` how many cycles
    failed one after another; `paid` counts what its charges brought, `facts` lists the cycles that were missed."""

    table: ClassVar[str] = "plan"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "state",
        "cycle",
        "cycle_due",
        "attempt",
        "misses",
        "paid",
        "last_ref",
        "charging",
        "facts",
    )

    plan_id: str
    kind: str
    token: str
    currency: str
    first_ref: str
    detail: str
    created_at: datetime
    state: str
    cycle: int
    cycle_due: datetime
    attempt: int
    misses: int
    paid: int
    last_ref: str
    charging: bool
    facts: str

    @property
    def is_open(self) -> bool:
        return False


def plan_key(merchant_id: int, plan_id: str) -> bytes:
    return row_key(merchant_id, "plan", plan_id)


class PlanEffects(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...] = ()
    jobs: tuple[Job, ...] = ()
    jobs_done: tuple[Job, ...] = ()


def plan_job(plan: Plan, due: datetime) -> Job:
    kind, key = CHARGE_JOB_KINDS[plan.kind], job_key(plan.key)
    return Job(key, plan.merchant_id, kind, LANE, plan.plan_id, plan.key, due, due, None, 0, 0, None, "{}")


# --- the first charge has succeeded ---------------------------------------------------------------------------------


def start_plans(
    row: Transaction, payment: Payment, detail: PaymentDetail, context: Context, seen: LoadedRows
) -> PlanEffects:
    """The plans that a payment asked for begin when it succeeds."""
    if row.status != SUCCESSFUL or payment.token is None:
        return PlanEffects()
    plans = []
    # The payer is not there when the next charges come: address and device are the first charge's alone.
    plain = PaymentDetail(
        country=detail.country,
        fullname=detail.fullname,
        email=detail.email,
        meta=detail.meta,
        bearer=detail.bearer,
        split=detail.split,
    )
    if detail.recurrent is not None and row.amount:
        wish = make_recurrence(detail.recurrent.frequency, detail.recurrent.value, context.now)  # type: ignore[arg-type]
        terms = PlanTerms(row.amount, 0, wish.frequency, wish.value, (), plain, row.order_ref)
        plans.append(new_plan(RECURRENT, terms, next_due(wish, context.now), row, payment, context))
    if detail.installments is not None and detail.installments.later_charges:
        wanted = detail.installments
        terms = PlanTerms(
            total=wanted.total, later_charges=wanted.later_charges, detail=plain, customer_txnref=row.order_ref
        )
        first = datetime.fromisoformat(wanted.later_charges[0][0])
        plans.append(new_plan(INSTALLMENT, terms, first, row, payment, context))
    return PlanEffects(rows=tuple(plans), jobs=tuple(plan_job(plan, plan.cycle_due) for plan in plans))


def new_plan(kind: str, terms: PlanTerms, due: datetime, row: Transaction, payment: Payment, context: Context) -> Plan:
    plan_id = opaque_id("RC" if kind == RECURRENT else "IN", context.entropy)
    return Plan(
        key=plan_key(row.merchant_id, plan_id),
        merchant_id=row.merchant_id,
        plan_id=plan_id,
        kind=kind,
        token=payment.token or "",
        currency=row.currency,
        first_ref=row.txn_ref,
        detail=encode_text(terms),
        created_at=context.now,
        state=ACTIVE,
        cycle=1,
        cycle_due=due,
        attempt=0,
        misses=0,
        paid=row.amount,
        last_ref=row.txn_ref,
        charging=False,
        facts="[]",
    )


# --- a due date has come ----------------------------------------------------------------------------------------------


def need_due_charge(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Plan, job.subject), (Job, job.key)))


def decide_due_charge(job: Job, answer: Answer, context: Context, seen: LoadedRows) -> Decision | NeedsMore:
    """Charge the saved card for the due date. The charge's own job is taken up at once. A card that was forgotten
    meanwhile pauses its plan, and so does an amount of nothing: no charge is ever of 0."""
    plan, current_job = seen.get(Plan, job.subject), seen.get(Job, job.key)
    if plan is None or current_job is None or plan.state != ACTIVE or plan.charging:
        return Decision(jobs_done=() if current_job is None else (current_job,))
    key = saved_card_key(plan.merchant_id, plan.token)
    if not seen.is_loaded(key):
        return NeedsMore(Needs(((SavedCard, key),)))
    saved = find_chargeable_card(plan.merchant_id, plan.token, seen)
    if saved is None or not cycle_amount(plan):
        return Decision(rows=(pause_plan(plan, PAUSED),), jobs_done=(current_job,))
    decision = begin_payment(build_plan_order(plan, saved, context), context, CHARGE)
    charged = decision.rows[0]
    assert isinstance(charged, Transaction)
    under_way = msgspec.structs.replace(plan, attempt=plan.attempt + 1, last_ref=charged.txn_ref, charging=True)
    return Decision(
        rows=(*decision.rows, under_way),
        jobs=decision.jobs,
        jobs_done=(current_job,),
        numbers_used=decision.numbers_used,
        sandbox=decision.sandbox,
    )


def cycle_amount(plan: Plan) -> int:
    terms = TERMS_DECODER.decode(plan.detail)
    return terms.amount if plan.kind == RECURRENT else terms.later_charges[plan.cycle - 1][1]


def build_plan_order(plan: Plan, saved: SavedCard, context: Context) -> PaymentOrder:
    terms, facts, amount = (
        TERMS_DECODER.decode(plan.detail),
        CARD_SUMMARY_DECODER.decode(saved.detail),
        cycle_amount(plan),
    )
    bearer: Literal["merchant", "customer"] = "customer" if terms.detail.bearer == "customer" else "merchant"
    price = price_collection(context.merchant.tariff, card_class(facts.country), plan.currency, amount, bearer)
    detail = msgspec.structs.replace(terms.detail, card=facts, purpose=TransactionPurpose(plan.kind, plan.plan_id))
    return PaymentOrder(
        method="token",
        currency=plan.currency,
        price=price,
        detail=detail,
        customer_txnref=terms.customer_txnref,
        saved_card=saved,
        sealed_card=b64encode(saved.sealed).decode(),
        attempt=plan.attempt + 1,
    )


# --- the charge has ended -------------------------------------------------------------------------------------------


def need_plan(merchant: Merchant, plan_id: str) -> Needs:
    return Needs(((Plan, plan_key(merchant.merchant_id, plan_id)),))


def end_plan_charge(row: Transaction, plan_id: str, context: Context, seen: LoadedRows) -> PurposeEffects:
    plan = seen.get(Plan, plan_key(row.merchant_id, plan_id))
    assert plan is not None
    if not row.is_final:
        return PurposeEffects()
    rested = msgspec.structs.replace(plan, charging=False)
    if row.status == SUCCESSFUL:
        return advance_cycle(msgspec.structs.replace(rested, misses=0, paid=plan.paid + row.amount))
    if retry_classes().get(row.code or "") != "soft":
        # The card cannot be charged as things are: nothing is tried until somebody starts it again.
        # Contract: payment#recurrent
        return PurposeEffects(rows=(pause_plan(rested, PAUSED),))
    again = next_retry(plan.cycle_due, context.now, next_cycle_due(plan)) if plan.attempt else None
    if again is not None:
        return schedule_charge(rested, again)
    missed = msgspec.structs.replace(
        rested, misses=plan.misses + 1, facts=encode_text([*missed_cycles(plan), plan.cycle])
    )
    if missed.misses >= MAX_MISSED_CYCLES:
        return PurposeEffects(rows=(pause_plan(missed, PAUSED),))
    return advance_cycle(missed)


def missed_cycles(plan: Plan) -> list[int]:
    return msgspec.json.decode(plan.facts, type=list[int])


def pause_plan(plan: Plan, state: str) -> Plan:
    """Nothing is charged until somebody starts it again; whoever stopped it meanwhile has the last word."""
    return msgspec.structs.replace(plan, state=plan.state if plan.state in (STOPPED, CANCELLED) else state, attempt=0)


def schedule_charge(plan: Plan, due: datetime) -> PurposeEffects:
    return PurposeEffects(rows=(plan,), jobs=(plan_job(plan, due),) if plan.state == ACTIVE else ())


def next_cycle_due(plan: Plan) -> datetime | None:
    """The due date after the present one; None where an instalment plan ends."""
    if plan.kind == RECURRENT:
        return next_due(recurrence_of(plan), plan.cycle_due)
    terms = TERMS_DECODER.decode(plan.detail)
    return datetime.fromisoformat(terms.later_charges[plan.cycle][0]) if plan.cycle < len(terms.later_charges) else None


def advance_cycle(plan: Plan) -> PurposeEffects:
    """To the next due date, or to the end."""
    due = next_cycle_due(plan)
    if due is None:
        return PurposeEffects(rows=(msgspec.structs.replace(plan, state=final_state(plan), attempt=0),))
    return schedule_charge(msgspec.structs.replace(plan, cycle=plan.cycle + 1, cycle_due=due, attempt=0), due)


def final_state(plan: Plan) -> str:
    """How an installment plan stands when its last date is over, by what it has collected.

    Contract: payment#installment
    """
    if plan.paid >= TERMS_DECODER.decode(plan.detail).total:
        return FINISHED
    return INCOMPLETE if plan.paid else UNPAID


PURPOSES = (PurposeRules(RECURRENT, need_plan, end_plan_charge), PurposeRules(INSTALLMENT, need_plan, end_plan_charge))


# --- shown, stopped, started ----------------------------------------------------------------------------------------


def need_recurrent(request: RecurrentRequest, merchant: Merchant) -> Needs:
    key = plan_key(merchant.merchant_id, request.id)
    return Needs(((Plan, key), (Job, job_key(key))))


def decide_recurrent(
    request: RecurrentRequest, context: Context, seen: LoadedRows
) -> Decision[RecurrentChanged] | Refusal:
    key = plan_key(context.merchant.merchant_id, request.id)
    plan, job = seen.get(Plan, key), seen.get(Job, job_key(key))
    if plan is None or plan.kind != RECURRENT:
        return UNKNOWN_PLAN
    if request.status is None:
        return Decision(reply=reply_recurrent_changed(plan))
    if plan.state == FINISHED:
        return PLAN_FINISHED
    if request.status == "stop":
        stopped = msgspec.structs.replace(plan, state=STOPPED)
        return Decision(
            reply=reply_recurrent_changed(stopped), rows=(stopped,), jobs_done=() if job is None else (job,)
        )
    return restart_plan(plan, job, context)


def restart_plan(plan: Plan, job: Job | None, context: Context) -> Decision:
    """From now on: due dates that passed while it stood still are not charged after the fact.

    Contract: payment#recurrent
    """
    if plan.state == ACTIVE:
        return Decision(reply=reply_recurrent_changed(plan))
    if plan.charging:
        # The end of the charge under way goes on from its due date, or from the last one that passed meanwhile: that
        # one was never charged, so nothing of it is tried again, and its attempts are none.
        due = last_due_before(plan, context.now)
        attempt = plan.attempt if due == plan.cycle_due else 0
        passed = msgspec.structs.replace(plan, state=ACTIVE, cycle_due=due, attempt=attempt, misses=0)
        return Decision(reply=reply_recurrent_changed(passed), rows=(passed,))
    due = plan.cycle_due
    if due <= context.now:
        # Counted from due date to due date: one that is due later today is not passed over.
        due = next_due(recurrence_of(plan), last_due_before(plan, context.now))
    started = msgspec.structs.replace(plan, state=ACTIVE, cycle_due=due, attempt=0, misses=0)
    return Decision(
        reply=reply_recurrent_changed(started), rows=(started,), jobs=(plan_job(started, due),) if job is None else ()
    )


def last_due_before(plan: Plan, now: datetime) -> datetime:
    due = plan.cycle_due
    while (following := next_due(recurrence_of(plan), due)) <= now:
        due = following
    return due


def recurrence_of(plan: Plan) -> Recurrence:
    terms = TERMS_DECODER.decode(plan.detail)
    return Recurrence(terms.frequency, terms.value)


def reply_recurrent_changed(plan: Plan) -> RecurrentChanged:
    return RecurrentChanged(message=f"The recurrent payment is {plan.state}", data=reply_recurrent(plan))


def reply_recurrent(plan: Plan) -> RecurrentReply:
    terms = TERMS_DECODER.decode(plan.detail)
    return RecurrentReply(
        id=plan.plan_id,
        state=plan.state,
        amount=format_minor(terms.amount),
        currency=plan.currency,
        frequency=terms.frequency,
        value=f"{terms.value:02d}" if terms.frequency == "daily" else str(terms.value),
        next_charge=utc_text(plan.cycle_due) if plan.state == ACTIVE else None,
        paid=format_minor(plan.paid),
        card_token=plan.token,
        txn_ref=plan.last_ref,
        email=terms.detail.email,
        date_created=utc_text(plan.created_at),
    )
