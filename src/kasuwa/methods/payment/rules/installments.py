"""Installment plans as their merchant sees and changes them: pause, resume, cancel. (Contract: payment#installment)

    active      charged on its dates
    paused      by the merchant, or because the card cannot be charged: nothing is charged until it is resumed
    finished    all of the total was collected
    incomplete  its last date is over, and some of the total was not collected
    unpaid      its last date is over, and nothing was collected
    cancelled   by the merchant; what was collected stays collected

What fell due while a plan was paused is still owed: a resumed plan charges it at once, one date after the other. A date
that was given up before (see MOST_MISSES in decide_plan.py) is not charged again.
"""

from datetime import datetime

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.methods.payment.rules.scheduled_charges import (
    ACTIVE,
    CANCELLED,
    FINISHED,
    INCOMPLETE,
    INSTALLMENT,
    PAUSED,
    TERMS_DECODER,
    UNPAID,
    Plan,
    missed_cycles,
    plan_job,
    plan_key,
)
from kasuwa.methods.payment.wire import InstallmentRequest
from kasuwa.methods.payment.wire_reply import InstallmentChanged, InstallmentLine, InstallmentReply

# Every date has had its turn.
ENDED = frozenset({FINISHED, INCOMPLETE, UNPAID})

UNKNOWN_PLAN = Refusal(INVALID_REQUEST, "No installment plan has this id")


def need_installment(request: InstallmentRequest, merchant: Merchant) -> Needs:
    key = plan_key(merchant.merchant_id, request.id)
    return Needs(((Plan, key), (Job, job_key(key))))


def decide_installment(
    status: str, request: InstallmentRequest, context: Context, seen: LoadedRows
) -> Decision[InstallmentChanged] | Refusal:
    """`status` is the variant of the action: resume, pause or cancel."""
    key = plan_key(context.merchant.merchant_id, request.id)
    plan, job = seen.get(Plan, key), seen.get(Job, job_key(key))
    if plan is None or plan.kind != INSTALLMENT:
        return UNKNOWN_PLAN
    wanted = {"resume": ACTIVE, "pause": PAUSED, "cancel": CANCELLED}[status]
    if plan.state == wanted:
        return Decision(reply=reply_installment_changed(plan))
    if plan.state in ENDED or plan.state == CANCELLED:
        return Refusal(INVALID_REQUEST, f"This installment plan is {plan.state} and cannot be changed any more")
    changed = msgspec.structs.replace(plan, state=wanted, misses=0 if wanted == ACTIVE else plan.misses)
    if wanted != ACTIVE:
        return Decision(
            reply=reply_installment_changed(changed), rows=(changed,), jobs_done=() if job is None else (job,)
        )
    if plan.charging:
        # The end of the charge under way goes on from there.
        return Decision(reply=reply_installment_changed(changed), rows=(changed,))
    resumed = msgspec.structs.replace(changed, attempt=0)
    due = max(plan.cycle_due, context.now)
    return Decision(
        reply=reply_installment_changed(resumed), rows=(resumed,), jobs=(plan_job(resumed, due),) if job is None else ()
    )


def reply_installment_changed(plan: Plan) -> InstallmentChanged:
    return InstallmentChanged(message=f"The installment plan is {plan.state}", data=reply_installment_plan(plan))


def reply_installment_plan(plan: Plan) -> InstallmentReply:
    terms = TERMS_DECODER.decode(plan.detail)
    first = terms.total - sum(amount for _, amount in terms.later_charges)
    done = len(terms.later_charges) if plan.state in ENDED else plan.cycle - 1
    missed = missed_cycles(plan)
    lines = [
        InstallmentLine(
            date=day_text(datetime.fromisoformat(due)),
            amount=format_minor(amount),
            paid=n < done and n + 1 not in missed,
        )
        for n, (due, amount) in enumerate(terms.later_charges)
    ]
    if first:
        lines.insert(0, InstallmentLine(date=day_text(plan.created_at), amount=format_minor(first), paid=True))
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


def day_text(snapshot: datetime) -> str:
    return f"{lagos_day(snapshot):%d-%m-%Y}"
