"""Plain reads of savings and thrift plans. No writes; merchant_id in every WHERE."""

from datetime import datetime
from typing import Any

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import Reader
from kasuwa.methods.investments.decide import (
    UNKNOWN_PLAN,
    UNKNOWN_SAVINGS,
    Member,
    Savings,
    record_of,
    savings_key,
)
from kasuwa.methods.investments.decide_thrift import Plan, plan_key, plan_record, subscription_record
from kasuwa.methods.investments.wire import (
    ListPlansRequest,
    ListSavingsRequest,
    PlanListReply,
    PlanRequest,
    SavingsListReply,
    SavingsRecord,
    SavingsReply,
    SubscriptionsReply,
    ViewSavingsRequest,
)

SAVINGS_COLUMNS = """
    s.key, s.merchant_id, s.savings_id, s.number, s.client_id, s.name, s.rate, s.frequency, s.annual, s.tax_applied,
    s.tax_rate, s.period, s.opened_at, s.opened_on, s.matures_on, s.state, s.accrued, s.accrued_rest, s.counted_to,
    s.months, s.due_interest, s.due_tax, s.detail
"""
# In one statement, so that interest is counted on the balance that stood when it was last counted.
SAVINGS = f"""
    select {SAVINGS_COLUMNS}, coalesce(a.posted, 0), coalesce(a.held, 0),
        array(select m.thrift_id from thrift_member m join thrift_plan p using (merchant_id, thrift_id)
            where m.merchant_id = s.merchant_id and m.savings_id = s.savings_id and p.state <> 'cancelled'
            order by p.number),
        coalesce(b.clock_fixed, now() + b.clock_offset * interval '1 microsecond')
    from savings s
    join book b on b.merchant_id = s.merchant_id
    left join account a on a.merchant_id = s.merchant_id and a.name like 'savings:%'
        and a.name = 'savings:' || s.savings_id || ':NGN'
"""
ONE = f"{SAVINGS} where s.merchant_id = $1 and s.key = $2"
ALL = f"{SAVINGS} where s.merchant_id = $1 order by s.number desc offset $2 limit $3"
OF_CLIENT = f"{SAVINGS} where s.merchant_id = $1 and s.client_id = $4 order by s.number desc offset $2 limit $3"
COUNT = "select count(*) from savings where merchant_id = $1"
COUNT_OF_CLIENT = "select count(*) from savings where merchant_id = $1 and client_id = $2"

PLAN_COLUMNS = """
    select key, merchant_id, thrift_id, number, name, amount, frequency, start_date, member_required, members, state,
        begins, cycle, tries, next_date, created_at
    from thrift_plan
"""
PLAN = f"{PLAN_COLUMNS} where merchant_id = $1 and key = $2"
PLANS = f"{PLAN_COLUMNS} where merchant_id = $1 order by number desc offset $2 limit $3"
COUNT_PLANS = "select count(*) from thrift_plan where merchant_id = $1"
MEMBERS = """
    select key, merchant_id, thrift_id, position, savings_id, client_id, contributed, received, owed, paid_on
    from thrift_member where merchant_id = $1 and thrift_id = $2 order by position
"""


async def view_savings(request: ViewSavingsRequest, merchant: Merchant, reader: Reader) -> SavingsReply | Refusal:
    row = await reader.fetchrow(ONE, merchant.merchant_id, savings_key(merchant.merchant_id, request.savings_id))
    return UNKNOWN_SAVINGS if row is None else SavingsReply(message="Savings", data=savings_line(row))


async def list_savings(request: ListSavingsRequest, merchant: Merchant, reader: Reader) -> SavingsListReply:
    merchant_id = merchant.merchant_id
    offset, limit = request.window
    if request.client_id is None:
        rows = await reader.fetch(ALL, merchant_id, offset, limit)
        [[total]] = await reader.fetch(COUNT, merchant_id)
    else:
        rows = await reader.fetch(OF_CLIENT, merchant_id, offset, limit, request.client_id)
        [[total]] = await reader.fetch(COUNT_OF_CLIENT, merchant_id, request.client_id)
    return SavingsListReply(data=[savings_line(row) for row in rows], total=total, offset=offset, limit=limit)


def savings_line(row: Any) -> SavingsRecord:
    *columns, posted, held, plans, now = row
    assert isinstance(now, datetime)
    return record_of(Savings(*columns), posted, held, plans, lagos_day(now))


async def list_plans(request: ListPlansRequest, merchant: Merchant, reader: Reader) -> PlanListReply:
    offset, limit = request.window
    rows = await reader.fetch(PLANS, merchant.merchant_id, offset, limit)
    [[total]] = await reader.fetch(COUNT_PLANS, merchant.merchant_id)
    return PlanListReply(data=[plan_record(Plan(*row)) for row in rows], total=total, offset=offset, limit=limit)


async def list_subscriptions(request: PlanRequest, merchant: Merchant, reader: Reader) -> SubscriptionsReply | Refusal:
    row = await reader.fetchrow(PLAN, merchant.merchant_id, plan_key(merchant.merchant_id, request.thrift_id))
    if row is None:
        return UNKNOWN_PLAN
    plan = Plan(*row)
    members = [Member(*each) for each in await reader.fetch(MEMBERS, merchant.merchant_id, plan.thrift_id)]
    return SubscriptionsReply(data=[subscription_record(plan, member) for member in members])
