"""The laws of the books, each as one query that finds where it is broken.

`kasuwa audit` runs them over the whole database, and the tests after everything that moves money. A law is a
sentence and a query: what the query returns breaks it, and every row names the place.
"""

from typing import Any

import msgspec


class Law(msgspec.Struct, frozen=True):
    says: str
    query: str


# `$1` is null for all merchants, or the array of those to look at.
SCOPE = "($1::bigint[] is null or {table}merchant_id = any($1))"


def scope(alias: str = "") -> str:
    return SCOPE.format(table=f"{alias}." if alias else "")


LAWS = (
    Law(
        "a posting moves money between two accounts of one currency",
        f"""select merchant_id, 'posting ' || seq as place from posting where {scope()}
            and (debit = credit or split_part(debit, ':', 3) <> split_part(credit, ':', 3))""",
    ),
    Law(
        "all balances of a merchant sum to zero per currency, the outside included",
        f"""select merchant_id, currency || ': ' || sum(posted) as place from account where {scope()}
            group by merchant_id, currency having sum(posted) <> 0""",
    ),
    Law(
        "an account's balance is the sum of its postings",
        f"""with moved as (
                select merchant_id, debit as name, -amount as amount from posting where {scope()}
                union all select merchant_id, credit, amount from posting where {scope()}),
            summed as (select merchant_id, name, sum(amount) as posted from moved group by 1, 2),
            mine as (select merchant_id, name, posted from account where {scope()})
            select merchant_id, name || ': ' || coalesce(a.posted, 0) || ' kept, ' || coalesce(s.posted, 0)
                || ' posted' as place
            from mine a full join summed s using (merchant_id, name)
            where coalesce(a.posted, 0) <> coalesce(s.posted, 0)""",
    ),
    Law(
        "every posting shows the balances that it left",
        f"""with moved as (
                select merchant_id, seq, debit as name, -amount as amount, debit_after as after
                from posting where {scope()}
                union all select merchant_id, seq, credit, amount, credit_after from posting where {scope()}),
            running as (
                select *, sum(amount) over (partition by merchant_id, name order by seq) as expected from moved)
            select merchant_id, 'posting ' || seq || ' on ' || name as place from running
            where after <> expected""",
    ),
    Law(
        "postings and events are numbered without a gap, up to their book's counters",
        f"""select b.merchant_id, b.postings || ' postings, ' || b.events || ' events counted' as place
            from book b where {scope("b")} and (
                b.postings <> (select count(*) from posting p where p.merchant_id = b.merchant_id)
                or b.events <> (select count(*) from event e where e.merchant_id = b.merchant_id))""",
    ),
    Law(
        "no account is below its floor, holds counted",
        f"""select merchant_id, name as place from account
            where {scope()} and floor is not null and posted - held < floor""",
    ),
    Law(
        "what an account holds is the sum of its pending holds",
        f"""with pending as (
                select merchant_id, account as name, sum(amount) as held from hold
                where {scope()} and state = 'pending' group by 1, 2),
            mine as (select merchant_id, name, held from account where {scope()})
            select merchant_id, name as place from mine a full join pending p using (merchant_id, name)
            where coalesce(a.held, 0) <> coalesce(p.held, 0)""",
    ),
    Law(
        "no hold is pending without a live job",
        f"""select h.merchant_id, h.reference as place from hold h where {scope("h")} and h.state = 'pending'
            and not exists (select 1 from job j where j.merchant_id = h.merchant_id
                and j.reference = h.reference and j.lane <> 'webhook')""",
    ),
    Law(
        "a final transaction has no pending hold and no job but its delivery; an open one has both",
        f"""select t.merchant_id, t.txn_ref as place from transaction t where {scope("t")}
            and (t.status in ('successful', 'failed')) = (
                exists (select 1 from hold h where h.merchant_id = t.merchant_id and h.reference = t.txn_ref
                    and h.state = 'pending')
                or exists (select 1 from job j where j.merchant_id = t.merchant_id and j.subject = t.key
                    and j.lane <> 'webhook'))""",
    ),
    Law(
        "every final transaction has exactly one event, and an open one none",
        f"""select t.merchant_id, t.txn_ref as place from transaction t where {scope("t")}
            and (t.status in ('successful', 'failed'))::int <> (
                select count(*) from event e where e.merchant_id = t.merchant_id and e.reference = t.txn_ref)""",
    ),
    Law(
        "a successful transfer or bill took its amount, fee, VAT and duty from what was held for it, any other nothing",
        f"""select t.merchant_id, t.txn_ref as place
            from transaction t join hold h on h.merchant_id = t.merchant_id and h.reference = t.txn_ref
            where {scope("t")} and t.kind in ('transfer', 'bill')
            group by t.merchant_id, t.txn_ref, t.status, t.amount, t.fee, t.vat, t.duty
            having sum(h.taken)
                <> case t.status when 'successful' then t.amount + t.fee + t.vat + t.duty else 0 end""",
    ),
    Law(
        "a successful bill gave its commission back to the wallet, any other nothing",
        f"""select t.merchant_id, t.txn_ref as place from transaction t where {scope("t")} and t.kind = 'bill'
            and (select coalesce(sum(p.amount), 0) from posting p where p.merchant_id = t.merchant_id
                and p.reference = t.txn_ref and p.credit like 'wallet:%')
            <> case t.status when 'successful' then (t.detail ->> 'commission')::bigint else 0 end""",
    ),
    Law(
        "what a bill brought is kept if it promised a token or a PIN and was delivered, and only then",
        f"""select t.merchant_id, t.txn_ref as place from transaction t where {scope("t")} and t.kind = 'bill'
            and (t.status = 'successful' and t.detail ->> 'fulfilment' in ('electricity_token', 'pin'))
            <> exists (select 1 from bill_voucher v where v.merchant_id = t.merchant_id and v.txn_ref = t.txn_ref)""",
    ),
    Law(
        "what a hold gave was posted under its reference",
        f"""with given as (
                select p.merchant_id, p.reference, p.debit, sum(p.amount) as amount from posting p
                where {scope("p")} group by 1, 2, 3)
            select h.merchant_id, h.reference as place
            from hold h left join given g
                on g.merchant_id = h.merchant_id and g.reference = h.reference and g.debit = h.account
            where {scope("h")} and h.taken <> coalesce(g.amount, 0)""",
    ),
    Law(
        "a terminated card is empty and has no job, any other has one at most",
        f"""select c.merchant_id, c.reference as place
            from card c left join account a
                on a.merchant_id = c.merchant_id and a.name = 'card:' || c.short_id || ':' || c.currency
            where {scope("c")} and (
                (select count(*) from job j where j.merchant_id = c.merchant_id and j.subject = c.key)
                    > (c.state <> 'terminated')::int
                or c.state = 'terminated' and (a.posted <> 0 or a.held <> 0))""",
    ),
    Law(
        "a card purchase took its amount from a card if it was paid, and gave no more back; a declined one nothing",
        f"""with moved as (
                select p.merchant_id, p.reference, sum(p.amount) as amount from posting p
                where {scope("p")} and p.debit like 'card:%' group by 1, 2)
            select t.merchant_id, t.txn_ref as place
            from transaction t
            join card_record r on r.merchant_id = t.merchant_id and r.txn_ref = t.txn_ref
            left join moved m on m.merchant_id = t.merchant_id and m.reference = t.txn_ref
            where {scope("t")} and t.kind = 'card_purchase' and (
                coalesce(m.amount, 0) <> case t.status when 'successful' then t.amount else 0 end
                or r.refunded > case t.status when 'successful' then (t.detail ->> 'amount')::bigint else 0 end)""",
    ),
    Law(
        "the audit trail is a chain without a gap",
        f"""select a.merchant_id, 'entry ' || a.seq as place
            from (select x as entry, x.*, lag(hash, 1, ''::bytea) over w as previous, row_number() over w as place
                from audit x where {scope("x")} window w as (partition by merchant_id order by seq)) a
            where a.seq <> a.place or a.hash <> audit_hash(a.previous, a.entry)""",
    ),
)


async def audit(connection: Any, merchants: list[int] | None = None) -> list[str]:
    """One line for every place where a law is broken, in one snapshot of the database."""
    broken = []
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        for law in LAWS:
            rows = await connection.fetch(law.query + " limit 20", merchants)
            broken += [f"merchant {merchant_id}: {law.says}: {place}" for merchant_id, place in rows]
    return broken
