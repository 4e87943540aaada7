"""The invariants of disputes, of payouts by schedule and of daily events of settlements."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

DISPUTE_INVARIANTS = (
    Invariant(
        "what is disputed of a payment is the sum of its disputes that were not won, and what its rail took back",
        f"""with taken as (
                select merchant_id, txn_ref, sum(amount) as amount from dispute
                where {merchant_filter()} and state <> 'won' group by 1, 2),
            reversed as (
                select merchant_id, txn_ref, true as is_reversed from rail_reversal where {merchant_filter()}
                union select r.merchant_id, t.detail ->> 'payment', true
                from rail_reversal r join transaction t using (merchant_id, txn_ref)
                where {merchant_filter("r")} and {merchant_filter("t")} and t.kind = 'refund')
            select p.merchant_id, p.txn_ref as place
            from payment p left join taken d using (merchant_id, txn_ref)
            left join reversed using (merchant_id, txn_ref)
            where {merchant_filter("p")} and (p.disputed < coalesce(d.amount, 0)
                or p.disputed > coalesce(d.amount, 0) and is_reversed is null)""",
    ),
    Invariant(
        "an open dispute has one job, one that has ended none",
        f"""select d.merchant_id, d.dispute_id as place from dispute d {count_jobs("d")}
            where {merchant_filter("d")}
                and (d.state in ('needs_response', 'under_review'))::int <> coalesce(j.jobs, 0)""",
    ),
    Invariant(
        "a dispute that was not won took its amount, fee and VAT, from the wallet or as a debt; any other nothing",
        f"""with posted as (
                select merchant_id, reference as dispute_id,
                    sum(case when credit not like 'wallet:%' then amount
                        when debit not like 'receivable:%' then -amount else 0 end) as amount
                from posting where {merchant_filter()} group by 1, 2)
            select d.merchant_id, d.dispute_id as place
            from dispute d left join posted p using (merchant_id, dispute_id)
            where {merchant_filter("d")} and coalesce(p.amount, 0)
                <> case when d.state in ('lost', 'accepted', 'expired') then d.amount + d.fee + d.vat else 0 end""",
    ),
    Invariant(
        "every step of a dispute has an event",
        f"""with reported as (
                select merchant_id, object as dispute_id, count(*) as events from event
                where {merchant_filter()} and kind = 'dispute' group by 1, 2)
            select d.merchant_id, d.dispute_id as place
            from dispute d left join reported e using (merchant_id, dispute_id)
            where {merchant_filter("d")}
            and (d.events <> json_array_length(d.trail) or d.events <> coalesce(e.events, 0))""",
    ),
    Invariant(
        "a debt of disputes is collected by a job, and nobody pays back more than is owed",
        f"""with collecting as (
                select distinct merchant_id, reference from scheduled_job
                where {merchant_filter()} and kind = 'dispute.collect')
            select a.merchant_id, a.name as place from account a left join collecting j
                on j.merchant_id = a.merchant_id and j.reference = 'dispute debt ' || a.currency
            where {merchant_filter("a")} and a.name like 'receivable:disputes:%'
                and (a.posted > 0 or a.posted < 0 and j.reference is null)""",
    ),
    Invariant(
        "a payout schedule has a job unless it is off",
        f"""select s.merchant_id, s.currency as place from payout_schedule s {count_jobs("s")}
            where {merchant_filter("s")} and (s.frequency <> 'off')::int <> coalesce(j.jobs, 0)""",
    ),
    Invariant(
        "daily events of settlements have a job unless they are off",
        f"""select s.merchant_id, 'settlement events' as place from settlement_events s {count_jobs("s")}
            where {merchant_filter("s")} and s.is_daily::int <> coalesce(j.jobs, 0)""",
    ),
)
