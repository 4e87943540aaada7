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

-- What invoices count as refunded is of their price, as what they count as paid: without a fee that payers bore.
update invoice i set refunded = r.refunded
from (
    select c.merchant_id, c.source_id, sum(least(p.refunded, t.amount)) as refunded
    from checkout c
    join payment p on p.merchant_id = c.merchant_id and p.txn_ref = c.payment_ref
    join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
    where c.source = 'invoice' and c.state = 'paid' group by 1, 2) r
where i.merchant_id = r.merchant_id and i.invoice_id = r.source_id and i.refunded <> r.refunded;

-- Tickets whose whole price was refunded, but not the fee that their buyer bore, are void.
with refunded as (
    update ticket k set state = 'void', changed_at = now()
    from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
    where k.state = 'valid' and p.merchant_id = k.merchant_id and p.txn_ref = k.payment_ref and p.refunded >= t.amount
    returning k.merchant_id, k.link_id, k.place)
update ticket_kind s set sold = s.sold - v.tickets
from (select merchant_id, link_id, place, count(*) as tickets from refunded group by 1, 2, 3) v
where s.merchant_id = v.merchant_id and s.link_id = v.link_id and s.place = v.place;

-- A payment names the plan that it started, which its disputes name.
update payment p set facts = (p.facts::jsonb || jsonb_build_object('plan_id', n.plan_id))::json
from payment_plan n
where p.merchant_id = n.merchant_id and p.txn_ref = n.first_ref;

-- A settlement of a later day may leave nothing for the wallet: fees and split parts took all of it.
alter table settlement_batch drop constraint if exists gathering_amount_check;
alter table settlement_batch drop constraint if exists settlement_batch_amount_check;
alter table settlement_batch add constraint settlement_batch_amount_check check (amount >= 0) not valid;
