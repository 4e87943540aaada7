-- The list of failed transactions is read from `failed_transaction` alone. To look each of them up in `transaction` took
-- longer than everything else of a page. A failed transaction hardly ever changes: the triggers of 0025 copy it again.
alter table failed_transaction
    add column kind text,
    add column txn_ref text,
    add column order_ref text,
    add column currency text,
    add column amount bigint,
    add column fee bigint,
    add column vat bigint,
    add column duty bigint,
    add column status text,
    add column message text,
    add column detail json,
    add column final_at timestamptz;
create or replace function record_failure() returns trigger language plpgsql security definer set search_path = public as $$
begin
    insert into failed_transaction (merchant_id, created_at, seq, key, kind, txn_ref, order_ref, currency, amount, fee,
        vat, duty, status, message, detail, final_at)
    values (new.merchant_id, new.created_at, new.seq, new.key, new.kind, new.txn_ref, new.order_ref, new.currency,
        new.amount, new.fee, new.vat, new.duty, new.status, new.message, new.detail, new.final_at)
    on conflict (merchant_id, created_at, seq, key) do update set (order_ref, amount, fee, vat, duty, message, detail,
        final_at) = (excluded.order_ref, excluded.amount, excluded.fee, excluded.vat, excluded.duty, excluded.message,
        excluded.detail, excluded.final_at);
    return null;
end $$;
update failed_transaction f set (kind, txn_ref, order_ref, currency, amount, fee, vat, duty, status, message, detail,
    final_at) = (t.kind, t.txn_ref, t.order_ref, t.currency, t.amount, t.fee, t.vat, t.duty, t.status, t.message,
    t.detail, t.final_at)
from transaction t where t.merchant_id = f.merchant_id and t.key = f.key;
delete from failed_transaction where kind is null;
alter table failed_transaction
    alter column kind set not null,
    alter column txn_ref set not null,
    alter column order_ref set not null,
    alter column currency set not null,
    alter column amount set not null,
    alter column fee set not null,
    alter column vat set not null,
    alter column duty set not null,
    alter column status set not null,
    alter column message set not null,
    alter column detail set not null;
