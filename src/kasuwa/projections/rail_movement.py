"""Reads what a rail's late word moves: one that takes a successful transaction back, or has paid one that failed."""

from typing import NamedTuple

from kasuwa.core.reading import Reader

# What a rail's late word moves, by the kind and the status of the transaction:
#
#     transfer, bill, refund   successful, and came back     rail → the account that paid it
#     transfer, bill, refund   failed, and was paid          the account that got it back → rail
#     payment                  successful, and taken back    wallet → rail, what was not refunded or disputed
#
# The rail of a failed refund is that of its payment.
RAIL_MOVEMENT = """
    with ended as (
        select merchant_id, txn_ref, kind, status, amount, currency, detail from transaction
        where merchant_id = $1 and txn_ref = $2 and kind in ('transfer', 'bill', 'refund', 'payment')
          and status in ('successful', 'failed')),
    moved as (
        select case when p.credit like 'rail:%' then p.credit else 'wallet:main:' || t.currency end as debit,
            p.debit as credit, p.amount
        from ended t join posting p on p.merchant_id = t.merchant_id and p.reference = t.txn_ref
        where t.status = 'successful'
          and ((t.kind <> 'payment' and p.credit like 'rail:%') or (t.kind = 'payment' and p.debit like 'rail:%'))
        union all
        select case when t.detail ->> 'is_return' = 'true' then 'unapplied:main:' || t.currency
                else coalesce(t.detail ->> 'source', 'wallet:main:' || t.currency) end,
            case t.kind when 'transfer' then 'rail:bank:NGN' when 'bill' then 'rail:biller:NGN'
                else (select min(p.debit) from posting p where p.merchant_id = t.merchant_id
                    and p.reference = t.detail ->> 'payment' and p.debit like 'rail:%') end,
            t.amount
        from ended t where t.status = 'failed' and t.kind <> 'payment')
    select m.debit, m.credit,
        sum(m.amount)::bigint - coalesce((select y.refunded + y.refunding + y.disputed from payment y
            where y.merchant_id = $1 and y.txn_ref = $2), 0),
        exists (select 1 from rail_reversal r where r.merchant_id = $1 and r.txn_ref = $2)
            or exists (select 1 from approval a join merchant h on h.mid = a.mid and h.merchant_id = $1
                where a.kind = 'reversal' and a.state = 'open' and a.proposal ->> 'reverses' = $2),
        coalesce((select e.detail ->> 'payment' from ended e where e.kind = 'refund'), '')
    from moved m where m.credit is not null group by m.debit, m.credit
"""


class RailMovement(NamedTuple):
    """The posting that books what a rail says late of a transaction."""

    debit: str
    credit: str
    amount: int
    is_reversed: bool  # booked, or proposed
    refund_of: str  # the payment, if the transaction is a refund


async def find_rail_movement(reader: Reader, merchant_id: int, txn_ref: str) -> RailMovement | None:
    """Returns None if there is no such transaction, or nothing of it that could be booked."""
    rows = await reader.fetch(RAIL_MOVEMENT, merchant_id, txn_ref)
    return RailMovement(*rows[0]) if len(rows) == 1 and rows[0][2] > 0 else None
