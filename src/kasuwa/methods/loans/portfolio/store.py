"""Reads the portfolio of a day: all loans by days late, what was due and collected, what is expected.

The database sums it up in two statements of one snapshot, on a connection of the merchant's share: the reply is as
large for a hundred thousand loans as for one. Nothing is stored for it. A past day is the loans of today, without what
happened since: balances without the later postings, and installments as their first later version has them. So the
portfolio of a day is the same whenever it is asked for after that day.

No writes; every WHERE names the merchant_id. Contract: loans#portfolio
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader, ReplyReader
from kasuwa.methods.loans.portfolio.wire import (
    Portfolio,
    PortfolioAtRisk,
    PortfolioBucket,
    PortfolioExpected,
    PortfolioGroup,
    PortfolioPeriod,
    PortfolioReply,
    PortfolioRequest,
)
from kasuwa.methods.loans.store import business_now
from kasuwa.terms.loan_schedule import BUCKETS, BUCKETS_FROM, find_bucket

IN_THE_FUTURE = refuse_fields(FieldError("as_of", "not later than today", "day_in_the_future"))

WEEK, MONTH = 7, 30  # days for which is said what is expected

# Parameters of both statements: $1 the merchant, $2 and $3 the moments at which the month begins and the day has ended.
# The condition must equal that of the index posting_lending (0008_portfolio.sql).
POSTINGS = """
    select at, kind, amount, debit, credit, starts_with(credit, 'loan_') as is_charged,
        case when starts_with(credit, 'loan_') then credit else debit end as own
    from posting where merchant_id = $1 and at >= $2
        and (starts_with(debit, 'lending:') or starts_with(credit, 'lending:'))
"""
# $4 the day, $5 the first day of the month.
# Only loans count that owed something in the month, by their postings: a loan that was closed may be owed again since,
# and closed_at says nothing about that. A loan that owes nothing has bucket -1: its installments of the month were due,
# too. $6 says what is counted by, if anything. Loans beyond the largest groups have none.
MAX_GROUPS = 200
POSITIONS = f"""
    with moved as (
        select split_part(own, ':', 2) as loan_id, sum(added) as since_month, bool_or(at < $3) as is_moved_in_month,
            sum(added) filter (where at >= $3 and part <> 'loan_penalty') as owed,
            sum(added) filter (where at >= $3 and part = 'loan_principal') as principal
        from (select p.*, split_part(own, ':', 1) as part, case when is_charged then amount else -amount end as added
            from ({POSTINGS}) p) s
        where part in ('loan_principal', 'loan_interest', 'loan_tax', 'loan_charge', 'loan_vat', 'loan_penalty')
        group by 1),
    versions as (
        select distinct on (loan_id, n) loan_id, n, due, asked, paid from loan_installment_version
        where merchant_id = $1 and until >= $3 order by loan_id, n, version),
    loans as (
        select loan_id, tolerance_days, state = 'closed_written_off' as is_written_off,
            case $6::text when 'officer' then officer when 'branch' then branch
                when 'product' then product end as name from loan
        where merchant_id = $1 and disbursed_at < $3
            and (closed_at is null or closed_at >= $2 or loan_id in (select loan_id from moved))),
    lines as (
        select l.loan_id, l.tolerance_days, l.is_written_off, l.name,
            n.principal - n.paid_principal - n.lost_principal - n.pending - n.pending_tax as principal_now,
            m.asked - m.paid as owed_now, n.penalty - n.paid_penalty - n.lost_penalty as penalty_now,
            coalesce(v.due, n.due) as due, coalesce(v.asked, m.asked) as asked, coalesce(v.paid, m.paid) as paid
        from loans l join loan_installment n on n.merchant_id = $1 and n.loan_id = l.loan_id
        cross join lateral (select n.paid_principal + n.paid_interest + n.paid_tax + n.paid_charge + n.paid_vat as paid,
            n.principal + n.interest + n.tax + n.charge + n.vat
            - n.lost_principal - n.lost_interest - n.lost_tax - n.lost_charge - n.lost_vat as asked) m
        left join versions v on v.loan_id = n.loan_id and v.n = n.n),
    positions as (
        select loan_id, tolerance_days::int as tolerance, name,
            case when is_written_off then 0 else sum(principal_now) end - coalesce(max(moved.principal), 0)
                as principal,
            case when is_written_off then 0 else sum(owed_now) end - coalesce(max(moved.owed), 0) as owed,
            min(due) filter (where paid < asked) as since,
            sum(asked) filter (where due between $5::date and $4::date) as due,
            sum(paid) filter (where due between $5::date and $4::date) as paid,
            sum(asked - paid) filter (where due <= $4::date) as overdue,
            sum(asked - paid) filter (where due > $4::date and due <= $4::date + {WEEK}) as in_a_week,
            sum(asked - paid) filter (where due > $4::date and due <= $4::date + {MONTH}) as in_a_month
        from lines left join moved using (loan_id) group by loan_id, tolerance_days, is_written_off, name
        having bool_or(is_moved_in_month) or coalesce(max(since_month), 0)
            < case when is_written_off then 0 else sum(owed_now + penalty_now) end),
    largest as (
        select name from positions where owed > 0 and name is not null
        group by name order by sum(principal) desc, name limit {MAX_GROUPS})
    select g.name, case when owed <= 0 then -1 when since + tolerance < $4::date
            then width_bucket($4::date - since, array{list(BUCKETS_FROM)}) else 0 end as bucket,
        count(*), {", ".join(f"coalesce(sum({name}), 0)::bigint" for name in ("principal", "due", "paid", "overdue"))},
        coalesce(sum(in_a_week), 0)::bigint, coalesce(sum(in_a_month), 0)::bigint
    from positions s left join largest g using (name) group by 1, 2
"""
# What is reversed goes the other way. The reversal of a recovery touches no account of a loan.
FLOWS = f"""
    with moved as (
        select at < $3 as in_month, kind, amount, debit, credit,
            case when not starts_with(own, 'loan_') then 0 when is_charged then -amount else amount end as paid
        from ({POSTINGS}) p)
    select coalesce(sum(paid) filter (where in_month and (kind like '% repaid' or kind like '% reversed')), 0)::bigint,
        coalesce(sum(paid) filter (where in_month and kind like '% written off'), 0)::bigint,
        coalesce(sum(case when credit = 'lending:recovered:NGN' then amount else -amount end)
            filter (where in_month and 'lending:recovered:NGN' in (debit, credit)), 0)::bigint,
        coalesce(sum(case when kind = 'provision raised' then amount else -amount end)
            filter (where not in_month and kind in ('provision raised', 'provision released')), 0)::bigint
    from moved
"""
PROVISION = "select coalesce(sum(provision), 0)::bigint from loan where merchant_id = $1 and provision > 0"


class BucketSums(msgspec.Struct, frozen=True):
    """The loans of one bucket and group, or those of them that owe nothing. Amounts are in minor units."""

    group: str | None  # "" if its loans name none; None if loans are not counted by groups, or for smaller groups
    bucket: int  # -1 if they owe nothing
    loans: int
    principal: int
    due: int  # of installments due in the month
    paid: int  # of those
    overdue: int
    in_a_week: int
    in_a_month: int


class Flows(msgspec.Struct, frozen=True):
    """The sums of the postings of the month, in minor units."""

    collected: int
    written_off: int
    recovered: int
    provided_since: int  # provisions that were raised after the day, less those released


async def show_portfolio(
    request: PortfolioRequest, merchant: Merchant, reader: ReplyReader
) -> PortfolioReply | Refusal:
    async with reader.snapshot() as snapshot:
        today = lagos_day(await business_now(merchant, snapshot))
        day = today if request.as_of is None else request.as_of.plain()
        if day > today:
            return IN_THE_FUTURE
        return PortfolioReply(data=await read_portfolio(day, request.by, merchant.merchant_id, snapshot))


async def read_portfolio(day: date, by: str | None, merchant_id: int, reader: Reader) -> Portfolio:
    """Returns the portfolio at the end of a day. The reader is a snapshot."""
    first = day.replace(day=1)
    since, until = lagos_moment(first, 0), lagos_moment(day + timedelta(days=1), 0)
    sums_by_bucket = [
        BucketSums(*row) for row in await reader.fetch(POSITIONS, merchant_id, since, until, day, first, by)
    ]
    [flows] = [Flows(*row) for row in await reader.fetch(FLOWS, merchant_id, since, until)]
    [[provision]] = await reader.fetch(PROVISION, merchant_id)
    portfolio = make_portfolio(day, sums_by_bucket, flows, provision - flows.provided_since)
    return portfolio if by is None else msgspec.structs.replace(portfolio, groups=make_groups(sums_by_bucket))


class Sums(msgspec.Struct, frozen=True):
    """Number and principal of loans by bucket."""

    loans: list[int]
    principal: list[int]

    @property
    def total(self) -> int:
        return sum(self.principal)

    def at_risk(self, first_bucket: int) -> PortfolioAtRisk:
        late = sum(self.principal[first_bucket:])
        return PortfolioAtRisk(principal=format_minor(late), share=format_share(late, self.total))


def sum_buckets(sums_by_bucket: Iterable[BucketSums]) -> Sums:
    sums = Sums([0] * len(BUCKETS), [0] * len(BUCKETS))
    for line in sums_by_bucket:
        sums.loans[line.bucket] += line.loans
        sums.principal[line.bucket] += line.principal
    return sums


# The buckets at which the principal at risk begins.
PAR1, PAR30, PAR90 = find_bucket(1), find_bucket(31), find_bucket(91)


def make_portfolio(day: date, sums_by_bucket: list[BucketSums], flows: Flows, provision: int) -> Portfolio:
    owing = [line for line in sums_by_bucket if line.bucket >= 0]
    sums = sum_buckets(owing)
    return Portfolio(
        as_of=day.isoformat(),
        loans=sum(sums.loans),
        principal=format_minor(sums.total),
        buckets=[
            PortfolioBucket(
                days_late=name,  # type: ignore[arg-type]
                loans=count,
                principal=format_minor(principal),
                share=format_share(principal, sums.total),
            )
            for name, count, principal in zip(BUCKETS, sums.loans, sums.principal, strict=True)
        ],
        par1=sums.at_risk(PAR1),
        par30=sums.at_risk(PAR30),
        par90=sums.at_risk(PAR90),
        period=PortfolioPeriod(
            first_day=day.replace(day=1).isoformat(),
            last_day=day.isoformat(),
            amount_due=format_minor(sum(line.due for line in sums_by_bucket)),
            paid_of_due=format_minor(sum(line.paid for line in sums_by_bucket)),
            collected=format_minor(flows.collected),
            written_off=format_minor(flows.written_off),
            recovered=format_minor(flows.recovered),
        ),
        expected=PortfolioExpected(
            overdue=format_minor(sum(line.overdue for line in owing)),
            days_7=format_minor(sum(line.in_a_week for line in owing)),
            days_30=format_minor(sum(line.in_a_month for line in owing)),
        ),
        provision=format_minor(provision),
    )


def make_groups(sums_by_bucket: list[BucketSums]) -> list[PortfolioGroup]:
    """Returns the groups, that with the most principal first."""
    lines: defaultdict[str, list[BucketSums]] = defaultdict(list)
    for line in sums_by_bucket:
        if line.group is not None and line.bucket >= 0:
            lines[line.group].append(line)
    groups = {name: sum_buckets(own) for name, own in lines.items()}
    return [
        PortfolioGroup(
            name=name or None,
            loans=sum(sums.loans),
            principal=format_minor(sums.total),
            par1=sums.at_risk(PAR1),
            par30=sums.at_risk(PAR30),
            par90=sums.at_risk(PAR90),
        )
        for name, sums in sorted(groups.items(), key=lambda item: (-item[1].total, item[0]))
    ]


def format_share(part: int, whole: int) -> str:
    """Returns a part in percent with two decimals, rounded half up. Of nothing it is 0.00."""
    hundredths = (2 * 10_000 * part + whole) // (2 * whole) if whole else 0
    return f"{hundredths // 100}.{hundredths % 100:02}"
