"""Rules of one thrift cycle: every member contributes, one receives the pot, and debts arise and are repaid.

All postings of a cycle are one group. The job of a plan is the same for all cycles, and each run gives it a later due
time: a job whose due time differs from that of its row was run before and does nothing. Contract: investments#pot
"""

from datetime import timedelta

import msgspec

from kasuwa.core.calendar import lagos_moment
from kasuwa.core.codes import INSUFFICIENT_FUNDS
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
)
from kasuwa.core.money import format_minor
from kasuwa.ledger import chart
from kasuwa.methods.investments.model import (
    WALLET,
    SavingsChanges,
    ThriftLinks,
    has_unseen_rows,
    need_repayments,
    need_savings,
    set_thrift_links,
)
from kasuwa.methods.investments.rules.thrift_plan import leave_plan, list_members, need_members
from kasuwa.methods.investments.thrift import RETRY_DAYS, MemberFunds, ThriftCycle, is_fully_funded, run_cycle
from kasuwa.methods.investments.thrift_model import COMPLETED, RUNNING, ThriftMember, ThriftPlan
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.object_events import ObjectEvent, make_object_event

EVENT_KIND = "thrift_payout"

# Required by the posting group and never returned: contributions are computed from balances read under the lock.
POT_INSUFFICIENT = Refusal(INSUFFICIENT_FUNDS, "The members do not cover the pot", error_code="thrift_pot_insufficient")

# Keeps the due times of two runs of a plan's job distinct, because a run is recognized by its due time.
MIN_RUN_INTERVAL = timedelta(seconds=1)


def need_cycle(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Job, job.key), (ThriftPlan, job.subject)), (chart.thrift(job.reference), WALLET))


def decide_cycle(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Runs the next cycle, or postpones it while a member is short. After RETRY_DAYS shortfalls become debts."""
    current_job, plan = rows.get(Job, job.key), rows.get(ThriftPlan, job.subject)
    if current_job is None or current_job.due != job.due or plan is None:
        return Decision()
    needs = need_members(plan)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    members = list_members(plan, rows)
    needs = need_savings(plan.merchant_id, [member.savings_id for member in members])
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    changes, cycle = SavingsChanges(context, rows), plan.cycle + 1
    seats = [cycle_member(changes, member) for member in members]
    if not is_fully_funded(plan.amount, cycle, seats) and plan.tries < RETRY_DAYS:
        return postpone_cycle(plan, current_job, changes)
    turn = run_cycle(plan.thrift_id, plan.amount, cycle, seats)
    needs = need_repayments(plan.merchant_id, turn.repayments)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    pay_pot(changes, plan, members, turn)
    decision = end_cycle(plan, current_job, changes, members)
    if isinstance(decision, Decision):
        report = report_payout(plan, members[plan.cycle], turn, context)
        decision.events, decision.jobs = (report.event,), (*decision.jobs, *report.jobs)
    return decision


def cycle_member(changes: SavingsChanges, member: ThriftMember) -> MemberFunds:
    debts = changes.load_savings(member.savings_id).thrift_links.debts
    return MemberFunds(member.savings_id, changes.account(member.savings_id).available, debts)


def postpone_cycle(plan: ThriftPlan, job: Job, changes: SavingsChanges) -> Decision:
    """Postpones the cycle by a day because a member is short of money. Nobody contributes yet."""
    day = changes.today + timedelta(days=1)
    waiting = msgspec.structs.replace(plan, state=RUNNING, tries=plan.tries + 1, next_date=day)
    again = msgspec.structs.replace(job, attempt=job.attempt + 1, due=lagos_moment(day, 0))
    return Decision(rows=(waiting,), jobs=(again,))


def pay_pot(changes: SavingsChanges, plan: ThriftPlan, members: list[ThriftMember], cycle: ThriftCycle) -> None:
    """Posts the others' contributions to the pot, the pot to the recipient, and out of it the recipient's own
    contribution and debts.

    The recipient contributes last, so that the statement of one without money is never below zero. Within the group the
    pot is short of that contribution.
    """
    pot, recipient = chart.thrift(plan.thrift_id), members[plan.cycle].savings_id
    contributions = list(zip(members, cycle.contributions, strict=True))
    contributions.append(contributions.pop(plan.cycle))
    for member, paid in contributions:
        if member.savings_id == recipient:
            changes.posts.append(Posting(pot, chart.savings(recipient), cycle.pot, "thrift payout"))
        if paid:
            changes.posts.append(Posting(chart.savings(member.savings_id), pot, paid, "thrift contribution"))
            changes.load_member(plan.thrift_id, member.position).contributed += paid
    received = changes.load_member(plan.thrift_id, plan.cycle + 1)
    received.received += cycle.pot
    received.paid_on = changes.today
    for debt in cycle.debts:
        debtor = changes.load_savings(members[debt.debtor_position - 1].savings_id)
        set_thrift_links(debtor, ThriftLinks(debtor.thrift_links.plans, (*debtor.thrift_links.debts, debt)))
        changes.load_member(plan.thrift_id, debt.debtor_position).owed += debt.amount
        changes.load_savings(recipient).receivable += debt.amount
    savings = changes.activate_savings(recipient)
    set_thrift_links(savings, ThriftLinks(savings.thrift_links.plans, cycle.remaining_debts))
    changes.repay_debts(recipient, cycle.repayments)


def report_payout(plan: ThriftPlan, recipient: ThriftMember, cycle: ThriftCycle, context: Context) -> ObjectEvent:
    fields = {
        "txn_status": "successful",
        "charged_amount": format_minor(cycle.pot),
        "payment_method": "wallet",
        "currency": "NGN",
        "thrift_id": plan.thrift_id,
        "savings_id": recipient.savings_id,
        "client_id": recipient.client_id,
        "cycle": recipient.position,
        "cycles": plan.member_required,
        "owed": format_minor(sum(debt.amount for debt in cycle.debts)),
        "repaid": format_minor(sum(repaid.amount for repaid in cycle.repayments)),
    }
    return make_object_event(context, EVENT_KIND, plan, plan.thrift_id, recipient.position, fields)


def end_cycle(plan: ThriftPlan, job: Job, changes: SavingsChanges, members: list[ThriftMember]) -> Decision | NeedsMore:
    done = plan.cycle + 1
    if done == plan.member_required:
        for member in members:
            leave_plan(changes, member.savings_id, plan.thrift_id)
        changes.close_emptied(member.savings_id for member in members)
    more = changes.missing_clients()
    if more is not None:
        return more
    group = PostingGroup(plan.thrift_id, POT_INSUFFICIENT, postings=tuple(changes.posts))
    if done == plan.member_required:
        ended = msgspec.structs.replace(plan, state=COMPLETED, cycle=done, tries=0, next_date=None)
        return Decision(groups=(group,), rows=(ended, *changes.rows), jobs_done=(job,))
    day = plan.date_of_cycle(done + 1)
    going = msgspec.structs.replace(plan, state=RUNNING, cycle=done, tries=0, next_date=day)
    # If the cycle was postponed past the date of the next one, the next one follows at once.
    due = max(lagos_moment(day, 0), job.due + MIN_RUN_INTERVAL)
    again = msgspec.structs.replace(job, attempt=job.attempt + 1, due=due)
    return Decision(groups=(group,), rows=(going, *changes.rows), jobs=(again,))
