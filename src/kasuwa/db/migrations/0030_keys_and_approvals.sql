-- Several keys per merchant, a signing secret of its own, transfers that wait for approval, and limits of money out.

-- What a key may be used for, from where, and by whom it was made. Keys that were made before may do everything.
alter table merchant_key add column name text not null default 'default';
alter table merchant_key add column scopes text[] not null default '{all}';
alter table merchant_key add column addresses text[] not null default '{}';
alter table merchant_key add column created_by text not null default '';
-- The first of the keys that were rolled into this one; null for a key that was not rolled from another.
alter table merchant_key add column lineage bigint;
-- The key that replaced this one, when it was rolled.
alter table merchant_key add column replaced_by bigint;
-- Events are signed with the key until then: it is the merchant's signing secret as well. '-infinity' for keys that never
-- sign. The default is that of keys that were made before, and that the previous version makes.
alter table merchant_key add column signs_until timestamptz not null default 'infinity';
-- Written at most once a minute (db/key_usage.py).
alter table merchant_key add column last_used_at timestamptz;
alter table merchant_key add column last_used_from text not null default '';
alter table merchant_key add column refused_at timestamptz;
alter table merchant_key add column refused_from text not null default '';

-- The secrets that events are signed with, apart from keys. A rolled one signs until it expires.
create table signing_secret (
    merchant_id bigint not null references merchant,
    secret_id bigint not null,
    verifier bytea not null,
    sealed bytea not null,
    created_by text not null default '',
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    primary key (merchant_id, secret_id)
);

-- Transfers that wait, or waited, for the approval of another party. `detail`: who made it, and why it waits.
create table transfer_approval (
    key bytea not null,
    merchant_id bigint not null,
    txn_ref text not null,
    order_ref text not null,
    batch_ref text,
    amount bigint not null,
    state text not null check (state in ('waiting', 'approved', 'rejected', 'expired')),
    detail json not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    decided_by text not null default '',
    decided_at timestamptz,
    primary key (key, merchant_id)
);
create unique index transfer_approval_reference on transfer_approval (merchant_id, txn_ref);
create index transfer_approval_waiting on transfer_approval (merchant_id, created_at) where state = 'waiting';

-- Money out of the current hour and day, of a merchant, of each beneficiary and of each client. Kept only for merchants
-- that have a payout policy. `paid_at`: the first payment that the beneficiary received.
create table payout_counter (
    key bytea not null,
    merchant_id bigint not null,
    hour_at timestamptz not null,
    hour_count bigint not null,
    hour_amount bigint not null,
    day_at timestamptz not null,
    day_count bigint not null,
    day_amount bigint not null,
    paid_at timestamptz,
    primary key (key, merchant_id)
) with (fillfactor = 70);
