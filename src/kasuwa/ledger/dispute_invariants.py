"""The invariants of disputes, of payouts by schedule and of daily events of settlements."""

from kasuwa.ledger.invariant import Invariant, merchant_filter

DISPUTE_INVARIANTS = (
    Invariant(
        "what is disputed of a payment is the sum of its disputes that were not won, and what its rail took back",
        f"""with taken as (
                select merchant_id, txn_ref, sum(amount) as amount from dispute
                where {merchant_filter()} and state <> 'won' group by 1, 2)
            select p.merchant_id, p.txn_ref as place from payment p left join taken d using (merchant_id, txn_ref)
            where {merchant_filter("p")} and (p.disputed < coalesce(d.amount, 0)
                or p.disputed > coalesce(d.amount, 0) and not exists (
                    select 1 from rail_reversal r where r.merchant_id = p.merchant_id and r.txn_ref = p.txn_ref))""",
    ),
    Invariant(
        "an open dispute holds what its wallet covered and has one job, one that has ended neither",
        f"""select d.merchant_id, d.dispute_id as place from dispute d where {merchant_filter("d")} and (
                (d.state in ('needs_response', 'under_review'))::int <> (select count(*) from scheduled_job j
                    where j.merchant_id = d.merchant_id and j.subject = d.key and j.lane <> 'webhook')
                or coalesce((select sum(h.amount) from hold h where h.merchant_id = d.merchant_id
                    and h.reference = d.dispute_id and h.state = 'pending'), 0)
                    <> case when d.state in ('needs_response', 'under_review') then d.covered else 0 end)""",
    ),
    Invariant(
        "a dispute that was not won took its amount, fee and VAT, from the wallet or as a debt; any other nothing",
        f"""select d.merchant_id, d.dispute_id as place from dispute d where {merchant_filter("d")}
            and (select coalesce(sum(p.amount), 0) from posting p where p.merchant_id = d.merchant_id
                and p.reference = d.dispute_id and p.credit not like 'wallet:%')
            <> case when d.state in ('lost', 'accepted', 'expired') then d.amount + d.fee + d.vat else 0 end""",
    ),
    Invariant(
        "every step of a dispute has an event",
        f"""select d.merchant_id, d.dispute_id as place from dispute d where {merchant_filter("d")}
            and (d.events <> json_array_length(d.trail) or d.events <> (select count(*) from event e
                where e.merchant_id = d.merchant_id and e.kind = 'dispute' and e.object = d.dispute_id))""",
    ),
    Invariant(
        "a debt of disputes is collected by a job, and nobody pays back more than is owed",
        f"""select a.merchant_id, a.name as place from account a
            where {merchant_filter("a")} and a.name like 'receivable:disputes:%' and (a.posted > 0
                or a.posted < 0 and not exists (select 1 from scheduled_job j where j.merchant_id = a.merchant_id
                    and j.kind = 'dispute.collect' and j.reference = 'dispute debt ' || a.currency))""",
    ),
    Invariant(
        "a payout schedule has a job unless it is off",
        f"""select s.merchant_id, s.currency as place from payout_schedule s where {merchant_filter("s")}
            and (s.frequency <> 'off')::int <> (select count(*) from scheduled_job j
                where j.merchant_id = s.merchant_id and j.subject = s.key and j.lane <> 'webhook')""",
    ),
    Invariant(
        "daily events of settlements have a job unless they are off",
        f"""select s.merchant_id, 'settlement events' as place from settlement_events s where {merchant_filter("s")}
            and s.is_daily::int <> (select count(*) from scheduled_job j
                where j.merchant_id = s.merchant_id and j.subject = s.key and j.lane <> 'webhook')""",
    ),
)
