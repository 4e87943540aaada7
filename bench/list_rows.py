"""Fills the tables of one merchant with millions of transactions and postings, by SQL.

The rows are those of a merchant that has been busy for a year: all kinds of transactions, a few in other currencies, a
few failed, a few large. Each posting moves money of the NGN wallet, whose balance follows. Indexes are made after the
rows, which takes a third of the time. The postings have no transactions and are in no chain: for bench databases only.
"""

import asyncio

import asyncpg

from bench import postgres
from kasuwa.projections import settlement_sums

# Of 10,000 transactions 6,000 are payments, 200 failed, 50 are in USD and 5 are large. 60,000 customers pay.
TRANSACTIONS = """
insert into transaction (key, merchant_id, kind, txn_ref, order_ref, batch_ref, currency, amount, fee, vat, duty,
    status, code, message, digest, detail, trail, created_at, final_at, seq)
select decode(md5('t' || n), 'hex'), {merchant_id},
    case when n % 5 < 3 then 'payment' when n % 5 = 3 then 'transfer' when n % 100 = 4 then 'bill' else 'transfer' end,
    case when n % 5 < 3 then 'GP' || lpad(n::text, 9, '0') || '20250101X'
        else 'GP|FD|' || lpad(n::text, 9, '0') || '|20250101X' end,
    'order-' || n, null, case when n % 200 = 0 then 'USD' else 'NGN' end,
    case when n % 2000 = 0 then 150000000 else 10000 + n % 900000 end, 1075, 81, 0,
    case when n % 50 = 7 then 'failed' else 'successful' end, '00', 'Approved or completed successfully', '',
    case when n % 5 < 3 then json_build_object('method', (array['card', 'bank_transfer', 'ussd', 'token'])[1 + n % 4],
        'customer', case n % 10000 when 1 then '{customer_hash}'
            else md5('customer' || n % 100000) end)
        when n % 100 = 4 then json_build_object('paycode', 'power', 'item', 'Prepaid', 'bills_id', 1, 'biller', 'Power',
            'slug', 'power', 'reference', '45012345678', 'fulfilment', 'none', 'commission', 0)
        else '{{"narration":"bench"}}'::json end,
    '[]', now() - interval '1 year' + interval '1 year' * n / {rows},
    now() - interval '1 year' + interval '1 year' * n / {rows}, n
from generate_series(1::bigint, {rows}) n
"""

# The wallet gets 100.00 and pays 1.50 and 0.11 of it, again and again: the balance after each follows from its number.
POSTINGS = """
insert into posting (merchant_id, seq, group_seq, reference, debit, credit, amount, debit_after, credit_after, kind, at)
select {merchant_id}, n, n - (n - 1) % 3, 'GP' || lpad(n::text, 9, '0') || '20250101X',
    case (n - 1) % 3 when 0 then 'rail:card:NGN' else 'wallet:main:NGN' end,
    case (n - 1) % 3 when 0 then 'wallet:main:NGN' when 1 then 'income:collection:NGN' else 'tax:vat:NGN' end,
    case (n - 1) % 3 when 0 then 10000 when 1 then 150 else 11 end,
    case (n - 1) % 3 when 0 then 0 else after end, case (n - 1) % 3 when 0 then after else 0 end,
    case (n - 1) % 3 when 0 then 'payment' when 1 then 'collection fee' else 'collection VAT' end,
    now() - interval '1 year' + interval '1 year' * n / {rows}
from generate_series(1::bigint, {rows}) n
cross join lateral (select (n - 1) / 3 * 9839 + case (n - 1) % 3 when 0 then 10000 when 1 then 9850 else 9839 end
    as after) b
"""

FAILED = """
insert into failed_transaction (merchant_id, created_at, seq, key, kind, txn_ref, order_ref, currency, amount, fee, vat,
    duty, status, message, detail, final_at)
select merchant_id, created_at, seq, key, kind, txn_ref, order_ref, currency, amount, fee, vat, duty, status, message,
    detail, final_at
from transaction where merchant_id = {merchant_id} and status = 'failed' order by created_at
on conflict do nothing
"""

# The merchant's own postings, of its funding, come after the made ones.
MAKE_ROOM = """
update posting set seq = seq + {rows}, group_seq = group_seq + {rows} where merchant_id = {merchant_id};
update merchant_state set last_posting_seq = last_posting_seq + {rows}, version = version + 1
where merchant_id = {merchant_id}
"""

LAST_POSTING = """
    select s.merchant_id, s.last_posting_seq from merchant_state s join merchant m using (merchant_id)
    where m.mid = $1 and m.current
"""
PLAIN_INDEXES = """
select format('%I', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid) from pg_index i
where i.indrelid in ('transaction'::regclass, 'posting'::regclass) and not i.indisprimary order by i.indexrelid
"""


def fill(dsn: str, mid: str, rows: int, customer_hash: str) -> None:
    """Adds so many transactions and so many postings to the current books of a merchant. One in 10,000 is a payment of
    the customer with this hash."""
    [[merchant_id]] = postgres.query(dsn, f"select merchant_id from merchant where mid = '{mid}' and current")
    values = {"merchant_id": merchant_id, "rows": rows, "customer_hash": customer_hash}
    indexes = postgres.query(dsn, PLAIN_INDEXES)
    steps = [
        "set session_replication_role = replica",
        "set maintenance_work_mem = '1GB'",
        "set synchronous_commit = off",
        *(f"drop index {name}" for name, _ in indexes),
        MAKE_ROOM.format(**values),
        TRANSACTIONS.format(**values),
        POSTINGS.format(**values),
        *(definition for _, definition in indexes),
        FAILED.format(**values),
    ]
    postgres.query(dsn, ";\n".join(steps) + ";")
    keep_settlement_sums(dsn, mid)


def keep_settlement_sums(dsn: str, mid: str) -> None:
    """Sums the settlements of a merchant as the worker does, which may be doing so already."""

    async def sum_all() -> None:
        connection = await asyncpg.connect(dsn)
        try:
            [[merchant_id, last]] = await connection.fetch(LAST_POSTING, mid)
            while await connection.fetchval(settlement_sums.MARK, merchant_id) < last:
                await settlement_sums.sum_next(connection, merchant_id, last)
        finally:
            await connection.close()

    asyncio.run(sum_all())
