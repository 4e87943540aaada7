"""The invariants of standing orders."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

STANDING_ORDER_INVARIANTS = (
    Invariant(
        "an active standing order has one job, and any other has none",
        f"""select o.merchant_id, o.order_id as place from standing_order o {count_jobs("o")}
            where {merchant_filter("o")} and (o.state = 'active')::int <> coalesce(j.jobs, 0)""",
    ),
    Invariant(
        "what a standing order paid are its deposits and repayments",
        f"""with made as (
                select o.merchant_id, o.order_id, count(*) as payments, sum(p.amount) as paid
                from standing_order o
                join transaction t on t.merchant_id = o.merchant_id and t.order_ref = o.order_id
                join posting p on p.merchant_id = t.merchant_id and p.reference = t.txn_ref
                    and p.debit = 'savings:' || o.savings_id || ':NGN'
                    and p.kind in ('savings deposit', 'savings cash-out')
                where {merchant_filter("o")} and {merchant_filter("t")} and {merchant_filter("p")} group by 1, 2)
            select o.merchant_id, o.order_id as place
            from standing_order o left join made m using (merchant_id, order_id)
            where {merchant_filter("o")}
                and (o.payments <> coalesce(m.payments, 0) or o.paid <> coalesce(m.paid, 0))""",
    ),
    Invariant(
        "a standing order pays savings or a loan of the client whose savings pay",
        f"""select o.merchant_id, o.order_id as place from standing_order o
            left join savings f on f.merchant_id = o.merchant_id and f.savings_id = o.savings_id
                and {merchant_filter("f")}
            left join savings s on s.merchant_id = o.merchant_id and s.savings_id = o.target_savings
                and {merchant_filter("s")}
            left join loan l on l.merchant_id = o.merchant_id and l.loan_id = o.target and {merchant_filter("l")}
            where {merchant_filter("o")} and (f.client_id is distinct from o.client_id or o.client_id is distinct from
                case o.pays when 'loan' then l.client_id else s.client_id end)""",
    ),
)
