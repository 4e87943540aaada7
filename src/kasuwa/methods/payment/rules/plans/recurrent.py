"""Recurrent payments as their merchant sees and changes them: read, stop, start.

Charging them is in scheduled_charges.py.
Contract: payment#recurrent
"""

from datetime import datetime

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, Refusal
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.core.vault import Unsealer
from kasuwa.methods.payment.payer_model import read_terms
from kasuwa.methods.payment.plan_model import ACTIVE, CANCELLED, FINISHED, RECURRENT, STOPPED, Plan, plan_key
from kasuwa.methods.payment.rules.plans.scheduled_charges import plan_job, read_recurrence
from kasuwa.methods.payment.wire import RecurrentRequest
from kasuwa.methods.payment.wire_reply import RecurrentChanged, RecurrentReply
from kasuwa.transactions.schedule import next_due

UNKNOWN_PLAN = Refusal(INVALID_REQUEST, "No recurrent payment has this id", error_code="recurrent_payment_not_found")


PLAN_FINISHED = Refusal(INVALID_REQUEST, "This recurrent payment is over", error_code="recurrent_payment_over")


def need_recurrent(request: RecurrentRequest, merchant: Merchant) -> Needs:
    key = plan_key(merchant.merchant_id, request.id)
    return Needs(((Plan, key), (Job, job_key(key))))


def decide_recurrent(
    request: RecurrentRequest, context: Context, rows: LoadedRows
) -> Decision[RecurrentChanged] | Refusal:
    changed = change_recurrent(request, context, rows)
    if not request.dry_run or isinstance(changed, Refusal):
        return changed
    return Decision(reply=msgspec.structs.replace(changed.reply, message=DRY_RUN_MESSAGE, dry_run=True))


def change_recurrent(
    request: RecurrentRequest, context: Context, rows: LoadedRows
) -> Decision[RecurrentChanged] | Refusal:
    key = plan_key(context.merchant.merchant_id, request.id)
    plan, job = rows.get(Plan, key), rows.get(Job, job_key(key))
    if plan is None or plan.kind != RECURRENT:
        return UNKNOWN_PLAN
    if request.status is None:
        return Decision(reply=reply_recurrent_changed(plan, context.vault.unseal))
    if plan.state in (FINISHED, CANCELLED):
        return PLAN_FINISHED
    if request.status == "stop" and plan.state == STOPPED:
        return Decision(reply=reply_recurrent_changed(plan, context.vault.unseal))
    if request.status == "stop":
        stopped = msgspec.structs.replace(plan, state=STOPPED)
        return Decision(
            reply=reply_recurrent_changed(stopped, context.vault.unseal),
            rows=(stopped,),
            jobs_done=() if job is None else (job,),
        )
    return restart_plan(plan, job, context)


def restart_plan(plan: Plan, job: Job | None, context: Context) -> Decision:
    """Starts a stopped or paused recurrence again. Due dates that passed meanwhile are not charged.

    Contract: payment#recurrent
    """
    if plan.state == ACTIVE:
        return Decision(reply=reply_recurrent_changed(plan, context.vault.unseal))
    if plan.charging:
        # The end of the charge in progress goes on from its due date, or from the last one that passed meanwhile.
        # That one was never charged, so it has no attempts.
        due = last_due_before(plan, context.now)
        attempt = plan.attempt if due == plan.cycle_due else 0
        restarted = msgspec.structs.replace(plan, state=ACTIVE, cycle_due=due, attempt=attempt, misses=0)
        return Decision(reply=reply_recurrent_changed(restarted, context.vault.unseal), rows=(restarted,))
    due = plan.cycle_due
    if due <= context.now:
        # Steps from due date to due date, so that one later today is not skipped.
        due = next_due(read_recurrence(plan), last_due_before(plan, context.now))
    started = msgspec.structs.replace(plan, state=ACTIVE, cycle_due=due, attempt=0, misses=0)
    return Decision(
        reply=reply_recurrent_changed(started, context.vault.unseal),
        rows=(started,),
        jobs=(plan_job(started, due),) if job is None else (),
    )


def last_due_before(plan: Plan, now: datetime) -> datetime:
    """Returns the latest due date that has passed, counted from the plan's current one."""
    due = plan.cycle_due
    while (following := next_due(read_recurrence(plan), due)) <= now:
        due = following
    return due


def reply_recurrent_changed(plan: Plan, unseal: Unsealer) -> RecurrentChanged:
    return RecurrentChanged(message=f"The recurrent payment is {plan.state}", data=reply_recurrent(plan, unseal))


def reply_recurrent(plan: Plan, unseal: Unsealer) -> RecurrentReply:
    terms = read_terms(plan, unseal)
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
