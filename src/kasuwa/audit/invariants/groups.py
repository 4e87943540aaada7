"""The invariants of groups of borrowers."""

from kasuwa.audit.invariants.invariant import Invariant, merchant_filter

GROUP_INVARIANTS = (
    Invariant(
        "a group has the members that it names, its leader is one of them, and they count it",
        f"""with named as (
                select g.merchant_id, g.group_id, m.client_id
                from client_group g cross join lateral string_to_table(g.members, ',') m (client_id)
                where {merchant_filter("g")} and g.members <> ''),
            joined as (
                select merchant_id, group_id, client_id from group_member
                where {merchant_filter()} and left_at is null),
            counted as (select merchant_id, client_id, count(*) as groups from joined group by 1, 2)
            select merchant_id, group_id || ' ' || client_id as place
            from named n full join joined j using (merchant_id, group_id, client_id)
            where n.group_id is null or j.group_id is null
            union all
            select g.merchant_id, g.group_id from client_group g
            left join named n on n.merchant_id = g.merchant_id and n.group_id = g.group_id and n.client_id = g.leader
            where {merchant_filter("g")} and (g.state = 'active') <> (n.client_id is not null)
            union all
            select c.merchant_id, c.client_id from client c left join counted k using (merchant_id, client_id)
            where {merchant_filter("c")} and c.groups <> coalesce(k.groups, 0)""",
    ),
    Invariant(
        "a loan of a group has the loans that it names, of clients who are or were its members",
        f"""with named as (
                select g.merchant_id, g.group_loan_id, g.group_id, m.loan_id
                from group_loan g cross join lateral string_to_table(g.loans, ',') m (loan_id)
                where {merchant_filter("g")}),
            lent as (
                select merchant_id, group_loan_id, group_id, loan_id, client_id from loan
                where {merchant_filter()} and group_id <> ''),
            mine as (select merchant_id, group_id, client_id from group_member where {merchant_filter()})
            select merchant_id, loan_id as place
            from named n full join lent l using (merchant_id, group_loan_id, group_id, loan_id)
            where n.merchant_id is null or l.merchant_id is null
            union all
            select l.merchant_id, l.loan_id from lent l left join mine m using (merchant_id, group_id, client_id)
            where m.client_id is null""",
    ),
    Invariant(
        "a group knows its loans that are open, and counts all of them",
        f"""with made as (
                select merchant_id, group_id, count(*) as loans from group_loan
                where {merchant_filter()} group by 1, 2),
            known as (
                select g.merchant_id, g.group_id, u.group_loan_id
                from client_group g cross join lateral string_to_table(g.unsettled, ',') u (group_loan_id)
                where {merchant_filter("g")} and g.unsettled <> ''),
            opened as (
                select distinct merchant_id, group_id, group_loan_id from loan
                where {merchant_filter()} and group_id <> '' and state not like 'closed%')
            select g.merchant_id, g.group_id as place from client_group g left join made m using (merchant_id, group_id)
            where {merchant_filter("g")} and g.loans <> coalesce(m.loans, 0)
            union all
            select o.merchant_id, o.group_loan_id from opened o
            left join known k using (merchant_id, group_id, group_loan_id)
            where k.group_id is null""",
    ),
    Invariant(
        "the one transfer of a loan of a group paid out what its members borrowed with it",
        f"""with paid as (
                select g.merchant_id, g.group_loan_id, t.txn_ref, t.amount
                from group_loan g join transaction t on t.merchant_id = g.merchant_id and t.txn_ref = g.transfer
                where {merchant_filter("g")} and {merchant_filter("t")} and t.status = 'successful'),
            lent as (
                select merchant_id, group_loan_id, transfer as txn_ref, sum(amount) as amount, max(agreed) as agreed
                from loan where {merchant_filter()} and group_loan_id <> '' group by 1, 2, 3)
            select p.merchant_id, p.group_loan_id as place from paid p
            left join lent l using (merchant_id, group_loan_id, txn_ref)
            where l.amount is null or p.amount > l.amount or (l.agreed = '' and p.amount <> l.amount)""",
    ),
)
