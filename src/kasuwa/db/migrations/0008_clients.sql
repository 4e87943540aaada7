-- Clients: the people a merchant lends to and saves for; and the bank account numbers made for payers.

-- One person. `number` is their place in the merchant's list; `detail` is all that the merchant told of them, but for
-- the BVN: that is sealed, found by a keyed hash of it and shown as its mask. `open_accounts` counts the loans and
-- savings that are not closed: whoever has one stays active. An erased person's row stays, for the books name it,
-- and nothing in it tells who it was.
create table client (
    key bytea not null,
    merchant_id bigint not null,
    client_id text not null,
    number bigint not null,
    status text not null
        check (status in ('pending_approval', 'inactive', 'active', 'rejected', 'exited', 'blacklisted')),
    bvn_verified boolean not null,
    open_accounts bigint not null check (open_accounts >= 0),
    bvn_hash bytea,
    bvn_mask text,
    bvn_sealed bytea,
    detail json not null,
    created_at timestamptz not null,
    changed_at timestamptz not null,
    erased_at timestamptz,
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index client_number on client (merchant_id, number);
create index client_bvn_hash on client (merchant_id, bvn_hash) where bvn_hash is not null;

-- Whose a BVN is, by its keyed hash: one merchant has no two clients with the same. Nobody's, where its client got
-- another BVN or was erased.
create table client_bvn (
    key bytea not null,
    merchant_id bigint not null,
    client_id text,
    primary key (key, merchant_id)
);

-- An account number that a merchant had made for a reference of its own. Payers find it through the directory.
create table personalized_account (
    key bytea not null,
    merchant_id bigint not null,
    reference text not null,
    account_number text not null,
    bank_code text not null,
    bank_name text not null,
    account_name text not null,
    email text not null,
    bvn_sealed bytea,
    created_at timestamptz not null,
    primary key (key, merchant_id)
);

-- What is found without a merchant is one merchant's: of two that draw the same account number at once, the second
-- draws again.
create unique index directory_whose on directory (key);
