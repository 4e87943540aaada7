"""The invariants of money that is held."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

# Every hold `h`: the rows of table `hold`, and what transfers hold themselves (docs/decisions/0073).
HOLDS = f"""(select merchant_id, reference, account, amount, state, taken from hold where {merchant_filter()}
    union all select merchant_id, txn_ref, held_on, held,
        case status when 'successful' then 'posted' when 'failed' then 'voided' else 'pending' end,
        case status when 'successful' then held else 0 end
    from transaction where {merchant_filter()} and held > 0) h"""

HOLD_INVARIANTS = (
    Invariant(
        "what an account holds is the sum of its pending holds",
        f"""with pending as (
                select merchant_id, account as name, sum(amount) as held from {HOLDS}
                where state = 'pending' group by 1, 2),
            mine as (select merchant_id, name, held from account where {merchant_filter()})
            select merchant_id, name as place from mine a full join pending p using (merchant_id, name)
            where coalesce(a.held, 0) <> coalesce(p.held, 0)""",
    ),
    Invariant(
        "no hold is pending without a live job",
        f"""with both_sides as (
                select merchant_id, reference, false as is_job from {HOLDS} where state = 'pending'
                union all select merchant_id, reference, true from scheduled_job
                where {merchant_filter()} and lane <> 'webhook')
            select merchant_id, reference as place from both_sides group by 1, 2 having not bool_or(is_job)""",
    ),
    Invariant(
        "a final transaction has no pending hold and no job but its delivery; an open one has both",
        f"""with pending as (
                select distinct merchant_id, reference as txn_ref, true as is_held from hold
                where {merchant_filter()} and state = 'pending')
            select t.merchant_id, t.txn_ref as place
            from transaction t left join pending using (merchant_id, txn_ref) {count_jobs("t")}
            where {merchant_filter("t")} and (t.status in ('successful', 'failed')) = (
                t.status not in ('successful', 'failed') and t.held > 0
                or is_held is not null or j.jobs is not null)""",
    ),
    Invariant(
        "a successful transfer or bill took its amount, fee, VAT and duty from what was held for it, any other nothing",
        f"""with both_sides as (
                select merchant_id, reference, taken, null::bigint as due from {HOLDS}
                union all select merchant_id, txn_ref, null,
                    case status when 'successful' then amount + fee + vat + duty else 0 end
                from transaction where {merchant_filter()} and kind in ('transfer', 'bill'))
            select merchant_id, reference as place from both_sides group by 1, 2
            having sum(taken) <> sum(due)""",
    ),
    Invariant(
        "what a hold gave was posted under its reference",
        f"""with both_sides as (
                select merchant_id, reference, account, taken, null::bigint as posted from {HOLDS}
                union all select merchant_id, reference, debit, null, amount from posting where {merchant_filter()})
            select merchant_id, reference as place from both_sides group by merchant_id, reference, account
            having sum(taken) <> coalesce(sum(posted), 0)""",
    ),
)
