"""The lines of settlements: which postings on a wallet belong to which, and the query that sums them.

Every posting on a wallet that collections cause belongs to one line:

    gross      rail → wallet of a payment
    settled    settling → wallet: a settlement of a later day (T+n), one posting, whose batch knows its lines
    fee, vat   wallet → income:collection, and the VAT on it
    split      wallet → beneficiary
    refunds    wallet → rail of a refund
    disputes   wallet → rail, income and tax of a dispute, and what is lent and paid back for it
    reserve    wallet → reserve, and back

A payout by schedule, wallet → rail, is the line paid_out. Other postings belong to none.
"""

# The line of a posting on a wallet. `other` is the account on its other side. Postings of a payment have its reference,
# which has no bars; those of transfers, bills and disputes have.
LINE = """
    case when kind = 'payment' and other like 'rail:%' then 'gross'
        when kind = 'settlement' and other like 'settling:%' then 'settled'
        when kind = 'reserve' or kind = 'reserve released' then 'reserve'
        when reference like 'GP|DS|%' or other like 'receivable:disputes:%' then 'disputes'
        when kind = 'refund' then 'refunds'
        when other like 'income:collection:%' then 'fee'
        when other like 'tax:vat:%' and reference not like '%|%' then 'vat'
        when other like 'beneficiary:%' then 'split'
        when reference like 'GP|PO|%' and amount < 0 and other like 'rail:bank:%' then 'paid_out' end
"""
ON_WALLET = """
    select merchant_id, at, reference, kind, split_part(debit, ':', 3) as currency,
        case when credit like 'wallet:%' then debit else credit end as other,
        case when credit like 'wallet:%' then amount else -amount end as amount
    from summed where credit like 'wallet:main:%' or debit like 'wallet:main:%'
"""
# Sums the postings of `summed`, a WITH query that the statement puts before it. Two lines name a reference: by it the
# batch of a settlement of a later day is found, and payouts are listed.
SUM_LINES = f"""
    select merchant_id, day, currency, line,
        case when line in ('settled', 'paid_out') then reference else '' end as reference,
        sum(amount)::bigint as amount, count(*) as count
    from (select merchant_id, (at at time zone 'Africa/Lagos')::date as day, currency, reference, amount, {LINE} as line
        from ({ON_WALLET}) w) m
    where line is not null group by 1, 2, 3, 4, 5
"""
