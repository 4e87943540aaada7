"""The invariants of money that is held."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

# What a successful transaction took of what it held: a payment its fee, which may have become less, a cashcode what was
# paid out of its amount, an authorization of a card nothing (its capture is a purchase), any other all.
TAKEN = """case when t.status <> 'successful' or t.kind = 'card_authorization' then 0
            when t.kind = 'payment' then t.fee + t.vat
            when t.kind = 'cashcode' then t.held - t.amount + c.paid else t.held end"""
STATE = "case t.status when 'successful' then 'posted' when 'failed' then 'voided' else 'pending' end"

# Every hold `h`, as the row that holds it says (docs/decisions/0090): of a transaction, of the fees of one that holds
# its amount on another account than the wallet, of a dispute, of money that is returned out of suspense, and of a
# guarantee, which is pledged without a job. `taken` is null for a dispute: a rail may reverse its end, and what it took
# has an invariant of its own; and for a guarantee, whose account has what was called (lending.py).
HOLDS = f"""(
    select t.merchant_id, t.txn_ref as reference, t.held_on as account, t.held as amount, {STATE} as state,
        {TAKEN} as taken
    from transaction t left join cashcode c on c.merchant_id = t.merchant_id and c.txn_ref = t.txn_ref
        and {merchant_filter("c")}
    where {merchant_filter("t")} and t.held > 0
    union all select t.merchant_id, t.txn_ref, 'wallet:main:' || t.currency, t.fee + t.vat + t.duty, {STATE},
        case t.status when 'successful' then t.fee + t.vat + t.duty else 0 end
    from transaction t where {merchant_filter("t")} and t.held > 0 and t.fee + t.vat + t.duty > 0
        and t.held_on not like 'wallet:%'
    union all select merchant_id, dispute_id, 'wallet:main:' || currency, covered,
        case when state in ('needs_response', 'under_review') then 'pending'
            when state = 'won' then 'voided' else 'posted' end, null
    from dispute where {merchant_filter()} and covered > 0
    union all select merchant_id, reference, 'suspense:inbound:' || currency, amount,
        case state when 'returning' then 'pending' when 'returned' then 'posted' else 'voided' end,
        case state when 'returned' then amount else 0 end
    from suspense_decision where {merchant_filter()} and reference <> ''
    union all select merchant_id, guarantee_id, 'savings:' || savings_id || ':NGN', held, 'pledged', null
    from loan_guarantee where {merchant_filter()} and held > 0) h"""

HOLD_INVARIANTS = (
    Invariant(
        "what an account holds is the sum of its pending holds",
        f"""with pending as (
                select merchant_id, account as name, sum(amount) as held from {HOLDS}
                where state in ('pending', 'pledged') group by 1, 2),
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
        "a final transaction has no job but its delivery; an open one has a job or holds money",
        f"""select t.merchant_id, t.txn_ref as place from transaction t {count_jobs("t")}
            where {merchant_filter("t")} and case when t.status in ('successful', 'failed') then j.jobs is not null
                else j.jobs is null and t.held = 0 end""",
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
