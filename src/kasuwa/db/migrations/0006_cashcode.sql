-- Cashcodes: what a code needs besides its transaction. The code itself is nowhere: the directory finds its order by a
-- keyed hash of it, and `pin` is a keyed hash as well. `source` is the account that pays what is drawn, `paid` what was.
create table cashcode (
    key bytea not null,
    merchant_id bigint not null,
    txn_ref text not null,
    order_ref text not null,
    channel text not null check (channel in ('ATM', 'POS', 'WEB')),
    source text not null,
    pin bytea not null,
    expires_at timestamptz not null,
    state text not null check (state in ('active', 'redeemed', 'expired', 'cancelled', 'locked')),
    tries bigint not null check (tries between 0 and 3),
    paid bigint not null check (paid >= 0),
    primary key (key, merchant_id)
) with (fillfactor = 80);

-- How often a merchant's tellers named a code that does not exist, since when (business time): guessing is bounded.
create table cashcode_guess (
    key bytea not null,
    merchant_id bigint not null,
    wrong bigint not null,
    since timestamptz not null,
    primary key (key, merchant_id)
) with (fillfactor = 80);
