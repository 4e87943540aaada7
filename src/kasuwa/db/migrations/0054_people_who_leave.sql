-- What can still move money to or from a client, kept with the rows that close or leave (docs/decisions/0080): payments for their
-- loans and savings that have not ended, what they paid beyond loans, and thrift debts that others owe to their savings. A process
-- of an earlier version does not count the payments that it begins.
alter table client add column pending_payments bigint not null default 0 check (pending_payments >= 0);
alter table client add column credit bigint not null default 0 check (credit >= 0);
alter table savings add column pending_deposits bigint not null default 0 check (pending_deposits >= 0);
alter table savings add column receivable bigint not null default 0 check (receivable >= 0);

update savings s set pending_deposits = d.payments
from (
    select merchant_id, detail -> 'errand' ->> 'reference' as savings_id, count(*) as payments from payment
    where stage <> 'done' and detail -> 'errand' ->> 'purpose' = 'savings-deposit' group by 1, 2) d
where s.merchant_id = d.merchant_id and s.savings_id = d.savings_id;

update savings s set receivable = d.owed
from (
    select o.merchant_id, d ->> 'creditor' as savings_id, sum((d ->> 'amount')::bigint) as owed
    from savings o cross join json_array_elements(o.detail -> 'debts') d group by 1, 2) d
where s.merchant_id = d.merchant_id and s.savings_id = d.savings_id;

update client c set pending_payments = p.payments
from (
    select p.merchant_id, coalesce(s.client_id, l.client_id) as client_id, count(*) as payments from payment p
    left join savings s on s.merchant_id = p.merchant_id and s.savings_id = p.detail -> 'errand' ->> 'reference'
    left join loan l on l.merchant_id = p.merchant_id and l.loan_id = p.detail -> 'errand' ->> 'reference'
    where p.stage <> 'done' and p.detail -> 'errand' ->> 'purpose' in ('savings-deposit', 'loan-repayment') group by 1, 2) p
where c.merchant_id = p.merchant_id and c.client_id = p.client_id;

update client c set credit = o.owed
from (
    select l.merchant_id, l.client_id, sum(a.posted) as owed
    from loan l join account a on a.merchant_id = l.merchant_id and a.name = 'loan_credit:' || l.loan_id || ':NGN'
    group by 1, 2) o
where c.merchant_id = o.merchant_id and c.client_id = o.client_id and o.owed > 0;
