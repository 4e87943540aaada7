"""The invariants of shares and dividends."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

SHARE_INVARIANTS = (
    Invariant(
        "a member's shares are what was paid for them, and a class has those of its members",
        f"""with held as (
                select h.merchant_id, h.holding_id, h.shares * c.price as capital
                from shareholding h join share_class c on c.merchant_id = h.merchant_id and c.class_id = h.class_id
                where {merchant_filter("h")} and {merchant_filter("c")}),
            paid as (
                select merchant_id, split_part(name, ':', 2) as holding_id, posted from account
                where {merchant_filter()} and name like 'shares:%'),
            summed as (
                select merchant_id, class_id, sum(shares) as shares, count(*) as holders
                from shareholding where {merchant_filter()} group by 1, 2)
            select merchant_id, holding_id as place from held full join paid using (merchant_id, holding_id)
            where coalesce(capital, 0) <> coalesce(posted, 0)
            union all
            select c.merchant_id, c.class_id from share_class c left join summed s using (merchant_id, class_id)
            where {merchant_filter("c")}
                and (c.shares <> coalesce(s.shares, 0) or c.holders <> coalesce(s.holders, 0))""",
    ),
    Invariant(
        "the register of a class names every member once, in the order of their places",
        f"""with named as (
                select r.merchant_id, r.class_id, m.client_id, count(*) as times
                from share_register r cross join unnest(string_to_array(r.members, ',')) m (client_id)
                where {merchant_filter("r")} group by 1, 2, 3)
            select merchant_id, h.holding_id as place
            from named n full join (select * from shareholding where {merchant_filter()}) h
                using (merchant_id, class_id, client_id)
            where n.times is distinct from 1 or h.holding_id is null""",
    ),
    Invariant(
        "reserved shares are those of redemptions that wait, and each of these has one job",
        f"""with waiting as (
                select merchant_id, class_id, client_id, sum(shares) as shares from share_redemption
                where {merchant_filter()} and state = 'waiting' group by 1, 2, 3)
            select h.merchant_id, h.holding_id as place
            from shareholding h left join waiting w using (merchant_id, class_id, client_id)
            where {merchant_filter("h")} and h.reserved <> coalesce(w.shares, 0)
            union all
            select r.merchant_id, r.redemption_id from share_redemption r {count_jobs("r")}
            where {merchant_filter("r")} and (r.state = 'waiting')::int <> coalesce(j.jobs, 0)""",
    ),
    Invariant(
        "savings count the holdings with shares that pay into them, and are open while there is one",
        f"""with paying as (
                select merchant_id, savings_id, count(*) as holdings from shareholding
                where {merchant_filter()} and shares > 0 group by 1, 2)
            select s.merchant_id, s.savings_id as place
            from savings s left join paying p using (merchant_id, savings_id)
            where {merchant_filter("s")} and (s.holdings <> coalesce(p.holdings, 0)
                or (s.holdings > 0 and s.state = 'closed'))""",
    ),
    Invariant(
        "a dividend's account has what is not paid yet, and a dividend that is being paid has one job",
        f"""with kept as (
                select merchant_id, split_part(name, ':', 2) as dividend_id, posted from account
                where {merchant_filter()} and name like 'dividend:%')
            select d.merchant_id, d.dividend_id as place from dividend d
            left join kept k using (merchant_id, dividend_id) {count_jobs("d")}
            where {merchant_filter("d")} and (coalesce(k.posted, 0) <> d.gross - d.paid - d.returned
                or (d.state = 'paid' and d.gross <> d.paid + d.returned)
                or (d.state = 'paying')::int <> coalesce(j.jobs, 0))""",
    ),
)
