-- Some billers take whole naira only: an open amount must be a multiple of the step, in minor units.
alter table biller add column amount_step bigint not null default 1 check (amount_step > 0);

create or replace view paycode as
select i.key, i.merchant_id, i.paycode, i.name, i.bills_id, b.name as biller, b.slug, b.pattern, b.least, b.most,
    i.price, i.fee, i.discount, i.fulfilment,
    (i.retired_at is null or i.retired_at > clock_timestamp() - interval '24 hours') as accepted, b.amount_step
from bill_item i join biller b on b.id = i.bills_id;
