-- The times at which processes used an account with a vendor. `account` is a hash of the vendor's address and of our key.
-- A vendor's word that it does not know an order counts only if no process used another account when it was sent.
create table vendor_account (
    rail text not null,
    account text not null,
    began_at timestamptz not null default now(),
    last_used_at timestamptz not null default now(),
    primary key (rail, account, began_at)
);
