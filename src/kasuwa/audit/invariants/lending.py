"""The invariants of loans, savings and thrift plans."""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

LENDING_INVARIANTS = (
    Invariant(
        "a loan's accounts hold what its schedule says is outstanding; of one written off, nothing",
        f"""with owed as (
                select merchant_id, loan_id, sum(principal - paid_principal) as principal,
                    sum(interest - paid_interest) as interest, sum(tax - paid_tax) as tax,
                    sum(penalty - paid_penalty) as penalty
                from loan_installment where {merchant_filter()} group by 1, 2),
            mine as (
                select merchant_id, name, posted from account where {merchant_filter()} and starts_with(name, 'loan_'))
            select l.merchant_id, l.loan_id || ' ' || p.part as place
            from loan l left join owed o on o.merchant_id = l.merchant_id and o.loan_id = l.loan_id
            cross join lateral (values ('principal', o.principal), ('interest', o.interest), ('tax', o.tax),
                ('penalty', o.penalty)) p (part, owed)
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
                n.paid_principal > n.principal or n.paid_interest > n.interest
                or n.paid_tax > n.tax or n.paid_penalty > n.penalty
                or (l.state = 'closed_repaid' and n.paid_principal + n.paid_interest + n.paid_tax + n.paid_penalty
                    <> n.principal + n.interest + n.tax + n.penalty))""",
    ),
    Invariant(
        "a loan has the acts that it counts, and its repayments were given what it was paid and credited at most",
        f"""with given as (
                select merchant_id, loan_id, count(*) as acts, sum(applied) as applied
                from loan_act where {merchant_filter()} group by 1, 2),
            paid as (
                select merchant_id, loan_id,
                    sum(paid_principal + paid_interest + paid_tax + paid_penalty) as amount
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
        "a loan that was paid out has as many installments as agreed, and their principal is its amount",
        f"""select l.merchant_id, l.loan_id as place from loan l
            left join loan_installment n
                on n.merchant_id = l.merchant_id and n.loan_id = l.loan_id and {merchant_filter("n")}
            where {merchant_filter("l")} group by l.merchant_id, l.loan_id, l.disbursed_at, l.amount, l.period
            having case when l.disbursed_at is null then count(n.n) <> 0
                else count(n.n) <> l.period or sum(n.principal) <> l.amount end""",
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
                where {merchant_filter()} and paid_principal + paid_interest + paid_tax < principal + interest + tax
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
        "every ended term of a fixed deposit that was reported has its event",
        f"""with reported as (
                select merchant_id, object as savings_id, count(*) as events from event
                where {merchant_filter()} and kind = 'fixed_deposit' group by 1, 2)
            select s.merchant_id, s.savings_id as place
            from savings s left join reported t using (merchant_id, savings_id)
            where {merchant_filter("s")} and (s.event_count <> coalesce(t.events, 0)
                or s.reported_terms < s.event_count)""",
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
                where {merchant_filter()} and stage <> 'done'
                    and detail -> 'purpose' ->> 'purpose' in ('savings-deposit', 'loan-repayment') group by 1, 2),
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
