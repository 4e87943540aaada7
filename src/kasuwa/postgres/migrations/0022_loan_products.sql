-- Loan products: the terms that new loans have, and the ranges within which a request may choose.

alter table loan add column product text not null default '';
comment on column loan.product is 'product that its terms were copied from; empty if it has none';
create index loan_product_of on loan (merchant_id, product) where product <> '';

-- A product. Loans have copies of its terms, so that a change of it is one of new loans alone.
create table loan_product (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    product_id text not null,                 -- its identifier, which follows from its code
    number bigint not null,                   -- order of the list
    code text not null,                       -- the merchant's own
    name text not null,                       -- what it is called
    state text not null check (state in ('open', 'closed')), -- whether loans of it can be requested
    terms text not null,                      -- terms and ranges, as JSON
    created_at timestamptz not null,          -- when it was created
    changed_at timestamptz,                   -- when it was changed last
    closed_at timestamptz,                    -- when it was closed
    events bigint not null default 0 check (events >= 0), -- number of its events so far
    row_code bytea,                           -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index loan_product_number on loan_product (merchant_id, number);
create unique index loan_product_code on loan_product (merchant_id, code);
