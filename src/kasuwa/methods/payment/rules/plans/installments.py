"""Installment plans as their merchant sees and changes them: read, pause, resume, cancel.

The states are in plan_model.py. Dates that fell due while a plan was paused are still owed: a resumed plan charges them
at once, one after the other. A date whose retries have all failed is not charged again.
Contract: payment#installment
"""

from datetime import date, datetime

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, Refusal
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.core.vault import Unsealer
from kasuwa.methods.payment.payer_model import read_terms
from kasuwa.methods.payment.plan_model import (
    ACTIVE,
    CANCELLED,
    FINISHED,
    INCOMPLETE,
    INSTALLMENT,
    PAUSED,
    UNPAID,
    Plan,
    plan_key,
)
from kasuwa.methods.payment.rules.plans.scheduled_charges import missed_cycles, plan_job
from kasuwa.methods.payment.wire import InstallmentRequest
from kasuwa.methods.payment.wire_reply import InstallmentChanged, InstallmentLine, InstallmentReply

# States after the last date.
ENDED = frozenset({FINISHED, INCOMPLETE, UNPAID})

PLAN_ENDED = Refusal(
    INVALID_REQUEST,
    "This installment plan is {state} and cannot be changed any more",
    error_code="installment_plan_ended",
)
UNKNOWN_PLAN = Refusal(INVALID_REQUEST, "No installment plan has this id", error_code="installment_plan_not_found")


def need_installment(request: InstallmentRequest, merchant: Merchant) -> Needs:
    key = plan_key(merchant.merchant_id, request.id)
    return Needs(((Plan, key), (Job, job_key(key))))


def decide_installment(
    status: str, request: InstallmentRequest, context: Context, rows: LoadedRows
) -> Decision[InstallmentChanged] | Refusal:
    """Changes an installment plan. `status` is the action's variant: resume, pause or cancel."""
    changed = change_installment(status, request, context, rows)
    if not request.dry_run or isinstance(changed, Refusal):
        return changed
    return Decision(reply=msgspec.structs.replace(changed.reply, message=DRY_RUN_MESSAGE, dry_run=True))


def change_installment(
    status: str, request: InstallmentRequest, context: Context, rows: LoadedRows
) -> Decision[InstallmentChanged] | Refusal:
    key = plan_key(context.merchant.merchant_id, request.id)
    plan, job = rows.get(Plan, key), rows.get(Job, job_key(key))
    if plan is None or plan.kind != INSTALLMENT:
        return UNKNOWN_PLAN
    wanted = {"resume": ACTIVE, "pause": PAUSED, "cancel": CANCELLED}[status]
    if plan.state == wanted:
        return Decision(reply=reply_installment_changed(plan, context.vault.unseal))
    if plan.state in ENDED or plan.state == CANCELLED:
        return PLAN_ENDED.fill(state=plan.state)
    changed = msgspec.structs.replace(plan, state=wanted, misses=0 if wanted == ACTIVE else plan.misses)
    if wanted != ACTIVE:
        return Decision(
            reply=reply_installment_changed(changed, context.vault.unseal),
            rows=(changed,),
            jobs_done=() if job is None else (job,),
        )
    if plan.charging:
        # The end of the charge in progress schedules the next one.
        return Decision(reply=reply_installment_changed(changed, context.vault.unseal), rows=(changed,))
    resumed = msgspec.structs.replace(changed, attempt=0)
    due = max(plan.cycle_due, context.now)
    return Decision(
        reply=reply_installment_changed(resumed, context.vault.unseal),
        rows=(resumed,),
        jobs=(plan_job(resumed, due),) if job is None else (),
    )


def reply_installment_changed(plan: Plan, unseal: Unsealer) -> InstallmentChanged:
    return InstallmentChanged(
        message=f"The installment plan is {plan.state}", data=reply_installment_plan(plan, unseal)
    )


def reply_installment_plan(plan: Plan, unseal: Unsealer) -> InstallmentReply:
    terms = read_terms(plan, unseal)
    first = terms.total - sum(amount for _, amount in terms.later_charges)
    done = len(terms.later_charges) if plan.state in ENDED else plan.cycle - 1
    missed = missed_cycles(plan)
    lines = [
        InstallmentLine(
            date=day_text(read_due_day(due)),
            amount=format_minor(amount),
            paid=n < done and n + 1 not in missed,
        )
        for n, (due, amount) in enumerate(terms.later_charges)
    ]
    if first:
        began = day_text(lagos_day(plan.created_at))
        lines.insert(0, InstallmentLine(date=began, amount=format_minor(first), paid=True))
    return InstallmentReply(
        id=plan.plan_id,
        state=plan.state,
        total=format_minor(terms.total),
        paid=format_minor(plan.paid),
        currency=plan.currency,
        next_charge=utc_text(plan.cycle_due) if plan.state == ACTIVE else None,
        payment_schedule=lines,
        card_token=plan.token,
        txn_ref=plan.last_ref,
        email=terms.detail.email,
        date_created=utc_text(plan.created_at),
    )


def read_due_day(due: str) -> date:
    """Returns the day of a due time as the terms of a plan have it."""
    return lagos_day(datetime.fromisoformat(due))


def day_text(day: date) -> str:
    return f"{day:%d-%m-%Y}"
