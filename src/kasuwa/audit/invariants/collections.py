"""The invariants of the automatic collection of loans."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

COLLECTION_INVARIANTS = (
    Invariant(
        "an automatic collection that waits has one job, and any other has none",
        f"""select a.merchant_id, a.loan_id as place from loan_auto_repayment a {count_jobs("a")}
            where {merchant_filter("a")}
                and (a.state = 'active' and a.charging = '')::int <> coalesce(j.jobs, 0)""",
    ),
    Invariant(
        "an automatic collection counts its attempts, and one charge is in progress at most",
        f"""with made as (
                select merchant_id, loan_id, count(*) as attempts,
                    count(*) filter (where state = 'collected') as collections,
                    coalesce(sum(amount) filter (where state = 'collected'), 0) as collected,
                    coalesce(string_agg(txn_ref, ' ') filter (where state = 'charging'), '') as charging
                from loan_collection where {merchant_filter()} group by 1, 2),
            mine as (select * from loan_auto_repayment where {merchant_filter()})
            select merchant_id, loan_id as place from mine a full join made m using (merchant_id, loan_id)
            where coalesce(a.attempts, 0) <> coalesce(m.attempts, 0)
                or coalesce(a.collections, 0) <> coalesce(m.collections, 0)
                or coalesce(a.collected, 0) <> coalesce(m.collected, 0)
                or coalesce(a.charging, '') <> coalesce(m.charging, '')""",
    ),
    # A repayment is of a collection if an attempt names it. Its customer_txnref does not say so: the merchant may send
    # the auto_repay_id with any repayment.
    Invariant(
        "what was collected of a loan is a repayment of it, and no repayment is of two attempts",
        f"""with made as (
                select merchant_id, loan_id, txn_ref, sum(amount) as amount from loan_collection
                where {merchant_filter()} and state = 'collected' group by 1, 2, 3),
            acts as (
                select merchant_id, loan_id, reference as txn_ref, amount from loan_act
                where {merchant_filter()} and kind = 'repayment')
            select merchant_id, loan_id || ' ' || txn_ref as place
            from made m left join acts a using (merchant_id, loan_id, txn_ref)
            where m.amount is distinct from a.amount""",
    ),
    Invariant(
        "a loan is collected from its own client",
        f"""with lent as (select merchant_id, loan_id, client_id from loan where {merchant_filter()}),
            saved as (select merchant_id, savings_id, client_id from savings where {merchant_filter()})
            select a.merchant_id, a.loan_id as place from loan_auto_repayment a
            left join lent l using (merchant_id, loan_id)
            left join saved s using (merchant_id, savings_id)
            where {merchant_filter("a")} and (l.client_id is distinct from a.client_id
                or (a.source = 'savings' and s.client_id is distinct from a.client_id))""",
    ),
)
