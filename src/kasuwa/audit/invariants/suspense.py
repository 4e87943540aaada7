"""The invariants of unidentified money."""

from kasuwa.audit.invariants.invariant import Invariant, merchant_filter

KINDS = "('received for nobody known', 'assigned from suspense', 'returned from suspense')"

SUSPENSE_INVARIANTS = (
    Invariant(
        "unidentified money is in suspense until it is assigned or returned, once and in whole",
        f"""with due as (
                select r.merchant_id, 'suspense:inbound:' || r.currency as name, sum(r.amount - case
                    when d.state in ('assigned', 'returned') then d.amount else 0 end) as amount
                from inbound_receipt r left join suspense_decision d
                    on {merchant_filter("d")} and d.merchant_id = r.merchant_id and d.rail = r.rail
                    and d.rail_reference = r.rail_reference and d.state <> 'received'
                where {merchant_filter("r")} and r.txn_ref = '' group by 1, 2),
            posted as (
                select merchant_id, case when credit like 'suspense:inbound:%' then credit else debit end as name,
                    sum(case when credit like 'suspense:inbound:%' then amount else -amount end) as amount
                from posting where {merchant_filter()} and kind in {KINDS}
                    and (credit like 'suspense:inbound:%' or debit like 'suspense:inbound:%') group by 1, 2)
            select merchant_id, name as place from due full join posted using (merchant_id, name)
            where coalesce(due.amount, 0) <> coalesce(posted.amount, 0)""",
    ),
    Invariant(
        "what was decided about money in suspense is the whole of a receipt",
        f"""with receipt as (
                select merchant_id, rail, rail_reference, amount, currency from inbound_receipt
                where {merchant_filter()} and txn_ref = '')
            select d.merchant_id, d.rail || ' ' || d.rail_reference as place from suspense_decision d
            left join receipt r on r.merchant_id = d.merchant_id and r.rail = d.rail
                and r.rail_reference = d.rail_reference and r.amount = d.amount and r.currency = d.currency
            where {merchant_filter("d")} and d.state <> 'received' and r.rail is null""",
    ),
    Invariant(
        "money in suspense that is assigned to another merchant is in that merchant's wallet, and nowhere else",
        f"""with other as materialized (select * from suspense_decision),
            waiting as materialized (select approval_id from approval where state = 'open')
            select d.merchant_id, d.rail || ' ' || d.rail_reference as place from suspense_decision d
            where {merchant_filter("d")} and (d.state = 'received' or d.state = 'assigned' and d.other_merchant_id <> 0)
                and not exists (select 1 from other o where o.merchant_id = d.other_merchant_id
                    and o.rail = d.rail and o.rail_reference = d.rail_reference and o.amount = d.amount
                    and o.currency = d.currency and o.other_merchant_id = d.merchant_id
                    and o.state = case d.state when 'received' then 'assigned' else 'received' end
                    and o.approval_id = d.approval_id)
                and not exists (select 1 from waiting w where w.approval_id = d.approval_id)""",
    ),
)
