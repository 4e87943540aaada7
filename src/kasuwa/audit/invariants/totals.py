"""The invariants of sums that are kept: the daily totals that overviews show, and the sums of settlements."""

from kasuwa.audit.invariants.invariant import Invariant, merchant_filter
from kasuwa.ledger.counted_amounts import COUNTED_AMOUNT
from kasuwa.ledger.settlement_lines import SUM_LINES

TOTAL_INVARIANTS = (
    Invariant(
        "the daily totals of a merchant count every final transaction up to their mark once",
        f"""with kept as (
                select merchant_id, day, kind, currency, status, rail, sum(count) as count, sum(amount) as amount
                from daily_total where {merchant_filter()} and merchant_id <> 0 group by 1, 2, 3, 4, 5, 6),
            made as (
                select e.merchant_id, (t.created_at at time zone 'Africa/Lagos')::date as day, t.kind, t.currency,
                    t.status, t.rail, count(*) as count, sum({COUNTED_AMOUNT}) as amount
                from daily_total_mark m
                join event e on e.merchant_id = m.merchant_id and e.seq <= m.event_seq
                join transaction t on t.merchant_id = e.merchant_id and t.txn_ref = e.reference
                where {merchant_filter("m")} and {merchant_filter("e")} and {merchant_filter("t")}
                group by 1, 2, 3, 4, 5, 6)
            select merchant_id, day || ' ' || kind || ' ' || currency || ' ' || status as place
            from kept full join made using (merchant_id, day, kind, currency, status, rail)
            where (kept.count, kept.amount) is distinct from (made.count, made.amount)""",
    ),
    Invariant(
        "the sums of a merchant's settlements are those of its postings up to their mark",
        f"""with kept as (
                select merchant_id, day, currency, line, reference, amount, count from settlement_sum
                where {merchant_filter()}),
            summed as (
                select p.* from settlement_sum_mark m
                join posting p on p.merchant_id = m.merchant_id and p.seq <= m.posting_seq
                where {merchant_filter("m")} and {merchant_filter("p")}),
            made as ({SUM_LINES})
            select merchant_id, day || ' ' || currency || ' ' || line || ' ' || reference as place
            from kept full join made using (merchant_id, day, currency, line, reference)
            where (kept.amount, kept.count) is distinct from (made.amount, made.count)""",
    ),
)
