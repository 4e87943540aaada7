"""Matches the lines of statements with the entries of the books, each rule in one statement over all that is left.

An *entry* is what one group of postings did to the account, with the sign of a statement: above zero if money came in,
which is a debit of the account. `rest_line` and `rest_entry` have what no rule has matched yet. A match is known by the
least line_id of its lines (`line_match`, `entry_match`).
"""

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import msgspec

from kasuwa.postgres.connection_pool import Connection
from kasuwa.reconciliation.lump_sums import Days, DayTotal, LumpSum


class MatchScope(msgspec.Struct, frozen=True):
    """An account and days whose entries are matched."""

    account_id: int
    ledger_name: str
    vendor: str  # empty for all
    first_day: date
    last_day: date


# Postings of the account, group by group. Groups that earlier matches account for are left out, and so are those of
# decisions: a decision settles its line or entry. A reversal has the reference of what it reverses. All tables of
# merchants are in `moved`: not every layout joins them with tables of the operator.
OPEN_ENTRIES = """
    with moved as (
        select p.merchant_id, p.group_seq, min(p.reference) as reference,
            min(coalesce(v.txn_ref, p.reference)) as txn_ref,
            sum(case when p.debit = $2 then p.amount else -p.amount end)::bigint as amount,
            (max(p.at) at time zone 'Africa/Lagos')::date as day,
            bool_or($3 = '' or starts_with(p.reference, $3 || ' ') or exists (
                select 1 from transaction t where t.merchant_id = p.merchant_id
                    and t.txn_ref = coalesce(v.txn_ref, p.reference) and t.rail = $3)) as is_of_rail
        from posting p
        left join rail_reversal v on v.merchant_id = p.merchant_id and 'approval ' || v.approval_id = p.reference
        where (p.debit = $2 or p.credit = $2) and p.at >= $4::timestamp at time zone 'Africa/Lagos'
            and p.at < ($5::date + 1)::timestamp at time zone 'Africa/Lagos'
        group by p.merchant_id, p.group_seq),
    decided as (
        select d.merchant_id, d.group_seq, 'approval ' || d.approval_id as reference
        from reconciliation_decision d join approval a on a.approval_id = d.approval_id
        where d.account_id = $1 and a.state = 'approved')
    select m.merchant_id, m.group_seq, m.txn_ref collate "C" as reference, m.amount, m.day
    from moved m
    where m.amount <> 0 and m.is_of_rail
        and not exists (select 1 from reconciled_entry r where r.account_id = $1 and r.merchant_id = m.merchant_id
            and r.group_seq = m.group_seq)
        and not exists (select 1 from decided d where d.merchant_id = m.merchant_id and d.group_seq = m.group_seq)
        and not exists (select 1 from decided d where d.reference = m.reference)
"""
CREATE_TABLES = """
    create temporary table open_entry (
        merchant_id bigint, group_seq bigint, reference text collate "C", amount bigint, day date
    ) on commit drop;
    create temporary table line_match (
        line_id bigint, match_id bigint, rule text, difference bigint not null default 0) on commit drop;
    create temporary table entry_match (
        merchant_id bigint, group_seq bigint, match_id bigint, amount bigint) on commit drop
"""
# An entry about which a decision is proposed waits for the verdict: matched meanwhile, it would be taken back as well.
FILL_ENTRIES = f"""
    insert into open_entry (merchant_id, group_seq, reference, amount, day)
    select e.* from ({OPEN_ENTRIES}) e
    where not exists (
        select 1 from reconciliation_decision d join approval a on a.approval_id = d.approval_id
        where d.account_id = $1 and d.merchant_id = e.merchant_id and d.group_seq = e.group_seq and a.state = 'open')
"""

# Matches whose amounts differ may be completed by a later file, so they are tried again, unless a person has decided.
REOPEN = """
    with reopened as (
        select l.match_id from statement_line l
        where l.account_id = $1 and l.difference <> 0 and l.booked_on between $2 and $3
            and not exists (
                select 1 from reconciliation_decision d join approval a on a.approval_id = d.approval_id
                where d.account_id = l.account_id and d.line_id = l.line_id and a.state <> 'rejected')),
    freed as (
        delete from reconciled_entry e using reopened r where e.account_id = $1 and e.match_id = r.match_id)
    update statement_line l set match_id = null, rule = '', difference = 0
    from reopened r where l.account_id = $1 and l.match_id = r.match_id
"""
# Older lines that nothing matches, and for which no decision is proposed or made. A line that a person has released is
# left to persons.
ADD_OLDER_LINES = """
    insert into open_line (line_id, is_new, number, booked_on, amount, fee, digest, merchant_id, txn_ref,
        bank_reference, description, occurrence)
    select l.line_id, false, l.number, l.booked_on, l.amount, l.fee, l.digest, l.merchant_id, l.txn_ref,
        l.bank_reference, l.description, l.occurrence
    from statement_line l
    where l.account_id = $1 and l.match_id is null and l.rule <> 'released' and l.booked_on between $2 and $3
        and not exists (
            select 1 from reconciliation_decision d join approval a on a.approval_id = d.approval_id
            where d.account_id = l.account_id and d.line_id = l.line_id and a.state <> 'rejected')
"""

# --- references -----------------------------------------------------------------------------------------------------

# A rail's own reference of money that came in.
FIND_RECEIPTS = """
    update open_line l
    set merchant_id = r.merchant_id,
        txn_ref = case r.txn_ref when '' then left(r.rail || ' ' || r.rail_reference, 100) else r.txn_ref end
    from inbound_receipt r
    where l.txn_ref = '' and l.bank_reference <> '' and r.rail_reference = l.bank_reference and $1 in ('', r.rail)
"""
# A reference without its merchant, if only one merchant has it.
FIND_MERCHANTS = """
    update open_line l set merchant_id = e.merchant_id
    from (select reference, min(merchant_id) as merchant_id from open_entry
        group by reference having min(merchant_id) = max(merchant_id)) e
    where l.merchant_id is null and l.txn_ref <> '' and e.reference = l.txn_ref
"""
MATCH_REFERENCES = """
    with lines as (
        select line_id, merchant_id, txn_ref, amount + fee as gross, row_number() over (
            partition by merchant_id, txn_ref, amount + fee order by booked_on, line_id) as place
        from open_line where txn_ref <> '' and merchant_id is not null),
    entries as (
        select merchant_id, group_seq, reference, amount, row_number() over (
            partition by merchant_id, reference, amount order by day, group_seq) as place
        from open_entry),
    found as (
        select l.line_id, e.merchant_id, e.group_seq, e.amount
        from lines l join entries e on e.merchant_id = l.merchant_id and e.reference = l.txn_ref
            and e.amount = l.gross and e.place = l.place),
    noted as (insert into line_match select line_id, line_id, 'reference', 0 from found)
    insert into entry_match select merchant_id, group_seq, line_id, amount from found
"""
CREATE_REST = """
    analyze line_match; analyze entry_match;
    create temporary table rest_line on commit drop as
        select l.*, l.amount + l.fee as gross from open_line l
        where not exists (select 1 from line_match m where m.line_id = l.line_id);
    create temporary table rest_entry on commit drop as
        select e.* from open_entry e where not exists (
            select 1 from entry_match m where m.merchant_id = e.merchant_id and m.group_seq = e.group_seq);
    analyze rest_line; analyze rest_entry
"""
# Lines and entries with one reference, several on one side or both. {condition} compares their sums.
MATCH_REFERENCE_SUMS = """
    with lines as (
        select merchant_id, txn_ref, sum(gross) as total, min(line_id) as match_id from rest_line
        where txn_ref <> '' and merchant_id is not null group by merchant_id, txn_ref),
    entries as (
        select merchant_id, reference, sum(amount) as total from rest_entry group by merchant_id, reference),
    found as (
        select l.merchant_id, l.txn_ref, l.match_id, (l.total - e.total)::bigint as difference
        from lines l join entries e on e.merchant_id = l.merchant_id and e.reference = l.txn_ref
        where {condition}),
    noted as (
        insert into line_match
        select l.line_id, f.match_id, 'reference', case l.line_id when f.match_id then f.difference else 0 end
        from rest_line l join found f on f.merchant_id = l.merchant_id and f.txn_ref = l.txn_ref)
    insert into entry_match
    select e.merchant_id, e.group_seq, f.match_id, e.amount
    from rest_entry e join found f on f.merchant_id = e.merchant_id and f.txn_ref = e.reference
"""
# A line with the batchRef of a bulk transfer, and all transfers of the batch.
MATCH_BATCHES = """
    with lines as (select line_id, merchant_id, txn_ref, gross from rest_line where txn_ref <> ''),
    entries as (
        select e.merchant_id, e.group_seq, e.amount, t.batch_ref
        from rest_entry e join transaction t on t.merchant_id = e.merchant_id and t.txn_ref = e.reference
        where t.batch_ref in (select txn_ref from lines)),
    found as (
        select l.line_id, e.merchant_id, e.batch_ref
        from lines l join entries e on e.batch_ref = l.txn_ref
            and coalesce(l.merchant_id, e.merchant_id) = e.merchant_id
        group by l.line_id, l.gross, e.merchant_id, e.batch_ref having sum(e.amount) = l.gross),
    once as (
        select min(line_id) as line_id, merchant_id, batch_ref from found group by merchant_id, batch_ref
        having count(*) = 1),
    noted as (insert into line_match select line_id, line_id, 'batch', 0 from once)
    insert into entry_match
    select e.merchant_id, e.group_seq, o.line_id, e.amount
    from entries e join once o on o.merchant_id = e.merchant_id and o.batch_ref = e.batch_ref
"""
DROP_MATCHED = """
    delete from rest_line r using line_match m where m.line_id = r.line_id;
    delete from rest_entry r using entry_match m where m.merchant_id = r.merchant_id and m.group_seq = r.group_seq
"""

# --- amounts and days -------------------------------------------------------------------------------------------------

# A line without a reference of ours, and an entry of the same amount so many days before it. Of several, the first with
# the first: which is which cannot be known, and the rule says so.
MATCH_AMOUNTS = """
    with lines as (
        select line_id, gross, booked_on,
            row_number() over (partition by gross, booked_on order by line_id) as place,
            count(*) over (partition by gross, booked_on) as alike
        from rest_line where txn_ref = ''),
    entries as (
        select merchant_id, group_seq, amount, day,
            row_number() over (partition by amount, day order by merchant_id, group_seq) as place,
            count(*) over (partition by amount, day) as alike
        from rest_entry),
    found as (
        select l.line_id, e.merchant_id, e.group_seq, e.amount, l.alike = 1 and e.alike = 1 as is_only
        from lines l join entries e on e.amount = l.gross and e.day + $1::integer = l.booked_on and e.place = l.place),
    noted as (
        insert into line_match
        select line_id, line_id, case when is_only then 'amount' else 'amount of several' end, 0 from found)
    insert into entry_match select merchant_id, group_seq, line_id, amount from found
"""

# --- lump sums --------------------------------------------------------------------------------------------------------

# Lines that are known as a settlement of a rail, by its number, take the fees that the rail has told.
FIND_SETTLEMENTS = """
    update rest_line l set fee = s.fees, gross = l.amount + s.fees
    from rail_settlement s
    where l.txn_ref = '' and l.fee = 0 and s.fees > 0 and s.currency = $1 and s.amount = l.amount
        and length(s.settlement_id) >= 4
        and position(s.settlement_id in l.bank_reference || ' ' || l.description) > 0
"""
KEEP_FEES = "update open_line l set fee = r.fee from rest_line r where r.line_id = l.line_id and r.fee <> l.fee"
LUMP_LINES = """
    select l.line_id, l.gross, l.booked_on,
        (select max(s.payments) from rail_settlement s where s.currency = $1 and s.amount = l.amount
            and length(s.settlement_id) >= 4
            and position(s.settlement_id in l.bank_reference || ' ' || l.description) > 0)
    from rest_line l where l.txn_ref = '' order by abs(l.gross) desc, l.line_id limit $2
"""
DAY_TOTALS = """
    select day, coalesce(sum(amount) filter (where amount > 0), 0)::bigint, count(*) filter (where amount > 0),
        coalesce(sum(amount) filter (where amount < 0), 0)::bigint, count(*) filter (where amount < 0)
    from rest_entry group by day
"""
TAKE_DAYS = """
    with taken as (
        delete from rest_entry where day between $2 and $3 and ($4 = 0 or sign(amount) = $4)
        returning merchant_id, group_seq, amount)
    insert into entry_match select merchant_id, group_seq, $1, amount from taken
"""
CANDIDATES = """
    select merchant_id, group_seq, amount from rest_entry
    where day between $1 and $2 and sign(amount) = $3 and abs(amount) < $4 order by merchant_id, group_seq limit $5
"""
TAKE_ENTRY = """
    with taken as (
        delete from rest_entry where merchant_id = $2 and group_seq = $3 returning merchant_id, group_seq, amount)
    insert into entry_match select merchant_id, group_seq, $1, amount from taken
"""
TAKE_LINE = """
    with taken as (delete from rest_line where line_id = $1 returning line_id)
    insert into line_match select line_id, line_id, $2, 0 from taken
"""
COUNT_RULES = "select rule, count(*), count(*) filter (where difference <> 0) from line_match group by rule"


async def open_scope(connection: Connection, scope: MatchScope) -> None:
    """Adds older lines of the scope that nothing matches to `open_line`, and fills `open_entry`."""
    await connection.execute(CREATE_TABLES)
    await connection.execute(REOPEN, scope.account_id, scope.first_day, scope.last_day)
    await connection.execute(ADD_OLDER_LINES, scope.account_id, scope.first_day, scope.last_day)
    await connection.execute(
        FILL_ENTRIES, scope.account_id, scope.ledger_name, scope.vendor, scope.first_day, scope.last_day
    )
    await connection.execute("analyze open_line; analyze open_entry")


async def match_references(connection: Connection, vendor: str) -> None:
    """Matches lines that carry a reference, of equal amounts. Leaves `rest_line` and `rest_entry`."""
    await connection.execute(FIND_RECEIPTS, vendor)
    await connection.execute(FIND_MERCHANTS)
    await connection.execute(MATCH_REFERENCES)
    await connection.execute(CREATE_REST)
    await connection.execute(MATCH_REFERENCE_SUMS.format(condition="l.total = e.total"))
    await connection.execute(DROP_MATCHED)
    await connection.execute(MATCH_BATCHES)
    await connection.execute(DROP_MATCHED)


async def match_differing(connection: Connection) -> None:
    """Matches lines and entries of one reference whose amounts differ."""
    await connection.execute(MATCH_REFERENCE_SUMS.format(condition="true"))
    await connection.execute(DROP_MATCHED)


async def match_amounts(connection: Connection, window: int) -> None:
    """Matches lines without a reference by amount and day, the nearest days first. Banks book on our day or later."""
    for days in sorted(range(-window, window + 1), key=lambda n: (abs(n), -n)):
        await connection.execute(MATCH_AMOUNTS, days)
        await connection.execute(DROP_MATCHED)


class LumpLine(NamedTuple):
    """A line that nothing matches yet, and may be the sum of several entries."""

    line_id: int
    wanted: LumpSum


async def list_lump_lines(connection: Connection, currency: str, most: int) -> list[LumpLine]:
    rows = await connection.fetch(LUMP_LINES, currency, most)
    return [LumpLine(line_id, LumpSum(gross, day, count)) for line_id, gross, day, count in rows]


async def apply_settlement_fees(connection: Connection, currency: str) -> None:
    await connection.execute(FIND_SETTLEMENTS, currency)
    await connection.execute(KEEP_FEES)


async def sum_days(connection: Connection) -> dict[date, DayTotal]:
    return {row[0]: DayTotal(*row[1:]) for row in await connection.fetch(DAY_TOTALS)}


async def take_days(connection: Connection, line: LumpLine, days: Days) -> None:
    """Matches a line with all entries of some days."""
    sign = 0 if not days.is_one_way else 1 if line.wanted.gross > 0 else -1
    await connection.execute(TAKE_DAYS, line.line_id, days.first, days.last, sign)
    await connection.execute(TAKE_LINE, line.line_id, "days")


async def list_candidates(connection: Connection, line: LumpLine, first_day: date, most: int) -> Sequence[Any]:
    """Returns entries that may be part of a line: merchant_id, group_seq and amount of each."""
    sign = 1 if line.wanted.gross > 0 else -1
    values = (first_day, line.wanted.booked_on, sign, abs(line.wanted.gross), most)
    return list(await connection.fetch(CANDIDATES, *values))


async def take_entries(connection: Connection, line: LumpLine, entries: Sequence[Any]) -> None:
    """Matches a line with some entries."""
    for merchant_id, group_seq, _ in entries:
        await connection.execute(TAKE_ENTRY, line.line_id, merchant_id, group_seq)
    await connection.execute(TAKE_LINE, line.line_id, "sum")


class RuleCount(NamedTuple):
    rule: str
    lines: int
    differing: int


async def count_rules(connection: Connection) -> list[RuleCount]:
    return sorted(RuleCount(*row) for row in await connection.fetch(COUNT_RULES))
