"""Rules of making, pausing, resuming and cancelling standing orders. Their payments are in pay.py.

Contract: investments#standing-orders
"""

from datetime import date, datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import add_months, lagos_day, lagos_moment
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    make_job,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key, opaque_id
from kasuwa.methods.clients.model import Client, client_key, refuse_inactive
from kasuwa.methods.investments.model import (
    CLOSED,
    SAVINGS_CLOSED,
    SAVINGS_DORMANT,
    UNKNOWN_SAVINGS,
    Savings,
    has_unseen_rows,
    is_dormant,
    savings_key,
)
from kasuwa.methods.investments.rules.thrift_plan import (
    LATEST_START,
    list_members,
    need_members,
    refuse_not_open,
)
from kasuwa.methods.investments.thrift_model import CANCELLED as PLAN_CANCELLED
from kasuwa.methods.investments.thrift_model import COMPLETED, ThriftPlan, thrift_plan_key
from kasuwa.methods.loans.model import OWING_STATES, UNDISBURSED_STATES, Loan, loan_key, refuse_in_state
from kasuwa.methods.standing_orders.model import (
    ACTIVE,
    CANCELLED,
    ENDED,
    LOAN,
    PAUSED,
    SAVINGS,
    THRIFT,
    StandingOrder,
    make_order_record,
    order_key,
)
from kasuwa.methods.standing_orders.wire import (
    ChangeStandingOrderRequest,
    StandingOrderReply,
    StandingOrderRequest,
)
from kasuwa.transactions.object_events import ObjectEvent, make_object_event
from kasuwa.wire.interest_wire import DryRunFigure

RUN_ORDER = "standing_orders.run"
LANE = "standing_orders"
EVENT_KIND = "standing_order"

# Refusals, in order of precedence.
UNKNOWN_TARGET = refuse_fields(
    FieldError("to", "a savings_id, loan_id or thrift_id of yours", "standing_order_target_unknown")
)
INVALID_FROM_DATE = refuse_fields(
    FieldError("from_date", "today or later, within ten years", "start_date_out_of_range")
)
FIXED_SOURCE = refuse_fields(
    FieldError("from", "a fixed deposit pays no standing orders", "fixed_deposit_in_standing_order")
)
SAME_SAVINGS = refuse_fields(FieldError("to", "other savings than those that pay", "same_savings"))
OTHER_CLIENT = refuse_fields(FieldError("to", "not of the client whose savings pay", "not_the_owner"))
NO_MEMBER = refuse_fields(
    FieldError("to", "the client has no other savings in this plan; those that pay are drawn on by it", "not_in_plan")
)
UNKNOWN_ORDER = Refusal(INVALID_REQUEST, "Invalid Standing Order Reference", error_code="standing_order_not_found")
WRONG_STATE = Refusal(INVALID_REQUEST, "The standing order is {state}; {what}", error_code="standing_order_state")


class Target(msgspec.Struct, frozen=True):
    """The savings, loan or thrift plan that a standing order pays."""

    kind: str  # SAVINGS, LOAN or THRIFT
    savings_id: str = ""  # that receive; "" for a loan


# --- making -------------------------------------------------------------------------------------------------


def need_new_order(request: StandingOrderRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    return Needs(
        (
            (Savings, savings_key(merchant_id, request.source)),
            (Savings, savings_key(merchant_id, request.target)),
            (Loan, loan_key(merchant_id, request.target)),
            (ThriftPlan, thrift_plan_key(merchant_id, request.target)),
        )
    )


def decide_new_order(
    request: StandingOrderRequest, context: Context, rows: LoadedRows
) -> Decision[StandingOrderReply] | Refusal | NeedsMore:
    source = rows.get(Savings, savings_key(context.merchant.merchant_id, request.source))
    if source is None:
        return UNKNOWN_SAVINGS
    if source.state == CLOSED:
        return SAVINGS_CLOSED
    if is_dormant(source, lagos_day(context.now), context.merchant):
        return SAVINGS_DORMANT
    if source.is_fixed:
        return FIXED_SOURCE
    target = find_target(request, source, rows)
    if not isinstance(target, Target):
        return target
    key = client_key(source.merchant_id, source.client_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Client, key),)))
    client = rows.get(Client, key)
    assert client is not None, "savings have a client"
    refusal = refuse_inactive(client)
    if refusal is not None:
        return refusal
    today, first = lagos_day(context.now), date.fromisoformat(request.from_date)
    if not today <= first <= add_months(today, LATEST_START):
        return INVALID_FROM_DATE
    return make_order(request, source, target, context)


def find_target(request: StandingOrderRequest, source: Savings, rows: LoadedRows) -> Target | Refusal | NeedsMore:
    """Returns what is to be paid, or why it cannot be."""
    merchant_id = source.merchant_id
    savings = rows.get(Savings, savings_key(merchant_id, request.target))
    if savings is not None:
        return accept_savings(savings, source)
    loan = rows.get(Loan, loan_key(merchant_id, request.target))
    if loan is not None:
        return accept_loan(loan, source)
    plan = rows.get(ThriftPlan, thrift_plan_key(merchant_id, request.target))
    return UNKNOWN_TARGET if plan is None else accept_plan(plan, source, rows)


def accept_savings(savings: Savings, source: Savings) -> Target | Refusal:
    if savings.savings_id == source.savings_id:
        return SAME_SAVINGS
    if savings.client_id != source.client_id:
        return OTHER_CLIENT
    return SAVINGS_CLOSED if savings.state == CLOSED else Target(SAVINGS, savings.savings_id)


def accept_loan(loan: Loan, source: Savings) -> Target | Refusal:
    if loan.client_id != source.client_id:
        return OTHER_CLIENT
    if loan.state not in OWING_STATES | UNDISBURSED_STATES:
        return refuse_in_state(loan.state, "paid by a standing order")
    return Target(LOAN)


def accept_plan(plan: ThriftPlan, source: Savings, rows: LoadedRows) -> Target | Refusal | NeedsMore:
    if is_over(plan):
        return refuse_not_open(plan, "nothing is paid to it any more")
    needs = need_members(plan)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    own = [one.savings_id for one in list_members(plan, rows) if one.client_id == source.client_id]
    others = [savings_id for savings_id in own if savings_id != source.savings_id]
    return Target(THRIFT, others[0]) if others else NO_MEMBER


def is_over(plan: ThriftPlan) -> bool:
    return plan.state in (COMPLETED, PLAN_CANCELLED)


def make_order(
    request: StandingOrderRequest, source: Savings, target: Target, context: Context
) -> Decision[StandingOrderReply]:
    merchant_id, order_id = source.merchant_id, opaque_id("SO", context.entropy)
    order = StandingOrder(
        key=order_key(merchant_id, order_id),
        merchant_id=merchant_id,
        order_id=order_id,
        number=context.number,
        client_id=source.client_id,
        savings_id=source.savings_id,
        pays=target.kind,
        target=request.target,
        target_savings=target.savings_id,
        amount=int(request.amount),
        frequency=request.frequency,
        from_date=date.fromisoformat(request.from_date),
        state=ACTIVE,
        created_at=context.now,
    )
    order = msgspec.structs.replace(order, next_at=max(context.now, lagos_moment(order.from_date, 0)))
    record = make_order_record(order)
    if request.dry_run:
        record.order_id = None
        return Decision(
            reply=StandingOrderReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=explain_order(order))
        )
    return Decision(
        reply=StandingOrderReply(message="Standing Order Created", data=record),
        rows=(order,),
        jobs=(make_order_job(order),),
        numbers_used=1,
    )


def make_order_job(order: StandingOrder) -> Job:
    assert order.next_at is not None, "an active order has a next date"
    return make_job(
        key=job_key(order.key),
        merchant_id=order.merchant_id,
        kind=RUN_ORDER,
        lane=LANE,
        reference=order.order_id,
        subject=order.key,
        due=order.next_at,
    )


def explain_order(order: StandingOrder) -> list[DryRunFigure]:
    second, third = order.find_date(2), order.find_date(3)
    return [
        DryRunFigure(
            "payment",
            format_minor(order.amount),
            f"from {order.savings_id} to {order.target} on {order.from_date}, {second}, {third} and so on, after thrift"
            " debts of the savings",
        )
    ]


# --- changing -----------------------------------------------------------------------------------------------


def need_order(request: ChangeStandingOrderRequest, merchant: Merchant) -> Needs:
    key = order_key(merchant.merchant_id, request.order_id)
    return Needs(((StandingOrder, key), (Job, job_key(key))))


def decide_change(
    request: ChangeStandingOrderRequest, context: Context, rows: LoadedRows
) -> Decision[StandingOrderReply] | Refusal:
    """Pauses, resumes or cancels. What is so already is answered with the order as it is."""
    order = rows.get(StandingOrder, order_key(context.merchant.merchant_id, request.order_id))
    if order is None:
        return UNKNOWN_ORDER
    wanted = {"pause": PAUSED, "resume": ACTIVE, "cancel": CANCELLED}[request.change]
    message = {PAUSED: "Standing Order Paused", ACTIVE: "Standing Order Resumed", CANCELLED: "Standing Order Cancelled"}
    if order.state == wanted:
        return reply_change(order, message[wanted], bool(request.dry_run))
    if order.state in (ENDED, CANCELLED):
        return WRONG_STATE.fill(state=order.state, what="nothing can be changed any more")
    changed = resume_order(order, context.now) if wanted == ACTIVE else stop_order(order, wanted)
    decision = reply_change(changed, message[wanted], bool(request.dry_run))
    if request.dry_run:
        return decision
    job = rows.get(Job, job_key(order.key))
    decision.rows = (changed,)
    if wanted == ACTIVE:
        decision.jobs = (make_order_job(changed),)
    else:
        decision.jobs_done = () if job is None else (job,)
    return decision


def reply_change(order: StandingOrder, message: str, is_dry_run: bool) -> Decision[StandingOrderReply]:
    record = make_order_record(order)
    if is_dry_run:
        return Decision(reply=StandingOrderReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=[]))
    return Decision(reply=StandingOrderReply(message=message, data=record))


def stop_order(order: StandingOrder, state: str, reason: str = "") -> StandingOrder:
    """Returns an order that pays no more, for a while or for good."""
    return msgspec.structs.replace(order, state=state, next_at=None, is_retry=False, reason=reason)


def resume_order(order: StandingOrder, now: datetime) -> StandingOrder:
    """Returns a paused order that pays again, from its first date that is not before today."""
    dates, today = order.dates, lagos_day(now)
    while order.find_date(dates + 1) < today:
        dates += 1
    resumed = msgspec.structs.replace(order, state=ACTIVE, dates=dates, reason="")
    return msgspec.structs.replace(resumed, next_at=max(now, lagos_moment(resumed.next_due, 0)))


# --- events -------------------------------------------------------------------------------------------------


def tell_of_order(order: StandingOrder, step: str, context: Context) -> tuple[StandingOrder, ObjectEvent]:
    """Returns an order with one more event, and the event."""
    counted = msgspec.structs.replace(order, events=order.events + 1)
    fields: dict[str, Any] = {
        "txn_status": "successful" if step == "ended" else "failed",
        "charged_amount": format_minor(0),
        "payment_method": "savings",
        "currency": "NGN",
        "client_id": order.client_id,
        "savings_id": order.savings_id,
        "target": order.target,
        "step": step,
        "amount": format_minor(order.amount),
        "reason": order.reason,
    }
    if order.next_at is not None:
        fields["next_date"] = lagos_day(order.next_at).isoformat()
    return counted, make_object_event(context, EVENT_KIND, counted, order.order_id, counted.events, fields)
