"""Reads what reconciliation found: accounts and imports, sums by state, lines and entries, and their decisions.

A line is *matched*, *differing* or *theirs only*; an entry of the books that no line matches is *ours only*. A line or
entry that two operators have decided about is *decided*.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import msgspec

from kasuwa.postgres.connection_pool import QueryRunner
from kasuwa.reconciliation.matching import OPEN_ENTRIES, MatchScope

STATES = ("matched", "differing", "theirs only", "ours only", "decided")
MAX_LISTED = 100

ACCOUNTS = """
    select a.account_id, a.name, a.mapping::text, a.bank_account, i.count, i.last_day, i.first_day_of_last,
        i.imported_at
    from statement_account a left join lateral (
        select count(*) as count, max(last_day) as last_day, max(imported_at) as imported_at,
            (array_agg(first_day order by import_id desc))[1] as first_day_of_last
        from statement_import where account_id = a.account_id) i on true
    order by a.name limit 200
"""
# Of the newest merchants: every merchant's books have the accounts of the rails that it uses.
ACCOUNT_NAMES = """
    select distinct a.name from (select merchant_id from merchant where current order by merchant_id desc limit 50) m
    join account a on a.merchant_id = m.merchant_id
    where starts_with(a.name, 'rail:') or starts_with(a.name, 'outside:') order by a.name limit 100
"""
IMPORTS = """
    select import_id, format, file_name, line_count, new_count, first_day, last_day, opening, closing, imported_by,
        imported_at
    from statement_import where account_id = $1 order by import_id desc limit $2
"""
# The state of each line: the decision that stands or waits, else that of its match.
LINES = """
    select l.line_id, l.booked_on, l.amount, l.fee, l.bank_reference, l.description, l.txn_ref, m.mid, l.rule,
        l.match_id, l.difference,
        case when d.state = 'approved' then 'decided' when l.match_id is null then 'theirs only'
            when l.difference <> 0 then 'differing' else 'matched' end as state,
        case d.state when 'open' then d.approval_id end as open_approval
    from statement_line l
    left join merchant m on m.merchant_id = l.merchant_id
    left join lateral (
        select a.state, a.approval_id from reconciliation_decision r join approval a on a.approval_id = r.approval_id
        where r.account_id = l.account_id and r.line_id = l.line_id and a.state <> 'rejected'
        order by a.approval_id desc limit 1) d on true
"""
LIST_OPEN_LINES = f"""
    select * from ({LINES} where l.account_id = $1 and l.booked_on between $2 and $3
        and (l.match_id is null or l.difference <> 0)) s
    where s.state = $4 and s.line_id > $5 order by s.line_id limit {MAX_LISTED + 1}
"""
LIST_MATCHED_LINES = f"""
    {LINES} where l.account_id = $1 and l.booked_on between $2 and $3 and l.match_id is not null and l.difference = 0
        and $4 = 'matched' and l.line_id > $5 order by l.line_id limit {MAX_LISTED + 1}
"""
FIND_LINE = f"{LINES} where l.account_id = $1 and l.line_id = $2"
LINE_TOTALS = """
    select case when d.line_id is not null then 'decided' when l.match_id is null then 'theirs only'
            when l.difference <> 0 then 'differing' else 'matched' end as kind,
        count(*), sum(l.amount)::bigint, sum(l.fee)::bigint, sum(l.difference)::bigint
    from statement_line l
    left join (
        select distinct r.line_id from reconciliation_decision r join approval a on a.approval_id = r.approval_id
        where r.account_id = $1 and a.state = 'approved') d on d.line_id = l.line_id
    where l.account_id = $1 and l.booked_on between $2 and $3 group by 1
"""
ENTRY_TOTALS = f"select count(*), coalesce(sum(e.amount), 0)::bigint from ({OPEN_ENTRIES}) e"
ENTRIES = f"""
    select e.merchant_id, e.group_seq, m.mid, e.reference, e.amount, e.day,
        (select max(a.approval_id) from reconciliation_decision r join approval a on a.approval_id = r.approval_id
            where r.account_id = $1 and r.merchant_id = e.merchant_id and r.group_seq = e.group_seq
                and a.state = 'open')
    from ({OPEN_ENTRIES}) e join merchant m on m.merchant_id = e.merchant_id
"""
LIST_ENTRIES = f"""
    {ENTRIES} where (e.day, e.merchant_id, e.group_seq) > ($6, $7, $8)
    order by e.day, e.merchant_id, e.group_seq limit {MAX_LISTED + 1}
"""
FIND_ENTRY = f"{ENTRIES} where e.merchant_id = $6 and e.group_seq = $7"
MATCHED_ENTRIES = """
    select r.match_id, m.mid, r.group_seq, r.amount, p.reference
    from reconciled_entry r join merchant m on m.merchant_id = r.merchant_id
    join posting p on p.merchant_id = r.merchant_id and p.seq = r.group_seq
    where r.account_id = $1 and r.match_id = any($2) order by r.match_id, r.merchant_id, r.group_seq limit 500
"""
ENTRY_DAY = """
    select (at at time zone 'Africa/Lagos')::date from posting
    where merchant_id = $1 and group_seq = $2 order by seq limit 1
"""
INSERT_DECISION = """
    insert into reconciliation_decision (approval_id, account_id, line_id, merchant_id, group_seq)
    values ($1, $2, $3, $4, $5)
"""


class AccountSummary(msgspec.Struct):
    """An account that is reconciled, with its imports."""

    account_id: int
    name: str
    mapping: str | None
    bank_account: str
    imports: int
    last_day: date | None  # of the lines
    first_day_of_last: date | None  # the first day of the newest import
    imported_at: datetime | None


class ImportRow(msgspec.Struct):
    """An imported file."""

    import_id: int
    format: str
    file_name: str
    line_count: int
    new_count: int
    first_day: date | None
    last_day: date | None
    opening: int | None
    closing: int | None
    imported_by: str
    imported_at: datetime


class LineRow(msgspec.Struct):
    """A line of a statement and its state."""

    line_id: int
    booked_on: date
    amount: int
    fee: int
    bank_reference: str
    description: str
    txn_ref: str
    mid: str | None  # of the merchant whose reference the line carries
    rule: str
    match_id: int | None
    difference: int
    state: str
    open_approval: int | None  # a proposed decision

    @property
    def open_amount(self) -> int:
        """The amount that the books lack: the whole line, or the difference of its match."""
        return self.amount + self.fee if self.match_id is None else self.difference


class EntryRow(msgspec.Struct):
    """An entry: the effect of a group of postings on the account, with the sign of a statement."""

    merchant_id: int
    group_seq: int
    mid: str
    reference: str
    amount: int
    day: date
    open_approval: int | None


class StateTotal(NamedTuple):
    """Number and sum of the lines, or entries, in one state."""

    state: str
    number: int
    amount: int
    fee: int = 0
    difference: int = 0


async def list_account_names(connection: QueryRunner) -> list[str]:
    """Returns accounts of the ledger that can be reconciled, by name."""
    return [name for (name,) in await connection.fetch(ACCOUNT_NAMES)]


async def list_accounts(reader: QueryRunner) -> list[AccountSummary]:
    return [AccountSummary(*row) for row in await reader.fetch(ACCOUNTS)]


async def find_account(reader: QueryRunner, account_id: int) -> AccountSummary | None:
    return next((row for row in await list_accounts(reader) if row.account_id == account_id), None)


async def list_imports(reader: QueryRunner, account_id: int, most: int = MAX_LISTED) -> list[ImportRow]:
    return [ImportRow(*row) for row in await reader.fetch(IMPORTS, account_id, most)]


async def sum_states(reader: QueryRunner, scope: MatchScope) -> list[StateTotal]:
    """Returns the totals of the days of the scope, state by state."""
    rows = await reader.fetch(LINE_TOTALS, scope.account_id, scope.first_day, scope.last_day)
    totals = {row[0]: StateTotal(*row) for row in rows}
    totals["ours only"] = StateTotal("ours only", *await reader.fetchrow(ENTRY_TOTALS, *scope_values(scope)))
    return [totals.get(state, StateTotal(state, 0, 0)) for state in STATES]


async def list_lines(reader: QueryRunner, scope: MatchScope, state: str, after: int = 0) -> list[LineRow]:
    query = LIST_MATCHED_LINES if state == "matched" else LIST_OPEN_LINES
    values = (scope.account_id, scope.first_day, scope.last_day, state, after)
    return [LineRow(*row) for row in await reader.fetch(query, *values)]


async def find_line(reader: QueryRunner, account_id: int, line_id: int) -> LineRow | None:
    row = await reader.fetchrow(FIND_LINE, account_id, line_id)
    return None if row is None else LineRow(*row)


class EntryPlace(NamedTuple):
    """The place of an entry in the list, after which the next page continues."""

    day: date = date.min
    merchant_id: int = 0
    group_seq: int = 0

    def encode(self) -> str:
        return f"{self.day:%Y%m%d}-{self.merchant_id}-{self.group_seq}"


FIRST_ENTRIES = EntryPlace()


async def list_entries(reader: QueryRunner, scope: MatchScope, after: EntryPlace = FIRST_ENTRIES) -> list[EntryRow]:
    """Returns a page of the entries that no line matches, and one more if there are more."""
    return [EntryRow(*row) for row in await reader.fetch(LIST_ENTRIES, *scope_values(scope), *after)]


async def find_entry(reader: QueryRunner, scope: MatchScope, merchant_id: int, group_seq: int) -> EntryRow | None:
    """Returns an entry that no line matches and nobody has decided, or None. Only the account of the scope counts."""
    day = await reader.fetchval(ENTRY_DAY, merchant_id, group_seq)
    if day is None:
        return None
    of_day = msgspec.structs.replace(scope, first_day=day, last_day=day)
    row = await reader.fetchrow(FIND_ENTRY, *scope_values(of_day), merchant_id, group_seq)
    return None if row is None else EntryRow(*row)


async def list_matched_entries(reader: QueryRunner, account_id: int, matches: Sequence[int]) -> list[Any]:
    """Returns match_id, mid, group, amount and reference of the entries of some matches."""
    return list(await reader.fetch(MATCHED_ENTRIES, account_id, list(matches)))


def scope_values(scope: MatchScope) -> tuple[Any, ...]:
    return (scope.account_id, scope.ledger_name, scope.vendor, scope.first_day, scope.last_day)


async def add_decision(connection: QueryRunner, approval_id: int, account_id: int, decided: LineRow | EntryRow) -> None:
    """Notes that an approval is about a line or an entry."""
    values = (
        (decided.line_id, None, None)
        if isinstance(decided, LineRow)
        else (None, decided.merchant_id, decided.group_seq)
    )
    await connection.execute(INSERT_DECISION, approval_id, account_id, *values)


async def lock_account(connection: QueryRunner, account_id: int) -> None:
    """Locks an account until the end of the transaction: against imports, and against other decisions."""
    await connection.execute("select 1 from statement_account where account_id = $1 for update", account_id)
