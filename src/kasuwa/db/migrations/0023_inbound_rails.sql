-- Accounts that rails open for payers, money that came into them, and what rails tell of disputes and settlements.

-- An account is `opening` until its rail has answered with a number, then `open`, or `failed` with the rail's words in
-- `message`. `rail` opened it and is asked for its payments, also after another one was chosen for new accounts.
-- `rail_reference` is ours, by which the rail knows the account; `facts` has the rail's own identifiers of it.
alter table personalized_account
    add column state text not null default 'open' check (state in ('opening', 'open', 'failed', 'closed')),
    add column rail text not null default 'sandbox',
    add column rail_reference text not null default '',
    add column facts json not null default '{}',
    add column message text not null default '';
create index personalized_account_rail on personalized_account (rail, key) where rail <> 'sandbox';

-- When the payments into an account of a rail were listed last. A worker that lists them holds a lease.
create table account_listing (
    key bytea primary key,
    listed_at timestamptz,
    leased_until timestamptz not null
);

-- Money that came into an account, booked once. `txn_ref` is the payment; it is empty if the money is in suspense,
-- because nobody is known to whom it belongs.
create table inbound_receipt (
    key bytea not null,
    merchant_id bigint not null,
    rail text not null,
    rail_reference text not null,
    account_number text not null,
    amount bigint not null check (amount > 0),
    currency text not null,
    txn_ref text not null,
    booked_at timestamptz not null,
    primary key (key, merchant_id)
);
create unique index inbound_receipt_reference on inbound_receipt (rail, rail_reference);

-- What rails announced by call-backs, and what was found by asking them: to be fetched from the rail and recorded.
-- `reference` is the rail's own. Of one that is done `outcome` says what came of it; `detail` is what the rail answered.
create table rail_inbox (
    rail text not null,
    kind text not null check (kind in ('receipt', 'dispute', 'settlement')),
    reference text not null,
    seq bigint generated always as identity,
    arrived_at timestamptz not null default now(),
    due_at timestamptz not null default now(),
    attempts bigint not null default 0,
    done_at timestamptz,
    outcome text not null default '',
    detail json not null default '{}',
    primary key (rail, kind, reference)
);
create index rail_inbox_due on rail_inbox (due_at) where done_at is null;

-- A payer's bank disputes a payment. Amounts are in minor units. `due_at` is when the rail wants our answer.
-- `merchant_id` and `txn_ref` are those of the payment, if it is known here.
create table rail_dispute (
    rail text not null,
    dispute_id text not null,
    payment_reference text not null,
    merchant_id bigint,
    txn_ref text not null default '',
    amount bigint,
    currency text not null,
    status text not null,
    resolution text not null default '',
    due_at timestamptz,
    first_seen_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    primary key (rail, dispute_id)
);

-- What a rail paid out to the operator: `amount` arrived, `fees` are what the rail kept of `gross`.
create table rail_settlement (
    rail text not null,
    settlement_id text not null,
    status text not null,
    currency text not null,
    gross bigint,
    fees bigint,
    amount bigint not null,
    payments bigint,
    settled_on date,
    first_seen_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    primary key (rail, settlement_id)
);

-- When a rail's disputes and settlements were listed last. A worker that lists them holds a lease.
create table rail_listing (
    rail text primary key,
    listed_at timestamptz,
    leased_until timestamptz not null
);

-- Money that a rail gave back, or took back, after it had reported a transaction as successful. Two operators decide
-- that it is booked, once for a transaction.
create table rail_reversal (
    key bytea not null,
    merchant_id bigint not null,
    txn_ref text not null,
    approval_id bigint not null,
    primary key (key, merchant_id)
);
alter table approval drop constraint approval_kind_check;
alter table approval add constraint approval_kind_check
    check (kind in ('posting', 'write_off', 'tariff', 'rate', 'person', 'reversal'));
