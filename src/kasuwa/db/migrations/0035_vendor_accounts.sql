-- The times at which processes used an account with a vendor. `account` is a hash of the vendor's address and of our key.
-- A vendor's word that it does not know an order counts only if no process used another account when it was sent.
create table vendor_account (
    rail text not null,
    account text not null,
    began_at timestamptz not null default now(),
    last_used_at timestamptz not null default now(),
    primary key (rail, account, began_at)
);

-- Answers of merchants to disputes, which are handed in at the rail. A worker that does so holds a lease (`due_at` in the
-- future). `outcome` says what came of it.
create table dispute_hand_in (
    merchant_id bigint not null,
    dispute_id text not null,
    attempts bigint not null,
    due_at timestamptz not null,
    done_at timestamptz,
    outcome text not null default '',
    primary key (merchant_id, dispute_id)
);
create index dispute_answered on dispute (responded_at, key) where rail <> '' and responded_at is not null;
