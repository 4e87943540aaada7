-- What secures a loan: guarantees by the savings of other clients, and collateral.

-- Guarantees that were called on the savings and are owed to their client: they keep the savings open.
alter table savings add column claims bigint not null default 0 check (claims >= 0);
comment on column savings.claims is 'guarantees that were called on them and are owed to their client';

alter table loan add column guarantees bigint not null default 0 check (guarantees >= 0);
comment on column loan.guarantees is 'number of its rows in loan_guarantee';
alter table loan add column collaterals bigint not null default 0 check (collaterals >= 0);
comment on column loan.collaterals is 'number of its rows in loan_collateral';

-- A repayment out of savings that guarantee the loan is an act of its own kind: it cannot be reversed.
alter table loan_act drop constraint loan_act_kind_check;
alter table loan_act add constraint loan_act_kind_check check (kind in ('repayment', 'guarantee', 'charge', 'waiver', 'write_off')) not valid;

-- A part of a client's savings that guarantees a loan of another client. What was called of it and is owed to the
-- guarantor is on an account of its own.
create table loan_guarantee (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    guarantee_id text not null,               -- its identifier, which follows from its place
    number bigint not null,                   -- order of the list
    loan_id text not null,                    -- the loan
    n bigint not null check (n > 0),          -- place among those of the loan, from 1
    borrower_id text not null,                -- the client who borrows
    client_id text not null,                  -- the guarantor
    savings_id text not null,                 -- the savings that are pledged
    amount bigint not null check (amount > 0), -- what the guarantor answers for at most
    base bigint not null check (base > 0),    -- principal that was not repaid when they were pledged
    held bigint not null check (held >= 0),   -- what is held on the savings now
    created_at timestamptz not null,          -- when they were pledged
    called bigint not null default 0,         -- what was paid from the savings so far
    owed bigint not null default 0 check (owed between 0 and called), -- the part of it that the borrower owes
    short bigint not null default 0 check (short >= 0), -- what should be held too, and the savings did not have
    released_at timestamptz,                  -- when the merchant released it
    row_code bytea,                           -- code of the row
    constraint loan_guarantee_sum check (held + short + called <= amount and called >= 0),
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index loan_guarantee_of on loan_guarantee (merchant_id, loan_id, n);
create unique index loan_guarantee_number on loan_guarantee (merchant_id, number);
create index loan_guarantee_client on loan_guarantee (merchant_id, client_id);
create index loan_guarantee_borrower on loan_guarantee (merchant_id, borrower_id);
create index loan_guarantee_savings on loan_guarantee (merchant_id, savings_id);

-- A thing that secures a loan, as the merchant described it.
create table loan_collateral (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    collateral_id text not null,              -- its identifier, which follows from its place
    loan_id text not null,                    -- the loan
    n bigint not null check (n > 0),          -- place among that of the loan, from 1
    client_id text not null,                  -- the client who borrows
    description text not null,                -- what it is; erased with the client's personal data
    value bigint not null check (value > 0),  -- what it is worth, in kobo
    documents text not null,                  -- SHA-256 hashes of its documents, separated by commas
    created_at timestamptz not null,          -- when it was recorded
    returned_at timestamptz,                  -- when it was given back
    primary key (key, merchant_id)
) with (fillfactor = 90);
create unique index loan_collateral_of on loan_collateral (merchant_id, loan_id, n);
create index loan_collateral_client on loan_collateral (merchant_id, client_id);
