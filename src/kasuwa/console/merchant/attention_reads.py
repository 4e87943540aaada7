"""Database reads of what waits for a merchant's people. No writes, and merchant_id is in every WHERE.

Each statement reads an index of what waits alone, and no more than MAX_COUNTED rows of it.
"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.decision import Merchant
from kasuwa.core.reading import Reader

# No more of a kind are counted. Pages write "1,000" for any larger number with a plus.
MAX_COUNTED = 1_000
# Keys that end within this time are named.
KEY_NOTICE = timedelta(days=14)
SHOWN_KEYS = 3

DISPUTES = """
    select count(*), min(d.due_at) from (select due_at from dispute
        where merchant_id = $1 and state = 'needs_response' order by due_at, key limit $2) d
"""
INVOICES = """
    select i.currency, count(*), sum(i.total - i.paid)::bigint from (select currency, total, paid from invoice
        where merchant_id = $1 and status = 'overdue' order by number limit $2) i
    group by i.currency order by i.currency
"""
LOANS = """
    select count(*) from (select 1 from loan
        where merchant_id = $1 and state = 'active_in_arrears' order by number limit $2) l
"""
PLANS = """
    select count(*) from (select 1 from payment_plan
        where merchant_id = $1 and state = 'paused' order by created_at, key limit $2) p
"""
KEYS = """
    select name, expires_at from merchant_key
    where merchant_id = $1 and expires_at > $2 and expires_at <= $3 and replaced_by is null
    order by expires_at, key_id limit $4
"""


class OverdueInvoices(msgspec.Struct, frozen=True):
    """Overdue invoices of one currency."""

    currency: str
    count: int
    outstanding: int  # in minor units


class EndingKey(msgspec.Struct, frozen=True):
    """An API key that expires soon, and was not rolled."""

    name: str
    expires_at: datetime


class WaitingMatters(msgspec.Struct, frozen=True):
    """Matters that wait for somebody, besides transfers and endpoints."""

    disputes: int
    first_dispute_due: datetime | None
    invoices: list[OverdueInvoices]
    late_loans: int
    paused_plans: int
    keys: list[EndingKey]


async def read_matters(reader: Reader, merchant: Merchant, real_time: datetime) -> WaitingMatters:
    """Returns what waits. Keys expire in real time, also if business time was moved."""
    merchant_id = merchant.merchant_id
    disputes, first_due = await reader.fetchrow(DISPUTES, merchant_id, MAX_COUNTED)
    invoices = [OverdueInvoices(*row) for row in await reader.fetch(INVOICES, merchant_id, MAX_COUNTED)]
    (loans,) = await reader.fetchrow(LOANS, merchant_id, MAX_COUNTED)
    (plans,) = await reader.fetchrow(PLANS, merchant_id, MAX_COUNTED)
    rows = await reader.fetch(KEYS, merchant_id, real_time, real_time + KEY_NOTICE, SHOWN_KEYS)
    return WaitingMatters(disputes, first_due, invoices, loans, plans, [EndingKey(*row) for row in rows])
