"""One cycle of a thrift plan: every member pays, one receives, debts are made and repaid; in one group. (D35)"""

from datetime import timedelta

import msgspec

from kasuwa.core.calendar import moment_of
from kasuwa.core.codes import NOT_COVERED
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, More, Needs, Post, Refusal, Seen
from kasuwa.core.rotation import RETRY_DAYS, Seat, Turn, is_covered, take_turn
from kasuwa.ledger import chart
from kasuwa.methods.investments.decide import (
    Links,
    Member,
    Sheet,
    need_repayments,
    need_savings,
    set_links,
    unseen,
)
from kasuwa.methods.investments.decide_thrift import (
    COMPLETED,
    RUNNING,
    Plan,
    leave_plan,
    members_of,
    need_members,
)
from kasuwa.rails.ports import Answer

# What members can pay is read under the merchant's lock, so that this never answers.
POT_SHORT = Refusal(NOT_COVERED, "The members do not cover the pot")

# Two runs of a plan's job never have the same due time: by it a run knows whether it was run before.
BETWEEN_RUNS = timedelta(seconds=1)


def need_cycle(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Job, job.key), (Plan, job.subject)), (chart.thrift(job.reference),))


def decide_cycle(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision | More:
    here, plan = seen.get(Job, job.key), seen.get(Plan, job.subject)
    if here is None or here.due != job.due or plan is None:
        return Decision()
    needs = need_members(plan)
    if unseen(needs, seen):
        return More(needs)
    members = members_of(plan, seen)
    needs = need_savings(plan.merchant_id, [member.savings_id for member in members])
    if unseen(needs, seen):
        return More(needs)
    sheet, cycle = Sheet(context, seen), plan.cycle + 1
    seats = [seat_of(sheet, member) for member in members]
    if not is_covered(plan.amount, cycle, seats) and plan.tries < RETRY_DAYS:
        return try_tomorrow(plan, here, sheet)
    turn = take_turn(plan.thrift_id, plan.amount, cycle, seats)
    needs = need_repayments(plan.merchant_id, turn.repayments)
    if unseen(needs, seen):
        return More(needs)
    pay_pot(sheet, plan, members, turn)
    return end_cycle(plan, here, sheet, members)


def seat_of(sheet: Sheet, member: Member) -> Seat:
    debts = sheet.open(member.savings_id).links.debts
    return Seat(member.savings_id, sheet.account(member.savings_id).available, debts)


def try_tomorrow(plan: Plan, job: Job, sheet: Sheet) -> Decision:
    """Somebody is short: nobody pays yet."""
    day = sheet.today + timedelta(days=1)
    waiting = msgspec.structs.replace(plan, state=RUNNING, tries=plan.tries + 1, next_date=day)
    again = msgspec.structs.replace(job, attempt=job.attempt + 1, due=moment_of(day, 0))
    return Decision(rows=(waiting,), jobs=(again,))


def pay_pot(sheet: Sheet, plan: Plan, members: list[Member], turn: Turn) -> None:
    """Contributions into the pot, the pot to the one whose turn it is, and its own debts out of that."""
    pot, recipient = chart.thrift(plan.thrift_id), members[plan.cycle].savings_id
    for member, paid in zip(members, turn.contributions, strict=True):
        if paid:
            sheet.posts.append(Post(chart.savings(member.savings_id), pot, paid, "thrift contribution"))
            sheet.member(plan.thrift_id, member.position).contributed += paid
    sheet.posts.append(Post(pot, chart.savings(recipient), turn.pot, "thrift payout"))
    received = sheet.member(plan.thrift_id, plan.cycle + 1)
    received.received += turn.pot
    received.paid_on = sheet.today
    for debt in turn.debts:
        debtor = sheet.open(members[debt.debtor_position - 1].savings_id)
        set_links(debtor, Links(debtor.links.plans, (*debtor.links.debts, debt)))
        sheet.member(plan.thrift_id, debt.debtor_position).owed += debt.amount
    savings = sheet.arrive(recipient)
    set_links(savings, Links(savings.links.plans, turn.debts_left))
    sheet.repay(recipient, turn.repayments)


def end_cycle(plan: Plan, job: Job, sheet: Sheet, members: list[Member]) -> Decision | More:
    done = plan.cycle + 1
    if done == plan.member_required:
        for member in members:
            leave_plan(sheet, member.savings_id, plan.thrift_id)
        sheet.close_emptied(member.savings_id for member in members)
    more = sheet.missing()
    if more is not None:
        return more
    group = Group(plan.thrift_id, POT_SHORT, posts=tuple(sheet.posts))
    if done == plan.member_required:
        ended = msgspec.structs.replace(plan, state=COMPLETED, cycle=done, tries=0, next_date=None)
        return Decision(groups=(group,), rows=(ended, *sheet.rows), jobs_done=(job,))
    day = plan.falls(done + 1)
    going = msgspec.structs.replace(plan, state=RUNNING, cycle=done, tries=0, next_date=day)
    # A cycle that was kept waiting past the next one's day is followed by it at once.
    due = max(moment_of(day, 0), job.due + BETWEEN_RUNS)
    again = msgspec.structs.replace(job, attempt=job.attempt + 1, due=due)
    return Decision(groups=(group,), rows=(going, *sheet.rows), jobs=(again,))
