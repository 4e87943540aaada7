-- The ground: merchants, their books, transactions, jobs, events.
--
-- Every primary key holds merchant_id, so the whole schema can be distributed by it. Rows that the writer
-- touches are found by `key` alone: 128 bits over merchant, table and reference (core/references.py).

-- The deployment's root secret, wrapped by the key-encryption key of the settings. One row, ever.
create table deployment (
    singleton boolean primary key default true check (singleton),
    environment text not null check (environment in ('test', 'live')),
    wrapped_root bytea not null,
    created_at timestamptz not null default now()
);

-- A merchant's books. `mid` is what the merchant calls itself; `reset` in the test environment gives the
-- same mid fresh books and keeps the old ones aside, so several rows may share a mid and one is current.
create table merchant (
    merchant_id bigint primary key,
    mid text not null check (mid ~ '^GP[0-9]{7}$'),
    name text not null,
    current boolean not null default true,
    settings jsonb not null default '{}',
    created_at timestamptz not null default now()
);
create unique index merchant_current_mid on merchant (mid) where current;
create sequence merchant_number as bigint start 1;

-- Keys: a verifier to check with, a ciphertext to sign with. A rolled key lives on until it expires.
create table merchant_key (
    merchant_id bigint not null references merchant,
    key_id bigint not null,
    verifier bytea not null,
    sealed bytea not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    primary key (merchant_id, key_id)
);

-- One row per merchant: its counters, its clock, whether it has an endpoint for events and, in test, the faults it
-- asked for. It is the merchant's
-- lock as well: whoever writes anything of a merchant raises `version` here, under this row's lock.
create table book (
    key bytea not null,
    merchant_id bigint not null,
    version bigint not null default 0,
    numbers bigint not null default 0,
    postings bigint not null default 0,
    events bigint not null default 0,
    clock_offset bigint not null default 0,
    clock_fixed timestamptz,
    listens boolean not null default false,
    faults json,
    primary key (key, merchant_id)
) with (fillfactor = 50);
create unique index book_merchant on book (merchant_id);
comment on column book.clock_offset is 'microseconds that business time runs ahead of the wall';

-- While `advance` runs, the worker leaves this merchant's jobs alone (wall time: a crash lets go by itself).
create table advance_lease (
    merchant_id bigint primary key,
    leased_until timestamptz not null
);

-- An account of the books. Credit-positive; posted - held never falls below floor by our doing.
create table account (
    key bytea not null,
    merchant_id bigint not null,
    name text not null,
    currency text not null,
    posted bigint not null,
    held bigint not null check (held >= 0),
    floor bigint,
    primary key (key, merchant_id),
    constraint account_floor check (floor is null or posted - held >= floor)
) with (fillfactor = 50);
create index account_merchant on account (merchant_id);

-- Money set aside for something unfinished: pending, then posted or voided, once.
create table hold (
    key bytea not null,
    merchant_id bigint not null,
    account text not null,
    amount bigint not null check (amount > 0),
    reference text not null,
    state text not null check (state in ('pending', 'posted', 'voided')),
    taken bigint not null check (taken between 0 and amount),
    primary key (key, merchant_id)
) with (fillfactor = 80);

-- The journal. Each row balances by itself; rows of one group happened together. Never changed, never deleted.
create table posting (
    merchant_id bigint not null,
    seq bigint not null,
    group_seq bigint not null,
    reference text not null,
    debit text not null,
    credit text not null,
    amount bigint not null check (amount > 0),
    debit_after bigint not null,
    credit_after bigint not null,
    kind text not null,
    at timestamptz not null,
    primary key (merchant_id, seq)
);

-- Every transaction of every kind. `detail` is its slice's own; `trail` is its story, step by step.
create table transaction (
    key bytea not null,
    merchant_id bigint not null,
    kind text not null,
    txn_ref text not null,
    order_ref text not null,
    batch_ref text,
    currency text not null,
    amount bigint not null check (amount > 0),
    fee bigint not null check (fee >= 0),
    vat bigint not null check (vat >= 0),
    duty bigint not null check (duty >= 0),
    status text not null check (status in ('pending', 'processing', 'successful', 'failed')),
    code text,
    message text not null,
    digest bytea not null,
    detail json not null,
    trail json not null,
    created_at timestamptz not null,
    final_at timestamptz,
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index transaction_txn_ref on transaction (merchant_id, txn_ref);

-- Work to be done at a time. A finished job is deleted: what it did is in the transaction's trail.
create table job (
    key bytea not null,
    merchant_id bigint not null,
    kind text not null,
    lane text not null,
    reference text not null,
    subject bytea not null,
    due timestamptz not null,
    run_at timestamptz not null,
    leased_until timestamptz,
    claims bigint not null,
    attempt bigint not null,
    repeat bytea,
    work json not null,
    primary key (key, merchant_id)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index job_due on job (lane, run_at);
create index job_merchant on job (merchant_id, due);

-- What merchants are told: one row per transaction that became final. Events of one object (a payment and its
-- refunds, say) are numbered among themselves. Never changed, never deleted.
create table event (
    merchant_id bigint not null,
    seq bigint not null,
    reference text not null,
    object text not null,
    object_seq bigint not null,
    kind text not null,
    payload text not null,
    at timestamptz not null,
    primary key (merchant_id, seq)
);
create unique index event_reference on event (merchant_id, reference);

-- What an operator should know: a rail that contradicts a final state, and the like.
create table notice (
    merchant_id bigint not null,
    notice_id bigint generated always as identity,
    reference text not null,
    what text not null,
    at timestamptz not null,
    primary key (merchant_id, notice_id)
);

-- One row a batch, written with it: whether a COMMIT whose answer was lost has happened is asked here. The number of a
-- transaction would not do: after a crash PostgreSQL gives those out again that it had not yet written down.
create table commit_mark (
    merchant_id bigint not null,
    mark bytea not null,
    at timestamptz not null,
    primary key (merchant_id, mark)
);
create index commit_mark_at on commit_mark (at);

-- Replies kept under an Idempotency-Key, sealed, for a day.
create table repeat (
    key bytea not null,
    merchant_id bigint not null,
    digest bytea not null,
    reply bytea,
    open boolean not null,
    expires_at timestamptz not null,
    primary key (key, merchant_id)
);
create index repeat_expiry on repeat (expires_at);

-- A second wall behind the roles: who connects as owner is refused too.
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger posting_append_only before update or delete on posting for each statement execute function refuse_change();
create trigger event_append_only before update or delete on event for each statement execute function refuse_change();
create trigger notice_append_only before update or delete on notice for each statement execute function refuse_change();
create trigger posting_no_truncate before truncate on posting for each statement execute function refuse_change();
create trigger event_no_truncate before truncate on event for each statement execute function refuse_change();
create trigger notice_no_truncate before truncate on notice for each statement execute function refuse_change();
