"""Reads what a client owns and owes, for the client's page. Never writes; every WHERE has the merchant_id."""

from typing import Any

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.ledger.posting_kinds import LOAN_PARTS

# What, how many, and the sum in kobo. Each branch is of one client.
OWNED = """
    select 'savings', count(*), coalesce(sum(a.posted), 0)::bigint
    from savings s left join account a
        on a.merchant_id = s.merchant_id and a.name = 'savings:' || s.savings_id || ':NGN'
    where s.merchant_id = $1 and s.client_id = $2 and s.state <> 'closed' and s.term_days = 0
    union all select 'fixed_deposits', count(*), coalesce(sum(a.posted), 0)::bigint
    from savings s left join account a
        on a.merchant_id = s.merchant_id and a.name = 'savings:' || s.savings_id || ':NGN'
    where s.merchant_id = $1 and s.client_id = $2 and s.state <> 'closed' and s.term_days > 0
    union all select 'shares', coalesce(sum(h.shares), 0)::bigint, coalesce(sum(h.shares * c.price), 0)::bigint
    from shareholding h join share_class c on c.merchant_id = h.merchant_id and c.class_id = h.class_id
    where h.merchant_id = $1 and h.client_id = $2
    union all select 'cards', count(*), coalesce(sum(a.posted), 0)::bigint
    from virtual_card c left join account a on a.merchant_id = c.merchant_id
        and a.name = 'card:' || c.short_id || ':' || c.currency
    where c.merchant_id = $1 and c.client_id = $2 and c.client_id <> '' and c.state <> 'terminated'
    union all select 'held', count(*), coalesce(sum(d.amount), 0)::bigint
    from held_deposit d where d.merchant_id = $1 and d.client_id = $2 and d.state = 'held'
    union all select 'owed_by_borrowers', count(*), coalesce(sum(g.owed), 0)::bigint
    from loan_guarantee g where g.merchant_id = $1 and g.client_id = $2 and g.owed > 0
    union all select 'credit', count(*), coalesce(sum(c.credit), 0)::bigint
    from client c where c.merchant_id = $1 and c.client_id = $2 and c.credit > 0
"""
OWED = """
    with mine as (
        select loan_id from loan l
        where l.merchant_id = $1 and l.client_id = $2 and l.disbursed_at is not null and l.closed_at is null)
    select 'loans', (select count(*) from mine), coalesce(sum(a.posted), 0)::bigint
    from mine m
    cross join unnest($3::text[]) p (part)
    join account a on a.merchant_id = $1 and a.name = 'loan_' || p.part || ':' || m.loan_id || ':NGN'
    union all select 'guarantors', count(*), coalesce(sum(g.owed), 0)::bigint
    from loan_guarantee g where g.merchant_id = $1 and g.borrower_id = $2 and g.owed > 0
"""
# Savings that are pledged for loans of others: owned, and not free.
PLEDGED = """
    select 'guarantees', count(*), coalesce(sum(g.held), 0)::bigint
    from loan_guarantee g where g.merchant_id = $1 and g.client_id = $2 and g.held > 0
"""


class Holding(msgspec.Struct, frozen=True):
    """One kind of what a client owns or owes."""

    name: str
    number: int
    amount: int


class ClientSummary(msgspec.Struct, frozen=True):
    """Everything that a client owns and owes, in kobo. Kinds of which there is nothing are left out."""

    owned: list[Holding]
    owed: list[Holding]
    pledged: list[Holding]

    @property
    def total_owned(self) -> int:
        return sum(one.amount for one in self.owned)

    @property
    def total_owed(self) -> int:
        return sum(one.amount for one in self.owed)


async def read_client_summary(reader: Reader, merchant_id: int, client_id: str) -> ClientSummary:
    owned = await reader.fetch(OWNED, merchant_id, client_id)
    owed = await reader.fetch(OWED, merchant_id, client_id, LOAN_PARTS)
    pledged = await reader.fetch(PLEDGED, merchant_id, client_id)
    return ClientSummary(read_holdings(owned), read_holdings(owed), read_holdings(pledged))


def read_holdings(rows: list[Any]) -> list[Holding]:
    return [Holding(*row) for row in rows if row[1]]
