-- A bulk transfer that was taken in, found by its batchRef. `detail` lists its orders in the order in which they were
-- sent: each names the transfer that stands for it, or says why there is none. Never changed, never deleted.
create table transfer_batch (
    key bytea not null,
    merchant_id bigint not null,
    batch_ref text not null,
    detail json not null,
    created_at timestamptz not null,
    primary key (key, merchant_id)
);
create trigger transfer_batch_append_only before update or delete on transfer_batch
    for each statement execute function refuse_change();
create trigger transfer_batch_no_truncate before truncate on transfer_batch
    for each statement execute function refuse_change();
