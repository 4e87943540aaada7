"""Reads of savings and thrift plans. No writes; every WHERE names the merchant_id."""

from datetime import datetime
from typing import Any

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader, ReplyReader
from kasuwa.ledger.posting_kinds import title_sql
from kasuwa.methods.investments.model import (
    DORMANT,
    UNKNOWN_PLAN,
    UNKNOWN_SAVINGS,
    Savings,
    make_savings_record,
    savings_key,
)
from kasuwa.methods.investments.reactivation_model import SavingsReactivation, describe_waiting, reactivation_key
from kasuwa.methods.investments.rules.thrift_plan import plan_record, subscription_record
from kasuwa.methods.investments.thrift_model import ThriftMember, ThriftPlan, thrift_plan_key
from kasuwa.methods.investments.wire import (
    ListPlansRequest,
    ListSavingsRequest,
    Moved,
    PlanListReply,
    SavingsListReply,
    SavingsRecord,
    SavingsViewReply,
    StatementLine,
    StatementReply,
    StatementRequest,
    SubscriptionsReply,
    SubscriptionsRequest,
    ViewSavingsRequest,
)
from kasuwa.terms.savings import SavingsSettings

SAVINGS_COLUMNS = ", ".join(f"s.{name}" for name in Savings.__struct_fields__)
# A reply names at most this many plans of savings: the newest ones, in ascending order. Contract: investments#plans
MAX_PLANS_SHOWN = 100
JOINED_PLANS = """from thrift_member m join thrift_plan p using (merchant_id, thrift_id)
    where m.merchant_id = $1 and m.savings_id = s.savings_id and p.state <> 'cancelled'
"""
BUSINESS_TIME = "coalesce(b.clock_fixed_at, now() + b.clock_offset_us * interval '1 microsecond')"
# One statement, so that the savings row and the balance are of the same moment: interest accrues on that balance.
SAVINGS = f"""
    select {SAVINGS_COLUMNS}, coalesce(a.posted, 0), coalesce(a.held, 0),
        array(select n.thrift_id from (select p.thrift_id, p.number {JOINED_PLANS} order by p.number desc
            limit {MAX_PLANS_SHOWN}) n order by n.number),
        (select count(*) {JOINED_PLANS}),
        {BUSINESS_TIME}
    from savings s
    join merchant_state b on b.merchant_id = s.merchant_id
    left join account a on a.merchant_id = s.merchant_id and a.name like 'savings:%'
        and a.name = 'savings:' || s.savings_id || ':NGN'
"""
REACTIVATION = f"""select {", ".join(SavingsReactivation.__struct_fields__)} from savings_reactivation
    where merchant_id = $1 and key = $2"""
ONE = f"{SAVINGS} where s.merchant_id = $1 and s.key = $2"
TODAY = f"({BUSINESS_TIME} at time zone 'Africa/Lagos')::date"
MATURES = f"({TODAY} >= s.matures_on and s.rollover = 'none')"
# As `state_on` of the model has it. $4 are the months of dormancy, or 0.
STATE = f"""case
    when s.state = 'closed' then s.state
    when s.state <> 'pending' and $4::int > 0 and {TODAY} > (greatest(s.moved_on,
        case when s.term_days > 0 then s.opened_on + s.term_days::int else s.moved_on end)
        + make_interval(months => $4::int))::date then 'dormant'
    when {MATURES} then 'matured'
    else s.state end"""
MATCHING = f"""s.merchant_id = $1 and ($2::text is null or s.client_id = $2) and ($3::text is null or {STATE} = $3)"""
MANY = f"{SAVINGS} where {MATCHING} order by s.number desc offset $5 limit $6"
COUNT = f"""
    select count(*) from savings s join merchant_state b on b.merchant_id = s.merchant_id where {MATCHING}
"""

# The predicates must equal those of the indexes (0001_baseline.sql), else PostgreSQL does not use them.
MOVED = """
    with moved as (
        select seq, at, reference, kind, amount, credit_after as after from posting
        where merchant_id = $1 and starts_with(credit, 'savings:') and split_part(credit, ':', 2) = $2
        union all
        select seq, at, reference, kind, -amount, debit_after from posting
        where merchant_id = $1 and starts_with(debit, 'savings:') and split_part(debit, ':', 2) = $2)
"""
STATEMENT = f"""{MOVED}
    select at, reference, {title_sql()}, amount, after from moved
"""
LAST_POSTING = f"{MOVED} select seq, at, reference, after from moved order by seq desc limit 1"
STATEMENT_PAGE = f"{STATEMENT} order by seq desc offset $3 limit $4"
STATEMENT_COUNT = f"select count(*) from ({STATEMENT}) s"

PLEDGED = """
    select coalesce(sum(held), 0)::bigint from loan_guarantee where merchant_id = $1 and savings_id = $2
"""

SUMMED = (
    "interest",
    "withheld_tax",
    "thrift_paid",
    "thrift_received",
    "dividends",
    "dividend_tax",
    "shares_bought",
    "shares_redeemed",
)
POSTED_TOTALS = f"""
    select coalesce(sum(amount) filter (where kind = 'interest'), 0)::bigint,
        coalesce(-sum(amount) filter (where kind = 'withholding tax'), 0)::bigint,
        coalesce(-sum(amount) filter (where starts_with(kind, 'thrift ') and amount < 0), 0)::bigint,
        coalesce(sum(amount) filter (where starts_with(kind, 'thrift ') and amount > 0), 0)::bigint,
        coalesce(sum(amount) filter (where kind = 'dividend'), 0)::bigint,
        coalesce(-sum(amount) filter (where kind = 'dividend tax'), 0)::bigint,
        coalesce(-sum(amount) filter (where kind = 'shares bought'), 0)::bigint,
        coalesce(sum(amount) filter (where kind = 'shares redeemed'), 0)::bigint
    from ({STATEMENT}) s
"""

PLAN_COLUMNS = """
    select p.key, p.merchant_id, p.thrift_id, p.number, p.name, p.amount, p.frequency, p.start_date, p.member_required,
        p.members, p.state, p.begins, p.cycle, p.tries, p.next_date, p.created_at,
        coalesce(b.clock_fixed_at, now() + b.clock_offset_us * interval '1 microsecond')
    from thrift_plan p join merchant_state b on b.merchant_id = p.merchant_id
"""
PLAN = f"{PLAN_COLUMNS} where p.merchant_id = $1 and p.key = $2"
PLANS = f"{PLAN_COLUMNS} where p.merchant_id = $1 order by p.number desc offset $2 limit $3"
COUNT_PLANS = "select count(*) from thrift_plan where merchant_id = $1"
MEMBERS = """
    select key, merchant_id, thrift_id, position, savings_id, client_id, contributed, received, owed, paid_on
    from thrift_member where merchant_id = $1 and thrift_id = $2
    order by position offset $3 limit $4
"""


async def view_savings(
    request: ViewSavingsRequest, merchant: Merchant, reader: ReplyReader
) -> SavingsViewReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(ONE, merchant_id, savings_key(merchant_id, request.savings_id))
        if row is None:
            return UNKNOWN_SAVINGS
        [sums] = await snapshot.fetch(POSTED_TOTALS, merchant_id, request.savings_id)
        [[pledged]] = await snapshot.fetch(PLEDGED, merchant_id, request.savings_id)
        now, savings = row[-1], Savings(*row[: len(Savings.__struct_fields__)])
        key = reactivation_key(merchant_id, request.savings_id, savings.reactivations)
        newest = await snapshot.fetchrow(REACTIVATION, merchant_id, key) if savings.reactivations else None
    moved = Moved(**{name: format_minor(amount) for name, amount in zip(SUMMED, sums, strict=True)})
    line = savings_line(row, merchant.terms(SavingsSettings).dormancy_months)
    if line.state == DORMANT and newest is not None:
        line.waiting_reactivation = describe_waiting(SavingsReactivation(*newest), now)
    reply = SavingsViewReply(message="Savings", data=line, moved=moved)
    if pledged:
        reply.pledged = format_minor(pledged)
    return reply


async def list_savings(request: ListSavingsRequest, merchant: Merchant, reader: ReplyReader) -> SavingsListReply:
    offset, limit = request.offset_and_limit
    months = merchant.terms(SavingsSettings).dormancy_months
    chosen = merchant.merchant_id, request.client_id, request.state, months
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(MANY, *chosen, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *chosen)
    return SavingsListReply(data=[savings_line(row, months) for row in rows], total=total, offset=offset, limit=limit)


async def read_savings(savings_id: str, merchant_id: int, reader: Reader) -> Any:
    """Returns the row that `savings_line` takes, or None."""
    return await reader.fetchrow(ONE, merchant_id, savings_key(merchant_id, savings_id))


async def read_last_posting(savings_id: str, merchant_id: int, reader: Reader) -> Any:
    """Returns number, time and reference of the newest posting on savings with the balance that it left, or None."""
    return await reader.fetchrow(LAST_POSTING, merchant_id, savings_id)


def savings_line(row: Any, dormancy_months: int = 0) -> SavingsRecord:
    *columns, posted, held, plans, plans_total, now = row
    assert isinstance(now, datetime)
    return make_savings_record(Savings(*columns), posted, held, plans, lagos_day(now), plans_total, dormancy_months)


async def show_statement(
    request: StatementRequest, merchant: Merchant, reader: ReplyReader
) -> StatementReply | Refusal:
    """Returns the postings on the savings, newest first: deposits, cash-outs, interest, tax and thrift.

    Contract: investments#savings
    """
    merchant_id, (offset, limit) = merchant.merchant_id, request.offset_and_limit
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(ONE, merchant_id, savings_key(merchant_id, request.savings_id))
        if row is None:
            return UNKNOWN_SAVINGS
        [[total]] = await snapshot.fetch(STATEMENT_COUNT, merchant_id, request.savings_id)
        rows = await snapshot.fetch(STATEMENT_PAGE, merchant_id, request.savings_id, offset, limit)
    return StatementReply(data=[statement_line(*each) for each in rows], total=total, offset=offset, limit=limit)


def statement_line(at: datetime, reference: str, kind: str, amount: int, after: int) -> StatementLine:
    return StatementLine(
        date_created=utc_text(at),
        origin=reference,
        narration=kind,
        amount=format_minor(amount),
        balance=format_minor(after),
    )


# --- thrift -------------------------------------------------------------------------------------------------


async def list_plans(request: ListPlansRequest, merchant: Merchant, reader: ReplyReader) -> PlanListReply:
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(PLANS, merchant.merchant_id, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_PLANS, merchant.merchant_id)
    records = [plan_record(ThriftPlan(*columns), lagos_day(now)) for *columns, now in rows]
    return PlanListReply(data=records, total=total, offset=offset, limit=limit)


async def list_subscriptions(
    request: SubscriptionsRequest, merchant: Merchant, reader: ReplyReader
) -> SubscriptionsReply | Refusal:
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(
            PLAN, merchant.merchant_id, thrift_plan_key(merchant.merchant_id, request.thrift_id)
        )
        if row is None:
            return UNKNOWN_PLAN
        members = await snapshot.fetch(MEMBERS, merchant.merchant_id, request.thrift_id, offset, limit)
    *columns, now = row
    plan, today = ThriftPlan(*columns), lagos_day(now)
    lines = await reader.make_lines(lambda each: subscription_record(plan, ThriftMember(*each), today), members)
    return SubscriptionsReply(data=lines, total=plan.members, offset=offset, limit=limit)
