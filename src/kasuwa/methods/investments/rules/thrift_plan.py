"""Rules of creating, joining and cancelling thrift plans. Cycles are in thrift_cycle.py, rows in thrift_model.py.

Contract: investments#thrift
"""

from datetime import date

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
from kasuwa.core.money import LARGEST_AMOUNT, format_minor
from kasuwa.core.references import job_key, opaque_id
from kasuwa.methods.investments.model import (
    CLOSED,
    SAVINGS_CLOSED,
    SAVINGS_DORMANT,
    UNKNOWN_PLAN,
    UNKNOWN_SAVINGS,
    Savings,
    SavingsChanges,
    ThriftLinks,
    has_unseen_rows,
    is_dormant,
    need_savings,
    savings_key,
    set_thrift_links,
)
from kasuwa.methods.investments.thrift_model import (
    CANCELLED,
    OPEN,
    RUNNING,
    ThriftMember,
    ThriftPlan,
    thrift_member_key,
    thrift_plan_key,
)
from kasuwa.methods.investments.wire import (
    MAX_MEMBERS,
    CancelPlanRequest,
    CreatePlanRequest,
    PlanRecord,
    PlanReply,
    PlanRequest,
    SubscribeRequest,
    SubscriptionRecord,
    SubscriptionReply,
)
from kasuwa.wire.interest_wire import DryRunFigure

RUN_CYCLE = "thrift.run_cycle"
LANE = "thrift"


# In months; a later start is taken for a typing error.
LATEST_START = 120

# Refusals, in order of precedence.
INVALID_START_DATE = refuse_fields(
    FieldError("start_date", "today or later, within ten years", "start_date_out_of_range")
)
FIXED_SAVINGS = refuse_fields(
    FieldError("savings_id", "a fixed deposit takes no part in thrift plans", "fixed_deposit_in_thrift")
)
NOT_OPEN = Refusal(INVALID_REQUEST, "The plan is {state}; {what}", error_code="thrift_plan_not_open")
SUBSCRIBED = Refusal(
    INVALID_REQUEST, "These savings are subscribed to the plan already", error_code="already_subscribed"
)
PLAN_FULL = Refusal(INVALID_REQUEST, "The plan is full", error_code="thrift_plan_full")


def refuse_not_open(plan: ThriftPlan, what: str) -> Refusal:
    return NOT_OPEN.fill(state=plan.state, what=what)


def need_members(plan: ThriftPlan) -> Needs:
    keys = (thrift_member_key(plan.merchant_id, plan.thrift_id, n) for n in range(1, plan.members + 1))
    return Needs(tuple((ThriftMember, key) for key in keys))


def list_members(plan: ThriftPlan, rows: LoadedRows) -> list[ThriftMember]:
    candidates = (rows.get(ThriftMember, key) for _, key in need_members(plan).rows)
    return [member for member in candidates if member is not None]


def plan_record(plan: ThriftPlan, today: date) -> PlanRecord:
    """Returns the record of a plan. One that is not full yet shows the first day on which it could begin."""
    next_date = plan.date_of_cycle(1, today) if plan.state == OPEN and plan.begins is None else plan.next_date
    return PlanRecord(
        thrift_id=plan.thrift_id,
        name=plan.name,
        amount=format_minor(plan.amount),
        frequency=plan.frequency,
        start_date=plan.start_date.isoformat(),
        member_required=plan.member_required,
        members=plan.members,
        state=plan.state,  # type: ignore[arg-type]
        cycle=plan.cycle,
        next_date=None if next_date is None else next_date.isoformat(),
    )


def subscription_record(plan: ThriftPlan, member: ThriftMember, today: date) -> SubscriptionRecord:
    """Returns the record of a member. `payout_date` is when it received the pot, or will if no cycle is postponed."""
    return SubscriptionRecord(
        savings_id=member.savings_id,
        client_id=member.client_id,
        position=member.position,
        payout_date=(member.paid_on or plan.date_of_cycle(member.position, today)).isoformat(),
        contributed=format_minor(member.contributed),
        received=format_minor(member.received),
        owed=format_minor(member.owed),
    )


# --- create, cancel -----------------------------------------------------------------------------------------


def check_member_count(merchant: Merchant, member_required: int) -> str | None:
    return None if 2 <= member_required <= MAX_MEMBERS else f"from 2 to {MAX_MEMBERS}"


def pot_fits(merchant: Merchant, member_required: int, amount: int) -> str | None:
    """Returns an error if the pot is too large. A wrong number of members is left to check_member_count."""
    if amount * member_required <= LARGEST_AMOUNT or check_member_count(merchant, member_required) is not None:
        return None
    return f"times member_required, the pot is more than {format_minor(LARGEST_AMOUNT)}"


def need_nothing(request: CreatePlanRequest, merchant: Merchant) -> Needs:
    return Needs()


def decide_create_plan(request: CreatePlanRequest, context: Context, rows: LoadedRows) -> Decision[PlanReply] | Refusal:
    start, today = date.fromisoformat(request.start_date), lagos_day(context.now)
    if not today <= start <= add_months(today, LATEST_START):
        return INVALID_START_DATE
    merchant_id, thrift_id = context.merchant.merchant_id, opaque_id("TH", context.entropy)
    plan = ThriftPlan(
        key=thrift_plan_key(merchant_id, thrift_id),
        merchant_id=merchant_id,
        thrift_id=thrift_id,
        number=context.number,
        name=request.name,
        amount=int(request.amount),
        frequency=request.frequency,
        start_date=start,
        member_required=int(request.member_required),
        members=0,
        state=OPEN,
        begins=None,
        cycle=0,
        tries=0,
        next_date=start,
        created_at=context.now,
    )
    record = plan_record(plan, today)
    if request.dry_run:
        record.thrift_id = None
        return Decision(reply=PlanReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True))
    return Decision(reply=PlanReply(message="Plan Created", data=record), rows=(plan,), numbers_used=1)


def need_plan(request: PlanRequest, merchant: Merchant) -> Needs:
    key = thrift_plan_key(merchant.merchant_id, request.thrift_id)
    return Needs(((ThriftPlan, key), (Job, job_key(key))))


def decide_cancel(
    request: CancelPlanRequest, context: Context, rows: LoadedRows
) -> Decision[PlanReply] | Refusal | NeedsMore:
    """Cancels a plan that is not running yet, full or not."""
    plan = rows.get(ThriftPlan, thrift_plan_key(context.merchant.merchant_id, request.thrift_id))
    if plan is None:
        return UNKNOWN_PLAN
    if plan.state != OPEN:
        return refuse_not_open(plan, "only an open one can be cancelled")
    needs = need_members(plan)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    savings = [member.savings_id for member in list_members(plan, rows)]
    needs = need_savings(plan.merchant_id, savings)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    changes = SavingsChanges(context, rows)
    for savings_id in savings:
        leave_plan(changes, savings_id, plan.thrift_id)
    changes.close_emptied(savings)
    more = changes.missing_clients()
    if more is not None:
        return more
    ended = msgspec.structs.replace(plan, state=CANCELLED, next_date=None)
    job = rows.get(Job, job_key(plan.key))
    if request.dry_run:
        return Decision(reply=PlanReply(message=DRY_RUN_MESSAGE, data=plan_record(ended, changes.today), dry_run=True))
    return Decision(
        reply=PlanReply(message="Plan Cancelled", data=plan_record(ended, changes.today)),
        rows=(ended, *changes.rows),
        jobs_done=() if job is None else (job,),
    )


def leave_plan(changes: SavingsChanges, savings_id: str, thrift_id: str) -> None:
    """Removes the plan from the open plans of the savings. Their debts in it stay."""
    savings = changes.load_savings(savings_id)
    thrift_links = savings.thrift_links
    set_thrift_links(
        savings, ThriftLinks(tuple(one for one in thrift_links.plans if one != thrift_id), thrift_links.debts)
    )


# --- subscribe ----------------------------------------------------------------------------------------------


def need_subscription(request: SubscribeRequest, merchant: Merchant) -> Needs:
    plan = (ThriftPlan, thrift_plan_key(merchant.merchant_id, request.thrift_id))
    return need_savings(merchant.merchant_id, (request.savings_id,), plan)


def decide_subscription(
    request: SubscribeRequest, context: Context, rows: LoadedRows
) -> Decision[SubscriptionReply] | Refusal:
    merchant_id = context.merchant.merchant_id
    plan = rows.get(ThriftPlan, thrift_plan_key(merchant_id, request.thrift_id))
    savings = rows.get(Savings, savings_key(merchant_id, request.savings_id))
    if plan is None:
        return UNKNOWN_PLAN
    if savings is None:
        return UNKNOWN_SAVINGS
    if savings.state == CLOSED:
        return SAVINGS_CLOSED
    if is_dormant(savings, lagos_day(context.now), context.merchant):
        return SAVINGS_DORMANT
    if savings.is_fixed:
        return FIXED_SAVINGS
    if plan.thrift_id in savings.thrift_links.plans:
        return SUBSCRIBED
    if plan.state != OPEN:
        return refuse_not_open(plan, "nobody can join it any more")
    if plan.members >= plan.member_required:
        return PLAN_FULL
    return join_plan(plan, savings, context, rows, dry_run=bool(request.dry_run))


def join_plan(plan: ThriftPlan, savings: Savings, context: Context, rows: LoadedRows, *, dry_run: bool) -> Decision:
    """Subscribes savings at the next position. The last member to join schedules the first cycle."""
    position = plan.members + 1
    key = thrift_member_key(plan.merchant_id, plan.thrift_id, position)
    member = ThriftMember(
        key, plan.merchant_id, plan.thrift_id, position, savings.savings_id, savings.client_id, 0, 0, 0, None
    )
    joined = msgspec.structs.replace(plan, members=position)
    jobs: tuple[Job, ...] = ()
    if position == plan.member_required:
        joined, jobs = schedule_first_cycle(joined, context)
    today = lagos_day(context.now)
    record = subscription_record(joined, member, today)
    if dry_run:
        reply = SubscriptionReply(
            message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=plan_figures(joined, record)
        )
        return Decision(reply=reply)
    changes = SavingsChanges(context, rows)
    linked = changes.load_savings(savings.savings_id)
    set_thrift_links(linked, ThriftLinks((*linked.thrift_links.plans, plan.thrift_id), linked.thrift_links.debts))
    reply = SubscriptionReply(message="Subscription Successful", data=record)
    return Decision(reply=reply, rows=(joined, member, *changes.rows), jobs=jobs)


def schedule_first_cycle(plan: ThriftPlan, context: Context) -> tuple[ThriftPlan, tuple[Job, ...]]:
    """Sets the first day of a full plan, its start date or today if that is later, and creates its job.
    Contract: investments#pot"""
    today = lagos_day(context.now)
    begins = max(plan.start_date, today)
    scheduled_plan = msgspec.structs.replace(
        plan, begins=begins, next_date=begins, state=RUNNING if begins == today else plan.state
    )
    job = make_job(
        key=job_key(plan.key),
        merchant_id=plan.merchant_id,
        kind=RUN_CYCLE,
        lane=LANE,
        reference=plan.thrift_id,
        subject=plan.key,
        due=max(context.now, lagos_moment(begins, 0)),
    )
    return scheduled_plan, (job,)


def plan_figures(plan: ThriftPlan, record: SubscriptionRecord) -> list[DryRunFigure]:
    members, amount = plan.member_required, format_minor(plan.amount)
    whole = format_minor(plan.amount * members)
    return [
        DryRunFigure("contribution", amount, f"from the savings in each of {members} cycles, {plan.frequency}"),
        DryRunFigure(
            "contributions",
            whole,
            f"{members} x {amount}, from {plan.date_of_cycle(1)} to {plan.date_of_cycle(members)}",
        ),
        DryRunFigure("pot", whole, f"{members} members' {amount}, into the savings on {record.payout_date}"),
    ]
