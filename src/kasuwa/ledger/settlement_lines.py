"""The lines of settlements: which postings on a wallet belong to which, and the query that sums them.

Every posting on a wallet that collections cause belongs to one line:

    gross      rail → wallet of a payment
    settled    settling → wallet: a settlement of a later day (T+n), one posting, whose batch knows its lines
    fee, vat   wallet → income:collection, and the VAT on it
    split      wallet → beneficiary
    refunds    wallet → rail of a refund
    disputes   wallet → rail, income and tax of a dispute, and what is lent and paid back for it
    reserve    wallet → reserve, and back

A payout by schedule, wallet → rail, is the line paid_out. The kind of a posting says its line (posting_kinds.py). Other
postings belong to none, whatever accounts they move: so does an operator's manual posting.
"""

from kasuwa.ledger.posting_kinds import POSTING_KINDS

# The line of a posting on a wallet, by its kind.
LINES_BY_KIND = {kind: entry.line for kind, entry in POSTING_KINDS.items() if entry.line}
CASES = " ".join(f"when '{kind}' then '{line}'" for kind, line in LINES_BY_KIND.items())
LINE = f"case kind {CASES} end"
ON_WALLET = """
    select merchant_id, at, reference, kind, split_part(debit, ':', 3) as currency,
        case when starts_with(credit, 'wallet:main:') then amount else -amount end as amount
    from summed where starts_with(credit, 'wallet:main:') or starts_with(debit, 'wallet:main:')
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
