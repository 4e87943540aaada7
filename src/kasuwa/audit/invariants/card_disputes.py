"""The invariants of disputes of card purchases by the cardholder."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

CARD_DISPUTE_INVARIANTS = (
    Invariant(
        "a cardholder's dispute that was won gave the card a refund of its purchase, any other nothing",
        f"""select d.merchant_id, d.dispute_id as place
            from virtual_card_dispute d
            left join transaction t on t.merchant_id = d.merchant_id and t.txn_ref = d.refund_ref
                and {merchant_filter("t")}
            where {merchant_filter("d")} and ((d.state = 'won') <> (d.refund_ref <> '')
                or d.state = 'won' and (t.kind, t.batch_ref, t.amount)
                    is distinct from ('card_refund', d.txn_ref, d.credited)
                or d.state <> 'won' and d.credited <> 0)""",
    ),
    Invariant(
        "an open dispute of a cardholder is the only one of its purchase, and disputes no more than is left of it",
        f"""select d.merchant_id, d.dispute_id as place
            from virtual_card_dispute d
            left join transaction t on t.merchant_id = d.merchant_id and t.txn_ref = d.txn_ref
                and {merchant_filter("t")}
            left join virtual_card_entry r on r.merchant_id = d.merchant_id and r.txn_ref = d.txn_ref
                and {merchant_filter("r")}
            where {merchant_filter("d")} and d.state = 'submitted' and (r.dispute_id is distinct from d.dispute_id
                or d.amount > (t.detail ->> 'amount')::bigint - r.refunded)""",
    ),
    Invariant(
        "an open dispute of a cardholder with a shop elsewhere has one job, one that has ended none",
        f"""select d.merchant_id, d.dispute_id as place
            from virtual_card_dispute d {count_jobs("d")}
            where {merchant_filter("d")} and case when d.shop_key = '' then
                (d.state = 'submitted')::int <> coalesce(j.jobs, 0) else j.jobs > 1 end""",
    ),
    Invariant(
        "every step of a cardholder's dispute has an event",
        f"""with reported as (
                select merchant_id, object as dispute_id, count(*) as events from event
                where {merchant_filter()} and kind = 'card_dispute' group by 1, 2)
            select d.merchant_id, d.dispute_id as place
            from virtual_card_dispute d left join reported e using (merchant_id, dispute_id)
            where {merchant_filter("d")}
            and (d.events <> json_array_length(d.trail) or d.events <> coalesce(e.events, 0))""",
    ),
)
