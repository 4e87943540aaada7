"""Scheduled charges of a saved card: starts plans, charges them when due, and schedules the next charge.

An active plan has one job while it waits for its due date, and none while a charge is in progress. The end of the
charge creates the next job in the same commit (`end_plan_charge`, called through the plan's purpose). So no due date is
charged twice or missed, even if a process dies in between.
Contract: payment#recurrent, payment#installment
"""

from base64 import b64encode
from datetime import datetime
from functools import cache

import msgspec

from kasuwa.core.cards import find_bin
from kasuwa.core.decision import Context, Decision, Effects, Job, LoadedRows, Merchant, Needs, NeedsMore, make_job
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.references import job_key, opaque_id
from kasuwa.methods.payment.model import (
    CARD_SUMMARY_DECODER,
    CHARGE,
    FACTS_DECODER,
    KIND,
    InstallmentTerms,
    Payment,
    PaymentDetail,
    SavedCard,
    find_chargeable_card,
    payment_key,
    saved_card_key,
)
from kasuwa.methods.payment.payer_model import read_terms, seal_terms
from kasuwa.methods.payment.plan_model import (
    ACTIVE,
    CANCELLED,
    CHARGE_JOB_KINDS,
    FINISHED,
    INCOMPLETE,
    INSTALLMENT,
    PAUSED,
    RECURRENT,
    STOPPED,
    TERMS_DECODER,
    UNPAID,
    Plan,
    PlanTerms,
    plan_key,
)
from kasuwa.methods.payment.rules.begin import PaymentOrder, begin_payment
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.tariff import Tariff
from kasuwa.transactions.pricing import Price, card_class, fee_and_vat
from kasuwa.transactions.purpose import PurposeRules, TransactionEffects, TransactionPurpose
from kasuwa.transactions.schedule import Recurrence, make_recurrence, next_due, next_retry
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, encode_text, transaction_key

LANE = "schedule"


# Consecutive missed cycles after which a plan is paused. Contract: payment#recurrent
MAX_MISSED_CYCLES = 3


@cache
def retry_classes() -> dict[str, str]:
    """Returns the retry class of each response code. A code of class "soft" may be charged again."""
    return {row["code"]: row["retry_class"] for row in load_reference_data("response_codes")["iso8583"]}


def plan_job(plan: Plan, due: datetime) -> Job:
    return make_job(
        key=job_key(plan.key),
        merchant_id=plan.merchant_id,
        kind=CHARGE_JOB_KINDS[plan.kind],
        lane=LANE,
        reference=plan.plan_id,
        subject=plan.key,
        due=due,
    )


# --- the first charge has succeeded ---------------------------------------------------------------------------------


def start_plans(
    row: Transaction, payment: Payment, detail: PaymentDetail, context: Context, rows: LoadedRows
) -> Effects:
    """Starts the recurrence or installment plan that a successful payment requested."""
    if row.status != SUCCESSFUL or payment.token is None:
        return Effects()
    plans = []
    # IP address and device are those of the first charge only: later ones are made without the payer.
    charge_detail = PaymentDetail(
        country=detail.country,
        fullname=detail.fullname,
        email=detail.email,
        meta=detail.meta,
        bearer=detail.bearer,
        split=detail.split,
    )
    if detail.recurrent is not None and row.amount:
        recurrence = make_recurrence(detail.recurrent.frequency, detail.recurrent.value, context.now)  # type: ignore[arg-type]
        terms = PlanTerms(row.amount, 0, recurrence.frequency, recurrence.value, (), charge_detail, row.order_ref)
        plans.append(new_plan(RECURRENT, terms, next_due(recurrence, context.now), row, payment, context))
    if detail.installments is not None and detail.installments.later_charges:
        installments = detail.installments
        terms = PlanTerms(
            total=installments.total,
            later_charges=installments.later_charges,
            prices=price_by_saved_card(installments, payment, row.currency, context),
            detail=charge_detail,
            customer_txnref=row.order_ref,
        )
        first = datetime.fromisoformat(installments.later_charges[0][0])
        plans.append(new_plan(INSTALLMENT, terms, first, row, payment, context))
    return Effects(rows=tuple(plans), jobs=tuple(plan_job(plan, plan.cycle_due) for plan in plans))


def price_by_saved_card(
    installments: InstallmentTerms, payment: Payment, currency: str, context: Context
) -> tuple[Price, ...]:
    """Returns the prices of an installment plan with the fee of the card that paid the first one on a vendor's page.

    What the payer is charged does not change. Contract: payment#hosted-card-fee
    """
    card = FACTS_DECODER.decode(payment.facts).card
    if card is None:
        return installments.prices
    fee_class, tariff = card_class(card.country or find_bin(card.bin).country), context.merchant.terms(Tariff)
    fees = [fee_and_vat(tariff, fee_class, currency, price.charged) for price in installments.prices]
    return tuple(
        msgspec.structs.replace(price, fee=fee, vat=vat, settled=price.charged - fee - vat)
        for price, (fee, vat) in zip(installments.prices, fees, strict=True)
    )


def new_plan(kind: str, terms: PlanTerms, due: datetime, row: Transaction, payment: Payment, context: Context) -> Plan:
    plan_id = opaque_id("RC" if kind == RECURRENT else "IN", context.entropy)
    detail, payer_sealed = seal_terms(terms, plan_id, context)
    return Plan(
        key=plan_key(row.merchant_id, plan_id),
        merchant_id=row.merchant_id,
        plan_id=plan_id,
        kind=kind,
        token=payment.token or "",
        currency=row.currency,
        first_ref=row.txn_ref,
        detail=detail,
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
        payer_sealed=payer_sealed,
    )


# --- a due date has come ----------------------------------------------------------------------------------------------


def need_due_charge(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Plan, job.subject), (Job, job.key)))


def need_first_charge(plan: Plan) -> Needs:
    """Returns the rows of the payment that started a plan, which has the price of a recurrence."""
    transaction = (Transaction, transaction_key(plan.merchant_id, KIND, plan.first_ref))
    return Needs((transaction, (Payment, payment_key(plan.merchant_id, plan.first_ref))))


def decide_due_charge(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Charges the saved card of a plan that is due. The payment's own job calls the rail.

    Pauses the plan if its card was erased meanwhile.
    """
    plan, current_job = rows.get(Plan, job.subject), rows.get(Job, job.key)
    if plan is None or current_job is None or plan.state != ACTIVE or plan.charging:
        return Decision(jobs_done=() if current_job is None else (current_job,))
    needs = Needs(((SavedCard, saved_card_key(plan.merchant_id, plan.token)), *need_first_charge(plan).rows))
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    saved = find_chargeable_card(plan.merchant_id, plan.token, rows)
    if saved is None:
        return Decision(rows=(pause_plan(plan, PAUSED),), jobs_done=(current_job,))
    decision = begin_payment(build_plan_order(plan, saved, context, rows), context, CHARGE)
    charged = decision.rows[0]
    assert isinstance(charged, Transaction)
    charging = msgspec.structs.replace(plan, attempt=plan.attempt + 1, last_ref=charged.txn_ref, charging=True)
    decision.rows += (charging,)
    decision.jobs_done += (current_job,)
    decision.follow_up = None  # nobody waits for the charge: a worker makes it
    return decision


def find_kept_price(plan: Plan, rows: LoadedRows) -> Price:
    """Returns the price of a plan's current cycle, as it was when the payer agreed to the plan.

    A recurrence has the price of its first charge.
    Contract: payment#price-kept
    """
    if plan.kind == INSTALLMENT:
        return TERMS_DECODER.decode(plan.detail).prices[plan.cycle - 1]
    row = rows.get(Transaction, transaction_key(plan.merchant_id, KIND, plan.first_ref))
    payment = rows.get(Payment, payment_key(plan.merchant_id, plan.first_ref))
    assert row is not None
    assert payment is not None
    return Price(row.amount, row.fee, row.vat, payment.charged, payment.settled)


def build_plan_order(plan: Plan, saved: SavedCard, context: Context, rows: LoadedRows) -> PaymentOrder:
    """Builds the payment order of a plan's current cycle."""
    terms, card = read_terms(plan, context.vault.unseal), CARD_SUMMARY_DECODER.decode(saved.detail)
    price = find_kept_price(plan, rows)
    detail = msgspec.structs.replace(terms.detail, card=card, purpose=TransactionPurpose(plan.kind, plan.plan_id))
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


def end_plan_charge(row: Transaction, plan_id: str, context: Context, rows: LoadedRows) -> TransactionEffects:
    """Applies the end of a charge to its plan: next cycle, retry, or pause."""
    plan = rows.get(Plan, plan_key(row.merchant_id, plan_id))
    assert plan is not None
    if not row.is_final:
        return TransactionEffects()
    idle = msgspec.structs.replace(plan, charging=False)
    if row.status == SUCCESSFUL:
        return advance_cycle(msgspec.structs.replace(idle, misses=0, paid=plan.paid + row.amount))
    if retry_classes().get(row.code or "") != "soft":
        # The card cannot be charged: nothing is retried until the merchant starts the plan again.
        # Contract: payment#recurrent
        return TransactionEffects(rows=(pause_plan(idle, PAUSED),))
    again = next_retry(plan.cycle_due, context.now, next_cycle_due(plan)) if plan.attempt else None
    if again is not None:
        return schedule_charge(idle, again)
    missed = msgspec.structs.replace(
        idle, misses=plan.misses + 1, facts=encode_text([*missed_cycles(plan), plan.cycle])
    )
    if missed.misses >= MAX_MISSED_CYCLES:
        return TransactionEffects(rows=(pause_plan(missed, PAUSED),))
    return advance_cycle(missed)


def missed_cycles(plan: Plan) -> list[int]:
    """Returns the numbers of the cycles whose charges all failed."""
    return msgspec.json.decode(plan.facts, type=list[int])


def pause_plan(plan: Plan, state: str) -> Plan:
    """Returns the plan in `state`, unless the merchant stopped or cancelled it meanwhile."""
    return msgspec.structs.replace(plan, state=plan.state if plan.state in (STOPPED, CANCELLED) else state, attempt=0)


def schedule_charge(plan: Plan, due: datetime) -> TransactionEffects:
    """Returns the plan with a job at this due time if the plan is active."""
    return TransactionEffects(rows=(plan,), jobs=(plan_job(plan, due),) if plan.state == ACTIVE else ())


def next_cycle_due(plan: Plan) -> datetime | None:
    """Returns the due time of the next cycle, or None after the last installment."""
    if plan.kind == RECURRENT:
        return next_due(read_recurrence(plan), plan.cycle_due)
    terms = TERMS_DECODER.decode(plan.detail)
    return datetime.fromisoformat(terms.later_charges[plan.cycle][0]) if plan.cycle < len(terms.later_charges) else None


def advance_cycle(plan: Plan) -> TransactionEffects:
    """Moves the plan to its next cycle, or to its final state after the last one."""
    due = next_cycle_due(plan)
    if due is None and plan.state == CANCELLED:
        # Cancelled during its last charge. The cycle is past the last one, so that the charge counts as made.
        return TransactionEffects(rows=(msgspec.structs.replace(plan, cycle=plan.cycle + 1, attempt=0),))
    if due is None:
        return TransactionEffects(rows=(msgspec.structs.replace(plan, state=final_state(plan), attempt=0),))
    return schedule_charge(msgspec.structs.replace(plan, cycle=plan.cycle + 1, cycle_due=due, attempt=0), due)


def final_state(plan: Plan) -> str:
    """Returns the state of an installment plan after its last date, by what it has collected.

    Contract: payment#installment
    """
    if plan.paid >= TERMS_DECODER.decode(plan.detail).total:
        return FINISHED
    return INCOMPLETE if plan.paid else UNPAID


PURPOSES = (PurposeRules(RECURRENT, need_plan, end_plan_charge), PurposeRules(INSTALLMENT, need_plan, end_plan_charge))


# --- shown, stopped, started ----------------------------------------------------------------------------------------


def read_recurrence(plan: Plan) -> Recurrence:
    terms = TERMS_DECODER.decode(plan.detail)
    return Recurrence(terms.frequency, terms.value)
