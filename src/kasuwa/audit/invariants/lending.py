"""The invariants of loans, savings and thrift plans."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

LENDING_INVARIANTS = (
    Invariant(
        "a loan's accounts hold what its schedule says is outstanding; of one written off, nothing",
        f"""with owed as (
                select merchant_id, loan_id,
                    sum(principal - paid_principal - lost_principal - pending - pending_tax) as principal,
                    sum(interest - paid_interest - lost_interest + pending) as interest,
                    sum(tax - paid_tax - lost_tax + pending_tax) as tax,
                    sum(penalty - paid_penalty - lost_penalty) as penalty,
                    sum(charge - paid_charge - lost_charge) as charge, sum(vat - paid_vat - lost_vat) as vat
                from loan_installment where {merchant_filter()} group by 1, 2),
            mine as (
                select merchant_id, name, posted from account where {merchant_filter()} and starts_with(name, 'loan_'))
            select l.merchant_id, l.loan_id || ' ' || p.part as place
            from loan l left join owed o on o.merchant_id = l.merchant_id and o.loan_id = l.loan_id
            cross join lateral (values ('principal', o.principal), ('interest', o.interest), ('tax', o.tax),
                ('penalty', o.penalty), ('charge', o.charge), ('vat', o.vat)) p (part, owed)
            left join mine a on a.merchant_id = l.merchant_id
                and a.name = 'loan_' || p.part || ':' || l.loan_id || ':NGN'
            where {merchant_filter("l")} and coalesce(a.posted, 0)
                <> case l.state when 'closed_written_off' then 0 else coalesce(p.owed, 0) end""",
    ),
    Invariant(
        "no part of an installment is repaid beyond what was due, and a loan that is repaid owes nothing",
        f"""select n.merchant_id, n.loan_id || ' installment ' || n.n as place
            from loan_installment n join loan l on l.merchant_id = n.merchant_id and l.loan_id = n.loan_id
            where {merchant_filter("n")} and {merchant_filter("l")} and (
                n.paid_principal + n.lost_principal > n.principal or n.paid_interest + n.lost_interest > n.interest
                or n.paid_tax + n.lost_tax > n.tax or n.paid_penalty + n.lost_penalty > n.penalty
                or n.paid_charge + n.lost_charge > n.charge or n.paid_vat + n.lost_vat > n.vat
                or (l.state = 'closed_repaid' and n.paid_principal + n.paid_interest + n.paid_tax + n.paid_penalty
                    + n.paid_charge + n.paid_vat
                    <> n.principal + n.interest + n.tax + n.penalty + n.charge + n.vat))""",
    ),
    Invariant(
        "the charges of an installment add up to what it asks for",
        f"""select n.merchant_id, n.loan_id || ' installment ' || n.n as place
            from loan_installment n
            where {merchant_filter("n")} and (n.charge, n.vat) <> (
                select coalesce(sum((c ->> 'amount')::bigint - coalesce((c ->> 'waived')::bigint, 0)
                        - coalesce((c ->> 'capitalized')::bigint, 0)), 0),
                    coalesce(sum(coalesce((c ->> 'vat')::bigint, 0) - coalesce((c ->> 'waived_vat')::bigint, 0)
                        - coalesce((c ->> 'capitalized_vat')::bigint, 0)), 0)
                from json_array_elements(case n.charges when '' then '[]' else n.charges end::json) c)""",
    ),
    Invariant(
        "a loan has the acts that it counts, and its repayments were given what it was paid and credited at most",
        f"""with given as (
                select merchant_id, loan_id, count(*) as acts, sum(applied) as applied
                from loan_act where {merchant_filter()} group by 1, 2),
            paid as (
                select merchant_id, loan_id,
                    sum(paid_principal + paid_interest + paid_tax + paid_penalty + paid_charge + paid_vat) as amount
                from loan_installment where {merchant_filter()} group by 1, 2),
            refunds as (
                select a.merchant_id, a.loan_id, sum(p.refunded) as amount
                from loan_act a join payment p on p.merchant_id = a.merchant_id and p.txn_ref = a.reference
                where {merchant_filter("a")} and {merchant_filter("p")} group by 1, 2),
            credits as (
                select merchant_id, split_part(name, ':', 2) as loan_id, posted as amount from account
                where {merchant_filter()} and name like 'loan_credit:%')
            select l.merchant_id, l.loan_id as place from loan l
            left join given g using (merchant_id, loan_id) left join paid p using (merchant_id, loan_id)
            left join refunds r using (merchant_id, loan_id) left join credits c using (merchant_id, loan_id)
            where {merchant_filter("l")} and (l.acts <> coalesce(g.acts, 0)
                or coalesce(g.applied, 0)
                    > coalesce(p.amount, 0) + coalesce(r.amount, 0) + coalesce(c.amount, 0))""",
    ),
    Invariant(
        "a loan has the guarantees and the collateral that it counts",
        f"""with pledged as (
                select merchant_id, loan_id, count(*) as guarantees from loan_guarantee
                where {merchant_filter()} group by 1, 2),
            secured as (
                select merchant_id, loan_id, count(*) as collaterals from loan_collateral
                where {merchant_filter()} group by 1, 2)
            select l.merchant_id, l.loan_id as place from loan l
            left join pledged p using (merchant_id, loan_id) left join secured s using (merchant_id, loan_id)
            where {merchant_filter("l")} and (l.guarantees <> coalesce(p.guarantees, 0)
                or l.collaterals <> coalesce(s.collaterals, 0))""",
    ),
    Invariant(
        "a guarantee holds its part of the principal that is not repaid, less what its savings did not have",
        f"""with unpaid as (
                select merchant_id, loan_id, greatest(0, sum(principal - paid_principal - pending - pending_tax
                    - capital_interest - capital_tax - capital_charge - capital_vat)) as principal
                from loan_installment where {merchant_filter()} group by 1, 2),
            wanted as (
                select g.*, case when g.released_at is not null
                    or l.state in ('closed_rejected', 'closed_withdrawn') then 0
                    else least(g.amount - g.called, ceil(g.amount::numeric * least(coalesce(u.principal, l.amount),
                        g.base) / g.base)) end as wanted
                from loan_guarantee g join loan l using (merchant_id, loan_id)
                left join unpaid u using (merchant_id, loan_id)
                where {merchant_filter("g")} and {merchant_filter("l")})
            select merchant_id, guarantee_id as place from wanted where held + short <> wanted""",
    ),
    Invariant(
        "what a borrower owes a guarantor is on its account, and keeps both clients and the savings",
        f"""with claims as (
                select merchant_id, split_part(name, ':', 2) as guarantee_id, posted from account
                where {merchant_filter()} and name like 'guarantor:%'),
            mine as (select * from loan_guarantee where {merchant_filter()}),
            by_savings as (
                select merchant_id, savings_id, count(*) as claims from mine where owed > 0 group by 1, 2),
            by_borrower as (
                select merchant_id, borrower_id as client_id, count(*) as claims from mine where owed > 0 group by 1, 2)
            select merchant_id, guarantee_id as place from mine full join claims c using (merchant_id, guarantee_id)
            where coalesce(owed, 0) <> coalesce(c.posted, 0)
            union all
            select s.merchant_id, s.savings_id from savings s left join by_savings b using (merchant_id, savings_id)
            where {merchant_filter("s")}
                and (s.claims <> coalesce(b.claims, 0) or (s.claims > 0 and s.state = 'closed'))
            union all
            select c.merchant_id, c.client_id from client c join by_borrower b using (merchant_id, client_id)
            where {merchant_filter("c")} and c.open_accounts < b.claims""",
    ),
    Invariant(
        "a loan that was paid out has as many installments as agreed, and their principal is its amount and what"
        " is capitalized",
        f"""select l.merchant_id, l.loan_id as place from loan l
            left join loan_installment n
                on n.merchant_id = l.merchant_id and n.loan_id = l.loan_id and {merchant_filter("n")}
            where {merchant_filter("l")} group by l.merchant_id, l.loan_id, l.disbursed_at, l.amount, l.period, l.extra
            having case when l.disbursed_at is null then count(n.n) <> 0
                else count(n.n) <> l.period + l.extra or sum(n.principal) <> l.amount + sum(n.pending + n.pending_tax
                    + n.capital_interest + n.capital_tax + n.capital_charge + n.capital_vat) end""",
    ),
    Invariant(
        "installments ask for the interest that grew in a grace, and none is pending on one that is due",
        f"""select n.merchant_id, n.loan_id as place
            from loan_installment n join loan l on l.merchant_id = n.merchant_id and l.loan_id = n.loan_id
            where {merchant_filter("n")} and {merchant_filter("l")} and l.state in ('active', 'active_in_arrears')
            group by n.merchant_id, n.loan_id
            having sum(n.grown) <> sum(n.deferred) or bool_or(n.pending + n.pending_tax > 0 and n.due <= l.aged_to)""",
    ),
    Invariant(
        "an installment has the rows of what it was that it counts, in the order of their times",
        f"""with kept as (
                select merchant_id, loan_id, n, count(*) as versions, max(version) as last,
                    bool_or(until < before) as is_out_of_order
                from (select v.*, lag(until) over (partition by merchant_id, loan_id, n order by version) as before
                    from loan_installment_version v where {merchant_filter()}) v group by 1, 2, 3)
            select i.merchant_id, i.loan_id || ' installment ' || i.n as place
            from loan_installment i left join kept k using (merchant_id, loan_id, n)
            where {merchant_filter("i")} and (i.versions <> coalesce(k.versions, 0)
                or i.versions <> coalesce(k.last, 0) or k.is_out_of_order)""",
    ),
    Invariant(
        "what is set aside for a loan is on its account, and nothing for one that owes nothing",
        f"""with set_aside as (
                select merchant_id, split_part(name, ':', 2) as loan_id, posted from account
                where {merchant_filter()} and name like 'provision:%')
            select merchant_id, loan_id as place
            from loan l left join set_aside a using (merchant_id, loan_id)
            where {merchant_filter("l")} and (l.provision <> coalesce(a.posted, 0)
                or (l.provision > 0 and l.state not in ('active', 'active_in_arrears')))""",
    ),
    Invariant(
        "a loan is disbursing while its transfer is open, and was paid out by a successful one",
        f"""select l.merchant_id, l.loan_id as place from loan l
            left join transaction t
                on t.merchant_id = l.merchant_id and t.txn_ref = l.transfer and {merchant_filter("t")}
            where {merchant_filter("l")} and (
                (l.state = 'disbursing') <> (coalesce(t.status, 'none') in ('pending', 'processing'))
                or (l.disbursed_at is not null) <> (coalesce(t.status, 'none') = 'successful'))""",
    ),
    Invariant(
        "a loan with an installment that may yet be late is watched",
        f"""with last_due as (
                select merchant_id, loan_id, max(due) as due from loan_installment
                where {merchant_filter()} and paid_principal + paid_interest + paid_tax + paid_charge + paid_vat
                    + lost_principal + lost_interest + lost_tax + lost_charge + lost_vat
                    < principal + interest + tax + charge + vat
                group by 1, 2)
            select l.merchant_id, l.loan_id as place
            from loan l join last_due n on n.merchant_id = l.merchant_id and n.loan_id = l.loan_id
            {count_jobs("l")}
            where {merchant_filter("l")} and l.state in ('active', 'active_in_arrears')
                and n.due + l.tolerance_days::int >= l.aged_to and j.jobs is null""",
    ),
    Invariant(
        "a client's open accounts are at least the loans that are not closed",
        f"""with open_loans as (
                select merchant_id, client_id, count(*) as loans from loan
                where {merchant_filter()} and not starts_with(state, 'closed_') group by 1, 2)
            select c.merchant_id, c.client_id as place
            from client c join open_loans using (merchant_id, client_id)
            where {merchant_filter("c")} and c.open_accounts < loans""",
    ),
    Invariant(
        "closed savings are empty, and every savings account in the books belongs to savings",
        f"""select a.merchant_id, a.name as place from account a
            left join savings s on s.merchant_id = a.merchant_id and s.savings_id = split_part(a.name, ':', 2)
                and {merchant_filter("s")}
            where {merchant_filter("a")} and a.name like 'savings:%'
            and (s.key is null or (s.state = 'closed' and a.posted <> 0))""",
    ),
    Invariant(
        "savings that may still earn, or are owed interest, are in a posting round that has a job",
        f"""with listed as (
                select r.merchant_id, unnest(string_to_array(r.members, ',')) as savings_id
                from interest_batch r {count_jobs("r")}
                where {merchant_filter("r")} and j.jobs is not null)
            select s.merchant_id, s.savings_id as place
            from savings s left join listed l using (merchant_id, savings_id)
            where {merchant_filter("s")} and (s.state in ('pending', 'active') or s.due_interest > 0)
                and l.savings_id is null""",
    ),
    Invariant(
        "a fixed deposit's term is the running one, and its unlocked interest is part of its balance",
        f"""select merchant_id, savings_id as place from savings
            where {merchant_filter()} and (unlocked > last_balance
                or (term_days = 0 and (unlocked > 0 or reported_terms > 0))
                or (term_days > 0 and matures_on <> opened_on + (term_days * period)::int))""",
    ),
    Invariant(
        "savings count their events: of interest, of maturity, of each ended term that was reported, of reactivations",
        f"""with reported as (
                select merchant_id, object as savings_id, count(*) as events,
                    count(*) filter (where kind = 'fixed_deposit') as terms
                from event where {merchant_filter()} and kind in ('savings', 'fixed_deposit', 'reactivation')
                group by 1, 2)
            select s.merchant_id, s.savings_id as place
            from savings s left join reported t using (merchant_id, savings_id)
            where {merchant_filter("s")} and (s.event_count <> coalesce(t.events, 0)
                or s.reported_terms < coalesce(t.terms, 0))""",
    ),
    Invariant(
        "an open savings account counts for its client, who is active",
        f"""select c.merchant_id, c.client_id as place from client c
            join savings s on s.merchant_id = c.merchant_id and s.client_id = c.client_id and s.state <> 'closed'
            where {merchant_filter("c")} and {merchant_filter("s")}
            group by c.merchant_id, c.client_id, c.status, c.open_accounts
            having c.status <> 'active' or c.open_accounts < count(*)""",
    ),
    Invariant(
        "savings and clients count the payments for them that have not ended",
        f"""with pending as (
                select merchant_id, detail -> 'purpose' ->> 'reference' as reference, count(*) as payments from payment
                where {merchant_filter()} and detail -> 'purpose' ->> 'purpose' in ('savings-deposit', 'loan-repayment')
                    and (stage <> 'done' or (merchant_id, txn_ref) in (
                        select merchant_id, txn_ref from held_deposit where {merchant_filter()} and state = 'held'))
                group by 1, 2),
            owned as (
                select merchant_id, savings_id as reference, client_id, pending_deposits as counted
                from savings where {merchant_filter()}
                union all select merchant_id, loan_id, client_id, null from loan where {merchant_filter()}),
            found as (
                select o.*, coalesce(p.payments, 0) as payments
                from owned o left join pending p using (merchant_id, reference)),
            by_client as (select merchant_id, client_id, sum(payments) as payments from found group by 1, 2)
            select merchant_id, reference as place from found where counted <> payments
            union all
            select c.merchant_id, c.client_id from client c left join by_client p using (merchant_id, client_id)
            where {merchant_filter("c")} and c.pending_payments <> coalesce(p.payments, 0)""",
    ),
    Invariant(
        "a client has a list of their open savings, cards and held deposits",
        f"""with listed as (
                select merchant_id, client_id, 'savings' as kind, unnest(string_to_array(savings, ',')) as reference
                from client where {merchant_filter()}
                union all select merchant_id, client_id, 'card', unnest(string_to_array(cards, ','))
                from client where {merchant_filter()}
                union all select merchant_id, client_id, 'held', unnest(string_to_array(held, ','))
                from client where {merchant_filter()}),
            own as (
                select merchant_id, client_id, 'savings' as kind, savings_id as reference from savings
                where {merchant_filter()} and state <> 'closed'
                union all select merchant_id, client_id, 'card', short_id from virtual_card
                where {merchant_filter()} and client_id <> '' and state <> 'terminated'
                union all select merchant_id, client_id, 'held', txn_ref from held_deposit
                where {merchant_filter()} and state = 'held')
            select merchant_id, client_id || ' ' || reference as place from
                ((table listed except all table own) union all (table own except all table listed)) differing""",
    ),
    Invariant(
        "a held deposit is in suspense until it is released or sent back, once and in whole",
        f"""with due as (
                select merchant_id, txn_ref as reference, amount as arrived,
                    case state when 'held' then 0 else amount end as gone
                from held_deposit where {merchant_filter()}),
            posted as (
                select merchant_id, reference,
                    coalesce(sum(amount) filter (where credit like 'suspense:inbound:%'), 0) as arrived,
                    coalesce(sum(amount) filter (where debit like 'suspense:inbound:%'), 0) as gone
                from posting where {merchant_filter()} and kind in (
                    'payment', 'deposit held', 'deposit released', 'deposit sent back', 'deposit kept for a dispute')
                    and (credit like 'suspense:inbound:%' or debit like 'suspense:inbound:%')
                group by 1, 2)
            select merchant_id, reference as place from due full join posted using (merchant_id, reference)
            where due.arrived is distinct from posted.arrived or due.gone is distinct from posted.gone""",
    ),
    Invariant(
        "what a client is owed is what was paid beyond their loans",
        f"""with credits as (
                select merchant_id, split_part(name, ':', 2) as loan_id, posted from account
                where {merchant_filter()} and name like 'loan_credit:%'),
            owed as (
                select l.merchant_id, l.client_id, sum(a.posted) as credit
                from loan l join credits a using (merchant_id, loan_id) where {merchant_filter("l")} group by 1, 2)
            select c.merchant_id, c.client_id as place from client c left join owed o using (merchant_id, client_id)
            where {merchant_filter("c")} and c.credit <> coalesce(o.credit, 0)""",
    ),
    Invariant(
        "whoever is erased is owed nothing, and no debt of a thrift plan is owed to closed savings",
        f"""select merchant_id, client_id as place from client
            where {merchant_filter()} and erased_at is not null and credit > 0
            union all
            select merchant_id, savings_id from savings
            where {merchant_filter()} and state = 'closed' and receivable > 0""",
    ),
    Invariant(
        "what others owe to savings is the sum of the debts that name them",
        f"""with owed as (
                select s.merchant_id, d ->> 'creditor' as savings_id, sum((d ->> 'amount')::bigint) as amount
                from savings s cross join json_array_elements(s.detail -> 'debts') d
                where {merchant_filter("s")} group by 1, 2)
            select s.merchant_id, s.savings_id as place from savings s left join owed o using (merchant_id, savings_id)
            where {merchant_filter("s")} and s.receivable <> coalesce(o.amount, 0)""",
    ),
    Invariant(
        "a thrift plan's pot is empty between cycles",
        f"""select merchant_id, name as place from account
            where {merchant_filter()} and name like 'thrift:%' and posted <> 0""",
    ),
    Invariant(
        "a thrift plan that runs has one job, and one that is over none",
        f"""select p.merchant_id, p.thrift_id as place from thrift_plan p {count_jobs("p")}
            where {merchant_filter("p")} and p.state <> 'open'
                and (p.state = 'running')::int <> coalesce(j.jobs, 0)""",
    ),
    Invariant(
        "in every cycle of a thrift plan each member paid or owes the amount, and one of them received it",
        f"""select p.merchant_id, p.thrift_id as place
            from thrift_plan p join thrift_member m on m.merchant_id = p.merchant_id and m.thrift_id = p.thrift_id
            where {merchant_filter("p")} and {merchant_filter("m")}
            group by p.merchant_id, p.thrift_id, p.cycle, p.amount
            having sum(m.received) <> sum(m.contributed) or bool_or(m.contributed + m.owed <> p.cycle * p.amount)
                or bool_or((m.received > 0) <> (m.position <= p.cycle))""",
    ),
    Invariant(
        "what a member of a thrift plan owes is the sum of the debts kept with its savings",
        f"""with kept as (
                select s.merchant_id, s.savings_id, d ->> 'thrift_id' as thrift_id,
                    sum((d ->> 'amount')::bigint) as owed
                from savings s cross join json_array_elements(s.detail -> 'debts') d
                where {merchant_filter("s")} group by 1, 2, 3)
            select m.merchant_id, m.thrift_id || ' ' || m.position as place
            from thrift_member m left join kept k using (merchant_id, savings_id, thrift_id)
            where {merchant_filter("m")} and m.owed <> coalesce(k.owed, 0)""",
    ),
)
